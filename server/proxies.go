package server

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/edsight/edsight/core/debugz"
	xds "github.com/edsight/edsight/core/session"
)

// Proxies are the connected proxies, and what may be done to them.
type Proxies interface {
	Sessions() []xds.Session
	// Names lists by type what the session of that ID asks for by name.
	Names(id string) map[string][]string
	// Disconnect ends the sessions of a proxy, or the one of that ID, and tells how
	// many these were.
	Disconnect(id string) int
	// Push has everything looked at again that proxies have, and sends what differs.
	Push()
}

// nobody is the list of a server that proxies cannot connect to.
type nobody struct{}

func (nobody) Sessions() []xds.Session          { return nil }
func (nobody) Names(string) map[string][]string { return nil }
func (nobody) Disconnect(string) int            { return 0 }
func (nobody) Push()                            {}

// visible are the sessions in the namespaces that the caller may see, or in the
// one that the query names.
func (s *Server) visible(r *http.Request) []xds.Session {
	namespace := r.URL.Query().Get("namespace")
	var out []xds.Session
	for _, one := range s.proxies.Sessions() {
		ns := one.Node.Pod.Namespace
		if authorize(identityOf(r), actionRead, ns) && (namespace == "" || ns == namespace) {
			out = append(out, one)
		}
	}
	return out
}

func (s *Server) connections(r *http.Request) (any, error) {
	return debugz.NewConnections(s.visible(r)), nil
}

func (s *Server) clients(r *http.Request) (any, error) {
	if err := noPost(r, "push"); err != nil {
		return nil, err
	}
	return debugz.ADS(s.visible(r), s.proxies.Names), nil
}

func (s *Server) syncs(r *http.Request) (any, error) { return debugz.Syncs(s.visible(r)), nil }

func (s *Server) handlePush(w http.ResponseWriter, r *http.Request) error {
	if r.URL.Query().Get("push") == "" {
		return badRequest("the query lacks push=true")
	}
	s.proxies.Push()
	return writeText(w, fmt.Sprintf("Pushed to %d servers\n", len(s.proxies.Sessions())))
}

func (s *Server) handleDisconnect(w http.ResponseWriter, r *http.Request) error {
	id := r.URL.Query().Get("proxyID")
	if id == "" {
		return badRequest("You must provide a proxyID in the query string")
	}
	n := 0
	for _, one := range s.visible(r) {
		if one.ID == id || one.Proxy == id || strings.HasPrefix(one.ID, id+"-") {
			n += s.proxies.Disconnect(one.ID)
		}
	}
	if n == 0 {
		return notFound("Proxy not connected to this Pilot instance. It may be connected to another instance.")
	}
	return writeText(w, "OK\n")
}
