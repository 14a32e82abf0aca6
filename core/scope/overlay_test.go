package scope_test

import (
	"slices"
	"strings"
	"testing"

	networking "istio.io/api/networking/v1alpha3"
	networkingv1 "istio.io/client-go/pkg/apis/networking/v1"
	"pgregory.net/rapid"

	"github.com/edsight/edsight/core/scope"
)

func withPolicy(r *networkingv1.DestinationRule) *networkingv1.DestinationRule {
	r.Spec.TrafficPolicy = &networking.TrafficPolicy{}
	return r
}

// What of a rule counts for nobody, and by which rule.
func TestOverlays(t *testing.T) {
	old := withPolicy(rule("old", "shop", 1, webHost, "v1"))
	tests := []struct {
		name  string
		rules []any
		want  string
	}{
		{"two rules", []any{withPolicy(rule("x", "shop", 2, "web", "v1", "v2")), old}, "x.policy by old, x.v1 by old"},
		{"twice in a rule", []any{rule("x", "shop", 2, webHost, "v1", "v2", "v1")}, "x.v1 by x"},
		{"by one of those merged", []any{old, rule("mid", "shop", 2, webHost, "v2"), rule("x", "shop", 3, webHost, "v2")}, "x.v2 by mid"},
		{"of another host", []any{old, rule("x", "shop", 2, "api", "v1")}, ""},
		{"of another namespace", []any{old, rule("x", "client", 2, webHost, "v1")}, ""},
		{"exported in another way", []any{old, exportRule(rule("x", "shop", 2, webHost, "v1"), "client")}, ""},
		{"exported to more", []any{exportRule(rule("old", "shop", 1, webHost, "v1"), "client"), exportRule(rule("x", "shop", 2, webHost, "v1"), "client", "other")}, "x.v1 by old"},
		{"at home only", []any{exportRule(rule("old", "shop", 1, webHost, "v1"), "."), exportRule(rule("x", "shop", 2, webHost, "v1"), ".", "other")}, ""},
		{"beside one that selects", []any{selectRule(rule("old", "shop", 1, webHost, "v1"), "c"), rule("x", "shop", 2, webHost, "v1")}, ""},
		{"lost in one that selects", []any{selectRule(rule("old", "shop", 1, webHost, "v1"), "c"), exportRule(rule("x", "shop", 2, webHost, "v1"), ".")}, "x lost in old"},
		{"in the root namespace", []any{exportRule(rule("old", "istio-system", 1, webHost, "v1"), "."), exportRule(rule("x", "istio-system", 2, webHost, "v1"), ".")}, "x.v1 by old"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			snap := snapshot(t, tt.rules...)
			var got []string
			overlays, lost := scope.Overlays(snap)
			for _, o := range overlays {
				part := "policy"
				if o.Subset != nil {
					part = o.Subset.GetName()
				}
				got = append(got, o.Rule.Name+"."+part+" by "+o.By.Name)
			}
			for key, by := range lost {
				got = append(got, key.Name+" lost in "+by.Name)
			}
			if strings.Join(got, ", ") != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}

// What is overlaid is in force for no client, nor is what is lost for one that the
// rule with a selector does not select.
func TestOverlaidIsNotInForce(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		objects := []any{kube("web", "shop")}
		for _, r := range anyRules(rt) {
			objects = append(objects, r)
		}
		snap := snapshot(t, objects...)
		overlays, lost := scope.Overlays(snap)
		for _, namespace := range []string{"client", "shop", "istio-system", "other"} {
			p := client(namespace, "app", "nobody selects it")
			s := scope.For(snap, p)
			r := s.Rule(s.Import(webHost), p)
			if r == nil {
				continue
			}
			for _, o := range overlays {
				first := slices.IndexFunc(r.Spec.GetSubsets(), func(x *networking.Subset) bool { return x.GetName() == o.Subset.GetName() })
				if o.Subset != nil && first >= 0 && r.Spec.GetSubsets()[first] == o.Subset {
					rt.Fatalf("%v is in force for %s, and said to be overlaid by %v", o.Rule, namespace, o.By)
				}
			}
			for key, by := range lost {
				if slices.Contains(r.From, key) {
					rt.Fatalf("%v is in force for %s, and said to be lost in %v", key, namespace, by)
				}
			}
		}
	})
}
