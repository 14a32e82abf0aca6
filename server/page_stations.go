package server

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"github.com/edsight/edsight/core/journal"
	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/state"
	"github.com/edsight/edsight/views"
)

const (
	// stationSeconds is how far back the stations count.
	stationSeconds = 60
	// stationsEvery is how often a live page gets the stations anew.
	stationsEvery = 2 * time.Second
)

// stationsFrames makes one frame for all readers of the same two seconds.
type stationsFrames struct {
	mu   sync.Mutex // protects slot and get
	slot int64
	get  func() (*websocket.PreparedMessage, error)
}

// stationsFrame is the pipeline as a frame of the live feed.
func (s *Server) stationsFrame(ctx context.Context, now time.Time) (*websocket.PreparedMessage, error) {
	f, slot := &s.pages.stations, now.UnixNano()/int64(stationsEvery)
	f.mu.Lock()
	if f.get == nil || f.slot != slot {
		f.slot = slot
		f.get = sync.OnceValues(func() (*websocket.PreparedMessage, error) {
			snap := s.core.Snapshot()
			m := views.Moving{Stations: s.stations(snap), Rows: s.moving(now), Troubles: s.troubles(snap)}
			text, err := render(context.WithoutCancel(ctx), views.LiveFrame(m, now))
			if err != nil {
				return nil, err
			}
			return websocket.NewPreparedMessage(websocket.TextMessage, text)
		})
	}
	get := f.get
	f.mu.Unlock()
	return get()
}

// passage is what passed one station in the last minute.
type passage struct {
	perSecond [stationSeconds]int
	total     int
	times     []float64 // milliseconds since the event
}

func (p *passage) add(second, n int) {
	p.perSecond[second] += n
	p.total += n
}

func (p *passage) took(d time.Duration) { p.times = append(p.times, millis(d)) }

// pipeline counts what passed each station.
type pipeline struct {
	slices, candidates, index, push, sent, acked passage
	pushes                                       [3]int // by type
	proxies                                      int    // of the newest push
	// connected is the number of streams of proxies, and newest how far the newest
	// push got that concerned one.
	connected int
	newest    journal.Delivered
}

// stations shows the way from the slice to the proxies in the last minute.
func (s *Server) stations(snap *state.Snapshot) []views.Station {
	now, j := s.present(), s.core.Journal()
	p := pipeline{connected: len(s.proxies.Sessions()), newest: newestDelivery(j)}
	// The newest push is counted; of older ones what was counted when they came.
	if t := newestPush(j); t != nil {
		p.proxies = s.pages.audience.count(j, t)
	}
	for _, t := range recent(j, now.Add(-stationSeconds*time.Second)) {
		if age := now.Sub(t.Times.Published); age >= 0 && age < stationSeconds*time.Second {
			second := stationSeconds - 1 - int(age/time.Second)
			p.count(t, second)
			p.deliver(j, t, second, s.pages.audience.countKnown(t))
		}
	}
	return p.stations(snap, s.core.Status().Waiting, now)
}

// newestPush returns the newest transition in memory that pushed anything.
func newestPush(j *journal.Journal) *journal.Transition {
	for seq := j.Last(); ; seq-- {
		if t := j.Get(seq); t == nil || t.Push.Scope.Type != state.PushNone {
			return t
		}
	}
}

// recent returns the transitions in memory which were published after a time.
func recent(j *journal.Journal, after time.Time) []*journal.Transition {
	var list []*journal.Transition
	for seq := j.Last(); ; seq-- {
		t := j.Get(seq)
		if t == nil || !t.Times.Published.After(after) {
			return list
		}
		list = append(list, t)
	}
}

func (p *pipeline) count(t *journal.Transition, second int) {
	seen := begin(t.Times)
	for i := range t.Causes {
		if t.Causes[i].Key.Kind == model.KindEndpointSlice {
			p.slices.add(second, max(t.Causes[i].Merged, 1))
		}
	}
	for i := range t.Diff.Services {
		p.candidates.add(second, len(t.Diff.Services[i].Endpoints))
	}
	p.candidates.took(t.Times.Drained.Sub(seen))
	p.index.add(second, len(t.Diff.Services))
	p.index.took(t.Times.Compiled.Sub(seen))
	p.pushes[t.Push.Scope.Type]++
	if t.Push.Scope.Type == state.PushNone {
		return
	}
	p.push.add(second, 1)
	p.push.took(t.Times.Published.Sub(seen))
}

