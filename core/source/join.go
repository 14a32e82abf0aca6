package source

import (
	"context"
	"errors"
	"iter"
	"sync"

	"github.com/edsight/edsight/core/model"
)

// joined is several sources as one.
type joined []Source

// Join makes one source of several. Of an object that several have, the one of
// the first counts.
func Join(sources ...Source) Source {
	if len(sources) == 1 {
		return sources[0]
	}
	return joined(sources)
}

// Run runs all sources. If one fails the others end, too.
func (j joined) Run(ctx context.Context, sink Sink) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	gate := &gate{Sink: sink, missing: len(j)}
	errs := make([]error, len(j))
	var wg sync.WaitGroup
	for i, s := range j {
		wg.Go(func() {
			defer cancel()
			errs[i] = s.Run(ctx, &once{Sink: gate})
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// Get implements Source.
func (j joined) Get(key model.ObjectKey) Object {
	for _, s := range j {
		if o := s.Get(key); o != nil {
			return o
		}
	}
	return nil
}

// Where implements Locator.
func (j joined) Where(key model.ObjectKey) string {
	for _, s := range j {
		if s.Get(key) == nil {
			continue // in another
		}
		if l, ok := s.(Locator); ok {
			return l.Where(key)
		}
		return ""
	}
	return ""
}

// All implements Source. An object that several have comes once.
func (j joined) All() iter.Seq2[model.ObjectKey, Object] {
	return func(yield func(model.ObjectKey, Object) bool) {
		for i, s := range j {
			for key, o := range s.All() {
				if j[:i].Get(key) == nil && !yield(key, o) {
					return
				}
			}
		}
	}
}

// Status joins the names, clusters and problems.
func (j joined) Status() Status {
	var out Status
	for i, s := range j {
		st := s.Status()
		if i > 0 {
			out.Name += " and "
		}
		out.Name += st.Name
		out.Clusters = append(out.Clusters, st.Clusters...)
		out.Problems = append(out.Problems, st.Problems...)
		out.Mended = append(out.Mended, st.Mended...)
	}
	SortClusters(out.Clusters)
	return out
}

// gate passes Synced on when all sources have said it.
type gate struct {
	Sink
	mu      sync.Mutex // protects missing
	missing int
}

func (g *gate) Synced() {
	g.mu.Lock()
	g.missing--
	open := g.missing == 0
	g.mu.Unlock()
	if open {
		g.Sink.Synced()
	}
}

// once passes the first Synced of one source on.
type once struct {
	Sink
	synced sync.Once
}

func (o *once) Synced() { o.synced.Do(o.Sink.Synced) }
