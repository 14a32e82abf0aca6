package replay_test

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/edsight/edsight/core/replay"
)

// TestConformance replays every golden case, what istiod 1.28.2 computed of the
// same objects, and holds the results against it: all cases must pass. What
// passes is printed per family.
func TestConformance(t *testing.T) {
	t.Parallel()
	for corpus, cases := range map[string]int{"conformance": 185, "diagnosis": 31} {
		t.Run(corpus, func(t *testing.T) {
			t.Parallel()
			want := unpack(t, filepath.Join("testdata", corpus+".tar.gz"))
			got := t.TempDir()
			start := time.Now()
			problems, err := replay.Run(t.Context(), []string{want}, got)
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range problems {
				t.Errorf("problem in a manifest: %s: %s", p.Where, p.Message)
			}
			t.Logf("%d cases replayed in %s", cases, time.Since(start).Round(time.Millisecond))
			if n := compareAll(t, want, got); n != cases {
				t.Errorf("%d cases were compared, want %d", n, cases)
			}
		})
	}
}

// compareAll compares each case, in a test of its own, prints what passed per
// family, and returns the number of cases.
func compareAll(t *testing.T, want, got string) int {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(want, "*", "*", "expect"))
	if err != nil {
		t.Fatal(err)
	}
	passed, total := map[string]int{}, map[string]int{}
	for _, expect := range all {
		rel, err := filepath.Rel(want, filepath.Dir(expect))
		if err != nil {
			t.Fatal(err)
		}
		family := filepath.Dir(rel)
		total[family]++
		if t.Run(rel, func(t *testing.T) { compareCase(t, expect, filepath.Join(got, rel)) }) {
			passed[family]++
		}
	}
	for _, f := range slices.Sorted(mapKeys(total)) {
		t.Logf("%-16s %d of %d", f, passed[f], total[f])
	}
	return len(all)
}

func compareCase(t *testing.T, expect, actual string) {
	t.Helper()
	want, err := states(expect)
	if err != nil {
		t.Fatal(err)
	}
	got, err := states(actual)
	if err != nil {
		t.Fatal(err)
	}
	var before map[string]string
	for i, w := range want {
		if i >= len(got) || got[i].name != w.name {
			t.Fatalf("state %q is missing", w.name)
		}
		for _, rel := range slices.Sorted(mapKeys(w.files)) {
			for _, d := range compareFile(rel, w, got[i], before) {
				t.Errorf("state %q: %s: %s", w.name, rel, d)
			}
		}
		before = got[i].files
	}
}

// stateFiles are the files that hold in one state: those written for it, and of
// earlier states those which are not written again.
type stateFiles struct {
	name  string
	files map[string]string
	// fresh are what istiod holds that starts anew on the same objects, where that
	// differs. Either is right.
	fresh map[string][]string
}

func states(base string) ([]stateFiles, error) {
	steps, err := filepath.Glob(filepath.Join(base, "steps", "*"))
	if err != nil {
		return nil, err
	}
	var out []stateFiles
	current := map[string]string{}
	for _, dir := range append([]string{base}, steps...) {
		s := stateFiles{fresh: map[string][]string{}, files: map[string]string{}}
		if dir != base {
			s.name = filepath.Base(dir)
		}
		delete(current, "push.json")
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			rel, err := filepath.Rel(dir, path)
			if d.IsDir() && rel == "steps" {
				return fs.SkipDir
			}
			if name, _, isFresh := strings.Cut(rel, "_fresh"); isFresh {
				s.fresh[name+".json"] = append(s.fresh[name+".json"], path)
			} else if strings.HasSuffix(rel, ".json") {
				current[rel] = path
			}
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", dir, err)
		}
		maps.Copy(s.files, current)
		out = append(out, s)
	}
	return out, nil
}

// unpack writes an archive of cases into a folder of the test.
func unpack(t *testing.T, archive string) string {
	t.Helper()
	dir := t.TempDir()
	f, err := os.Open(archive)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return filepath.Join(dir, "cases")
		}
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, filepath.Clean("/"+h.Name))
		if h.Typeflag == tar.TypeDir {
			err = os.MkdirAll(path, 0o750)
		} else {
			err = write(path, r)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func write(path string, r io.Reader) error {
	data, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o600)
}
