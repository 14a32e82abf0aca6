package server

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/a-h/templ"

	"github.com/edsight/edsight/core/explain"
	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/state"
	"github.com/edsight/edsight/views"
)

// explainRoutes are the doors to the explanations.
func (s *Server) explainRoutes() []route {
	return []route{
		{method: http.MethodGet, pattern: apiPrefix + "explain", help: "why a proxy has an endpoint or not: proxy=, host=, port=, subset=, address=; an address alone, or a Pod, is traced", namespaced: true, handle: s.value(s.apiExplain)},
		{method: http.MethodGet, pattern: "/explain", help: "why a proxy has an endpoint or not, step by step", namespaced: true, handle: s.page(s.explainPage)},
		{method: http.MethodGet, pattern: "/search", help: "where to find a host, IP, pod, proxy or object: q=", handle: s.handleSearch},
		{method: http.MethodGet, pattern: "/waiting", help: "candidates that wait for something, with ages; and orphans, of which there must be none", handle: s.page(s.waitingPage)},
	}
}

// may is the authorization function for an Explainer.
func may(r *http.Request) explain.May {
	id := identityOf(r)
	return func(namespace string) bool { return authorize(id, actionRead, namespace) }
}

// questionOf reads a question; one without proxy and host is about an address
// alone.
func questionOf(q url.Values) (explain.Question, error) {
	out := explain.Question{
		Proxy: q.Get("proxy"), Host: model.Hostname(q.Get("host")), Subset: q.Get("subset"), Address: strings.TrimSpace(q.Get("address")),
		Passthrough: q.Get("passthrough") == "true",
	}
	if out.Proxy == "" && out.Host == "" && out.Address != "" {
		return out, nil
	}
	if out.Proxy == "" || out.Host == "" {
		return out, badRequest("give proxy, host and port, and address if one endpoint is meant; or an address alone")
	}
	port, err := strconv.ParseUint(q.Get("port"), 10, 16)
	if err != nil || port == 0 {
		return out, badRequest("port is a number from 1 to 65535, not %q", q.Get("port"))
	}
	out.Port = uint32(port)
	return out, nil
}

// explained is an Answer with the moment that it is about.
type explained struct {
	Snapshot uint64           `json:"snapshot"`
	Question explain.Question `json:"question"`
	*explain.Answer
}

// traced is a Trace likewise.
type traced struct {
	Snapshot uint64 `json:"snapshot"`
	*explain.Trace
}

func (s *Server) apiExplain(r *http.Request) (any, error) {
	q, err := questionOf(r.URL.Query())
	if err != nil {
		return nil, err
	}
	snap := s.core.Snapshot()
	if q.Host == "" {
		return traced{snap.Version, s.explainer.Trace(snap, q.Address, may(r))}, nil
	}
	if visibleProxy(r, snap, q.Proxy) == nil {
		return nil, s.noProxy(r, snap, q.Proxy)
	}
	return explained{snap.Version, q, s.explainer.Explain(snap, q, may(r))}, nil
}

func (s *Server) explainPage(r *http.Request) (any, templ.Component, error) {
	snap, query := s.core.Snapshot(), r.URL.Query()
	c := s.chrome(r, snap, views.SectionExplain, "Explain")
	m := views.Explain{
		State: c.State, Proxy: query.Get("proxy"), Host: query.Get("host"), Port: query.Get("port"),
		Subset: query.Get("subset"), Address: query.Get("address"), Steps: []views.ExplainStep{},
	}
	if len(query) == 0 || (m.Proxy+m.Host+m.Address == "") {
		return m, views.ExplainPage(c, m), nil
	}
	q, err := questionOf(query)
	if err != nil {
		m.Problem = err.Error()
		return m, views.ExplainPage(c, m), nil
	}
	if q.Host == "" {
		t := s.explainer.Trace(snap, q.Address, may(r))
		m.Trace = newTrace(t)
		traceSubsets(m.Trace, snap, may(r))
		judge(m.Trace, t.Note)
		return m, views.ExplainPage(c, m), nil
	}
	if visibleProxy(r, snap, q.Proxy) == nil {
		e := s.goneProxy(r, snap, q.Proxy)
		e.Ask = &m
		e.Next = append(e.Next, proxiesLike(snap, may(r), q.Proxy, func(id string) string {
			return views.ExplainURL(id, m.Host, q.Port, m.Subset, m.Address)
		})...)
		return nil, nil, e
	}
	s.explainInto(&m, snap, q, may(r))
	return m, views.ExplainPage(c, m), nil
}

