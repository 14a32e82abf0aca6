package server

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/state"
	"github.com/edsight/edsight/views"
)

// serviceVerdict says in one sentence how a service stands, and whether that is
// how it should be. What is worst is said first.
func serviceVerdict(m *views.Service, svc *state.ServiceState) (string, bool) {
	def, held := svc.Definition(), m.Held
	switch {
	case def == nil:
		return fmt.Sprintf("No Service defines this host; only a slice names it, with %s.", views.Count(m.Held+m.Endpoints, "candidate", "candidates")), false
	case def.Resolution == model.Alias:
		return fmt.Sprintf("This is an alias of %s and has no endpoints of its own.", orNone(def.ExternalName)), true
	case len(m.StrayPorts) > 0:
		return fmt.Sprintf("%s the port %s, and the service has %s: no proxy gets them. Give both ports the same name.", views.Count(m.Stray, "endpoint has", "endpoints have"), strayNames(m.StrayPorts), portNames(def)), false
	case m.Endpoints == 0 && held > 0:
		return fmt.Sprintf("No endpoint: %s held back.", views.Count(held, "candidate is", "candidates are")), false
	case m.Endpoints == 0:
		return emptyVerdict(def), def.Resolution != model.ClientSideLB
	case m.Ready == 0:
		return fmt.Sprintf("None of %s ready.", views.Count(m.Endpoints, "endpoint is", "endpoints are")), false
	case held > 0:
		return fmt.Sprintf("%s of %s ready; %s held back.", views.Number(m.Ready), views.Count(m.Endpoints, "endpoint is", "endpoints are"), views.Count(held, "candidate is", "candidates are")), false
	case m.Ready < m.Endpoints:
		return fmt.Sprintf("%s of %s ready.", views.Number(m.Ready), views.Count(m.Endpoints, "endpoint is", "endpoints are")), false
	case m.Endpoints == 1:
		return "Its endpoint is ready.", true
	default:
		return "All of " + views.Count(m.Endpoints, "endpoint is", "endpoints are") + " ready.", true
	}
}

// emptyVerdict says why a service may have no candidate at all.
func emptyVerdict(def *model.Service) string {
	switch {
	case def.Resolution != model.ClientSideLB:
		return "No endpoint is listed; proxies find the addresses themselves (" + resolutionText(def) + ")."
	case len(def.Selector) == 0:
		return "No endpoint: the service has no selector, and no slice names it."
	default:
		return "No endpoint: no slice has an address. The selector is " + labelText(def.Selector) + "; compare it with the labels of the Pods."
	}
}

// portNames are the names of a service's ports.
func portNames(def *model.Service) string {
	names := make([]string, len(def.Ports))
	for i := range def.Ports {
		names[i] = def.Ports[i].Name
	}
	return inQuotes(names)
}

// strayNames are names that no port of a service has.
func strayNames(ports []views.StrayPort) string {
	names := make([]string, len(ports))
	for i := range ports {
		names[i] = ports[i].Name
	}
	if len(names) == 1 {
		return "name " + inQuotes(names)
	}
	return "names " + inQuotes(names)
}

// inQuotes are names for people, the first of them.
func inQuotes(names []string) string {
	const shown = 5
	var list []string
	for _, name := range names[:min(len(names), shown)] {
		list = append(list, strconv.Quote(name))
	}
	if len(names) > shown {
		list = append(list, "…")
	}
	return strings.Join(list, ", ")
}
