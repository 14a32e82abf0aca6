package scope

import (
	"strings"

	meshconfig "istio.io/api/mesh/v1alpha1"
	networkingv1 "istio.io/client-go/pkg/apis/networking/v1"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/state"
)

// routed says which services routers have in a mesh that gives them only those
// which the VirtualServices of their Gateways and the mesh's providers name.
type routed struct {
	mesh      *state.Mesh
	gateways  []*networkingv1.Gateway
	byGateway map[string][]model.Hostname
	// providers are the services of extension providers: of any namespace if theirs
	// is "".
	providers []model.ServiceKey
}

func newRouted(snap *state.Snapshot) *routed {
	r := &routed{mesh: snap.Mesh, byGateway: map[string][]model.Hostname{}}
	for g := range gateways(snap) {
		if len(g.Spec.GetServers()) > 0 {
			r.gateways = append(r.gateways, g)
		}
	}
	objects := virtualServices(snap)
	for k, vs := range objects {
		for _, name := range vs.Spec.GetGateways() {
			if !strings.Contains(name, "/") {
				name = k.Namespace + "/" + name
			}
			for _, d := range destinationsOf(k, objects, snap.Mesh) {
				r.byGateway[name] = append(r.byGateway[name], d.host)
			}
		}
	}
	for _, x := range snap.Mesh.Config.GetExtensionProviders() {
		if service := providerService(x); service != "" {
			ns, host, qualified := strings.Cut(service, "/")
			if !qualified {
				ns, host = "", service
			}
			r.providers = append(r.providers, model.ServiceKey{Hostname: model.Hostname(host), Namespace: ns})
		}
	}
	return r
}

func providerService(x *meshconfig.MeshConfig_ExtensionProvider) string {
	for _, p := range []interface{ GetService() string }{
		x.GetEnvoyExtAuthzHttp(), x.GetEnvoyExtAuthzGrpc(), x.GetZipkin(), x.GetLightstep(), x.GetDatadog(), //nolint:staticcheck // Istio reads the old kinds still
		x.GetSkywalking(), x.GetOpencensus(), x.GetOpentelemetry(), x.GetEnvoyHttpAls(), x.GetEnvoyTcpAls(), x.GetEnvoyOtelAls(), //nolint:staticcheck // as above
	} {
		if s := p.GetService(); s != "" {
			return s
		}
	}
	return ""
}

// gatewaysOf lists the Gateways that select a router, in order.
func (r *routed) gatewaysOf(p *model.Proxy) string {
	if r == nil {
		return ""
	}
	var names []string
	for _, g := range r.gateways {
		if selectsRouter(r.mesh, g, p) {
			names = append(names, g.Namespace+"/"+g.Name)
		}
	}
	return strings.Join(names, ",")
}

// destinations of the Gateways in the list.
func (r *routed) destinations(gateways string) routedTo {
	to := routedTo{hosts: map[model.Hostname]bool{}, keys: map[model.ServiceKey]bool{}}
	for name := range strings.SplitSeq(gateways, ",") {
		for _, h := range r.byGateway[name] {
			to.hosts[h] = true
		}
	}
	for _, k := range r.providers {
		if k.Namespace == "" {
			to.hosts[k.Hostname] = true
		} else {
			to.keys[k] = true
		}
	}
	return to
}

type routedTo struct {
	hosts map[model.Hostname]bool
	keys  map[model.ServiceKey]bool
}

func (t routedTo) has(k model.ServiceKey) bool { return t.hosts[k.Hostname] || t.keys[k] }
