package server

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/a-h/templ"

	"github.com/edsight/edsight/core/audit"
	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/state"
	"github.com/edsight/edsight/views"
)

// noVIP stands for no virtual address.
const noVIP = "0.0.0.0"

func (s *Server) servicesPage(r *http.Request) (any, templ.Component, error) {
	win, err := newWindow(r)
	if err != nil {
		return nil, nil, err
	}
	snap, q := s.core.Snapshot(), r.URL.Query()
	c := s.chrome(r, snap, views.SectionServices, "Services")
	find := newSearch(q.Get("q"))
	m := views.Services{
		State: c.State, Query: q.Get("q"), Namespace: q.Get("namespace"), Only: q.Get("only"),
		InMesh: snap.ServiceCount(), Namespaces: namespaces(snap), Services: []views.ServiceRow{},
		Elsewhere: elsewhere(snap, find),
	}
	config := configTrouble(snap)
	for svc := range snap.Services() {
		if (m.Namespace == "" || m.Namespace == svc.Key.Namespace) && showsOnly(svc, config, m.Only) && find.service(svc) && win.next() {
			m.Services = append(m.Services, newServiceRow(svc, config))
		}
	}
	m.Page = win.page()
	return m, views.ServicesPage(c, m), nil
}

// configTrouble finds what in the configuration keeps a service from having the
// endpoints that it seems to have, by hostname.
func configTrouble(snap *state.Snapshot) map[model.Hostname][]audit.Problem {
	out := map[model.Hostname][]audit.Problem{}
	for _, p := range audit.Config(snap) {
		for _, h := range p.Hosts {
			out[h] = append(out[h], p)
		}
	}
	return out
}

// showsOnly tells whether the service is of the wanted sort.
func showsOnly(svc *state.ServiceState, config map[model.Hostname][]audit.Problem, only string) bool {
	switch only {
	case "trouble":
		return len(config[svc.Key.Hostname]) > 0 || len(trouble(svc, tallyOf(svc))) > 0
	case "empty":
		return tallyOf(svc).ready == 0
	case "held":
		return svc.CandidateCount() > svc.EndpointCount()
	default:
		return true
	}
}

func newServiceRow(svc *state.ServiceState, config map[model.Hostname][]audit.Problem) views.ServiceRow {
	t := tallyOf(svc)
	row := views.ServiceRow{
		ServiceRef: views.Ref(svc.Key), Ready: t.ready, Endpoints: svc.EndpointCount(),
		Held: t.held, Definitions: len(svc.Definitions), Ports: []views.PortRow{},
		Stray: t.strays(), Trouble: trouble(svc, t),
	}
	for _, p := range config[svc.Key.Hostname] {
		row.Trouble = append(row.Trouble, p.Message)
	}
	def := svc.Definition()
	if def == nil {
		return row
	}
	row.Provider, row.Type, row.Resolution = providerText(def), def.Type, resolutionText(def)
	for _, p := range def.Ports {
		row.Ports = append(row.Ports, newPortRow(p))
	}
	row.VIPs = vips(def)
	return row
}

// tally counts what became of the candidates of a service.
type tally struct {
	ready, held int
	// unready are the others, but for the strays.
	unready int
	// stray are the endpoints whose port names no port of the service has.
	stray []views.StrayPort
}

func tallyOf(svc *state.ServiceState) tally {
	var t tally
	def := svc.Definition()
	for _, c := range svc.Candidates() {
		ok := ready(c.Endpoint)
		if ok {
			t.ready++
		}
		switch {
		case c.Endpoint == nil:
			t.held++
		case !hasPortName(def, c.PortName):
			t.addStray(c.PortName)
		case !ok:
			t.unready++
		}
	}
	slices.SortFunc(t.stray, func(a, b views.StrayPort) int { return strings.Compare(a.Name, b.Name) })
	return t
}

func (t *tally) addStray(port string) {
	i := slices.IndexFunc(t.stray, func(s views.StrayPort) bool { return s.Name == port })
	if i < 0 {
		i = len(t.stray)
		t.stray = append(t.stray, views.StrayPort{Name: port})
	}
	t.stray[i].Endpoints++
}

// strays is the number of all stray endpoints.
func (t *tally) strays() int {
	n := 0
	for _, s := range t.stray {
		n += s.Endpoints
	}
	return n
}

// trouble is what is not as it should be with the endpoints of a service.
func trouble(svc *state.ServiceState, t tally) []string {
	def := svc.Definition()
	if def == nil {
		return []string{"only a slice names it"}
	}
	var list []string
	switch endpoints := svc.EndpointCount(); {
	case endpoints+t.held == 0 && def.Resolution == model.ClientSideLB:
		list = append(list, "no address: no slice lists one")
	case t.unready > 0 && t.unready == endpoints:
		list = append(list, "none ready")
	case t.unready > 0:
		list = append(list, views.Number(t.unready)+" not ready")
	}
	if t.held > 0 {
		list = append(list, views.Number(t.held)+" held back")
	}
	if n := t.strays(); n > 0 {
		list = append(list, views.Number(n)+" with the unknown port "+strayNames(t.stray))
	}
	return list
}

func newPortRow(p model.Port) views.PortRow {
	row := views.PortRow{Name: p.Name, Number: p.Number, Protocol: p.Protocol, Target: p.TargetPortName}
	if row.Target == "" && p.TargetPort != 0 {
		row.Target = strconv.FormatUint(uint64(p.TargetPort), 10)
	}
	return row
}

// vips are the virtual addresses of all clusters, in order.
func vips(def *model.Service) []views.ClusterIP {
	var list []views.ClusterIP
	for cluster, addresses := range def.VIPs {
		for _, a := range addresses {
			if a != noVIP {
				list = append(list, views.ClusterIP{Cluster: cluster, Address: a})
			}
		}
	}
	slices.SortFunc(list, func(a, b views.ClusterIP) int {
		if c := strings.Compare(string(a.Cluster), string(b.Cluster)); c != 0 {
			return c
		}
		return strings.Compare(a.Address, b.Address)
	})
	if len(list) == 0 && def.DefaultAddress != "" && def.DefaultAddress != noVIP {
		list = append(list, views.ClusterIP{Address: def.DefaultAddress})
	}
	return list
}

func providerText(def *model.Service) string {
	if def.Provider == model.ProviderExternal {
		return "ServiceEntry"
	}
	return string(def.Provider)
}

// resolutionText is the resolution of a definition in the words of its kind, "" where
// its type says as much.
func resolutionText(def *model.Service) string {
	text := def.Resolution.Text()
	switch {
	case def.Provider == model.ProviderExternal:
		return text
	case def.Resolution == model.Passthrough:
		return "headless"
	case def.Resolution == model.ClientSideLB || text == def.Type:
		return ""
	}
	return text
}
