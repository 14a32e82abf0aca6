package explain

import (
	"slices"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/scope"
)

// byRoute tells of a service that is in scope by a VirtualService only.
func (x *inquiry) byRoute() (finding, bool) {
	if !x.imported() {
		return finding{}, false
	}
	sidecar := x.scope.Key.Sidecar
	return finding{
		cause: ImportedByVirtualService, step: StepScope, object: x.imp.Via,
		why:      "no egress host of " + x.name(sidecar) + " names " + x.name(x.imp.Definition.Object) + "; it is imported only as " + x.name(x.imp.Via) + ", which is in scope, sends requests to it",
		remedy:   "name " + x.imp.Definition.Key.Namespace + "/" + string(x.q.Host) + " in the Sidecar, so as not to depend on the VirtualService",
		evidence: []Evidence{{Object: x.imp.Via, Field: "destinations", Have: string(x.q.Host)}},
	}, true
}

// joined tells of an endpoint of a ServiceEntry in the cluster of another object
// with the same host and namespace.
func (x *inquiry) joined() (finding, bool) {
	c, d := x.candidate, x.imp.Definition
	entry := *c.Source
	if entry.Kind != model.KindServiceEntry || entry == d.Object || len(x.excludedAs(scope.WhyMerged)) > 0 {
		if x.shard.Provider != model.ProviderExternal || d.Provider != model.ProviderKubernetes {
			return finding{}, false
		}
	}
	if entry.Kind != model.KindServiceEntry {
		for _, o := range x.definitionsOf(d.Key) {
			if o.Provider == model.ProviderExternal {
				entry = o.Object
			}
		}
	}
	return finding{
		cause: EndpointsJoined, step: StepDefinition, object: entry,
		why: "the endpoints of " + x.name(entry) + " join the cluster of " + x.name(d.Object) + ", which has the same host and namespace, as the port name " +
			portName(x.cluster.Port.Name) + " is the same",
		remedy:   "give one of the two another host or another port name, if they should not join",
		evidence: []Evidence{{Object: entry, Field: "ports.name", Want: x.cluster.Port.Name, Have: c.PortName}},
	}, true
}

func (x *inquiry) excludedAs(why ...scope.Why) []scope.Excluded {
	var out []scope.Excluded
	for _, e := range x.scope.Others(x.q.Host) {
		if slices.Contains(why, e.Why) && x.visible(e.Definition, e.Why) {
			out = append(out, e)
		}
	}
	return out
}

func (x *inquiry) merged() (finding, bool) {
	list := x.excludedAs(scope.WhyMerged)
	if len(list) == 0 {
		return finding{}, false
	}
	d := x.imp.Definition
	keys := make([]model.ObjectKey, 0, len(list))
	for _, e := range list {
		keys = append(keys, e.Definition.Object)
	}
	return finding{
		cause: DefinitionsMerged, step: StepDefinition, object: d.Object,
		why: "the ports of " + x.names(keys) + " are merged into " + x.name(d.Object) + " (" + portsText(d.Ports) + "), and all endpoints with the port name " +
			portName(x.cluster.Port.Name) + " count for port " + number(x.q.Port),
		remedy:   "give ports which should not share endpoints different names",
		evidence: []Evidence{{Object: d.Object, Field: "ports", Have: portsText(d.Ports)}},
	}, true
}

func (x *inquiry) won() (finding, bool) {
	list := x.excludedAs(scope.WhyOtherWon, scope.WhyKubernetesWon, scope.WhyOlderWon)
	if len(list) == 0 {
		return finding{}, false
	}
	keys := make([]model.ObjectKey, 0, len(list))
	for _, e := range list {
		keys = append(keys, e.Definition.Object)
	}
	d := x.imp.Definition
	return finding{
		cause: DefinitionWon, step: StepDefinition, object: d.Object,
		why:      string(x.q.Host) + " is defined by " + x.names(keys) + " too, and " + x.name(d.Object) + " is used, as " + wonBecause(x.imp, d, list[0]),
		evidence: []Evidence{{Object: d.Object, Field: "definition in use", Have: d.Object.String()}},
	}, true
}

// hiding adds to why there is no endpoint at all that another definition of the host has
// some, and is not used.
func (x *inquiry) hiding(f finding) finding {
	if x.q.Address != "" {
		return f
	}
	d := x.imp.Definition
	for _, e := range x.excludedAs(scope.WhyOtherWon, scope.WhyKubernetesWon, scope.WhyOlderWon) {
		if e.Definition.Key == d.Key || !x.offers(e.Definition) {
			continue // of the same endpoints, or without any
		}
		f.why += "; " + x.name(e.Definition.Object) + " offers addresses for the host too, but " + x.name(d.Object) + " is used, as " + wonBecause(x.imp, d, e)
		f.remedy += ", or give " + x.name(d.Object) + " another host, so that it does not hide " + x.name(e.Definition.Object)
		return f.with(Evidence{Object: d.Object, Field: "definition in use", Want: e.Definition.Object.String(), Have: d.Object.String()})
	}
	return f
}

// exportedByName tells whether a definition names the namespaces that it is for.
func exportedByName(d *model.Service) bool {
	return len(d.ExportTo) > 0 && !slices.Contains(d.ExportTo, "*")
}

// wonBecause is the rule by which a definition is used instead of another.
func wonBecause(im *scope.Import, winner *model.Service, loser scope.Excluded) string {
	switch {
	case im.Why == scope.WhyOwnNamespace || im.Why == scope.WhyKubernetes:
		return im.Why.Text()
	case loser.Why == scope.WhyKubernetesWon:
		return scope.WhyKubernetes.Text()
	case winner.Created.Before(loser.Definition.Created):
		return "it is the older one"
	case exportedByName(winner) && !exportedByName(loser.Definition):
		return "it is exported to the client's namespace by name, which goes before what is exported to all"
	}
	return scope.WhyOldest.Text()
}
