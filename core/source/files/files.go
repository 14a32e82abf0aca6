package files

import (
	"context"
	"fmt"
	"iter"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/source"
	"github.com/edsight/edsight/core/source/memory"
)

// ConfigCluster is the cluster of objects outside clusters/<id>.
const ConfigCluster model.ClusterID = "Kubernetes"

// settle is how long changes are gathered before files are read, so that the
// steps by which an editor replaces a file are one change.
const settle = 50 * time.Millisecond

// Options of a source of files.
type Options struct {
	// Now is the clock; time.Now if nil.
	Now func() time.Time
	// Logger is told of problems; silent if nil.
	Logger *slog.Logger
}

// Files is a source of the objects in files.
type Files struct {
	root  string
	now   func() time.Time
	log   *slog.Logger
	store *memory.Store
	// read holds the files as they were last read, by path; Run's alone.
	read map[string]*file

	mu       sync.Mutex // protects all below
	problems []source.Problem
	mended   []source.Problem
	where    map[model.ObjectKey]string
}

// maxMended is how many problems are remembered that are no more.
const maxMended = 20

// New returns a source of the file or directory at path. Nothing is read before
// Run.
func New(path string, o Options) *Files {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return &Files{
		root: path, now: o.Now, log: o.Logger,
		store: memory.New("files "+path, o.Now), read: map[string]*file{},
	}
}

// Run implements source.Source. It fails if the path cannot be read at the
// start, or cannot be watched.
func (f *Files) Run(ctx context.Context, sink source.Sink) error {
	w, err := newWatcher(f.root)
	if err != nil {
		return err
	}
	defer func() {
		if err := w.Close(); err != nil {
			f.log.Warn("closing the watch failed", "path", f.root, "error", err)
		}
	}()
	if err := f.scan(w); err != nil {
		return err
	}
	f.store.Attach(sink)
	return f.follow(ctx, w)
}

// follow reads files again when something happens to them.
func (f *Files) follow(ctx context.Context, w *watcher) error {
	var settled <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			return nil
		case e, ok := <-w.Events:
			if !ok {
				return fmt.Errorf("watch %s: %w", f.root, fsnotify.ErrClosed)
			}
			if settled == nil && w.concerns(e) {
				settled = time.After(settle)
			}
		case err, ok := <-w.Errors:
			if !ok {
				return fmt.Errorf("watch %s: %w", f.root, fsnotify.ErrClosed)
			}
			// Events may have been lost, so everything is looked at.
			f.log.Warn("watching files failed", "path", f.root, "error", err)
			settled = time.After(settle)
		case <-settled:
			settled = nil
			if err := f.scan(w); err != nil {
				stay := slices.DeleteFunc(slices.Clone(f.problems), func(p source.Problem) bool { return p.Where == f.root })
				f.report(append(stay, source.Problem{Where: f.root, Message: err.Error() + "; what was known stays"}))
			}
		}
	}
}

// report replaces the problems, and logs those which are new.
func (f *Files) report(problems []source.Problem) {
	f.mu.Lock()
	before := f.problems
	f.problems = problems
	for i := range problems {
		problems[i].Since = f.now()
		if j := slices.IndexFunc(before, func(p source.Problem) bool { return same(p, problems[i]) }); j >= 0 {
			problems[i].Since = before[j].Since
		}
	}
	mended := without(before, problems)
	for i := range mended {
		mended[i].Until = f.now()
	}
	f.mended = append(f.mended, mended...)
	f.mended = slices.Clone(f.mended[max(len(f.mended)-maxMended, 0):])
	f.mu.Unlock()
	for _, p := range without(problems, before) {
		f.log.Warn("problem in a file", attrs(p)...)
	}
	for _, p := range mended {
		f.log.Info("problem in a file is mended", attrs(p)...)
	}
}

// without are the problems that are not among the others.
func without(problems, others []source.Problem) []source.Problem {
	var list []source.Problem
	for _, p := range problems {
		if !slices.ContainsFunc(others, func(o source.Problem) bool { return same(p, o) }) {
			list = append(list, p)
		}
	}
	return list
}

// attrs say a problem in the log, without what it does not name.
func attrs(p source.Problem) []any {
	list := []any{slog.String("where", p.Where)}
	if p.Object.Name != "" {
		list = append(list, slog.String("object", p.Object.String()))
	}
	if p.Field != "" {
		list = append(list, slog.String("field", p.Field))
	}
	return append(list, slog.String("message", p.Message))
}

func same(a, b source.Problem) bool {
	a.Since = b.Since
	return a == b
}

// Get implements source.Source.
func (f *Files) Get(key model.ObjectKey) source.Object { return f.store.Get(key) }

// All implements source.Source.
func (f *Files) All() iter.Seq2[model.ObjectKey, source.Object] { return f.store.All() }

// Where implements source.Locator.
func (f *Files) Where(key model.ObjectKey) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.where[key]
}

// Status implements source.Source.
func (f *Files) Status() source.Status {
	st := f.store.Status()
	f.mu.Lock()
	defer f.mu.Unlock()
	st.Problems, st.Mended = slices.Clone(f.problems), slices.Clone(f.mended)
	return st
}
