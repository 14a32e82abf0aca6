package server

import (
	"fmt"
	"strings"

	"github.com/edsight/edsight/core/eds"
	"github.com/edsight/edsight/core/model"
)

// operands are both sides of the comparison behind a reason, "" if the reason
// says it all.
func operands(c *model.Candidate, v eds.View, reason model.Reason) string {
	w := workloadOf(c)
	switch reason {
	case model.ReasonPortNameMismatch:
		return fmt.Sprintf("the endpoint has %q, the service port %q", c.PortName, v.PortName)
	case model.ReasonSubsetLabels:
		return labelOperands(w.Labels, v.Subset)
	case model.ReasonNodeLocal:
		return fmt.Sprintf("the endpoint is on %s, the proxy on %s", orNone(w.Node), orNone(v.Node))
	case model.ReasonClusterLocal:
		return fmt.Sprintf("the endpoint is in %s, the proxy in %s", w.Cluster, v.ProxyCluster)
	case model.ReasonNetworkView:
		return "the endpoint is in network " + orNone(string(w.Network))
	case model.ReasonNetworkWithoutMTLS, model.ReasonReplacedByGateway:
		return fmt.Sprintf("the endpoint is in network %s, the proxy in %s", orNone(string(w.Network)), orNone(string(v.Network)))
	case model.ReasonLocalityNotDistributed:
		return "the endpoint is in " + orNone(w.Locality.String())
	case model.ReasonPodNotSeen, model.ReasonPodGone:
		return objectName(c.Target)
	default:
		return ""
	}
}

// labelOperands names each label that is wanted and not there.
func labelOperands(have model.Labels, want eds.Pairs) string {
	var parts []string
	for k, v := range want.All() {
		switch got, ok := have[k]; {
		case !ok:
			parts = append(parts, fmt.Sprintf("%s=%s is wanted, the label is absent", k, v))
		case got != v:
			parts = append(parts, fmt.Sprintf("%s=%s is wanted, the endpoint has %s", k, v, got))
		}
	}
	return strings.Join(parts, "; ")
}

func workloadOf(c *model.Candidate) *model.Workload {
	if c.Endpoint == nil || c.Endpoint.Workload == nil {
		return &model.Workload{}
	}
	return c.Endpoint.Workload
}

// reasonText says the reason with its operands.
func reasonText(c *model.Candidate, v eds.View, reason model.Reason) string {
	if o := operands(c, v, reason); o != "" {
		return reason.Text() + " (" + o + ")"
	}
	return reason.Text()
}
