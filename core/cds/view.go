package cds

import (
	"cmp"
	"slices"
	"strings"

	networking "istio.io/api/networking/v1alpha3"

	"github.com/edsight/edsight/core/eds"
	"github.com/edsight/edsight/core/model"
)

// view makes the normalised View of a cluster.
func (o *outbound) view(c *Cluster, subset *networking.Subset, p policy, sni bool) eds.View {
	d := o.im.Definition
	v := eds.View{
		Cluster: c.Name, Service: d.Key, PortName: c.Port.Name, Port: c.Port.Number,
		Inline: c.Type != EDS, Subset: eds.NewPairs(subset.GetLabels()),
		NodeLocal: d.NodeLocal, ClusterLocal: o.im.ClusterLocal,
		SendUnhealthy:     o.scope.Mesh().Features.SendUnhealthy || d.TrafficDistribution != model.DistributionAny,
		PersistentSession: d.PersistentSession,
		TLS:               tlsOfPolicy(p.tls), MTLSOnly: sni, HBONE: !o.proxy.NoHBONE, PreferHBONE: o.scope.Mesh().Features.PreferHBONE,
		Gateways: o.scope.Gateways(c.Type == StrictDNS || c.Type == LogicalDNS),
		Locality: o.locality(c, p),
	}
	if v.NodeLocal {
		v.Node = o.proxy.Node
	}
	if v.NodeLocal || v.ClusterLocal || o.scope.Mesh().Features.ServiceExports {
		v.ProxyCluster = o.proxy.Cluster
	}
	if v.TLS == eds.TLSAuto {
		v.PeerAuth = o.scope.PeerAuth(workloadNamespace(d))
	}
	if v.Gateways != "" {
		v.Network = o.proxy.Network
	}
	v.NetworkView = networkView(o.proxy)
	return v
}

// workloadNamespace is that of the workloads behind a definition. The endpoints in
// a ServiceEntry itself are of none, so that only the mesh's rules hold for them.
func workloadNamespace(d *model.Service) string {
	if d.Provider == model.ProviderExternal && d.Selector == nil {
		return ""
	}
	return d.Key.Namespace
}

func networkView(p *model.Proxy) (view eds.Pairs) {
	if len(p.NetworkView) == 0 {
		return ""
	}
	for _, n := range slices.Sorted(slices.Values(p.NetworkView)) {
		view = view.Append(string(n), "")
	}
	return view
}

func tlsOfPolicy(tls *networking.ClientTLSSettings) eds.TLS {
	switch {
	case tls == nil:
		return eds.TLSAuto
	case tls.GetMode() == networking.ClientTLSSettings_ISTIO_MUTUAL:
		return eds.TLSMutual
	}
	return eds.TLSOther
}

// locality says which locality load balancing holds: the rule's, else that of the
// service's traffic distribution, else the mesh's. Failover needs outlier
// detection, or Envoy would never leave the first priority.
func (o *outbound) locality(c *Cluster, p policy) eds.Locality {
	setting, from := c.LocalitySetting(o.scope.Mesh())
	failover := p.ejection != nil || from == LocalityOfService
	if switchedOff(setting) || (setting == nil && !failover) {
		return eds.Locality{}
	}
	if setting.GetDistribute() != nil {
		return eds.Locality{Distribute: shares(setting.GetDistribute(), o.proxy.Locality)}
	}
	if !failover {
		return eds.Locality{}
	}
	return o.failover(setting, c.Type == EDS)
}

func switchedOff(s *networking.LocalityLoadBalancerSetting) bool {
	return s.GetEnabled() != nil && !s.GetEnabled().GetValue()
}

// failover resolves the order of localities for the proxy. Labels count for EDS
// clusters only.
func (o *outbound) failover(s *networking.LocalityLoadBalancerSetting, labels bool) eds.Locality {
	l := eds.Locality{}
	if labels {
		for _, label := range s.GetFailoverPriority() {
			key, value, fixed := strings.Cut(label, "=")
			if !fixed {
				value = proxyLabel(o.proxy, key)
			}
			l.Priority = l.Priority.Append(key, value)
		}
	}
	if len(s.GetFailoverPriority()) > 0 && len(s.GetFailover()) == 0 {
		return l
	}
	l.Failover, l.Proxy = true, o.proxy.Locality
	for _, f := range s.GetFailover() {
		if f.GetFrom() == l.Proxy.Region {
			l.To, l.HasTo = f.GetTo(), true
			break
		}
	}
	return l
}

// shares finds the first distribution for the proxy's locality.
func shares(list []*networking.LocalityLoadBalancerSetting_Distribute, proxy model.Locality) eds.Pairs {
	for _, d := range list {
		if eds.LocalityMatches(proxy, d.GetFrom()) {
			to := make(map[string]string, len(d.GetTo()))
			for pattern, weight := range d.GetTo() {
				to[pattern] = number(weight)
			}
			return eds.NewPairs(to)
		}
	}
	return ""
}

// nearness is the setting that a traffic distribution stands for.
func nearness(t model.TrafficDistribution) *networking.LocalityLoadBalancerSetting {
	labels := []string{model.LabelNetwork, model.LabelRegion, model.LabelZone}
	switch t {
	case model.DistributionPreferSameZone:
	case model.DistributionPreferSameNode:
		labels = append(labels, model.LabelSubzone, model.LabelHostname)
	case model.DistributionAny:
		return nil
	default:
		return nil
	}
	return &networking.LocalityLoadBalancerSetting{FailoverPriority: labels}
}

// proxyLabel returns a label of the proxy's workload, topology included.
func proxyLabel(p *model.Proxy, key string) string {
	value := ""
	switch key {
	case model.LabelRegion:
		value = p.Locality.Region
	case model.LabelZone:
		value = p.Locality.Zone
	case model.LabelSubzone:
		value = p.Locality.Subzone
	case model.LabelCluster:
		value = string(p.Cluster)
	case model.LabelHostname:
		value = p.Node
	case model.LabelNetwork:
		return cmp.Or(p.Labels[key], string(p.WorkloadNetwork), string(p.Network))
	}
	return cmp.Or(value, p.Labels[key])
}
