package explain

import (
	"cmp"
	"slices"
	"strings"

	networkingv1 "istio.io/client-go/pkg/apis/networking/v1"
	corev1 "k8s.io/api/core/v1"

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
	return namespace, name, ok && name != "*" && !strings.Contains(namespace, ".")
}

// noService says that nothing which the asker may see defines the host, and what
// comes close.
func (x *inquiry) noService() finding {
	for _, special := range []func() (finding, bool){x.undiscovered, x.notImportedToSet} {
		if f, ok := special(); ok {
			return f
		}
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
	} else if gone, ok := x.formerDefinition(); ok {
		f.why += " any more: " + x.name(gone) + " was deleted"
		if e := config[*networkingv1.ServiceEntry](x, &gone); e != nil {
			f.object = gone
			f.why = strings.TrimSuffix(f.why, "was deleted") + "had it, and has only " + and(e.Spec.GetHosts()) + " now"
			f.remedy += ", or add the host to " + x.name(gone)
		}
	}
	if near, sure := x.similarHosts(); len(near) > 0 {
		f.why += "; there " + verb(len(near), "is ", "are ") + and(near)
		if ask := "ask for " + verb(len(near), "that host", "one of these hosts"); sure {
			f.remedy = ask
		} else {
			f.remedy += ", or " + ask
		}
	} else if other := x.serviceWithAddress(); other != "" {
		f.why += "; " + x.q.Address + " is an address of " + other
	}
	if key, ok := x.entryOfCluster(); ok {
		f.object = key
		f.why += "; " + x.nameIn(key) + " has the host, and Istio objects of that cluster are not read"
		f.remedy = "create it in the cluster whose configuration is read"
	}
	return f
}

// entryOfCluster is a ServiceEntry with the host that the registry does not read.
func (x *inquiry) entryOfCluster() (model.ObjectKey, bool) {
	for _, key := range x.objects.with(x.opts, model.KindServiceEntry, string(x.q.Host)) {
		if x.snap.Service(model.ServiceKey{Hostname: x.q.Host, Namespace: key.Namespace}).Definition() == nil && x.allowed(key.Namespace) {
			return key, true
		}
	}
	return model.ObjectKey{}, false
}

// serviceWithAddress is another service that the address is offered for.
func (x *inquiry) serviceWithAddress() string {
	for _, o := range x.slicesWith() {
		if o.service.Hostname != "" && o.service.Hostname != x.q.Host {
			return string(o.service.Hostname)
		}
	}
	return ""
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
	f := x.leftOut(model.ObjectKey{Cluster: object.Cluster, Kind: model.KindNamespace, Name: object.Namespace})
	f.why += ": " + x.name(object) + " does not exist for the mesh"
	return f, true
}

// leftOut says that the mesh's discoverySelectors leave out a namespace.
func (x *inquiry) leftOut(namespace model.ObjectKey) finding {
	selectors := make([]string, 0, len(x.snap.Mesh.Config.GetDiscoverySelectors()))
	for _, s := range x.snap.Mesh.Config.GetDiscoverySelectors() {
		text := labelText(s.GetMatchLabels())
		for _, e := range s.GetMatchExpressions() {
			text = strings.TrimPrefix(text+", ", "no labels, ") + e.GetKey() + " " + e.GetOperator() + " (" + strings.Join(e.GetValues(), ", ") + ")"
		}
		selectors = append(selectors, text)
	}
	want, labels := strings.Join(selectors, " or "), "no labels"
	if o := x.object(namespace); o != nil {
		labels = labelText(o.GetLabels())
	}
	return finding{
		cause: NamespaceNotDiscovered, step: StepService, object: namespace, remedy: x.discover(namespace),
		why: x.name(namespace) + " has " + labels + ", and the discoverySelectors of " + x.name(x.meshObject()) + " take in only " + want,
		evidence: []Evidence{
			{Object: namespace, Field: "metadata.labels", Want: want, Have: labels},
			{Object: x.meshObject(), Field: "discoverySelectors", Have: want},
		},
	}
}

// discover says how the mesh's discoverySelectors would take a namespace in: by labels
// that one of them wants and a namespace can be given, else by one more of them.
func (x *inquiry) discover(namespace model.ObjectKey) string {
	for _, s := range x.snap.Mesh.Config.GetDiscoverySelectors() {
		_, fixed := s.GetMatchLabels()[corev1.LabelMetadataName]
		if len(s.GetMatchLabels()) > 0 && len(s.GetMatchExpressions()) == 0 && !fixed {
			return "label " + x.name(namespace) + " with " + labelText(s.GetMatchLabels())
		}
	}
	return "add a selector that takes " + x.name(namespace) + " in to the discoverySelectors of " + x.name(x.meshObject()) + ", or change the namespace's labels"
}

// definingObject is the Service or ServiceEntry of the host, whether or not the
// registry knows it. Of Services in several clusters that of the proxy's is taken, else
// the first.
func (x *inquiry) definingObject() (model.ObjectKey, bool) {
	if ns, name, ok := x.kubeHost(); ok && x.opts.Objects != nil {
		var found []model.ObjectKey
		for key := range x.opts.Objects.All() {
			if key.Kind == model.KindService && key.Namespace == ns && key.Name == name {
				found = append(found, key)
			}
		}
		if len(found) > 0 {
			return slices.MinFunc(found, func(a, b model.ObjectKey) int {
				return cmp.Or(cmp.Compare(x.abroad(a), x.abroad(b)), a.Compare(b))
			}), true
		}
	}
	for _, key := range x.objects.with(x.opts, model.KindServiceEntry, string(x.q.Host)) {
		return key, true
	}
	return model.ObjectKey{}, false
}

// abroad is 1 for what is in another cluster than the proxy.
func (x *inquiry) abroad(key model.ObjectKey) int {
	if key.Cluster == x.proxy.Cluster {
		return 0
	}
	return 1
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

// alias says that an ExternalName has no endpoints of its own.
func (x *inquiry) alias(d *model.Service) finding {
	f := finding{
		cause: ExternalNameAlias, step: StepCluster, object: d.Object,
		why: x.name(d.Object) + " has type: ExternalName (externalName: " + d.ExternalName + "), an alias: there is no cluster for it",
		evidence: []Evidence{
			{Object: d.Object, Field: "spec.externalName", Have: d.ExternalName},
			{Object: d.Object, Field: "spec.ports", Want: number(x.q.Port), Have: portsText(d.Ports)},
		},
		remedy: "look at the target's name, " + d.ExternalName + ":" + number(x.q.Port),
	}
	if _, ok := d.Port(x.q.Port); !ok {
		f.why += ", and port " + number(x.q.Port) + " is not among its ports (" + portsText(d.Ports) + ")"
	}
	for _, other := range x.definitionsOf(d.Key) {
		if other.Object != d.Object && x.mayName(other.Object) {
			f.why += "; " + x.name(other.Object) + " has the same host, and the Service goes before it"
		}
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
		f.why = x.name(d.Object) + " has no exportTo of its own, and " + x.name(object) + " has defaultServiceExportTo: " + quoteExport(to, d.Key.Namespace)
	} else {
		f.why = x.name(d.Object) + " has " + strings.TrimPrefix(field, "spec.") + ": " + quoteExport(to, d.Key.Namespace)
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

// defines tells whether anything that the asker may see defines a host.
func (x *inquiry) defines(host model.Hostname) bool {
	for svc := range x.snap.ServicesOf(host) {
		if svc.Definition() != nil && x.allowed(svc.Key.Namespace) {
			return true
		}
	}
	return false
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
