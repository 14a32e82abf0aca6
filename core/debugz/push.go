package debugz

import (
	"maps"

	securityv1 "istio.io/client-go/pkg/apis/security/v1"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/state"
)

// PushContext is the body of pushcontext.
type PushContext struct {
	AuthorizationPolicies Policies
	NetworkGateways       map[model.NetworkID][]Gateway
}

// Policies are the AuthorizationPolicies by namespace.
type Policies struct {
	ByNamespace   map[string][]Policy `json:"namespace_to_policies"`
	RootNamespace string              `json:"root_namespace"`
}

// Policy is one AuthorizationPolicy.
type Policy struct {
	Name        string            `json:"name"`
	Namespace   string            `json:"namespace"`
	Annotations map[string]string `json:"annotations"`
	Spec        any               `json:"spec"`
}

// Push gives the body of pushcontext.
func Push(snap *state.Snapshot) *PushContext {
	j := &PushContext{
		AuthorizationPolicies: Policies{ByNamespace: map[string][]Policy{}, RootNamespace: snap.Mesh.RootNamespace},
		NetworkGateways:       map[model.NetworkID][]Gateway{},
	}
	for c := range snap.Configs(model.KindAuthorizationPolicy) {
		p := Policy{Name: c.Key.Name, Namespace: c.Key.Namespace, Annotations: maps.Clone(c.Object.GetAnnotations())}
		if o, ok := c.Object.(*securityv1.AuthorizationPolicy); ok {
			p.Spec = &o.Spec
		}
		j.AuthorizationPolicies.ByNamespace[p.Namespace] = append(j.AuthorizationPolicies.ByNamespace[p.Namespace], p)
	}
	for _, g := range Gateways(snap) {
		j.NetworkGateways[g.Network] = append(j.NetworkGateways[g.Network], g)
	}
	return j
}