func (s *Server) explainInto(m *views.Explain, snap *state.Snapshot, q explain.Question, may explain.May) {
	a := s.explainer.Explain(snap, q, may)
	m.Answered, m.Present, m.Sentence, m.Cause = true, a.Present, a.Sentence, string(a.Cause)
	open := false
	for _, step := range a.Steps {
		v := views.ExplainStep{
			Name: string(step.Name), Verdict: string(step.Verdict), Text: step.Text, Since: step.Since, AtLeast: step.AtLeast, Remedy: step.Remedy,
			Open: step.Verdict == explain.VerdictFailed && !open, Evidence: []views.Evidence{},
		}
		open = open || v.Open
		for _, e := range step.Evidence {
			v.Evidence = append(v.Evidence, views.Evidence{Object: e.Object, Field: e.Field, Want: e.Want, Have: e.Have})
		}
		m.Steps = append(m.Steps, v)
	}
	if p := snap.Proxy(q.Proxy); p != nil && a.Cause != explain.ProxyUnknown {
		m.Links = append(m.Links, views.Link{Text: "the proxy's clusters", Href: views.ProxyURL(p.ID)}, views.Link{Text: "compare with its Envoy", Href: views.CompareURL(p.ID)})
		if im := s.scopes.Narrow(snap, s.scopes.KeyOf(snap, p), q.Host).Import(q.Host); im != nil {
			m.Links = append(m.Links, views.Link{Text: "the service", Href: views.ServiceURL(im.Definition.Key)})
		}
	}
	if a.Cause == explain.NoService {
		m.Links = append(m.Links, hostsLike(snap, may, q)...)
	}
	if q.Address != "" {
		m.Links = append(m.Links, views.Link{Text: "everything about " + q.Address, Href: views.TraceURL(q.Address)})
	}
}

// hostsLike ask the same about hosts that are called like the one that is not there.
func hostsLike(snap *state.Snapshot, allowed explain.May, q explain.Question) []views.Link {
	key := model.ServiceKey{Hostname: q.Host}
	if labels := strings.Split(string(q.Host), "."); len(labels) > 1 {
		key.Namespace = labels[1]
	}
	return servicesLike(snap, allowed, key, func(k model.ServiceKey) string {
		return views.ExplainURL(q.Proxy, string(k.Hostname), q.Port, q.Subset, q.Address)
	})
}

// holderText says in short what the answer comes to: the text of the step that
// failed, or how it is sent.
func holderText(a *explain.Answer) string {
	for _, s := range a.Steps {
		if s.Verdict == explain.VerdictFailed || (a.Present && s.Name == explain.StepAssignment) {
			return s.Text
		}
	}
	return a.Sentence
}

func newTrace(t *explain.Trace) *views.Trace {
	m := &views.Trace{
		Address: t.Address, Objects: append(append(append([]model.ObjectKey{}, t.Pods...), t.Entries...), t.Endpoints...),
		Proxies: t.Proxies, Offers: []views.Offer{}, Holders: []views.Holder{}, MoreOffers: t.MoreOffers, Unlisted: t.Unlisted,
	}
	for _, o := range t.Offers {
		v := views.Offer{Source: o.Source, Target: o.Target, Port: strings.TrimSpace(o.PortName + " " + strconv.FormatUint(uint64(o.Port), 10)), Admitted: o.Admitted, Health: o.Health}
		if o.Service.Hostname != "" {
			v.Service = views.Ref(o.Service)
		}
		if !o.Admitted {
			v.Why = o.Reason.Text()
		}
		m.Offers = append(m.Offers, v)
	}
	for _, h := range t.Holders {
		m.Holders = append(m.Holders, views.Holder{
			Proxies: h.Proxies, Count: h.Count, Present: h.Answer.Present, Why: holderText(h.Answer), Cause: string(h.Answer.Cause),
			Host: string(h.Question.Host), Port: h.Question.Port,
			Href: views.ExplainURL(h.Question.Proxy, string(h.Question.Host), h.Question.Port, "", t.Address),
		})
	}
	return m
}
