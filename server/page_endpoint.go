package server

import (
	"maps"
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/state"
)

// endpointStates says what an endpoint was and what it is: its health, or if
// that is the same, the first other thing that differs.
func endpointStates(e state.EndpointChange) (before, after string) {
	before, after = candidateState(e.Before), candidateState(e.After)
	if before != after || e.Before == nil || e.After == nil {
		return before, after
	}
	for _, f := range endpointFacts(e.Before, e.After) {
		if f.before != f.after {
			return f.name + " " + orNone(f.before), orNone(f.after)
		}
	}
	return before, after
}

// candidateState is the health of what is in the shard, and otherwise why it is
// not.
func candidateState(c *model.Candidate) string {
	switch {
	case c == nil:
		return ""
	case c.Endpoint == nil:
		return "held back: " + c.Reason.Text()
	default:
		return healthText(c.Endpoint.Health)
	}
}

func healthText(h model.HealthStatus) string {
	if h == model.HealthUnset {
		return "no health set"
	}
	return h.String()
}

type factChange struct{ name, before, after string }

// endpointFacts are the properties of two candidates side by side.
func endpointFacts(a, b *model.Candidate) []factChange {
	facts := []factChange{{"source", objectName(a.Source), objectName(b.Source)}, {"target", objectName(a.Target), objectName(b.Target)}}
	if a.Endpoint == nil || b.Endpoint == nil {
		return facts
	}
	x, y := a.Endpoint, b.Endpoint
	facts = append(facts, factChange{"weight", strconv.Itoa(int(x.Weight)), strconv.Itoa(int(y.Weight))})
	if x.Workload == nil || y.Workload == nil {
		return facts
	}
	v, w := x.Workload, y.Workload
	return append(
		facts,
		factChange{"labels", labelText(v.Labels), labelText(w.Labels)},
		factChange{"service account", v.ServiceAccount, w.ServiceAccount},
		factChange{"locality", v.Locality.String(), w.Locality.String()},
		factChange{"network", string(v.Network), string(w.Network)},
		factChange{"node", v.Node, w.Node},
		factChange{"TLS mode", v.TLSMode, w.TLSMode},
		factChange{"workload", v.Name, w.Name},
		factChange{"draining", strconv.FormatBool(v.Draining), strconv.FormatBool(w.Draining)},
	)
}

func objectName(k *model.ObjectKey) string {
	if k == nil {
		return ""
	}
	return k.String()
}

func labelText(l model.Labels) string {
	parts := make([]string, 0, len(l))
	for _, k := range slices.Sorted(maps.Keys(l)) {
		parts = append(parts, k+"="+l[k])
	}
	return strings.Join(parts, ", ")
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

// hostPort is how an address with a port is written; without a port it stands
// alone.
func hostPort(address string, port uint32) string {
	if port == 0 {
		return address
	}
	return net.JoinHostPort(address, strconv.FormatUint(uint64(port), 10))
}

// ready tells whether the endpoint takes new requests.
func ready(e *model.Endpoint) bool {
	return e != nil && (e.Health == model.Healthy || e.Health == model.HealthUnset)
}
