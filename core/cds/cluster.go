package cds

import (
	"slices"
	"strconv"
	"strings"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	networking "istio.io/api/networking/v1alpha3"

	"github.com/edsight/edsight/core/eds"
	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/scope"
	"github.com/edsight/edsight/core/state"
)

// Type is how Envoy finds the endpoints of a cluster.
type Type string

// The types.
const (
	EDS         Type = "EDS"
	Static      Type = "STATIC"
	StrictDNS   Type = "STRICT_DNS"
	LogicalDNS  Type = "LOGICAL_DNS"
	OriginalDst Type = "ORIGINAL_DST"
	none        Type = "none" // of a service without clusters
)

// Cluster is one cluster of a proxy.
type Cluster struct {
	Name string
	Type Type
	// EDSServiceName is set for EDS clusters.
	EDSServiceName string
	// Service is what the cluster is about, nil for those of the proxy itself.
	Service *state.ServiceState
	// Definition is the one in use, nil as Service.
	Definition *model.Service
	Port       model.Port
	Subset     string
	// Rule is the DestinationRule in force, nil if there is none.
	Rule *scope.Rule
	// View is what the endpoints are built for, zero if there are none.
	View eds.View
	// Inline is the assignment inside of the cluster, nil for EDS and ORIGINAL_DST.
	Inline *eds.Assignment
	// Variant is what else its message depends on.
	Variant Variant

	policy  policy
	upgrade bool // HTTP/1 to HTTP/2
	inbound bool
}

// Variant is what the message of a cluster depends on besides its name, type,
// definition, rule, endpoints, and the mesh. Variants can be compared.
type Variant struct {
	// Router: the proxy is one.
	Router bool
	// Family is that of the addresses which the proxy looks names up for.
	Family clusterv3.Cluster_DnsLookupFamily
	// port is that of the service which leads to the workload, and pool the Sidecar's
	// for what the workload is sent, nil if it says nothing.
	port model.Port
	pool *networking.ConnectionPoolSettings
}

// Assignment builds the endpoints of an EDS cluster; nil for the other types.
func (c *Cluster) Assignment() *eds.Assignment {
	if c.Type != EDS {
		return nil
	}
	return eds.Build(c.Service, c.View)
}

// The clusters that do not come from services.
const (
	blackHole          = "BlackHoleCluster"
	passthrough        = "PassthroughCluster"
	inboundPassthrough = "InboundPassthroughCluster" //nolint:gosec // the name of a cluster, no credential
	connectOriginate   = "connect_originate"
)

// Build returns the clusters of a proxy, sorted by name.
func Build(snap *state.Snapshot, p *model.Proxy) []Cluster {
	return BuildIn(scope.For(snap, p), snap, p)
}

// BuildIn is Build with the proxy's scope at hand.
func BuildIn(sc *scope.Scope, snap *state.Snapshot, p *model.Proxy) []Cluster {
	return sorted(slices.Concat(Shared(sc, snap, p), Own(sc, snap, p)))
}

// Shared returns those clusters that all proxies of one Audience have, sorted by
// name.
func Shared(sc *scope.Scope, snap *state.Snapshot, p *model.Proxy) []Cluster {
	b := &builder{scope: sc, snap: snap, proxy: p, clusters: make([]Cluster, 0, 2*len(sc.Imports)+4)}
	b.add(Cluster{Name: blackHole, Type: Static})
	for i := range sc.Imports {
		b.outbound(&sc.Imports[i])
	}
	if p.Type != model.Router {
		b.add(Cluster{Name: passthrough, Type: OriginalDst})
		b.add(Cluster{Name: inboundPassthrough, Type: OriginalDst})
	}
	if f := sc.Mesh().Features; f.Ambient && !f.NoHBONE && !p.NoHBONE {
		b.add(Cluster{Name: connectOriginate, Type: OriginalDst})
	}
	return sorted(b.clusters)
}

// SharedOf returns those of the Shared clusters that are about the services, sorted
// by name.
func SharedOf(sc *scope.Scope, snap *state.Snapshot, p *model.Proxy, services map[model.ServiceKey]struct{}) []Cluster {
	b := &builder{scope: sc, snap: snap, proxy: p}
	for key := range services {
		if im := sc.Import(key.Hostname); im != nil && im.Definition.Key == key {
			b.outbound(im)
		}
	}
	return sorted(b.clusters)
}

// Own returns the clusters of the proxy's own workload, sorted by name.
func Own(sc *scope.Scope, snap *state.Snapshot, p *model.Proxy) []Cluster {
	if p.Type == model.Router {
		return nil
	}
	b := &builder{scope: sc, snap: snap, proxy: p}
	b.inbound()
	return sorted(b.clusters)
}

// sorted orders clusters by name; of several with one name the first counts.
func sorted(clusters []Cluster) []Cluster {
	slices.SortStableFunc(clusters, func(a, b Cluster) int { return strings.Compare(a.Name, b.Name) })
	return slices.CompactFunc(clusters, func(a, b Cluster) bool { return a.Name == b.Name })
}

type builder struct {
	scope    *scope.Scope
	snap     *state.Snapshot
	proxy    *model.Proxy
	clusters []Cluster
}

func (b *builder) add(c Cluster) { b.clusters = append(b.clusters, c) }

// Name gives the name of an outbound cluster.
func Name(port uint32, subset string, host model.Hostname) string {
	return "outbound|" + number(port) + "|" + subset + "|" + string(host)
}

// passthroughName gives the name of a cluster that a gateway passes mTLS through
// to.
func passthroughName(port uint32, subset string, host model.Hostname) string {
	return "outbound_." + number(port) + "_." + subset + "_." + string(host)
}

func number(n uint32) string { return strconv.FormatUint(uint64(n), 10) }

// Of returns the outbound clusters of one host, sorted by name.
func Of(sc *scope.Scope, snap *state.Snapshot, p *model.Proxy, host model.Hostname) []Cluster {
	b := &builder{scope: sc, snap: snap, proxy: p}
	if im := sc.Import(host); im != nil {
		b.outbound(im)
	}
	return sorted(b.clusters)
}
