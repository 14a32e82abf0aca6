package replay

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/edsight/edsight/core/control"
	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/source"
	"github.com/edsight/edsight/core/source/manifest"
	"github.com/edsight/edsight/core/source/memory"
)

// Run replays scenarios into folders below out. A folder that is a scenario is
// replayed into out itself; any other is searched for scenarios, whose relative
// paths are mirrored below out. It returns the problems of all scenarios, and an error
// if one could not be replayed, or not as it says.
func Run(ctx context.Context, paths []string, out string) ([]source.Problem, error) {
	type job struct{ from, to string }
	var jobs []job
	for _, p := range paths {
		found, err := find(p)
		if err != nil {
			return nil, err
		}
		for _, rel := range found {
			j := job{filepath.Join(p, rel), filepath.Join(out, rel)}
			if err := checkOut(j.from, j.to); err != nil {
				return nil, err
			}
			if i := slices.IndexFunc(jobs, func(o job) bool { return o.to == j.to }); i >= 0 {
				return nil, fmt.Errorf("both %s and %s would be written to %s", jobs[i].from, j.from, j.to)
			}
			jobs = append(jobs, j)
		}
	}
	problems := make([][]source.Problem, len(jobs))
	errs := make([]error, len(jobs))
	var wg sync.WaitGroup
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	for i, j := range jobs {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			if errs[i] = ctx.Err(); errs[i] == nil {
				problems[i], errs[i] = one(j.from, j.to) //nolint:contextcheck // nothing is looked up, for which alone a turn needs one
			}
		})
	}
	wg.Wait()
	return slices.Concat(problems...), errors.Join(errs...)
}

// checkOut refuses to write into the folder of a scenario, which the next replay would
// read.
func checkOut(scenario, out string) error {
	folder, err := os.Stat(scenario)
	if err != nil {
		return fmt.Errorf("read scenario: %w", err)
	}
	dir, err := filepath.Abs(out)
	if err != nil {
		return fmt.Errorf("find %s: %w", out, err)
	}
	for {
		if info, err := os.Stat(dir); err == nil && os.SameFile(info, folder) {
			return fmt.Errorf("%s is within the scenario %s, which would read it the next time; write elsewhere", out, scenario)
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return nil
		}
		dir = parent
	}
}

// find returns the paths of the scenarios relative to dir, in order.
func find(dir string) ([]string, error) {
	if isScenario(dir) {
		return []string{"."}, nil
	}
	var out []string
	// The slash makes WalkDir enter a folder that is a symbolic link.
	err := filepath.WalkDir(dir+string(filepath.Separator), func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() || !isScenario(path) {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return fmt.Errorf("find scenario: %w", err)
		}
		out = append(out, rel)
		return fs.SkipDir
	})
	if err == nil && len(out) == 0 {
		err = errors.New("there is no scenario: no folder with a folder input")
	}
	if err != nil {
		return nil, fmt.Errorf("search %s: %w", dir, err)
	}
	return out, nil
}

// one replays one scenario.
func one(from, to string) ([]source.Problem, error) {
	s, err := Load(from)
	if err != nil {
		return nil, fmt.Errorf("load %s: %w", from, err)
	}
	store := memory.New(from, time.Now)
	core := control.New(control.Options{
		Source: store, Proxies: s.Proxies, JournalSize: len(s.Steps) + 1,
		Features: s.Features,
	})
	apply(store, s.Initial)
	store.Attach(core)
	w := &writer{scenario: s, core: core, last: map[string][]byte{}, seen: map[model.ObjectKey]bool{}}
	questions, err := newAnswers(from, s, store, core)
	if err != nil {
		return s.Problems, err
	}
	core.Flush()
	if err := w.state(to, false); err != nil {
		return s.Problems, err
	}
	questions.at("", core)
	for _, step := range s.Steps {
		apply(store, step.Changes)
		core.Flush()
		if err := w.state(filepath.Join(to, "steps", step.Number), true); err != nil {
			return s.Problems, err
		}
		questions.at(step.Number, core)
	}
	w.missing(filepath.Join(from, "proxies.yaml"))
	if err := questions.write(to); err != nil {
		return s.Problems, err
	}
	return s.Problems, s.err(from)
}

func apply(store *memory.Store, docs []manifest.Document) {
	for _, d := range docs {
		if d.Op == source.OpDelete {
			store.Delete(d.Key)
			continue
		}
		store.Put(d.Key, d.Object)
	}
}

func createDir(dir string) error {
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return fmt.Errorf("create folder: %w", err)
	}
	return nil
}
