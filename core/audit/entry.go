package audit

import (
	"fmt"
	"net/netip"
	"strings"

	networking "istio.io/api/networking/v1alpha3"
	networkingv1 "istio.io/client-go/pkg/apis/networking/v1"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/scope"
	"github.com/edsight/edsight/core/state"
)

// serviceEntries finds what of ServiceEntries is passed over, and those that have
// no endpoints.
func serviceEntries(snap *state.Snapshot) []Problem {
	var out []Problem
	for _, c := range configs[*networkingv1.ServiceEntry](snap, model.KindServiceEntry) {
		e := entry{snap: snap, key: c.key, spec: &c.object.Spec}
		e.endpoints()
		e.addresses()
		e.ports()
		e.hosts()
		out = append(out, e.problems...)
	}
	return out
}

// entry gathers the problems of one ServiceEntry.
type entry struct {
	snap     *state.Snapshot
	key      model.ObjectKey
	spec     *networking.ServiceEntry
	problems []Problem
}

func (e *entry) add(field, message, remedy string) {
	p := Problem{Object: e.key, Field: field, Message: message, Remedy: remedy}
	for _, h := range e.spec.GetHosts() {
		p.Hosts = append(p.Hosts, model.Hostname(h))
	}
	e.problems = append(e.problems, p)
}

// endpoints says why those that the entry names or selects are none. With
// resolution NONE clients connect to the address that they call.
func (e *entry) endpoints() {
	none, static := e.spec.GetResolution() == networking.ServiceEntry_NONE, e.spec.GetResolution() == networking.ServiceEntry_STATIC
	selects, listed := e.spec.GetWorkloadSelector() != nil, len(e.spec.GetEndpoints()) > 0
	const remedy = "use resolution STATIC for addresses, DNS for names"
	switch {
	case none && selects:
		e.add("spec.workloadSelector", "the resolution is NONE, so the workloads that are selected are no endpoints for sidecars", remedy)
	case none && listed:
		e.add("spec.endpoints", "the resolution is NONE, so these endpoints have no effect", remedy)
	case selects && listed:
		e.add("spec.endpoints", "there is a workloadSelector, so these endpoints have no effect", "keep one of the two")
	case selects && !e.selectsAny():
		e.add("spec.workloadSelector", "no Pod and no WorkloadEntry in namespace "+e.key.Namespace+" has "+
			labelText(e.spec.GetWorkloadSelector().GetLabels()), "compare the selector with the labels of the workloads in this namespace")
	case static && !selects && !listed:
		e.add("spec.endpoints", "the resolution is STATIC and there are no endpoints, so clients get none", "list endpoints, or select workloads")
	}
	for i, ep := range e.spec.GetEndpoints() {
		if a := ep.GetAddress(); static && !selects && a != "" && !strings.HasPrefix(a, "unix://") && !model.IsIP(a) {
			e.add(fmt.Sprintf("spec.endpoints[%d].address", i), a+" is no IP address, and the resolution is STATIC, so nobody gets this endpoint", remedy)
		}
	}
}

// selectsAny tells whether there is a candidate for a host of the entry: of those
// that are selected none is left out without a reason.
func (e *entry) selectsAny() bool {
	for _, h := range e.spec.GetHosts() {
		svc := e.snap.Service(model.ServiceKey{Hostname: model.Hostname(h), Namespace: e.key.Namespace})
		if svc == nil {
			return true // not known, so nothing can be said
		}
		for _, sh := range svc.Shards {
			if sh.Key.Provider == model.ProviderExternal && len(sh.Chunks) > 0 {
				return true
			}
		}
	}
	return len(e.spec.GetPorts()) == 0
}

func (e *entry) addresses() {
	for i, a := range e.spec.GetAddresses() {
		if _, err := netip.ParsePrefix(a); err != nil && !model.IsIP(a) {
			e.add(fmt.Sprintf("spec.addresses[%d]", i), a+" is neither an IP address nor a range, and is passed over", "write an address, or a range as in 10.0.0.0/8")
		}
	}
}

// ports finds those with the name or number of another: endpoints are matched by
// the name, and clusters named by the number.
func (e *entry) ports() {
	names, numbers := map[string]bool{}, map[uint32]bool{}
	for i, p := range e.spec.GetPorts() {
		switch {
		case names[p.GetName()]:
			e.add(fmt.Sprintf("spec.ports[%d].name", i), "another port has the name "+p.GetName()+", too, and so its endpoints", "give each port a name of its own")
		case numbers[p.GetNumber()]:
			e.add(fmt.Sprintf("spec.ports[%d].number", i), fmt.Sprintf("another port has the number %d, too, and counts alone", p.GetNumber()), "give each port a number of its own")
		}
		names[p.GetName()], numbers[p.GetNumber()] = true, true
	}
}

// hosts finds those that a Kubernetes Service in the same namespace has, if everybody
// sees that one, so that nobody sees the entry's.
func (e *entry) hosts() {
	for i, h := range e.spec.GetHosts() {
		svc := e.snap.Service(model.ServiceKey{Hostname: model.Hostname(h), Namespace: e.key.Namespace})
		if svc == nil {
			continue // nobody has it
		}
		if d := svc.Definition(); d != nil && d.Provider == model.ProviderKubernetes && scope.ServiceExports(e.snap.Mesh, d).Public() {
			e.add(fmt.Sprintf("spec.hosts[%d]", i), "the Kubernetes Service "+d.Name+" has the hostname "+h+" and goes before: the ports of this entry do not count",
				"give the entry another hostname, or delete one of the two")
		}
	}
}
