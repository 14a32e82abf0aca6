package cds

import (
	"maps"
	"slices"
	"strings"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	networking "istio.io/api/networking/v1alpha3"

	"github.com/edsight/edsight/core/eds"
	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/scope"
)

// Audience is what the Shared clusters depend on besides the configuration.
// Proxies of equal Audience have equal Shared clusters.
type Audience struct {
	Scope         scope.Key
	PassesThrough bool
	Cluster       model.ClusterID
	Network       model.NetworkID
	NetworkView   eds.Pairs
	NoHBONE       bool
	GRPC          bool
	Family        clusterv3.Cluster_DnsLookupFamily
	// The rest is set only if something in the scope looks at it.
	Node     string
	Locality model.Locality
	Labels   eds.Pairs
}

// Audiences tells the audiences of one scope apart.
type Audiences struct {
	scope  *scope.Scope
	node   bool
	place  bool
	labels []string
}

// NewAudiences looks at all services and rules of a scope for what they want to
// know of a proxy.
func NewAudiences(sc *scope.Scope) *Audiences {
	a := &Audiences{scope: sc}
	keys := map[string]struct{}{}
	a.locality(sc.Mesh().Config.GetLocalityLbSetting(), keys)
	for i := range sc.Imports {
		d := sc.Imports[i].Definition
		a.node = a.node || d.NodeLocal
		a.locality(nearness(d.TrafficDistribution), keys)
		for _, r := range sc.Imports[i].Rules() {
			a.rule(r.Spec, keys)
		}
	}
	a.labels = slices.Sorted(maps.Keys(keys))
	return a
}

// Of returns the audience that a proxy belongs to.
func (a *Audiences) Of(p *model.Proxy) Audience {
	out := Audience{
		Scope: a.scope.Key, PassesThrough: a.scope.PassesThrough(p), Cluster: p.Cluster, Network: p.Network, NoHBONE: p.NoHBONE,
		GRPC: p.GRPC, Family: familyOf(p, a.scope.Mesh()),
	}
	for _, n := range p.NetworkView {
		out.NetworkView = out.NetworkView.Append(string(n), "")
	}
	if a.node {
		out.Node = p.Node
	}
	if a.place {
		out.Locality = p.Locality
	}
	for _, k := range a.labels {
		// A selector tells a label that is there from one that is not.
		if v, ok := p.Labels[k]; ok {
			out.Labels = out.Labels.Append(k, v)
		}
		out.Labels = out.Labels.Append(k, proxyLabel(p, k))
	}
	return out
}

func (a *Audiences) rule(r *networking.DestinationRule, keys map[string]struct{}) {
	for k := range r.GetWorkloadSelector().GetMatchLabels() {
		keys[k] = struct{}{}
	}
	a.policy(r.GetTrafficPolicy(), keys)
	for _, s := range r.GetSubsets() {
		a.policy(s.GetTrafficPolicy(), keys)
	}
}

func (a *Audiences) policy(p *networking.TrafficPolicy, keys map[string]struct{}) {
	a.settings(p.GetLoadBalancer(), p.GetOutlierDetection(), keys)
	for _, l := range p.GetPortLevelSettings() {
		a.settings(l.GetLoadBalancer(), l.GetOutlierDetection(), keys)
	}
}

func (a *Audiences) settings(lb *networking.LoadBalancerSettings, o *networking.OutlierDetection, keys map[string]struct{}) {
	a.place = a.place || o != nil
	a.locality(lb.GetLocalityLbSetting(), keys)
}

func (a *Audiences) locality(s *networking.LocalityLoadBalancerSetting, keys map[string]struct{}) {
	a.place = a.place || len(s.GetDistribute()) > 0 || len(s.GetFailover()) > 0
	for _, label := range s.GetFailoverPriority() {
		key, _, _ := strings.Cut(label, "=")
		keys[key] = struct{}{}
	}
}
