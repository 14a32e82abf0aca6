package server

import (
	"math"
	"net/http"
	"slices"
	"strings"

	"github.com/a-h/templ"

	"github.com/edsight/edsight/core/journal"
	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/state"
	"github.com/edsight/edsight/views"
)

// topTalkers is how many services and objects are named.
const topTalkers = 8

func (s *Server) pushesPage(r *http.Request) (any, templ.Component, error) {
	f, err := newFilter(r.URL.Query())
	if err != nil {
		return nil, nil, err
	}
	before, err := seqOf(r, "before")
	if err != nil {
		return nil, nil, err
	}
	snap, j := s.core.Snapshot(), s.core.Journal()
	c := s.chrome(r, snap, views.SectionPushes, "Pushes")
	all := j.Since(1, math.MaxInt).Transitions
	m := views.Pushes{
		State: c.State, Type: f.push, Steps: len(all), Counts: countPushes(all),
		Feed: s.newFeed(feedQuery{filter: f, before: before, path: "/pushes"}),
	}
	m.Services, m.Objects = talkers(all)
	return m, views.PushesPage(c, m), nil
}

func countPushes(all []*journal.Transition) views.PushCounts {
	var n views.PushCounts
	times := make([]float64, 0, len(all))
	for _, t := range all {
		switch t.Push.Scope.Type {
		case state.PushFull:
			n.Full++
		case state.PushIncremental:
			n.Incremental++
		case state.PushNone:
			n.None++
		}
		events := 0
		for i := range t.Causes {
			events += max(t.Causes[i].Merged, 1)
		}
		n.Events += events
		n.Merged += max(events-1, 0)
		times = append(times, millis(t.Times.Published.Sub(t.Times.Seen)))
	}
	if len(times) > 0 {
		slices.Sort(times)
		n.P50MS, n.P99MS = times[len(times)/2], times[len(times)*99/100]
	}
	return n
}

// talkers counts in how many transitions each service changed and each object
// was a cause. The first state, in which everything is new, does not count.
func talkers(all []*journal.Transition) (services, objects []views.Talker) {
	byService, byObject := map[model.ServiceKey]int{}, map[model.ObjectKey]int{}
	for _, t := range all {
		if t.Prev.Version == 0 {
			continue
		}
		for i := range t.Diff.Services {
			byService[t.Diff.Services[i].Key]++
		}
		for i := range t.Causes {
			byObject[t.Causes[i].Key]++
		}
	}
	services = top(byService, func(k model.ServiceKey) views.Link { return views.Link{Text: k.String(), Href: views.ServiceURL(k)} })
	objects = top(byObject, func(k model.ObjectKey) views.Link { return views.Link{Text: k.String(), Href: views.ObjectURL(k)} })
	return services, objects
}

// top are the keys with the highest counts, those with equal counts by name.
func top[K comparable](counts map[K]int, link func(K) views.Link) []views.Talker {
	list := make([]views.Talker, 0, len(counts))
	for k, n := range counts {
		list = append(list, views.Talker{Link: link(k), Steps: n})
	}
	slices.SortFunc(list, func(a, b views.Talker) int {
		if a.Steps != b.Steps {
			return b.Steps - a.Steps
		}
		return strings.Compare(a.Link.Text, b.Link.Text)
	})
	return list[:min(len(list), topTalkers)]
}
