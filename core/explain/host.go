package explain

import (
	"slices"
	"strings"

	networking "istio.io/api/networking/v1alpha3"
	networkingv1 "istio.io/client-go/pkg/apis/networking/v1"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/scope"
	"github.com/edsight/edsight/core/state"
)

const meshConfigMap = "istio"

// meshObject is the ConfigMap with the mesh configuration.
func (x *inquiry) meshObject() model.ObjectKey {
	return model.ObjectKey{Kind: model.KindConfigMap, Namespace: x.snap.Mesh.SystemNamespace, Name: meshConfigMap}
}

// kubeHost takes a host of a Kubernetes Service apart.
func (x *inquiry) kubeHost() (namespace, name string, ok bool) {
	rest, ok := strings.CutSuffix(string(x.q.Host), ".svc."+x.snap.Mesh.DomainSuffix)
	if !ok {
		return "", "", false
	}
	name, namespace, ok = strings.Cut(rest, ".")
	return namespace, name, ok
}

// noService says that nothing which the asker may see defines the host, and what
// comes close.
func (x *inquiry) noService() finding {
	if f, ok := x.undiscovered(); ok {
		return f
	}
	f := finding{cause: NoService, step: StepService, remedy: "create the ServiceEntry for " + string(x.q.Host) + ", or correct the host"}
	f.why = "no Service and no ServiceEntry has the host " + string(x.q.Host)
	if ns, name, ok := x.kubeHost(); ok {
		f.why = "there is no Service " + name + " in namespace " + ns + ", and no ServiceEntry has the host " + string(x.q.Host)
		f.remedy = "create Service " + ns + "/" + name
		f.evidence = append(f.evidence, Evidence{Object: model.ObjectKey{Kind: model.KindService, Namespace: ns, Name: name}, Field: "metadata.name", Want: name, Have: "absent"})
	}
	if source := x.sliceWithoutService(); source != nil {
		f.object = *source
		f.why += "; " + x.name(*source) + " names it in " + model.LabelServiceName
		f.remedy += ", or correct the label"
	} else if gone, ok := x.deletedDefinition(); ok {
		f.why += " any more: " + x.name(gone) + " was deleted"
	}
	if near := x.similarHosts(); near != "" {
		f.why += "; there is " + near
	}
	return f
}

// undiscovered tells whether the host is defined in a namespace which the mesh's
// discoverySelectors leave out: the object is there, and the registry is without
// it.
func (x *inquiry) undiscovered() (finding, bool) {
	if len(x.snap.Mesh.Config.GetDiscoverySelectors()) == 0 {
		return finding{}, false
	}
	object, ok := x.definingObject()
	if !ok || !x.allowed(object.Namespace) {
		return finding{}, false
	}
	selectors := make([]string, 0, len(x.snap.Mesh.Config.GetDiscoverySelectors()))
	for _, s := range x.snap.Mesh.Config.GetDiscoverySelectors() {
		text := labelText(s.GetMatchLabels())
		for _, e := range s.GetMatchExpressions() {
			text = strings.TrimPrefix(text+", ", "no labels, ") + e.GetKey() + " " + e.GetOperator() + " (" + strings.Join(e.GetValues(), ", ") + ")"
		}
		selectors = append(selectors, text)
	}
	ns := model.ObjectKey{Kind: model.KindNamespace, Name: object.Namespace}
	labels := "no labels"
	if o := x.object(model.ObjectKey{Cluster: object.Cluster, Kind: model.KindNamespace, Name: object.Namespace}); o != nil {
		labels = labelText(o.GetLabels())
	}
	want := strings.Join(selectors, " or ")
	return finding{
		cause: NamespaceNotDiscovered, step: StepService, object: ns,
		why: x.name(ns) + " has " + labels + ", and the discoverySelectors of " + x.name(x.meshObject()) + " take in only " + want +
			": " + x.name(object) + " does not exist for the mesh",
		remedy: "label namespace " + ns.Name + " with " + selectors[0],
		evidence: []Evidence{
			{Object: ns, Field: "metadata.labels", Want: want, Have: labels},
			{Object: x.meshObject(), Field: "discoverySelectors", Have: want},
		},
	}, true
}

