package debugz

import (
	"fmt"

	networkingv1 "istio.io/client-go/pkg/apis/networking/v1"

	"github.com/edsight/edsight/core/cds"
	"github.com/edsight/edsight/core/journal"
	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/scope"
	"github.com/edsight/edsight/core/state"
)

// PushStatus is the body of push_status: by metric, then by key.
type PushStatus map[string]map[string]PushEvent

// PushEvent is one finding of a push.
type PushEvent struct {
	Proxy   string `json:"proxy,omitempty"`
	Message string `json:"message,omitempty"`
}

// The metrics of PushStatus, under istiod's names. Conflicts of outbound listeners
// are not among them: listeners are not made here.
const (
	metricNotReady        = "pilot_endpoint_not_ready"
	metricNoIP            = "pilot_no_ip"
	metricNoPod           = "endpoint_no_pod"
	metricNoInstances     = "pilot_eds_no_instances"
	metricDNSEmpty        = "pilot_dns_cluster_without_endpoints"
	metricInboundConflict = "pilot_conflict_inbound_listener"
	metricClusters        = "pilot_duplicate_envoy_clusters"
	metricDomains         = "pilot_vservice_dup_domain"
	metricSubsets         = "pilot_destrule_subsets"
)

// PushMetrics says what each metric of PushStatus counts.
func PushMetrics() map[string]string {
	return map[string]string{
		metricNotReady:        "Endpoints that are not ready.",
		metricNoIP:            "Endpoints whose Pod is not known, by address.",
		metricNoPod:           "Hosts with endpoints whose Pod is not known.",
		metricNoInstances:     "Clusters without endpoints.",
		metricDNSEmpty:        "Clusters of names to look up without any.",
		metricInboundConflict: "Proxies with a port that two services use with different protocols.",
		metricClusters:        "Clusters that several definitions of a host would make.",
		metricDomains:         "Hosts for which several VirtualServices are in force.",
		metricSubsets:         "Hosts with a subset that is defined more than once.",
	}
}

// Status gives the body of push_status for the newest state.
func Status(snap *state.Snapshot) PushStatus {
	j := PushStatus{}
	var before *state.ServiceState // services of one host follow each other
	for svc := range snap.Services() {
		d := svc.Definition()
		if d == nil {
			continue // no cluster is made for it, so there is nothing to find
		}
		for _, c := range svc.Candidates() {
			j.candidate(d.Key.Hostname, c)
		}
		if svc.EndpointCount() == 0 {
			j.empty(d)
		}
		if before != nil && before.Key.Hostname == svc.Key.Hostname {
			j.twice(before.Definition(), d)
		}
		before = svc
	}
	j.subsets(snap)
	j.domains(snap)
	j.inbound(snap)
	return j
}

// nothingPushed is not istiod's.
const nothingPushed = "nothing_pushed"

// Unpushed adds, by object, why its last change caused no push. The transitions are
// in the order of their numbers.
func (j PushStatus) Unpushed(list []*journal.Transition) {
	for _, t := range list {
		for i := range t.Causes {
			if key := t.Causes[i].Key.String(); t.Push.Scope.Type == state.PushNone {
				j.add(nothingPushed, key, t.Push.Because)
			} else {
				delete(j[nothingPushed], key)
			}
		}
	}
	if len(j[nothingPushed]) == 0 {
		delete(j, nothingPushed)
	}
}

func (j PushStatus) candidate(host model.Hostname, c *model.Candidate) {
	switch {
	case c.Reason == model.ReasonPodNotSeen || c.Reason == model.ReasonPodGone:
		j.add(metricNoIP, c.Address, c.Reason.Text())
		j.add(metricNoPod, string(host), c.Address)
	case c.Reason == model.ReasonWorkloadNotReady || (c.Endpoint != nil && c.Endpoint.Health == model.UnHealthy):
		j.add(metricNotReady, c.Address, model.ReasonUnhealthy.Text())
	}
}

func (j PushStatus) empty(d *model.Service) {
	metric := ""
	switch d.Resolution {
	case model.ClientSideLB:
		metric = metricNoInstances
	case model.DNSLB, model.DNSRoundRobinLB, model.DynamicDNS:
		metric = metricDNSEmpty
	case model.Passthrough, model.Alias:
		return // clients of these need none
	}
	for _, p := range d.Ports {
		j.add(metric, cds.Name(p.Number, "", d.Key.Hostname), "no endpoints")
	}
}

// twice finds the clusters that two definitions of a host would make.
func (j PushStatus) twice(a, b *model.Service) {
	for _, p := range b.Ports {
		if _, ok := a.Port(p.Number); ok {
			j.add(metricClusters, cds.Name(p.Number, "", b.Key.Hostname),
				fmt.Sprintf("defined in the namespaces %s and %s; a proxy uses one of the two", a.Key.Namespace, b.Key.Namespace))
		}
	}
}

// subsets finds those that do not count, as the rules for the host have one of the
// name before.
func (j PushStatus) subsets(snap *state.Snapshot) {
	overlays, _ := scope.Overlays(snap)
	for _, o := range overlays {
		if o.Subset != nil {
			j.add(metricSubsets, string(o.Host), "subset "+o.Subset.GetName()+" is defined more than once in namespace "+o.Rule.Namespace+"; the oldest counts")
		}
	}
}

// domains finds the hosts for which several VirtualServices of the mesh are visible
// to all.
func (j PushStatus) domains(snap *state.Snapshot) {
	of := map[string]string{}
	for c := range snap.Configs(model.KindVirtualService) {
		vs, ok := c.Object.(*networkingv1.VirtualService)
		if !ok || !scope.ForMesh(vs.Spec.GetGateways()) || !scope.VirtualServiceExports(snap.Mesh, vs).Public() {
			continue // of gateways, or of some namespaces
		}
		name := c.Key.Namespace + "/" + c.Key.Name
		for _, h := range vs.Spec.GetHosts() {
			host := string(scope.Qualify(h, c.Key.Namespace, snap.Mesh.DomainSuffix))
			if by, ok := of[host]; ok {
				j.add(metricDomains, host, "VirtualServices "+by+" and "+name+" are for this host; the older one counts")
				continue
			}
			of[host] = name
		}
	}
}

// inbound finds the ports of workloads which services use with different protocols.
func (j PushStatus) inbound(snap *state.Snapshot) {
	var scopes scope.Cache
	for p := range snap.Proxies() {
		byPort := map[uint32]cds.Target{}
		for _, t := range cds.Targets(scopes.For(snap, p).DefinitionsIn(p.Namespace), snap, p) {
			first, ok := byPort[t.TargetPort]
			if !ok {
				byPort[t.TargetPort] = t
				continue
			}
			if first.Definition.Key != t.Definition.Key && first.Port.Protocol != t.Port.Protocol {
				j.put(metricInboundConflict, p.ID, PushEvent{Proxy: p.ID, Message: fmt.Sprintf("port %d is %s for %s and %s for %s",
					t.TargetPort, first.Port.Protocol, first.Definition.Key.Hostname, t.Port.Protocol, t.Definition.Key.Hostname)})
			}
		}
	}
}

func (j PushStatus) add(metric, key, message string) {
	j.put(metric, key, PushEvent{Message: message})
}

func (j PushStatus) put(metric, key string, e PushEvent) {
	if j[metric] == nil {
		j[metric] = map[string]PushEvent{}
	}
	j[metric][key] = e
}
