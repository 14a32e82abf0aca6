package server

import (
	"slices"
	"strconv"
	"strings"

	"github.com/edsight/edsight/core/audit"
	"github.com/edsight/edsight/core/explain"
	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/state"
	"github.com/edsight/edsight/views"
)

// traceSubsets says for each endpoint in which subsets of its service the address
// is, where there are subsets.
func traceSubsets(t *views.Trace, snap *state.Snapshot, allowed explain.May) {
	known := map[model.ServiceKey][]audit.Subset{}
	for i := range t.Offers {
		o := &t.Offers[i]
		svc := snap.Service(model.ServiceKey{Hostname: o.Service.Host, Namespace: o.Service.Namespace})
		if svc == nil || !o.Admitted {
			continue // no endpoint
		}
		subsets, ok := known[svc.Key]
		if !ok {
			subsets = audit.Subsets(snap, svc)
			known[svc.Key] = subsets
		}
		for _, sub := range subsets {
			if !allowed(sub.Rule.Namespace) {
				continue // not to be seen
			}
			o.InSubsets = append(o.InSubsets, views.InSubset{Name: sub.Name, Rule: sub.Rule, Has: holds(&sub, svc, t.Address)})
		}
	}
}

// judge says in a sentence how the address stands, after what is noted of its name, and
// puts those who do not have it first.
func judge(t *views.Trace, note string) {
	var said []string
	if note != "" {
		said = append(said, note+".")
	}
	if len(t.Offers) == 0 {
		said = append(said, "No slice and no other object lists it.")
	}
	for i := range t.Offers {
		if text := lacks(&t.Offers[i]); text != "" && !slices.Contains(said, text) {
			said = append(said, text)
		}
	}
	without, with := []views.Holder{}, []views.Holder{}
	for _, h := range t.Holders {
		if h.Present {
			with = join(with, h)
		} else {
			without = join(without, h)
		}
	}
	t.Holders = slices.Concat(without, with)
	fine := len(said) == 0
	t.Well = fine
	for _, sh := range shares(t.Holders) {
		text := views.Number(sh.with) + " of " + views.Count(sh.with+sh.without, "proxy has", "proxies have") + " it for " + sh.port
		if fine && sh.with == 0 {
			t.Well = t.Well && sh.beside
			text += ": " + sh.why
		}
		said = append(said, text+".")
	}
	if t.MoreOffers > 0 {
		said = append(said, views.Count(t.MoreOffers, "further listing of it is", "further listings of it are")+" not shown.")
	}
	if t.Unlisted > 0 {
		said = append(said, views.Count(t.Unlisted, "further answer is", "further answers are")+" not counted here: too many groups of proxies differ.")
	}
	t.Sentence = strings.Join(said, " ")
}

// join adds a group of proxies to the one of which the same is said.
func join(list []views.Holder, h views.Holder) []views.Holder {
	i := slices.IndexFunc(list, func(o views.Holder) bool { return o.Host == h.Host && o.Port == h.Port && o.Why == h.Why })
	if i < 0 {
		return append(list, h)
	}
	list[i].Count += h.Count
	list[i].Proxies = slices.Concat(list[i].Proxies, h.Proxies)
	return list
}

// lacks says what an offer lacks: to be taken, to serve, or to be in a subset where
// there are some.
func lacks(o *views.Offer) string {
	switch {
	case !o.Admitted:
		return o.Source.String() + " lists it, but " + o.Why + "."
	case o.Health == model.UnHealthy.String() || o.Health == model.Terminating.String():
		return o.Source.String() + " has it as " + o.Health + "."
	case len(o.InSubsets) == 0 || slices.ContainsFunc(o.InSubsets, func(x views.InSubset) bool { return x.Has }):
		return ""
	}
	var text strings.Builder
	text.WriteString("It is in no subset of " + string(o.Service.Host))
	var rule model.ObjectKey
	for _, x := range o.InSubsets {
		if x.Rule != rule {
			text.WriteString("; " + x.Rule.String() + " has " + x.Name)
		} else {
			text.WriteString(", " + x.Name)
		}
		rule = x.Rule
	}
	text.WriteString(". No route to a subset leads to it: label it as one of them wants, or add one.")
	return text.String()
}

// share is how many proxies have an address for a port of a service.
type share struct {
	port                string
	with, without, most int
	why                 string // what is said of the most of those that do not have it
	beside              bool   // some reach it by a cluster without EDS
}

func shares(holders []views.Holder) []share {
	var list []share
	for _, h := range holders {
		port := h.Host + ":" + strconv.FormatUint(uint64(h.Port), 10)
		i := slices.IndexFunc(list, func(s share) bool { return s.port == port })
		if i < 0 {
			i = len(list)
			list = append(list, share{port: port})
		}
		s := &list[i]
		s.beside = s.beside || h.Cause == string(explain.NotEDS)
		switch {
		case h.Present:
			s.with += h.Count
		case h.Count > s.most:
			s.most, s.why = h.Count, h.Why
			fallthrough
		default:
			s.without += h.Count
		}
	}
	return list
}

// holds tells whether an endpoint with the address is in the subset.
func holds(sub *audit.Subset, svc *state.ServiceState, address string) bool {
	for _, c := range svc.Candidates() {
		if hasAddress(c.Endpoint, address) && sub.Has(c.Endpoint) {
			return true
		}
	}
	return false
}
