package explain

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"

	"github.com/edsight/edsight/core/model"
)

// portMismatch is about the name of the endpoint's port.
func (x *inquiry) portMismatch() finding {
	c, d, port := x.candidate, x.imp.Definition, x.cluster.Port
	f := finding{cause: causeOf(x.reason), step: StepPortName, object: *c.Source}
	switch {
	case x.reason == model.ReasonAddressNotIP:
		f.why = x.name(*c.Source) + " offers " + c.Address + ", which is a name, and the cluster takes IP addresses only"
		f.remedy = "use an IP address"
		if d.Provider == model.ProviderExternal {
			f.remedy += ", or resolution DNS in " + x.name(d.Object)
		}
		return f.with(Evidence{Object: *c.Source, Field: "address", Want: "an IP address", Have: c.Address})
	case c.Endpoint == nil && port.TargetPortName != "":
		f.why = x.name(*c.Source) + " has no port named " + portName(port.TargetPortName) + ", which is the targetPort of port " + number(port.Number) + " (" + portName(port.Name) + ") of " + x.name(d.Object)
		f.remedy = "add " + port.TargetPortName + " to the ports of " + x.name(*c.Source)
		return f.with(Evidence{Object: *c.Source, Field: "spec.ports", Want: port.TargetPortName, Have: "absent"})
	}
	have := x.portsOf(c)
	quoted := make([]string, 0, len(have))
	for _, p := range have {
		quoted = append(quoted, portName(p.Name)+" at "+number(p.Number))
	}
	f.why = x.name(*c.Source) + " offers " + x.given() + " with the port name " + and(quoted) + ", and port " + number(port.Number) + " of " + x.name(d.Object) +
		" is named " + portName(port.Name) + ": endpoints are matched by port name"
	if other := x.offeredBy(c); other != nil {
		f.why += "; it is " + x.name(other.Object) + ", with ports " + portsText(other.Ports) + ", that selects it"
	}
	f.remedy = "give both ports the same name"
	if s := x.slice(c.Source); s != nil && s.Labels[discoveryv1.LabelManagedBy] == nativeController {
		f.remedy += ", or wait for " + x.name(*c.Source) + " to follow a change of " + x.name(d.Object)
	}
	if own, ok := d.PerCluster[x.shard.Cluster]; ok && own.Object != d.Object {
		if p, ok := own.Port(port.Number); !ok || p.Name != port.Name {
			f.why += "; " + x.nameIn(own.Object) + " has the ports " + portsText(own.Ports) + ", and those of cluster " + string(d.Object.Cluster) + " count"
			f.remedy = "give the Services of both clusters the same ports"
		}
	}
	f = x.unresolved(f)
	return f.with(
		Evidence{Object: *c.Source, Field: "ports.name", Want: port.Name, Have: portsText(have)},
		Evidence{Object: d.Object, Field: "spec.ports.name", Have: portsText(d.Ports)},
	)
}

// offeredBy is another definition of the host in the same namespace, if it is by its
// selector that the candidate is there.
func (x *inquiry) offeredBy(c *model.Candidate) *model.Service {
	if c.Endpoint == nil || c.Source.Kind == model.KindEndpointSlice || c.Source.Kind == model.KindServiceEntry {
		return nil
	}
	for _, d := range x.definitionsOf(x.imp.Definition.Key) {
		named := func(p model.Port) bool { return p.Name == c.PortName }
		if d.Object != x.imp.Definition.Object && len(d.Selector) > 0 && d.Selector.SubsetOf(c.Endpoint.Workload.Labels) && slices.ContainsFunc(d.Ports, named) {
			return d
		}
	}
	return nil
}

// unresolved adds that the targetPort is a name that the Pod has no port of, if so.
func (x *inquiry) unresolved(f finding) finding {
	c, name := x.candidate, x.cluster.Port.TargetPortName
	if name == "" || !x.lacksPort(name) {
		return f
	}
	f.why += "; " + x.name(*c.Target) + " has no port named " + portName(name) + ", which is the targetPort, so no slice can list it"
	f.remedy = "call a port of the containers of " + x.name(*c.Target) + " " + portName(name) + ", or correct targetPort in " + x.name(x.imp.Definition.Object)
	return f.with(Evidence{Object: *c.Target, Field: "spec.containers.ports.name", Want: name, Have: "absent"})
}

