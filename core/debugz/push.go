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

// PushStatus is the body of push_status: by metric, then by key.
type PushStatus map[string]map[string]PushEvent

// PushEvent is one finding of a push.
type PushEvent struct {
	Proxy   string `json:"proxy,omitempty"`
	Message string `json:"message,omitempty"`
}

// The metrics of PushStatus that the state of the core gives.
const (
	metricNotReady    = "pilot_endpoint_not_ready"
	metricNoIP        = "pilot_no_ip"
	metricNoInstances = "pilot_eds_no_instances"
	metricDNSEmpty    = "pilot_dns_cluster_without_endpoints"
)

// Status gives the body of push_status for the newest state.
func Status(snap *state.Snapshot) PushStatus {
	j := PushStatus{}
	for svc := range snap.Services() {
		d := svc.Definition()
		if d == nil {
			continue // no cluster is made for it, so there is nothing to find
		}
		for _, c := range svc.Candidates() {
			j.candidate(c)
		}
		if svc.EndpointCount() == 0 {
			j.empty(d)
		}
	}
	return j
}

func (j PushStatus) candidate(c *model.Candidate) {
	switch {
	case c.Reason == model.ReasonPodNotSeen || c.Reason == model.ReasonPodGone:
		j.add(metricNoIP, c.Address, c.Reason.Text())
	case c.Reason == model.ReasonWorkloadNotReady || (c.Endpoint != nil && c.Endpoint.Health == model.UnHealthy):
		j.add(metricNotReady, c.Address, model.ReasonUnhealthy.Text())
	}
}

func (j PushStatus) empty(d *model.Service) {
	switch d.Resolution {
	case model.ClientSideLB:
		j.add(metricNoInstances, string(d.Key.Hostname), "no endpoints")
	case model.DNSLB, model.DNSRoundRobinLB, model.DynamicDNS:
		j.add(metricDNSEmpty, string(d.Key.Hostname), "no endpoints")
	case model.Passthrough, model.Alias:
		// Clients of these need none.
	}
}

func (j PushStatus) add(metric, key, message string) {
	if j[metric] == nil {
		j[metric] = map[string]PushEvent{}
	}
	j[metric][key] = PushEvent{Message: message}
}