// definingObject is the Service or ServiceEntry of the host, whether or not the
// registry knows it.
func (x *inquiry) definingObject() (model.ObjectKey, bool) {
	if ns, name, ok := x.kubeHost(); ok {
		key := model.ObjectKey{Cluster: x.proxy.Cluster, Kind: model.KindService, Namespace: ns, Name: name}
		if x.object(key) != nil {
			return key, true
		}
	}
	found, ok := model.ObjectKey{}, false
	if x.opts.Objects == nil {
		return found, ok
	}
	for key, o := range x.opts.Objects.All() {
		e, is := o.(*networkingv1.ServiceEntry)
		if is && slices.Contains(e.Spec.GetHosts(), string(x.q.Host)) && (!ok || key.Compare(found) < 0) {
			found, ok = key, true
		}
	}
	return found, ok
}

// sliceWithoutService is an object that offers candidates for a host that nothing
// defines: of those with the address, else the first.
func (x *inquiry) sliceWithoutService() *model.ObjectKey {
	var first *model.ObjectKey
	for svc := range x.snap.ServicesOf(x.q.Host) {
		if !x.allowed(svc.Key.Namespace) || len(svc.Definitions) > 0 {
			continue
		}
		for _, c := range svc.Candidates() {
			if x.asked(c) {
				return c.Source
			}
			if first == nil {
				first = c.Source
			}
		}
	}
	return first
}

// similarHosts names a host that comes close: of the same name in another
// namespace, the whole name of a short one, or a wildcard that covers it.
func (x *inquiry) similarHosts() string {
	_, name, ok := x.kubeHost()
	if !ok {
		name = string(x.q.Host)
	}
	for svc := range x.snap.Services() {
		h := string(svc.Key.Hostname)
		if svc.Definition() == nil || !x.allowed(svc.Key.Namespace) || svc.Key.Hostname == x.q.Host {
			continue // no definition, or not to be seen
		}
		if wildcard, is := strings.CutPrefix(h, "*."); is && strings.HasSuffix(string(x.q.Host), "."+wildcard) {
			return h + " of " + x.name(svc.Definition().Object) + ", whose cluster has the wildcard as its name"
		}
		if strings.HasPrefix(h, name+".") {
			return h
		}
	}
	return ""
}

// alias says that an ExternalName has no endpoints of its own.
func (x *inquiry) alias(d *model.Service) finding {
	f := finding{
		cause: ExternalNameAlias, step: StepCluster, object: d.Object,
		why: x.name(d.Object) + " is of type ExternalName, an alias for " + d.ExternalName + ": there is no cluster for it",
		evidence: []Evidence{
			{Object: d.Object, Field: "spec.externalName", Have: d.ExternalName},
			{Object: d.Object, Field: "spec.ports", Want: number(x.q.Port), Have: portsText(d.Ports)},
		},
		remedy: "look at the target's name, " + d.ExternalName + ":" + number(x.q.Port),
	}
	if _, ok := d.Port(x.q.Port); !ok {
		f.why += ", and port " + number(x.q.Port) + " is not among its ports (" + portsText(d.Ports) + ")"
	}
	return f
}

// notExported says that exportTo keeps a definition from the proxy's namespace.
func (x *inquiry) notExported(d *model.Service) finding {
	f := finding{cause: ExportTo, step: StepScope, object: d.Object}
	field := "spec.exportTo"
	if d.Provider == model.ProviderKubernetes {
		field = "the annotation " + model.AnnotationExportTo
	}
	object, to := d.Object, strings.Join(d.ExportTo, ", ")
	if len(d.ExportTo) == 0 {
		object, field = x.meshObject(), "defaultServiceExportTo"
		to = strings.Join(x.snap.Mesh.Config.GetDefaultServiceExportTo(), ", ")
		f.object = object
		f.why = x.name(d.Object) + " has no exportTo of its own, and defaultServiceExportTo of " + x.name(object) + " is " + quoteExport(to, d.Key.Namespace)
	} else {
		f.why = x.name(d.Object) + " has " + strings.TrimPrefix(field, "spec.") + " " + quoteExport(to, d.Key.Namespace)
	}
	f.why += ", which leaves out namespace " + x.proxy.Namespace + " of the proxy"
	f.remedy = "add " + x.proxy.Namespace + " or * to exportTo of " + x.name(d.Object)
	return f.with(Evidence{Object: object, Field: field, Want: x.proxy.Namespace + " or *", Have: to})
}

