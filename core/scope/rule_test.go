package scope_test

import (
	"strings"
	"testing"

	meshconfig "istio.io/api/mesh/v1alpha1"
	networking "istio.io/api/networking/v1alpha3"
	typev1beta1 "istio.io/api/type/v1beta1"
	networkingv1 "istio.io/client-go/pkg/apis/networking/v1"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/scope"
	"github.com/edsight/edsight/core/state"
)

const webHost = "web.shop.svc.cluster.local"

// rule is a DestinationRule whose subsets have the given names.
func rule(name, namespace string, second int, host string, subsets ...string) *networkingv1.DestinationRule {
	r := &networkingv1.DestinationRule{ObjectMeta: meta(name, namespace, second), Spec: networking.DestinationRule{Host: host}}
	for _, s := range subsets {
		r.Spec.Subsets = append(r.Spec.Subsets, &networking.Subset{Name: s, Labels: map[string]string{"from": name}})
	}
	return r
}

func exportRule(r *networkingv1.DestinationRule, to ...string) *networkingv1.DestinationRule {
	r.Spec.ExportTo = to
	return r
}

func selectRule(r *networkingv1.DestinationRule, app string) *networkingv1.DestinationRule {
	r.Spec.WorkloadSelector = &typev1beta1.WorkloadSelector{MatchLabels: map[string]string{"app": app}}
	return r
}

// inForce writes the rule for web as a client sees it: the objects it is from,
// and its subsets with the object each is from.
func inForce(snap *state.Snapshot, p *model.Proxy) string {
	s := scope.For(snap, p)
	r := s.Rule(s.Import(webHost), p)
	if r == nil {
		return ""
	}
	var from, subsets []string
	for _, k := range r.From {
		from = append(from, k.Namespace+"/"+k.Name)
	}
	for _, x := range r.Spec.GetSubsets() {
		subsets = append(subsets, x.GetName()+"@"+x.GetLabels()["from"])
	}
	return strings.Join(from, "+") + " " + strings.Join(subsets, ",")
}

// The client's namespace, then the service's, then the root; as a whole (fact 29).
func TestRulePrecedence(t *testing.T) {
	client1 := rule("c", "client", 9, webHost, "v1")
	service := rule("s", "shop", 5, webHost, "v2")
	root := rule("r", "istio-system", 1, webHost, "v3")
	tests := []struct {
		name  string
		rules []any
		want  string
	}{
		{"none", nil, ""},
		{"client's", []any{client1, service, root}, "client/c v1@c"},
		{"service's", []any{service, root}, "shop/s v2@s"},
		{"root's", []any{root}, "istio-system/r v3@r"},
		{"of a third", []any{rule("x", "other", 0, webHost, "v")}, ""},
		{"short name", []any{rule("s", "shop", 0, "web", "v")}, "shop/s v@s"},
		{"most specific wildcard", []any{rule("w", "shop", 0, "*.svc.cluster.local", "a"), rule("n", "shop", 1, "*.shop.svc.cluster.local", "b")}, "shop/n b@n"},
		{"exact before wildcard", []any{rule("w", "shop", 0, "*.shop.svc.cluster.local", "a"), service}, "shop/s v2@s"},
		{"service's is private", []any{exportRule(rule("s", "shop", 0, webHost, "a"), "."), root}, "istio-system/r v3@r"},
		{"root's is private", []any{exportRule(rule("r", "istio-system", 0, webHost, "a"), ".")}, ""},
		{"exported to the client", []any{exportRule(rule("s", "shop", 0, webHost, "a"), "client")}, "shop/s a@s"},
		{"exported to others", []any{exportRule(rule("s", "shop", 0, webHost, "a"), "other")}, ""},
		{"client's is for others", []any{exportRule(rule("c", "client", 0, webHost, "a"), "other"), service}, "shop/s v2@s"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := inForce(snapshot(t, append(tt.rules, kube("web", "shop"))...), client("client")); got != tt.want {
				t.Errorf("in force %q, want %q", got, tt.want)
			}
		})
	}
}

// A client in the root namespace uses that namespace's private rules, else the
// service's: the root's other rules are for everybody and come last.
func TestRulesForTheRootNamespace(t *testing.T) {
	service, public := rule("s", "shop", 5, webHost, "a"), rule("r", "istio-system", 1, webHost, "b")
	private := exportRule(rule("p", "istio-system", 1, webHost, "c"), ".")
	p := client("istio-system")
	for want, objects := range map[string][]any{
		"shop/s a@s": {service, public}, "istio-system/p c@p": {service, public, private}, "istio-system/r b@r": {public},
	} {
		if got := inForce(snapshot(t, append(objects, kube("web", "shop"))...), p); got != want {
			t.Errorf("in force %q, want %q", got, want)
		}
	}
}