// lacksPort tells whether the candidate's Pod is known and none of its containers
// has a port of that name.
func (x *inquiry) lacksPort(name string) bool {
	pod := x.pod(x.candidate.Target)
	return pod != nil && !slices.ContainsFunc(pod.Spec.Containers, func(c corev1.Container) bool {
		return slices.ContainsFunc(c.Ports, func(p corev1.ContainerPort) bool { return p.Name == name })
	})
}

// portsOf are the ports at which the candidate's source offers its address.
func (x *inquiry) portsOf(c *model.Candidate) []model.Port {
	var out []model.Port
	for _, o := range x.service.Candidates() {
		if *o.Source == *c.Source && o.Address == c.Address {
			out = append(out, model.Port{Name: o.PortName, Number: o.Port})
		}
	}
	return out
}

// behind is the workload's object, or else the source.
func (x *inquiry) behind() model.ObjectKey {
	c := x.candidate
	switch {
	case c.Target != nil:
		return *c.Target
	case c.Endpoint != nil && c.Endpoint.Workload != nil && c.Endpoint.Workload.Object.Name != "":
		return c.Endpoint.Workload.Object
	}
	return *c.Source
}

// listed says by whom the address is offered and what is behind it; of an endpoint that is
// there that is said already.
func (x *inquiry) listed() string {
	c := x.candidate
	if x.sent != nil {
		return "the endpoint"
	}
	b, d := x.behind(), x.imp.Definition.Object
	switch {
	case c.Source.Kind == model.KindEndpointSlice && b != *c.Source:
		return x.given() + " (" + x.name(*c.Source) + ", " + x.name(b) + ")"
	case c.Source.Kind != model.KindEndpointSlice && *c.Source != d:
		return x.given() + " (" + x.name(*c.Source) + ", selected by " + x.name(d) + ")"
	}
	return x.given() + " (" + x.name(*c.Source) + ")"
}

func (x *inquiry) subsetLabels() finding {
	w := x.candidate.Endpoint.Workload
	wanted := model.Labels{}
	maps.Insert(wanted, x.cluster.View.Subset.All())
	var wrong []string
	for _, m := range mismatches(wanted, w.Labels) {
		wrong = append(wrong, m.have)
	}
	rule := model.ObjectKey{}
	if x.rule != nil {
		rule = x.subsetRule()
	}
	f := finding{
		cause: SubsetLabels, step: StepLabels, object: rule,
		why:    "subset " + x.q.Subset + " of " + x.name(rule) + " wants " + labelText(wanted) + ", and " + x.listed() + " has " + strings.Join(wrong, ", "),
		remedy: "label " + x.name(x.behind()) + " with " + labelText(wanted) + ", or change the subset's labels",
	}
	if kind := x.behind().Kind; kind == model.KindEndpointSlice {
		f.why += ", as it is a bare address without Pod"
		f.remedy = "refer to a Pod with " + labelText(wanted) + " in the targetRef of " + x.name(x.behind()) + ", or change the subset's labels"
	} else if kind == model.KindServiceEntry {
		f.remedy = "give the endpoint the labels " + labelText(wanted) + " in " + x.name(x.behind()) + ", or change the subset's labels"
	}
	for _, given := range []string{model.LabelCluster, model.LabelNetwork, model.LabelHostname, model.LabelRegion, model.LabelZone, model.LabelSubzone} {
		if want, ok := wanted[given]; ok && w.Labels[given] != want {
			f.remedy = "change the subset's labels: " + given + " is not the Pod's, it follows from where " + x.name(x.behind()) + " runs"
		}
	}
	for k, v := range x.cluster.View.Subset.All() {
		have, ok := w.Labels[k]
		if !ok {
			have = "absent"
		}
		f.evidence = append(f.evidence, Evidence{Object: x.behind(), Field: "labels[" + k + "]", Want: k + "=" + v, Have: have})
		if pod := x.pod(x.candidate.Target); pod != nil && pod.Labels[k] != w.Labels[k] {
			f.evidence = append(f.evidence, Evidence{Object: x.behind(), Field: "labels[" + k + "] of the Pod now", Want: v, Have: pod.Labels[k]})
		}
	}
	return f
}

