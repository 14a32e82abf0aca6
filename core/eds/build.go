package eds

import (
	"cmp"
	"slices"
	"strings"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/state"
)

// Waypoints carry this label; they take HBONE only.
const (
	labelManaged   = "gateway.istio.io/managed"
	meshController = "istio.io-mesh-controller"
)

// Build makes the assignment of a view. svc may be nil. Equal arguments give
// equal results, whatever the order of the candidates.
func Build(svc *state.ServiceState, v View) *Assignment {
	b := &builder{
		view: &v, networks: newNetworks(&v), tls: tlsDecider{tls: v.TLS, rules: v.PeerAuth.rules()},
	}
	n := svc.CandidateCount()
	b.candidates, b.reasons = make([]*model.Candidate, 0, n), make([]model.Reason, 0, n)
	if svc != nil {
		for _, sh := range svc.Shards {
			for _, c := range sh.Candidates {
				b.candidates = append(b.candidates, c)
				b.reasons = append(b.reasons, verdict(&v, sh.Key, c))
			}
		}
	}
	b.group()
	b.applyLocality()
	return finish(&Assignment{Cluster: v.Cluster, View: v, Service: svc, Localities: b.localities, Reasons: b.reasons})
}

// builder is the state of one Build.
type builder struct {
	view       *View
	networks   *networks
	tls        tlsDecider
	candidates []*model.Candidate
	reasons    []model.Reason
	localities []LocalityEndpoints
}

// group puts the endpoints that are left into localities, and gateways in the
// place of those in other networks. As in Istio, localities that are written
// differently are different ones.
func (b *builder) group() {
	index := map[string]int{}
	gateways := map[int]gatewayWeights{}
	for i, c := range b.candidates {
		if b.reasons[i] != model.ReasonNone {
			continue
		}
		w := c.Endpoint.Workload
		at, ok := index[w.LocalityLabel]
		if !ok {
			at = len(b.localities)
			index[w.LocalityLabel] = at
			b.localities = append(b.localities, LocalityEndpoints{Locality: w.Locality, label: w.LocalityLabel})
			if at == 0 { // often the only one
				b.localities[0].Endpoints = make([]LbEndpoint, 0, len(b.candidates))
			}
		}
		e := b.endpoint(i)
		gws := b.networks.gateways(w)
		b.reasons[i] = b.networkVerdict(e, gws)
		if b.reasons[i] == model.ReasonNone {
			b.localities[at].Endpoints = append(b.localities[at].Endpoints, e)
		}
		if b.reasons[i] == model.ReasonReplacedByGateway {
			if gateways[at] == nil {
				gateways[at] = gatewayWeights{}
			}
			gateways[at].add(gws, e.Weight)
		}
	}
	for i := range b.localities {
		l := &b.localities[i]
		if !slices.IsSortedFunc(l.Endpoints, compareLb) {
			slices.SortFunc(l.Endpoints, compareLb)
		}
		l.Endpoints = append(l.Endpoints, gateways[i].endpoints()...)
		l.Weight = sumWeights(l.Endpoints)
	}
	slices.SortFunc(b.localities, func(a, b LocalityEndpoints) int {
		return strings.Compare(a.label, b.label)
	})
}

// networkVerdict decides about an endpoint with gateways before it, and about
// plain text where only mTLS is possible.
func (b *builder) networkVerdict(e LbEndpoint, gateways []state.Gateway) model.Reason {
	switch {
	case len(gateways) > 0 && e.TLSMode != tlsModeIstio:
		return model.ReasonNetworkWithoutMTLS
	case len(gateways) > 0:
		return model.ReasonReplacedByGateway
	case e.Address == "" && b.networks != nil:
		return model.ReasonNoAddress // in a mesh of one network it is sent as it is
	case b.view.MTLSOnly && e.TLSMode != tlsModeIstio:
		return model.ReasonPassthroughWithoutMTLS
	}
	return model.ReasonNone
}

func (b *builder) endpoint(i int) LbEndpoint {
	e := b.candidates[i].Endpoint
	var more []string
	if len(e.Addresses) > 1 {
		more = e.Addresses[1:]
	}
	out := LbEndpoint{
		Candidate: i, Address: e.Address(), More: more, Port: e.Port, Weight: b.networks.weight(max(e.Weight, 1)),
		Health: health(e), Workload: workloadText(e.Workload), TLSMode: b.tls.mode(e),
		Tunnel: b.view.HBONE && (b.view.PreferHBONE || e.Workload.TLSMode != tlsModeIstio) && takesTunnel(e.Workload),
	}
	if out.Tunnel {
		out.TLSMode = "" // what is sent through a tunnel cannot go to the gateway of a network
	}
	return out
}

// takesTunnel tells whether a workload takes HBONE: by itself, as its label says
// (which is a list), or because the ambient mesh does it for the workload.
func takesTunnel(w *model.Workload) bool {
	return w.Captured || w.Labels[labelManaged] == meshController ||
		slices.Contains(strings.Split(w.Labels[model.LabelTunnel], ","), tunnelHTTP)
}

// workloadText packs what telemetry wants to know of the workload. A label counts
// before the next, and before the workload's name, even if it is empty.
func workloadText(w *model.Workload) string {
	name, ok := firstLabel(w.Labels, model.LabelCanonicalName, "app.kubernetes.io/name", "app")
	if !ok {
		name = w.Name
	}
	revision, _ := firstLabel(w.Labels, model.LabelCanonicalRevision, "app.kubernetes.io/version", "version")
	if revision == "latest" {
		revision = ""
	}
	return w.Name + ";" + w.Namespace + ";" + name + ";" + revision + ";" + string(w.Cluster)
}

func firstLabel(labels model.Labels, keys ...string) (string, bool) {
	for _, k := range keys {
		if v, ok := labels[k]; ok {
			return v, true
		}
	}
	return "", false
}

func (b *builder) reject(endpoints []LbEndpoint, why model.Reason) {
	for _, e := range endpoints {
		if e.Candidate >= 0 {
			b.reasons[e.Candidate] = why
		}
	}
}

// compareLb orders endpoints by what is sent of them; of those that are sent alike
// the first candidate comes first.
func compareLb(a, b LbEndpoint) int {
	if c := strings.Compare(a.Address, b.Address); c != 0 {
		return c
	}
	return cmp.Or(
		cmp.Compare(a.Port, b.Port), strings.Compare(a.Workload, b.Workload), cmp.Compare(a.Weight, b.Weight),
		cmp.Compare(a.Health, b.Health), strings.Compare(a.TLSMode, b.TLSMode), cmp.Compare(a.Candidate, b.Candidate),
	)
}
