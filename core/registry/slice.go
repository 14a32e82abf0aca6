package registry

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/state"
)

// targetPod is the Pod that a slice's endpoint refers to, nil if it refers to
// none.
func targetPod(e *discoveryv1.Endpoint, slice model.ObjectKey) *model.ObjectKey {
	if e.TargetRef == nil || e.TargetRef.Kind != "Pod" {
		return nil
	}
	return &model.ObjectKey{
		Cluster: slice.Cluster, Kind: model.KindPod,
		Namespace: e.TargetRef.Namespace, Name: e.TargetRef.Name,
	}
}

// sliceChunk makes the candidates of one slice. Def is the Kubernetes Service of
// the slice's cluster, nil if it is not there. A rejected slice gives candidates
// which all have the slice's reason.
func (w *World) sliceChunk(key model.ObjectKey, host model.Hostname, slice *discoveryv1.EndpointSlice, def *model.Service) *state.Chunk {
	chunk := &state.Chunk{Source: key, ResourceVersion: slice.ResourceVersion}
	ports := slice.Ports
	reason := w.sliceReason(key, slice, def)
	local := w.sameClusterOnly(key.Cluster, key.Namespace, slice.Labels[model.LabelServiceName], host, def)
	if len(ports) == 0 {
		ports = []discoveryv1.EndpointPort{{}}
	}
	families := w.bothFamilies(key, slice)
	for i := range slice.Endpoints {
		e := &slice.Endpoints[i]
		target := targetPod(e, key)
		health, sendUnhealthy := w.health(e.Conditions, def)
		for _, address := range e.Addresses {
			workload, found, why := w.resolve(key, target, address)
			addresses := []string{address}
			if families && target != nil && workload != nil {
				addresses, why = w.otherFamily(*target, slice.AddressType, addresses)
			}
			if reason != model.ReasonNone {
				why = reason
			}
			for j := range ports {
				c := &model.Candidate{Source: &chunk.Source, Target: found, Address: address, Reason: why}
				c.PortName, c.Port = slicePort(&ports[j])
				if why == model.ReasonNone {
					c.Endpoint = &model.Endpoint{
						Workload: workload, Addresses: addresses, PortName: c.PortName, Port: c.Port,
						Health: health, SendUnhealthy: sendUnhealthy, SameClusterOnly: local,
					}
				}
				chunk.Candidates = append(chunk.Candidates, c)
			}
		}
	}
	return chunk
}

// bothFamilies tells whether the Pods of a slice's Service are endpoints with both
// of their addresses: in a mesh of two families, if the Service is of both.
func (w *World) bothFamilies(key model.ObjectKey, slice *discoveryv1.EndpointSlice) bool {
	if !w.features.DualStack {
		return false
	}
	s := w.serviceOf(key.Cluster, key.Namespace, slice.Labels[model.LabelServiceName])
	return s != nil && len(s.Spec.ClusterIPs) > 1
}

// otherFamily gives the addresses of a Pod in a Service of both families; what the
// slice of IPv6 lists is among them already.
func (w *World) otherFamily(pod model.ObjectKey, family discoveryv1.AddressType, listed []string) ([]string, model.Reason) {
	all := w.podAddresses(pod, listed)
	if len(all) > 1 && family == discoveryv1.AddressTypeIPv6 {
		return listed, model.ReasonDuplicateAddress
	}
	return all, model.ReasonNone
}

// podAddresses are all of a Pod's in a mesh of two families, else the listed ones.
func (w *World) podAddresses(key model.ObjectKey, listed []string) []string {
	if pod := podOf(w.objects[key]); w.features.DualStack && pod != nil && len(pod.Status.PodIPs) > 1 {
		return podIPs(pod)
	}
	return listed
}

// sliceReason says why a whole slice gives no endpoints.
func (w *World) sliceReason(key model.ObjectKey, slice *discoveryv1.EndpointSlice, def *model.Service) model.Reason {
	switch {
	case slice.Labels[model.LabelServiceName] == "":
		return model.ReasonNoServiceName
	case hasLabel(slice.Labels, model.LabelMultiClusterService):
		return model.ReasonSliceKindIgnored
	case slice.AddressType == discoveryv1.AddressTypeFQDN:
		return model.ReasonFQDNSlice
	case !w.discovered(key.Cluster, key.Namespace):
		return model.ReasonNamespaceNotDiscovered
	case def != nil && def.Hidden():
		return model.ReasonNotVisible
	case len(slice.Ports) == 0:
		return model.ReasonSliceWithoutPorts
	}
	return model.ReasonNone
}

func hasLabel(labels map[string]string, key string) bool {
	_, ok := labels[key]
	return ok
}

// resolve finds the workload behind an address: the Pod of the targetRef if
// there is one, else the Pod that has the address, else a bare one.
func (w *World) resolve(slice model.ObjectKey, target *model.ObjectKey, address string) (*model.Workload, *model.ObjectKey, model.Reason) {
	if target != nil {
		pod := podOf(w.objects[*target])
		if pod == nil {
			return nil, target, model.ReasonPodNotSeen
		}
		return w.inNetworkOf(address, w.workload(*target, pod)), target, model.ReasonNone
	}
	if key, pod := w.podByIP(slice.Cluster, slice.Namespace, address); pod != nil {
		return w.workload(key, pod), &key, model.ReasonNone
	}
	return w.bareWorkload(slice.Cluster, address), nil, model.ReasonNone
}

// inNetworkOf puts a workload whose network is not known into that of the address, which
// need not be the one by which the Pod is known.
func (w *World) inNetworkOf(address string, of *model.Workload) *model.Workload {
	if of.Network != "" {
		return of
	}
	network := w.networkOfAddress(address)
	if network == "" {
		return of
	}
	out := *of
	out.Network, out.Labels = network, maps.Clone(of.Labels)
	out.Labels[model.LabelNetwork] = string(network)
	return &out
}

// health of an endpoint by its conditions, and whether it is sent while it is
// unhealthy; an absent condition counts as true. Def is nil while the Service is
// not there.
func (w *World) health(c discoveryv1.EndpointConditions, def *model.Service) (model.HealthStatus, bool) {
	sendUnhealthy := w.features.SendUnhealthy || def != nil && def.TrafficDistribution != model.DistributionAny
	is := func(b *bool) bool { return b == nil || *b }
	switch {
	case is(c.Ready):
		return model.Healthy, sendUnhealthy
	case def == nil:
		return model.UnHealthy, w.features.SendUnhealthy
	case (def.PersistentSession || def.PersistentSessionHeader) && is(c.Serving) && is(c.Terminating):
		return model.Draining, sendUnhealthy
	case is(c.Terminating):
		return model.Terminating, sendUnhealthy
	}
	return model.UnHealthy, sendUnhealthy
}

func slicePort(p *discoveryv1.EndpointPort) (string, uint32) {
	name, number := "", uint32(0)
	if p.Name != nil {
		name = *p.Name
	}
	if p.Port != nil && *p.Port > 0 {
		number = uint32(*p.Port)
	}
	return name, number
}

// serviceOf returns the Kubernetes Service of one cluster, nil if it is not
// there or not discovered.
func (w *World) serviceOf(cluster model.ClusterID, namespace, name string) *corev1.Service {
	if !w.discovered(cluster, namespace) {
		return nil
	}
	s, _ := w.objects[model.ObjectKey{Cluster: cluster, Kind: model.KindService, Namespace: namespace, Name: name}].(*corev1.Service)
	return s
}