// otherPlace is about nodes, clusters and network views.
func (x *inquiry) otherPlace() finding {
	d, w := x.imp.Definition, x.candidate.Endpoint.Workload
	f := finding{cause: causeOf(x.reason), step: StepPlace, object: d.Object}
	place := func(what, want, have string) finding {
		return f.with(Evidence{Object: x.behind(), Field: what, Want: want, Have: have})
	}
	switch x.reason { //nolint:exhaustive // called for these only
	case model.ReasonNodeLocal:
		f.why = x.name(d.Object) + " has internalTrafficPolicy: Local, and " + x.listed() + " is on node " + orNone(w.Node) + " while the proxy is on node " + orNone(x.proxy.Node)
		if w.Node == x.proxy.Node {
			f.why += " of another cluster (" + string(x.shard.Cluster) + ", not " + string(x.proxy.Cluster) + ")"
		}
		f.remedy = "set internalTrafficPolicy of " + x.name(d.Object) + " to Cluster, or run an endpoint on node " + orNone(x.proxy.Node)
		return place("spec.nodeName", x.proxy.Node, w.Node)
	case model.ReasonNetworkView:
		var view []string
		for n := range x.cluster.View.NetworkView.All() {
			view = append(view, n)
		}
		f.object = x.proxy.Pod
		f.why = x.listed() + " is in " + networkText(w.Network) + ", and " + x.name(x.proxy.Pod) + " asks for the endpoints of " + and(view) + " only (ISTIO_META_REQUESTED_NETWORK_VIEW)"
		f.remedy = "add " + string(w.Network) + " to ISTIO_META_REQUESTED_NETWORK_VIEW of the proxy"
		return place("network", and(view), string(w.Network))
	case model.ReasonClusterLocal:
		f.object = x.meshObject()
		f.why = string(x.q.Host) + " (" + x.name(d.Object) + ") is cluster-local (clusterLocal: true), " + x.clusterLocalRule() + ", and " + x.listed() + " is in cluster " + string(x.shard.Cluster) +
			" while the proxy is in cluster " + string(x.proxy.Cluster)
		f.remedy = "set clusterLocal to false for the host in serviceSettings of " + x.name(x.meshObject()) + ", or run endpoints in cluster " + string(x.proxy.Cluster)
		return place("cluster", string(x.proxy.Cluster), string(x.shard.Cluster))
	}
	return x.notDiscoverable(f)
}

// notDiscoverable says why endpoints stay in their cluster where services are
// exported by ServiceExports.
func (x *inquiry) notDiscoverable(f finding) finding {
	d, cluster := x.imp.Definition, string(x.shard.Cluster)
	export := model.ObjectKey{Cluster: x.shard.Cluster, Kind: model.KindServiceExport, Namespace: d.Key.Namespace, Name: d.Name}
	where := "cluster " + cluster + ", where " + x.listed() + " is, while the proxy is in cluster " + string(x.proxy.Cluster)
	if _, exported := x.snap.Config(export); exported && x.snap.Mesh.Features.ClusterLocalHosts {
		f.why = x.name(d.Object) + " is exported from " + where + "; but ENABLE_MCS_CLUSTER_LOCAL is on: hosts under " + x.snap.Mesh.DomainSuffix + " have the endpoints of the client's cluster only"
		f.remedy = "ask for " + d.Name + "." + d.Key.Namespace + ".svc.clusterset.local"
		return f.with(Evidence{Object: x.behind(), Field: "cluster", Want: string(x.proxy.Cluster), Have: cluster})
	}
	f.why = "service discovery by ServiceExport is on (ENABLE_MCS_SERVICE_DISCOVERY), and " + x.name(d.Object) + " is not exported from " + where
	f.remedy = "create a ServiceExport " + d.Key.Namespace + "/" + d.Name + " in cluster " + cluster
	return f.with(Evidence{Object: x.behind(), Field: "ServiceExport", Want: "in cluster " + cluster, Have: "absent"})
}

