package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"

	"github.com/a-h/templ"

	"github.com/edsight/edsight/core/compare"
	"github.com/edsight/edsight/core/explain"
	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/scope"
	"github.com/edsight/edsight/core/state"
	"github.com/edsight/edsight/views"
)

// AskIstiod gives what istiod sends to a proxy, as its debug handler edsz has it.
type AskIstiod func(ctx context.Context, proxy string) ([]byte, error)

// maxAsking is how many ask istiod at a time: each holds a whole answer.
const maxAsking = 4

// compareRoutes are the doors to comparisons of one proxy.
func (s *Server) compareRoutes() []route {
	const pattern = "/proxies/{id}/compare"
	return []route{
		{method: http.MethodGet, pattern: pattern, help: "one proxy held against another one (with=), another moment (at=, snapshot=) or istiod (istiod=true)", namespaced: true, handle: s.page(s.comparePage)},
		{method: http.MethodPost, pattern: pattern, help: "one proxy held against a dump of istiod or Envoy, a file of the form or the body, which is not kept", namespaced: true, mutates: true, handle: s.handleCompare},
	}
}

// party is one side of a comparison.
type party struct {
	name string
	// proxy is the one whose explanations say more.
	proxy string
	// view is Edsight's own side, nil if set is what another says.
	view *view
	set  compare.Set
	// ask is nil if it cannot say why it lacks an endpoint.
	ask compare.Ask
}

// view is a proxy in a state.
type view struct {
	side  compare.Side
	proxy *model.Proxy
}

// sets are what both sides have.
func sets(here, there *party) (a, b compare.Set) {
	if here.view != nil && there.view != nil {
		return compare.Both(here.view.side, there.view.side, here.view.proxy, there.view.proxy)
	}
	return here.all(), there.all()
}

func (p *party) all() compare.Set {
	if p.view != nil {
		return p.view.side.Set(p.view.proxy)
	}
	return p.set
}

// stateParty is a proxy in a state.
func stateParty(name string, side compare.Side, p *model.Proxy, e *explain.Explainer, may explain.May) party {
	return party{name: name, proxy: p.ID, view: &view{side, p}, ask: func(t compare.Target, address string) compare.Reason {
		a := e.Explain(side.Snap, question(p.ID, t, address), may)
		return compare.Reason{Text: a.Short(), Kind: string(a.Cause) + " " + a.Object}
	}}
}

func question(proxy string, t compare.Target, address string) explain.Question {
	return explain.Question{Proxy: proxy, Host: t.Host, Port: t.Port, Subset: t.Subset, Passthrough: t.Passthrough, Address: address}
}

// nowParty is the proxy in the present state.
func (s *Server) nowParty(r *http.Request, name string, snap *state.Snapshot, p *model.Proxy) party {
	return stateParty(name, compare.Side{Snap: snap, Scopes: &s.scopes}, p, s.explainer, may(r))
}

// documentParty is what istiod or Envoy says. What it lacks is explained by how far
// the endpoint got on its way.
func (s *Server) documentParty(r *http.Request, d *compare.Document, snap *state.Snapshot, p *model.Proxy) party {
	return party{name: string(d.Party), proxy: p.ID, set: d.Set, ask: func(t compare.Target, address string) compare.Reason {
		for _, step := range s.explainer.Explain(snap, question(p.ID, t, address), may(r)).Steps {
			if step.Name == explain.StepDelivery && step.Verdict != explain.VerdictSkipped {
				return compare.Reason{Text: "Edsight: " + step.Text + ".", Kind: step.Text}
			}
		}
		return compare.Reason{}
	}}
}

// comparePage answers what the query asks, or offers what can be asked.
func (s *Server) comparePage(r *http.Request) (any, templ.Component, error) {
	snap := s.core.Snapshot()
	p, err := s.findProxy(r, snap)
	if err != nil {
		return nil, nil, err
	}
	c, m := s.newCompare(r, snap, p)
	here, there, err := s.parties(r, &m, snap, p)
	if e, ok := errors.AsType[*httpError](err); ok && e.Status == http.StatusBadRequest && !wantsJSON(r) {
		m.Problem = e.Message
		return m, views.ComparePage(c, m), nil
	}
	if err != nil {
		return nil, nil, err
	}
	if there != nil {
		s.compareInto(&m, *here, *there)
	}
	return m, views.ComparePage(c, m), nil
}

// handleCompare compares with what is sent.
func (s *Server) handleCompare(w http.ResponseWriter, r *http.Request) error {
	return s.shelf.read(w, func() error { return s.page(s.compareDump)(w, r) })
}

func (s *Server) compareDump(r *http.Request) (any, templ.Component, error) {
	snap := s.core.Snapshot()
	p, err := s.findProxy(r, snap)
	if err != nil {
		return nil, nil, err
	}
	c, m := s.newCompare(r, snap, p)
	c.JSON, c.Curl = "", ""
	d, err := s.readDump(r, p.ID)
	switch {
	case err != nil && wantsJSON(r):
		return nil, nil, badRequest("%v", err)
	case err != nil:
		m.Problem = err.Error()
	default:
		m.Unnamed = d.Proxy == ""
		s.compareInto(&m, s.nowParty(r, "Edsight", snap, p), s.documentParty(r, d, snap, p))
	}
	return m, views.ComparePage(c, m), nil
}

