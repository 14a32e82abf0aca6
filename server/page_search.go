package server

import (
	"net/url"
	"slices"
	"strings"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/state"
	"github.com/edsight/edsight/views"
)

// search is what somebody typed: part of a name, an address, or a label.
type search struct {
	text       string
	address    string
	key, value string
	isLabel    bool
}

func newSearch(text string) search {
	f := search{text: strings.ToLower(strings.TrimSpace(text))}
	if a := model.PlainAddress(f.text); model.IsIP(a) {
		f.address = a
	}
	f.key, f.value, f.isLabel = strings.Cut(strings.TrimSpace(text), "=")
	return f
}

func (f search) empty() bool { return f.text == "" }

func (f search) name(s string) bool { return strings.Contains(strings.ToLower(s), f.text) }

func (f search) labels(l model.Labels) bool {
	v, ok := l[f.key]
	return ok && (v == f.value || f.value == "")
}

// service tells whether the service is what was searched for: by address if the
// text is one, by its labels or selector, or by name.
func (f search) service(svc *state.ServiceState) bool {
	def := svc.Definition()
	switch {
	case f.empty():
		return true
	case f.address != "":
		return def != nil && hasVIP(def, f.address) || hasCandidate(svc, f.address)
	case f.isLabel:
		return def != nil && (f.labels(def.Labels) || f.labels(def.Selector))
	default:
		return f.name(string(svc.Key.Hostname)) || f.name(svc.Key.String())
	}
}

func hasVIP(def *model.Service, address string) bool {
	same := func(vip string) bool { return model.SameAddress(vip, address) }
	if same(def.DefaultAddress) || same(def.AutoAllocatedV4) || same(def.AutoAllocatedV6) {
		return true
	}
	for _, list := range def.VIPs {
		if slices.ContainsFunc(list, same) {
			return true
		}
	}
	return false
}

func hasCandidate(svc *state.ServiceState, address string) bool {
	for _, c := range svc.Candidates() {
		if model.SameAddress(c.Address, address) || hasAddress(c.Endpoint, address) {
			return true
		}
	}
	return false
}

// proxy tells whether the proxy is what was searched for.
func (f search) proxy(p *model.Proxy) bool {
	switch {
	case f.empty():
		return true
	case f.address != "":
		return slices.ContainsFunc(p.IPs, func(ip string) bool { return model.SameAddress(ip, f.address) })
	case f.isLabel:
		return f.labels(p.Labels)
	default:
		return f.name(p.ID) || f.name(p.Node)
	}
}

// elsewhere names other pages that find something for the search.
func elsewhere(snap *state.Snapshot, f search) []views.Link {
	if f.empty() {
		return nil
	}
	var links []views.Link
	proxies, objects := 0, 0
	for p := range snap.Proxies() {
		if f.proxy(p) {
			proxies++
		}
	}
	for c := range snap.Configs("") {
		if f.object(c.Key) {
			objects++
		}
	}
	q := url.QueryEscape(f.text)
	if f.isLabel {
		q = url.QueryEscape(f.key + "=" + f.value)
	}
	if proxies > 0 {
		links = append(links, views.Link{Text: views.Count(proxies, "proxy", "proxies"), Href: "/proxies?q=" + q})
	}
	if objects > 0 {
		links = append(links, views.Link{Text: views.Count(objects, "Istio object", "Istio objects"), Href: "/config?q=" + q + "#objects"})
	}
	if f.address != "" {
		links = append(links, views.Link{Text: "transitions of this address", Href: views.FeedURL(f.address)})
	}
	return links
}

// object tells whether the text is part of the object's namespace and name.
func (f search) object(k model.ObjectKey) bool {
	if !strings.Contains(f.text, "/") {
		return f.name(k.Namespace) || f.name(k.Name)
	}
	return f.name(k.Namespace + "/" + k.Name)
}
