package scope_test

import (
	"fmt"
	"slices"
	"testing"

	meshconfig "istio.io/api/mesh/v1alpha1"
	networkingv1 "istio.io/client-go/pkg/apis/networking/v1"
	"pgregory.net/rapid"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/scope"
)

func ruleKey(r *networkingv1.DestinationRule) model.ObjectKey {
	return model.ObjectKey{Cluster: "Kubernetes", Kind: model.KindDestinationRule, Namespace: r.Namespace, Name: r.Name}
}

// The verdict on a rule x: beside it are other rules, and the one in its way is
// named.
func TestRuleVerdict(t *testing.T) {
	x := func(namespace string) *networkingv1.DestinationRule { return rule("x", namespace, 5, webHost, "v") }
	private := mesh(func(c *meshconfig.MeshConfig) { c.DefaultDestinationRuleExportTo = []string{"."} })
	tests := []struct {
		name    string
		x       *networkingv1.DestinationRule
		objects []any
		want    string
	}{
		{"alone", x("shop"), nil, "in-force"},
		{"merged", x("shop"), []any{rule("a", "shop", 1, webHost)}, "in-force"},
		{"another host", rule("x", "shop", 5, "api", "v"), nil, "other-host"},
		{"selects others", selectRule(x("client"), "other"), nil, "not-selected"},
		{"selects in another namespace", selectRule(x("shop"), "c"), nil, "not-selected"},
		{"private", exportRule(x("shop"), "."), nil, "not-exported"},
		{"private by default", x("shop"), []any{private}, "not-exported"},
		{"private, of a third namespace", exportRule(x("other"), "."), nil, "not-exported"},
		{"of a third namespace", x("other"), []any{rule("a", "shop", 1, webHost)}, "elsewhere"},
		{"the client's goes before", x("shop"), []any{rule("a", "client", 9, webHost)}, "other-namespace client/a"},
		{"the client's goes before, whomever it selects", x("shop"), []any{selectRule(rule("a", "client", 9, webHost), "other")}, "other-namespace client/a"},
		{"the service's goes before", x("istio-system"), []any{rule("a", "shop", 9, webHost)}, "other-namespace shop/a"},
		{"a wildcard", rule("x", "shop", 5, "*.cluster.local", "v"), []any{rule("a", "shop", 9, webHost)}, "less-specific shop/a"},
		{"a wildcard, hidden by what is not seen", rule("x", "shop", 5, "*.cluster.local", "v"), []any{exportRule(rule("a", "shop", 9, webHost), "other")}, "less-specific shop/a"},
		{"lost in one that selects", exportRule(x("client"), "."), []any{selectRule(rule("a", "client", 9, webHost), "other")}, "merged-away client/a"},
		{"lost in one for fewer namespaces", exportRule(x("shop"), "client", "other"), []any{exportRule(rule("a", "shop", 1, webHost), "other"), rule("r", "istio-system", 1, webHost)}, "merged-away shop/a"},
		{"exported in another way", exportRule(x("shop"), "client"), []any{exportRule(rule("a", "shop", 9, webHost), "*")}, "other-picked shop/a"},
		{"one that selects goes before", x("client"), []any{selectRule(rule("a", "client", 9, webHost), "c")}, "other-picked client/a"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := client("client", "app", "c")
			s := scope.For(snapshot(t, append(tt.objects, kube("web", "shop"), tt.x)...), p)
			why, by := s.RuleVerdict(s.Import(webHost), p, ruleKey(tt.x))
			got := why.String()
			if by != nil {
				got += " " + by.From[0].Namespace + "/" + by.From[0].Name
			}
			if got != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
		})
	}
}

// A client in the root namespace uses that namespace's private rules before those
// for everybody.
func TestRuleVerdictInTheRootNamespace(t *testing.T) {
	public, private := rule("x", "istio-system", 1, webHost), exportRule(rule("p", "istio-system", 9, webHost), ".")
	p := client("istio-system")
	s := scope.For(snapshot(t, kube("web", "shop"), public, private), p)
	why, by := s.RuleVerdict(s.Import(webHost), p, ruleKey(public))
	if why != scope.RuleOtherPicked || by == nil || by.From[0] != ruleKey(private) {
		t.Errorf("%v by %v, want that the private one is used", why, by)
	}
}

func anyRules(t *rapid.T) []*networkingv1.DestinationRule {
	var out []*networkingv1.DestinationRule
	for i := range rapid.IntRange(1, 6).Draw(t, "rules") {
		host := rapid.SampledFrom([]string{webHost, webHost, "*.shop.svc.cluster.local", "*", "api.shop.svc.cluster.local"}).Draw(t, "host")
		r := rule(fmt.Sprintf("r%d", i), rapid.SampledFrom([]string{"client", "shop", "istio-system", "other"}).Draw(t, "namespace"), rapid.IntRange(0, 3).Draw(t, "age"), host, "v")
		r.Spec.ExportTo = rapid.SliceOfN(rapid.SampledFrom([]string{"*", ".", "~", "client", "other"}), 0, 2).Draw(t, "exportTo")
		if app := rapid.SampledFrom([]string{"", "", "c", "d"}).Draw(t, "app"); app != "" {
			selectRule(r, app)
		}
		out = append(out, r)
	}
	return out
}

// A rule is said to be in force if it is part of the one in force; and another one
// is said to be in its way if, and only if, it would be in force alone.
func TestRuleVerdictHolds(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		rules := anyRules(rt)
		objects := []any{kube("web", "shop")}
		for _, r := range rules {
			objects = append(objects, r)
		}
		snap := snapshot(t, objects...)
		for _, p := range []*model.Proxy{client("client", "app", "c"), client("shop", "app", "d"), client("istio-system")} {
			s := scope.For(snap, p)
			used := s.Rule(s.Import(webHost), p)
			for _, r := range rules {
				key := ruleKey(r)
				why, by := s.RuleVerdict(s.Import(webHost), p, key)
				if in := used != nil && slices.Contains(used.From, key); in != (why == scope.RuleInForce) {
					rt.Fatalf("%v for %s is %v, in force: %t", key, p.Namespace, why, in)
				}
				alone := inForce(snapshot(t, kube("web", "shop"), r), p) != ""
				if why != scope.RuleInForce && alone != (by != nil) {
					rt.Fatalf("%v for %s is %v by %v, alone in force: %t", key, p.Namespace, why, by, alone)
				}
				if by != nil && slices.Contains(by.From, key) != (why == scope.RuleMergedAway) {
					rt.Fatalf("%v for %s is %v by %v", key, p.Namespace, why, by.From)
				}
			}
		}
	})
}
