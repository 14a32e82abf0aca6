package server

import (
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/edsight/edsight/core/debugz"
)

const debugPrefix = "/debug/"

// debugRoutes are istiod's debug handlers, with its JSON.
func (s *Server) debugRoutes() []route {
	row := func(name, help string, h handler) route {
		return route{method: http.MethodGet, pattern: debugPrefix + name, help: help, access: accessDebug, handle: h}
	}
	post := func(name, help string, h handler) route {
		return route{method: http.MethodPost, pattern: debugPrefix + name, help: help, mutates: true, handle: h}
	}
	list := []route{
		row("adsz", "connected proxies and what they watch", s.value(s.clients)),
		post("adsz", "with push=true: push the current state to all connected proxies", s.handlePush),
		row("cachez", "resources in the cache; with sizes=true, how large they are", s.value(s.cache)),
		post("cachez", "with clear=true: empty the cache", s.handleClear),
		row("clusterz", "the clusters that are read, and how far", s.value(s.clusters)),
		row("config_dump", "clusters and endpoints of the proxy proxyID= in the form of Envoy's config_dump", s.forProxy(s.configDump)),
		row("configz", "Istio objects; with problems=true, where each comes from and what is wrong with it", s.stream(s.configs)),
		row("connections", "connected proxies", s.value(s.connections)),
		row("edsz", "endpoints of the proxy proxyID=", s.forProxy(s.assignments)),
		row("endpointShardz", "endpoints of all services by shard", s.stream(s.shards)),
		row("endpointz", "the same as endpointShardz", s.stream(s.shards)),
		post("force_disconnect", "end the streams of the proxy proxyID=", s.handleDisconnect),
		row("instancesz", "the services that each proxy's workload serves", s.stream(s.instances)),
		row("mcsz", "services exported to and imported from the set of clusters", s.value(s.clusterSet)),
		row("mesh", "mesh configuration in force", s.value(s.mesh)),
		row("networkz", "gateways of networks", s.value(s.networks)),
		row("push_status", "what a push of the newest state finds wrong, and what changed of late without a push", s.handlePushStatus),
		row("pushcontext", "policies and gateways of the newest state", s.value(s.pushContext)),
		row("registryz", "services", s.stream(s.registry)),
		row("resourcesz", "kinds that are read", s.value(s.resources)),
		row("sidecarz", "what the proxy proxyID= may see", s.forProxy(s.sidecar)),
		row("syncz", "what connected proxies were sent and have acknowledged", s.value(s.syncs)),
	}
	for i := range list {
		switch name := strings.TrimPrefix(list[i].pattern, debugPrefix); name {
		case "config_dump", "edsz", "sidecarz":
			list[i].namespaced = true
		}
	}
	names := debugNames(list)
	return slices.Concat(list, []route{
		row("", "the list of all debug handlers, for people", s.page(s.debugPage(list))),
		row("list", "the names of all debug handlers", s.value(func(*http.Request) (any, error) { return names, nil })),
	})
}

// debugNames are the names in the list, with those of the queries that do
// something else, as istiod has them.
func debugNames(list []route) []string {
	names := []string{"adsz?push=true", "cachez?clear=true", "cachez?sizes=true"}
	for i := range list {
		if !list[i].mutates {
			names = append(names, strings.TrimPrefix(list[i].pattern, debugPrefix))
		}
	}
	slices.Sort(names)
	return names
}

func (s *Server) registry(*http.Request) (piecewise, error) {
	snap := s.core.Snapshot()
	return func(w io.Writer, indent string) error {
		return debugz.WriteList(w, debugz.Registry(snap), indent)
	}, nil
}

func (s *Server) shards(*http.Request) (piecewise, error) {
	snap := s.core.Snapshot()
	return func(w io.Writer, indent string) error {
		return debugz.WriteObject(w, debugz.EndpointShards(snap), indent)
	}, nil
}

// configs is istiod's answer, unless the query asks for more.
func (s *Server) configs(r *http.Request) (piecewise, error) {
	snap := s.core.Snapshot()
	if r.URL.Query().Get("problems") == "true" {
		return s.judgedConfigs(snap), nil
	}
	return func(w io.Writer, indent string) error {
		return debugz.WriteList(w, debugz.Configs(snap), indent)
	}, nil
}

func (s *Server) instances(*http.Request) (piecewise, error) {
	snap := s.core.Snapshot()
	return func(w io.Writer, indent string) error {
		return debugz.WriteObject(w, debugz.Instances(snap), indent)
	}, nil
}

func (s *Server) clusters(*http.Request) (any, error) {
	return debugz.Clusters(s.core.Status().Source), nil
}

func (s *Server) networks(*http.Request) (any, error) {
	return debugz.Gateways(s.core.Snapshot()), nil
}

func (s *Server) clusterSet(*http.Request) (any, error) {
	return debugz.ClusterSet(s.core.Snapshot()), nil
}

func (s *Server) resources(*http.Request) (any, error) { return debugz.Resources(), nil }

func (s *Server) pushContext(*http.Request) (any, error) {
	return debugz.Push(s.core.Snapshot()), nil
}

func (s *Server) mesh(*http.Request) (any, error) { return s.core.Snapshot().Mesh.Config, nil }

// lastTransitions is how many of them push_status looks at.
const lastTransitions = 200

// handlePushStatus indents by four, whatever is asked for, as istiod does.
func (s *Server) handlePushStatus(w http.ResponseWriter, r *http.Request) error {
	status, last := debugz.Status(s.core.Snapshot()), s.core.Journal().Last()
	status.Unpushed(s.core.Journal().Since(max(last, lastTransitions)-lastTransitions+1, lastTransitions).Transitions)
	return s.writeIndented(w, r, http.StatusOK, status, "    ")
}

// Nothing is kept that could be emptied: what is sent is replaced when it changes.

func (s *Server) cache(r *http.Request) (any, error) {
	if err := noPost(r, "clear"); err != nil {
		return nil, err
	}
	if r.URL.Query().Has("sizes") {
		return map[string]string{"total": "0B"}, nil
	}
	return struct{}{}, nil
}

func (s *Server) handleClear(w http.ResponseWriter, r *http.Request) error {
	if r.URL.Query().Get("clear") == "" {
		return badRequest("the query lacks clear=true")
	}
	return writeText(w, "Cache cleared\n")
}

// noPost refuses to do with GET what changes something.
func noPost(r *http.Request, param string) error {
	if r.URL.Query().Get(param) != "" {
		return errorf(http.StatusMethodNotAllowed, "%s changes something: use POST", param)
	}
	return nil
}