// deliver counts the proxies that a transition was sent to, or would be if none
// is connected.
func (p *pipeline) deliver(j *journal.Journal, t *journal.Transition, second, modelled int) {
	if p.connected == 0 {
		if t.Push.Scope.Type != state.PushNone {
			p.sent.add(second, modelled)
		}
		return
	}
	d, ok := delivered(j, t)
	if !ok {
		return
	}
	p.sent.add(second, d.Sent+d.Acked+d.Rejected)
	p.acked.add(second, d.Acked)
	if !d.FirstSent.IsZero() {
		p.sent.took(d.FirstSent.Sub(begin(t.Times)))
	}
	if !d.Done.IsZero() && d.Acked > 0 {
		p.acked.took(d.Done.Sub(begin(t.Times)))
	}
}

// stations has the backlog of objects that were not looked at yet only if there is
// one.
func (p *pipeline) stations(snap *state.Snapshot, backlog int, now time.Time) []views.Station {
	detail := "slice changes in 60 s"
	if backlog > 0 {
		detail = views.Count(backlog, "object", "objects") + " not looked at yet"
	}
	list := []views.Station{
		p.slices.station("slices", views.Number(p.slices.total), detail),
		p.candidates.station("candidates", views.Number(waitingCount(snap))+" waiting", views.Number(p.candidates.total)+" changed in 60 s"),
		p.index.station("index", views.Number(snap.ServiceCount()), views.Noun(snap.ServiceCount(), "service", "services")+", "+views.Number(p.index.total)+" changed"),
		p.push.station("push", views.Number(p.push.total), views.Number(p.pushes[state.PushFull])+" full, "+views.Number(p.pushes[state.PushNone])+" not needed"),
	}
	if p.connected > 0 {
		sent := views.Number(p.newest.Sent+p.newest.Acked+p.newest.Rejected) + " of " + views.Number(p.newest.Affected)
		return append(list, p.sent.station("sent", sent, sentDetail(&p.newest)), p.acked.station("acked", ackedValue(&p.newest, now), ackedDetail(&p.newest)))
	}
	proxies := views.Number(p.proxies) + " of " + views.Number(snap.ProxyCount())
	return append(list, p.sent.modelled("sent", proxies, "proxies by the newest push"), p.sent.modelled("acked", proxies, "proxies would acknowledge"))
}

func sentDetail(d *journal.Delivered) string {
	if d.Unchanged > 0 {
		return views.Number(d.Unchanged) + " had it already"
	}
	return "by the newest push"
}

// lateAfter is how long an acknowledgement may take. A proxy that owes one for what
// came before gets nothing new, and is late, too.
const lateAfter = time.Second

func ackedValue(d *journal.Delivered, now time.Time) string {
	text := views.Number(d.Acked)
	switch {
	case d.Waiting() > 0 && !d.FirstSent.IsZero() && now.Sub(d.FirstSent) > lateAfter:
		text += " · " + views.Number(d.Waiting()) + " late"
	case d.Waiting() > 0:
		text += " · " + views.Number(d.Waiting()) + " on their way"
	}
	return text
}

func ackedDetail(d *journal.Delivered) string {
	if d.Rejected > 0 {
		return "✗ " + views.Number(d.Rejected) + " rejected it"
	}
	return "of the newest push"
}

func (p *passage) station(name, value, detail string) views.Station {
	s := views.Station{Name: name, Value: value, Detail: detail, Rate: float64(p.total) / stationSeconds, Spark: p.perSecond[:]}
	if len(p.times) > 0 {
		slices.Sort(p.times)
		s.Timed, s.P50MS = true, p.times[len(p.times)/2]
	}
	return s
}

func (p *passage) modelled(name, value, detail string) views.Station {
	s := p.station(name, value, detail)
	s.Modelled = true
	return s
}
