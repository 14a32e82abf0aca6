package explain

import (
	"strings"

	networking "istio.io/api/networking/v1alpha3"
	networkingv1 "istio.io/client-go/pkg/apis/networking/v1"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/scope"
)

// outsideSidecar says that no egress host of the Sidecar, or no listener's port,
// lets the proxy see a definition.
func (x *inquiry) outsideSidecar(d *model.Service) finding {
	key := x.scope.Key.Sidecar
	egress, hint := []string{}, ""
	if x.scope.Sidecar != nil {
		egress = egressText(x.scope.Sidecar.Spec.GetEgress())
		hint = x.egressHint(x.scope.Sidecar.Spec.GetEgress(), d)
	}
	have := strings.Join(egress, "; ")
	want := d.Key.Namespace + "/" + string(d.Key.Hostname)
	return finding{
		cause: SidecarScope, step: StepScope, object: key,
		why: x.name(key) + " of this proxy" + x.sidecarChosen() + " has the egress hosts " + have + ", and none imports port " + number(x.q.Port) + " of " + x.name(d.Object) +
			" (" + want + ", ports " + portsText(d.Ports) + ")" + hint,
		remedy:   "add " + d.Key.Namespace + "/* or " + want + " to an egress listener without port, or with port " + number(x.q.Port) + ", of " + x.name(key),
		evidence: []Evidence{{Object: key, Field: "spec.egress.hosts", Want: want, Have: have}},
	}
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

// sidecarChosen says why this Sidecar is the proxy's, if there is a choice.
func (x *inquiry) sidecarChosen() string {
	key := x.scope.Key.Sidecar
	var others []string
	for c := range x.snap.ConfigsIn(model.KindSidecar, key.Namespace) {
		s, ok := c.Object.(*networkingv1.Sidecar)
		if !ok || c.Key.Name == key.Name || !x.mayName(c.Key) {
			continue // the one in use, or not to be named
		}
		name := x.name(c.Key)
		if sel := s.Spec.GetWorkloadSelector(); sel != nil {
			name += " (for " + labelText(sel.GetLabels()) + ")"
		}
		others = append(others, name)
	}
	switch {
	case key.Namespace != x.proxy.Namespace:
		return " (the mesh's default, as namespace " + x.proxy.Namespace + " has none for it)"
	case len(others) == 0 || x.scope.Sidecar == nil:
		return ""
	case x.scope.Sidecar.Spec.GetWorkloadSelector() != nil:
		return " (it selects the proxy by " + labelText(x.scope.Sidecar.Spec.GetWorkloadSelector().GetLabels()) + "; not used is " + and(others) + ")"
	}
	return " (the oldest of its namespace that has no selector; not used is " + and(others) + ")"
}

// egressHint names an egress host that looks as if it meant the definition, and why
// it does not.
func (x *inquiry) egressHint(listeners []*networking.IstioEgressListener, d *model.Service) string {
	for _, l := range listeners {
		for _, h := range l.GetHosts() {
			namespace, name, ok := strings.Cut(h, "/")
			switch {
			case !ok:
			case name == d.Name && name != string(d.Key.Hostname):
				return "; " + h + " matches nothing, as it is no full name: " + string(d.Key.Hostname)
			case name != "*" && scope.Covers(model.Hostname(name), d.Key.Hostname) && namespace != "*" && namespace != d.Key.Namespace && (namespace != "." || x.proxy.Namespace != d.Key.Namespace):
				return "; " + h + " means that of namespace " + strings.Replace(namespace, ".", x.proxy.Namespace, 1) + ", and it is in " + d.Key.Namespace
			}
		}
	}
	return ""
}
