package ads

import (
	"net"
	"strconv"
	"strings"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	routerv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/router/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/edsight/edsight/core/cds"
	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/scope"
)

const routerFilter = "envoy.filters.http.router"

// listenerFor makes the API listener of a gRPC client for "host:port", nil if its
// scope has no such service.
func listenerFor(sc *scope.Scope, name string) *resource {
	host, text, err := net.SplitHostPort(name)
	if err != nil {
		return nil
	}
	port, err := strconv.ParseUint(text, 10, 16)
	if err != nil || !serves(sc, model.Hostname(host), uint32(port)) {
		return nil
	}
	router, err := anypb.New(&routerv3.Router{})
	if err != nil {
		return nil // it has no content that could be wrong
	}
	manager, err := anypb.New(&hcmv3.HttpConnectionManager{
		StatPrefix: name,
		RouteSpecifier: &hcmv3.HttpConnectionManager_Rds{Rds: &hcmv3.Rds{
			ConfigSource: &corev3.ConfigSource{
				ConfigSourceSpecifier: &corev3.ConfigSource_Ads{Ads: &corev3.AggregatedConfigSource{}}, ResourceApiVersion: corev3.ApiVersion_V3,
			},
			RouteConfigName: cds.Name(uint32(port), "", model.Hostname(host)),
		}},
		HttpFilters: []*hcmv3.HttpFilter{{Name: routerFilter, ConfigType: &hcmv3.HttpFilter_TypedConfig{TypedConfig: router}}},
	})
	if err != nil {
		return nil // the name is no UTF-8
	}
	return named(typeListener, name, &listenerv3.Listener{Name: name, ApiListener: &listenerv3.ApiListener{ApiListener: manager}})
}

// routesFor makes the routes of a gRPC client, named as the cluster that requests go
// to unless a VirtualService sends them elsewhere.
func routesFor(at place, p *model.Proxy, name string) *resource {
	parts := strings.Split(name, "|")
	if len(parts) != 4 || parts[0] != "outbound" || parts[2] != "" {
		return nil
	}
	host := model.Hostname(parts[3])
	port, err := strconv.ParseUint(parts[1], 10, 16)
	if err != nil || !serves(at.scope, host, uint32(port)) {
		return nil
	}
	v := virtual{scope: at.scope, proxy: p, host: host, port: uint32(port)}
	return named(typeRoute, name, &routev3.RouteConfiguration{
		Name: name,
		VirtualHosts: []*routev3.VirtualHost{{
			Name: parts[3], Domains: []string{parts[3], net.JoinHostPort(parts[3], parts[1])}, Routes: v.routes(at.snap),
		}},
	})
}

func serves(sc *scope.Scope, host model.Hostname, port uint32) bool {
	im := sc.Import(host)
	if im == nil {
		return false
	}
	_, ok := im.Definition.Port(port)
	return ok
}

func named(typeURL, name string, m proto.Message) *resource {
	r, err := marshal(typeURL, name, m)
	if err != nil {
		return nil // the name is no UTF-8, and nothing has it
	}
	return r
}