func TestDefaultDestinationRuleExportTo(t *testing.T) {
	m := mesh(func(c *meshconfig.MeshConfig) { c.DefaultDestinationRuleExportTo = []string{"."} })
	snap := snapshot(t, m, kube("web", "shop"), rule("s", "shop", 0, webHost, "a"))
	if got := inForce(snap, client("client")); got != "" {
		t.Errorf("a rule that is private by default is in force: %q", got)
	}
	if got := inForce(snap, client("shop")); got != "shop/s a@s" {
		t.Errorf("in its own namespace: %q", got)
	}
}

// Rules of one namespace merge; the older subset and the older policy win
// (fact 29). They stay apart if they are exported differently.
func TestRulesMerge(t *testing.T) {
	old, young := rule("old", "shop", 1, webHost, "v1", "v2"), rule("young", "shop", 2, webHost, "v2", "v3")
	young.Spec.TrafficPolicy = &networking.TrafficPolicy{OutlierDetection: &networking.OutlierDetection{}}
	snap := snapshot(t, kube("web", "shop"), young, old)
	if got := inForce(snap, client("client")); got != "shop/old+shop/young v1@old,v2@old,v3@young" {
		t.Errorf("merged %q", got)
	}
	s := scope.For(snap, client("client"))
	if r := s.Rule(s.Import(webHost), client("client")); r.Spec.GetTrafficPolicy().GetOutlierDetection() == nil {
		t.Error("the only policy is lost")
	}
	if len(old.Spec.Subsets) != 2 || old.Spec.TrafficPolicy != nil {
		t.Error("merging changed the object")
	}
	apart := snapshot(t, kube("web", "shop"), exportRule(rule("old", "shop", 1, webHost, "v1"), "client"), exportRule(rule("young", "shop", 2, webHost, "v2"), "*"))
	if got := inForce(apart, client("client")); got != "shop/young v2@young" {
		t.Errorf("apart %q", got)
	}
	covered := snapshot(t, kube("web", "shop"), exportRule(rule("old", "shop", 1, webHost, "v1"), "client"), exportRule(rule("young", "shop", 2, webHost, "v2"), "client", "other"))
	if got := inForce(covered, client("client")); got != "shop/old+shop/young v1@old,v2@young" {
		t.Errorf("covered %q", got)
	}
}

// A rule with a selector is for workloads of its own namespace.
func TestRuleSelector(t *testing.T) {
	snap := snapshot(t, kube("web", "shop"), selectRule(rule("sel", "client", 5, webHost, "a"), "c"), rule("all", "client", 1, webHost, "b"),
		selectRule(rule("theirs", "shop", 1, webHost, "c"), "c"))
	for app, want := range map[string]string{"c": "client/sel a@sel", "d": "client/all b@all"} {
		if got := inForce(snap, client("client", "app", app)); got != want {
			t.Errorf("app %s: %q, want %q", app, got, want)
		}
	}
	// A general rule exported alike adds its subsets, and is lost to the others.
	alike := snapshot(t, kube("web", "shop"), selectRule(rule("sel", "client", 5, webHost, "a"), "c"), exportRule(rule("all", "client", 1, webHost, "b"), "."))
	for app, want := range map[string]string{"c": "client/sel+client/all a@sel,b@all", "d": ""} {
		if got := inForce(alike, client("client", "app", app)); got != want {
			t.Errorf("exported alike, app %s: %q, want %q", app, got, want)
		}
	}
	wider := snapshot(t, kube("web", "shop"), selectRule(rule("sel", "client", 5, webHost, "a"), "c"), exportRule(rule("all", "client", 1, webHost, "b"), ".", "other"))
	for app, want := range map[string]string{"c": "client/sel+client/all a@sel,b@all", "d": "client/all b@all"} {
		if got := inForce(wider, client("client", "app", app)); got != want {
			t.Errorf("exported wider, app %s: %q, want %q", app, got, want)
		}
	}
	if got := inForce(snap, client("other", "app", "c")); got != "" {
		t.Errorf("a selector reaches another namespace: %q", got)
	}
}
