package audit

import (
	"fmt"

	security "istio.io/api/security/v1beta1"
	securityv1 "istio.io/client-go/pkg/apis/security/v1"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/state"
)

// peerAuthentications finds those that apply to nothing.
func peerAuthentications(snap *state.Snapshot, p *proxies) []Problem {
	var out []Problem
	general := map[string]string{} // the name of the one for its whole namespace
	for _, c := range configs[*securityv1.PeerAuthentication](snap, model.KindPeerAuthentication) {
		ns, want := c.key.Namespace, model.Labels(c.object.Spec.GetSelector().GetMatchLabels())
		find := func(field, message, remedy string) {
			out = append(out, Problem{Object: c.key, Field: field, Message: message, Remedy: remedy})
		}
		switch {
		case len(want) > 0 && ns == snap.Mesh.RootNamespace:
			find("spec.selector", "in the root namespace only what is for the whole mesh counts, so this applies to nothing", "move it to the namespace of the workloads")
		case len(want) > 0 && nobody(snap, p, want, ns):
			find("spec.selector.matchLabels", "no Pod with a proxy in namespace "+ns+" has "+labelText(want)+", so this applies to nothing",
				"compare the selector with the labels of the Pods in this namespace")
		case len(want) > 0:
		case general[ns] != "":
			find("spec", "PeerAuthentication "+general[ns]+" is for all workloads, too, and older, so this one applies to nothing", "delete one of the two")
		default:
			general[ns] = c.key.Name
		}
		if len(want) == 0 && len(c.object.Spec.GetPortLevelMtls()) > 0 {
			find("spec.portLevelMtls", "there is no selector, so what is said of single ports does not count", "select the workloads")
		}
	}
	return out
}

// authorizationPolicies finds those that apply to nothing, and those that deny
// everything because nobody can be asked.
func authorizationPolicies(snap *state.Snapshot, p *proxies) []Problem {
	var out []Problem
	known := map[string]int{}
	for _, x := range snap.Mesh.Config.GetExtensionProviders() {
		known[x.GetName()]++
	}
	for _, c := range configs[*securityv1.AuthorizationPolicy](snap, model.KindAuthorizationPolicy) {
		spec := &c.object.Spec
		ns, want := c.key.Namespace, model.Labels(spec.GetSelector().GetMatchLabels())
		if len(want) > 0 && ns != snap.Mesh.RootNamespace && nobody(snap, p, want, ns) {
			out = append(out, Problem{
				Object: c.key, Field: "spec.selector.matchLabels",
				Message: "no Pod with a proxy in namespace " + ns + " has " + labelText(want) + ", so this policy applies to nothing",
				Remedy:  "compare the selector with the labels of the Pods in this namespace",
			})
		}
		if name := spec.GetProvider().GetName(); spec.GetAction() == security.AuthorizationPolicy_CUSTOM && known[name] != 1 {
			message := "the mesh has no extension provider " + name
			if known[name] > 1 {
				message = "the mesh has several extension providers " + name
			}
			out = append(out, Problem{
				Object: c.key, Field: "spec.provider.name", Message: message + ", so all requests that the rules match are denied",
				Remedy: "name one of the mesh's extensionProviders",
			})
		}
		out = append(out, unknownAttributes(c.key, spec.GetRules())...)
	}
	return out
}

// unknownAttributes finds the rules of a policy that are left out.
func unknownAttributes(key model.ObjectKey, rules []*security.Rule) []Problem {
	var out []Problem
	for i, r := range rules {
		for j, c := range r.GetWhen() {
			if !model.KnownAttribute(c.GetKey()) {
				out = append(out, Problem{
					Object: key, Field: fmt.Sprintf("spec.rules[%d].when[%d].key", i, j),
					Message: "there is no attribute " + c.GetKey() + ", so istiod leaves this rule out", Remedy: "name an attribute that conditions can be about",
				})
			}
		}
	}
	return out
}

// nobody tells whether no workload of the namespace has the labels. In an ambient
// mesh there may be such without a proxy, of which nothing is known.
func nobody(snap *state.Snapshot, p *proxies, want model.Labels, namespace string) bool {
	return !snap.Mesh.Features.Ambient && !p.have(want, namespace)
}