// readDump reads a document that was sent about a proxy. One is read at a time, and
// on no core of the others', as a large one takes seconds.
func (s *Server) readDump(r *http.Request, proxy string) (*compare.Document, error) {
	u, err := readUpload(r)
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(io.LimitReader(u.body, compare.MaxDocument+1))
	if err != nil {
		return nil, fmt.Errorf("what is sent cannot be read: %w", err)
	}
	var d *compare.Document
	s.cores.without(func() { d, err = compare.ParseDocument(b) })
	if err != nil {
		return nil, err
	}
	if d.Proxy != "" && d.Proxy != proxy {
		return nil, fmt.Errorf("this is the dump of %s, not of %s", d.Proxy, proxy)
	}
	return d, nil
}

// newCompare is the page before anything is compared.
func (s *Server) newCompare(r *http.Request, snap *state.Snapshot, p *model.Proxy) (views.Chrome, views.Compare) {
	c, q, j := s.chrome(r, snap, views.SectionProxies, "Compare "+p.ID), r.URL.Query(), s.core.Journal()
	m := views.Compare{
		State: c.State, Proxy: p.ID, With: q.Get("with"), At: q.Get("at"), Snapshot: q.Get("snapshot"), Istiod: q.Get("istiod") == "true",
		Clusters: []views.CompareCluster{}, Last: j.Last(), Asks: s.opts.Istiod != nil,
		Command: fmt.Sprintf("kubectl exec -n %s %s -c istio-proxy -- pilot-agent request GET 'config_dump?include_eds' > dump.json", p.Namespace, p.Pod.Name),
		Curl:    `curl -H "Authorization: Bearer $EDSIGHT_TOKEN" -H 'Accept: application/json' --data-binary @dump.json ` + quoted(r, views.CompareURL(p.ID)),
	}
	if b := j.Since(0, 1); len(b.Transitions) > 0 {
		m.First = b.Transitions[0].Seq
	}
	if authorize(identityOf(r), actionRead, "") {
		for _, o := range s.shelf.all() {
			m.Opened = append(m.Opened, views.Choice{Value: o.key, Text: o.name + ", " + views.Age(o.content.Header.Created, c.Now)})
		}
	}
	return c, m
}

// parties are both sides that the query names; nil if it names none.
func (s *Server) parties(r *http.Request, m *views.Compare, snap *state.Snapshot, p *model.Proxy) (here, there *party, err error) {
	var other party
	name := "now"
	switch {
	case m.With != "":
		name = p.ID
		other, err = s.otherProxy(r, m.With, snap)
	case m.At != "":
		other, err = s.otherMoment(r, m.At, p)
	case m.Snapshot != "":
		other, err = s.otherState(r, m.Snapshot, p)
	case m.Istiod:
		name = "Edsight"
		other, err = s.askIstiod(r, snap, p)
	default:
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	now := s.nowParty(r, name, snap, p)
	return &now, &other, nil
}

func (s *Server) otherProxy(r *http.Request, id string, snap *state.Snapshot) (party, error) {
	p := visibleProxy(r, snap, id)
	if p == nil {
		return party{}, badRequest("there is no proxy %s", id)
	}
	return s.nowParty(r, p.ID, snap, p), nil
}

// otherMoment is the proxy as it was after a transition.
func (s *Server) otherMoment(r *http.Request, at string, p *model.Proxy) (party, error) {
	seq, err := strconv.ParseUint(at, 10, 64)
	if err != nil {
		return party{}, badRequest("a transition has a number, not %q", at)
	}
	j := s.core.Journal()
	t := j.Get(seq)
	switch {
	case t == nil:
		return party{}, badRequest("the state after transition %d is not kept: the newest is %d, and old ones are dropped", seq, j.Last())
	case t.Next == nil || t.Next.Version != t.Version:
		return party{}, badRequest("the state after transition %d is not in an exported snapshot, which keeps only its own", seq)
	}
	then := t.Next.Proxy(p.ID)
	if then == nil {
		return party{}, badRequest("%s was not there after transition %d", p.ID, seq)
	}
	scopes := &scope.Cache{}
	e := explain.New(explain.Options{Journal: j, Scopes: scopes})
	return stateParty(fmt.Sprintf("after transition %d", seq), compare.Side{Snap: t.Next, Scopes: scopes}, then, e, may(r)), nil
}

// otherState is the proxy as it was in an opened snapshot.
func (s *Server) otherState(r *http.Request, key string, p *model.Proxy) (party, error) {
	o := s.shelf.find(key)
	if o == nil {
		return party{}, badRequest("no snapshot %s is open (any more)", key)
	}
	then := o.content.Snapshot.Proxy(p.ID)
	if then == nil || !authorize(identityOf(r), actionRead, then.Namespace) {
		return party{}, badRequest("there is no proxy %s in this snapshot", p.ID)
	}
	name := "in " + o.name
	return stateParty(name, o.side(), then, o.explainer, may(r)), nil
}

func (s *Server) askIstiod(r *http.Request, snap *state.Snapshot, p *model.Proxy) (party, error) {
	if s.opts.Istiod == nil {
		return party{}, badRequest("no istiod is named; start Edsight with --istiod")
	}
	select {
	case s.asking <- struct{}{}:
		defer func() { <-s.asking }()
	default:
		return party{}, errorf(http.StatusServiceUnavailable, "istiod is being asked by %d others; try again in a moment", maxAsking)
	}
	var b []byte
	var err error
	s.cores.without(func() { b, err = s.opts.Istiod(r.Context(), p.ID) })
	if err != nil {
		if u, ok := errors.AsType[*url.Error](err); ok {
			err = u.Err // without the URL, which is of no concern to who asks
		}
		return party{}, badRequest("istiod cannot be asked: %v", err)
	}
	d, err := compare.ParseDocument(b)
	if err != nil {
		return party{}, badRequest("istiod answers what cannot be read: %v", err)
	}
	return s.documentParty(r, d, snap, p), nil
}
