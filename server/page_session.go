package server

import (
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/edsight/edsight/core/model"
	xds "github.com/edsight/edsight/core/session"
	"github.com/edsight/edsight/core/state"
	"github.com/edsight/edsight/views"
)

// strangers is how many clients without a Pod the page of proxies names.
const strangers = 50

// connected are the open streams at one moment.
type connected struct {
	// total counts all; byProxy has those that the caller may see.
	total   int
	byProxy map[string][]xds.Session
}

func (s *Server) connected(r *http.Request) connected {
	all, id := s.proxies.Sessions(), identityOf(r)
	c := connected{total: len(all), byProxy: map[string][]xds.Session{}}
	for _, one := range all {
		if authorize(id, actionRead, one.Node.Pod.Namespace) {
			c.byProxy[one.Proxy] = append(c.byProxy[one.Proxy], one)
		}
	}
	return c
}

// row shows a proxy with the state of its newest stream. One without any is
// missed if others have theirs here.
func (c connected) row(p *model.Proxy) views.ProxyRow {
	row := newProxyRow(p)
	list := c.byProxy[p.ID]
	if len(list) == 0 {
		row.Missing = c.total > 0
		return row
	}
	row.Connected = true
	row.Types = newStreamTypes(&list[len(list)-1])
	for i := range list {
		if at := oldestUnacked(&list[i]); !at.IsZero() && (row.Unacked.IsZero() || at.Before(row.Unacked)) {
			row.Unacked = at
		}
	}
	return row
}

// streams shows the streams of one proxy in full.
func (c connected) streams(id string) []views.Stream {
	out := make([]views.Stream, 0, len(c.byProxy[id]))
	for i := range c.byProxy[id] {
		one := &c.byProxy[id][i]
		v := views.Stream{
			ID: one.ID, Address: one.Address, ConnectedAt: one.ConnectedAt, Protocol: "state of the world",
			IstioVersion: one.Node.IstioVersion, EnvoyVersion: one.Node.EnvoyVersion, Types: newStreamTypes(one),
		}
		if one.Delta {
			v.Protocol = "incremental"
		}
		out = append(out, v)
	}
	return out
}

// strangers are the connected clients that are no proxy of the snapshot.
func (c connected) strangers(snap *state.Snapshot) []views.Stranger {
	var out []views.Stranger
	for _, id := range slices.Sorted(maps.Keys(c.byProxy)) {
		if snap.Proxy(id) != nil {
			continue // listed with the others
		}
		for _, one := range c.byProxy[id] {
			out = append(out, views.Stranger{ID: one.ID, Address: one.Address})
		}
	}
	return out
}

// oldestUnacked is when the oldest message without answer was sent, zero if there
// is none.
func oldestUnacked(s *xds.Session) time.Time {
	var oldest time.Time
	for i := range s.Types {
		t := &s.Types[i]
		if t.Status() == xds.Stale && (oldest.IsZero() || t.Sent.Time.Before(oldest)) {
			oldest = t.Sent.Time
		}
	}
	return oldest
}

func newStreamTypes(s *xds.Session) []views.StreamType {
	out := make([]views.StreamType, 0, len(s.Types))
	for i := range s.Types {
		t := &s.Types[i]
		v := views.StreamType{
			Name: typeName(t.URL), URL: t.URL, Status: string(t.Status()), Asked: views.Count(t.Names, "name", "names"),
			Version: t.Sent.Version, Nonce: t.Sent.Nonce, AckedNonce: t.Acked.Nonce, Sent: t.Sent.Time, Acked: t.Acked.Time,
			Messages: t.Messages, Resources: t.Resources, Error: t.Error, ErrorAt: t.ErrorAt,
		}
		if t.Wildcard {
			v.Asked = "everything"
		}
		out = append(out, v)
	}
	return out
}