func quoteExport(to, namespace string) string {
	switch to {
	case ".":
		return `"." (only its own namespace, ` + namespace + ")"
	case "~":
		return `"~" (nobody)`
	}
	return `"` + to + `"`
}

// outsideSidecar says that no egress host of the Sidecar, or no listener's port,
// lets the proxy see a definition.
func (x *inquiry) outsideSidecar(d *model.Service) finding {
	key := x.scope.Key.Sidecar
	egress := []string{}
	if x.scope.Sidecar != nil {
		egress = egressText(x.scope.Sidecar.Spec.GetEgress())
	}
	have := strings.Join(egress, "; ")
	want := d.Key.Namespace + "/" + string(d.Key.Hostname)
	f := finding{
		cause: SidecarScope, step: StepScope, object: key,
		why: x.name(key) + " of this proxy has the egress hosts " + have + ", and none imports port " + number(x.q.Port) + " of " + x.name(d.Object) +
			" (" + want + ", ports " + portsText(d.Ports) + ")",
		remedy:   "add " + d.Key.Namespace + "/* or " + want + " to an egress listener without port, or with port " + number(x.q.Port) + ", of " + x.name(key),
		evidence: []Evidence{{Object: key, Field: "spec.egress.hosts", Want: want, Have: have}},
	}
	return f
}

// egressText lists the hosts of each listener, with its port if it has one.
func egressText(listeners []*networking.IstioEgressListener) []string {
	out := make([]string, 0, len(listeners))
	for _, l := range listeners {
		text := strings.Join(l.GetHosts(), ", ")
		if p := l.GetPort().GetNumber(); p != 0 {
			text += " (port " + number(p) + ")"
		}
		out = append(out, text)
	}
	return out
}

// lostHostname says that another definition of the host is used, and by which
// rule.
func (x *inquiry) lostHostname(e scope.Excluded) finding {
	winner := e.By
	if winner == nil {
		winner = e.Definition
		if x.imp != nil {
			winner = x.imp.Definition
		}
	}
	rule := e.Why.Text()
	if x.imp != nil {
		rule = wonBecause(x.imp, winner, e)
	}
	f := finding{
		cause: LostHostname, step: StepDefinition, object: winner.Object,
		why: string(x.q.Host) + " is defined by " + x.name(e.Definition.Object) + " and by " + x.name(winner.Object) + ", and this proxy in namespace " +
			x.proxy.Namespace + " uses that of namespace " + winner.Key.Namespace + ", as " + rule,
		remedy: "give one of the two another host, or put into " + x.name(winner.Object) + " what " + x.name(e.Definition.Object) + " has",
		evidence: []Evidence{
			{Object: winner.Object, Field: "definition in use", Want: e.Definition.Object.String(), Have: winner.Object.String()},
			{Object: winner.Object, Field: "ports", Have: portsText(winner.Ports)},
			{Object: e.Definition.Object, Field: "ports", Have: portsText(e.Definition.Ports)},
		},
	}
	if _, ok := winner.Port(x.q.Port); !ok {
		f.why += "; " + x.name(winner.Object) + " has no port " + number(x.q.Port)
	}
	return f
}

// definitionsOf are all definitions of the host in the namespace of the one in
// use.
func (x *inquiry) definitionsOf(key model.ServiceKey) []*model.Service {
	var svc *state.ServiceState
	if svc = x.snap.Service(key); svc == nil {
		return nil
	}
	return svc.Definitions
}