// clusterLocalRule says which setting makes the host cluster-local.
func (x *inquiry) clusterLocalRule() string {
	by := string(x.scope.ClusterLocalBy(x.q.Host))
	for _, s := range x.snap.Mesh.Config.GetServiceSettings() {
		if slices.Contains(s.GetHosts(), by) {
			return "as serviceSettings of " + x.name(x.meshObject()) + " say for " + by
		}
	}
	return "as the namespace is so by default"
}

func orNone(s string) string {
	if s == "" {
		return "(none)"
	}
	return s
}

// unhealthy is about readiness, termination and draining.
func (x *inquiry) unhealthy() finding {
	c, d := x.candidate, x.imp.Definition
	f := finding{cause: causeOf(x.reason), step: StepHealth, object: *c.Source}
	have := x.conditions(c)
	if have == "" && c.Endpoint != nil {
		have = c.Endpoint.Health.String()
	}
	unset := x.reason == model.ReasonTerminating && strings.Contains(have, "terminating=unset")
	if unset {
		have += " (what is unset counts as true)"
	}
	pod := x.pod(c.Target)
	if pod != nil {
		if ready, text := podReady(pod); !ready {
			have = strings.TrimPrefix(have+"; Pod "+text, "; ")
		}
	}
	switch x.reason { //nolint:exhaustive // called for these only
	case model.ReasonUnhealthy:
		f.why = x.listed() + " of " + x.name(d.Object) + " is not ready: " + have + x.unpushed()
		f.remedy = "look at the readiness of " + x.name(x.behind())
		if x.behind() == *c.Source && c.Source.Kind == model.KindEndpointSlice {
			f.remedy = "set ready of the address in " + x.name(*c.Source) + " once it serves"
		}
		return f.with(Evidence{Object: *c.Source, Field: "conditions", Want: "ready=true", Have: have})
	case model.ReasonTerminating:
		f.why = x.listed() + " of " + x.name(d.Object) + " is terminating"
		f.remedy = "wait for its replacement"
		switch {
		case c.Endpoint == nil: // selected, not listed
			f.object = x.behind()
			if pod != nil && pod.DeletionTimestamp != nil {
				have = "deletionTimestamp " + clock(pod.DeletionTimestamp.Time)
			}
		case d.PersistentSession:
			f.why += " and does not serve any more, so that its sessions are not kept either"
		case unset:
			f.remedy = "set ready of the address in " + x.name(*c.Source) + " once it serves, or serving and terminating to false if it is only not ready yet"
		default:
			f.remedy += ", or label " + x.name(d.Object) + " with " + model.LabelPersistentSession + " to keep sessions on it while it drains and serves"
		}
		if have != "" {
			f.why += ": " + have
		}
		return f.with(Evidence{Object: f.object, Field: "conditions", Want: "terminating=false", Have: have})
	}
	return x.draining(f, have)
}

func (x *inquiry) draining(f finding, have string) finding {
	d, w := x.imp.Definition, x.candidate.Endpoint.Workload
	f.why = x.listed() + " is draining (" + have + ")"
	field := "conditions"
	if w.Draining {
		f.object, field = x.behind(), "labels["+model.LabelDraining+"]"
		have = model.LabelDraining + "=" + w.Labels[model.LabelDraining]
		f.why = x.listed() + " is draining, as it has the label " + have
	}
	f.why += ", and " + x.name(d.Object) + " has no label " + model.LabelPersistentSession
	if d.PersistentSessionHeader {
		f.why += " (" + model.LabelPersistentSessionHeader + " alone does not keep it)"
	}
	f.remedy = "label " + x.name(d.Object) + " with " + model.LabelPersistentSession + "=<cookie> to keep sessions on it"
	if w.Draining {
		f.remedy = "take the label " + model.LabelDraining + " off " + x.name(x.behind()) + ", or " + f.remedy
	}
	return f.with(
		Evidence{Object: f.object, Field: field, Have: have},
		Evidence{Object: d.Object, Field: "metadata.labels[" + model.LabelPersistentSession + "]", Want: "a cookie's name", Have: "absent"},
	)
}
