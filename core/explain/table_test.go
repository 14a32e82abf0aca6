package explain_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/edsight/edsight/core/control"
	"github.com/edsight/edsight/core/explain"
	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/registry"
	"github.com/edsight/edsight/core/source"
	"github.com/edsight/edsight/core/source/manifest"
	"github.com/edsight/edsight/core/source/memory"
)

var update = flag.Bool("update", false, "write the golden answers anew")

// tableCase is one file of testdata: objects laid over those of base.yaml.txt,
// and questions which are asked after the last step.
type tableCase struct {
	About     string                     `json:"about"`
	Input     string                     `json:"input"`
	Clusters  map[model.ClusterID]string `json:"clusters"`
	Steps     []string                   `json:"steps"`
	Features  registry.Features          `json:"features"`
	Questions []explain.Question         `json:"questions"`
}

// bench is a core over objects in memory, with a clock that stands.
type bench struct {
	core      *control.Controller
	store     *memory.Store
	explainer *explain.Explainer
}

func newBench(t testing.TB, features registry.Features) *bench {
	t.Helper()
	clock := func() time.Time { return time.Date(2024, 3, 2, 3, 4, 5, 0, time.UTC) }
	store := memory.New("test", clock)
	core := control.New(control.Options{Source: store, Now: clock, Features: features})
	b := &bench{core: core, store: store, explainer: explain.New(explain.Options{Objects: store, Journal: core.Journal()})}
	b.putBase(t)
	return b
}

// putBase puts what all cases have.
func (b *bench) putBase(t testing.TB) {
	t.Helper()
	base, err := os.ReadFile(filepath.Join("testdata", "base.yaml.txt"))
	if err != nil {
		t.Fatal(err)
	}
	b.put(t, string(base), "Kubernetes")
}

func (b *bench) put(t testing.TB, text string, cluster model.ClusterID) {
	t.Helper()
	docs, problems := manifest.Decode("test.yaml", []byte(text), cluster)
	for _, p := range problems {
		t.Fatalf("manifest: %s %s: %s", p.Where, p.Field, p.Message)
	}
	for _, d := range docs {
		if d.Op == source.OpDelete {
			b.store.Delete(d.Key)
			continue
		}
		b.store.Put(d.Key, d.Object)
	}
}

func (b *bench) load(t testing.TB, c *tableCase) {
	t.Helper()
	b.put(t, c.Input, "Kubernetes")
	for id, text := range c.Clusters {
		b.put(t, text, id)
	}
	b.store.Attach(b.core)
	b.core.Flush()
	for _, s := range c.Steps {
		b.put(t, s, "Kubernetes")
		b.core.Flush()
	}
}

func readCase(t *testing.T, path string) *tableCase {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var c tableCase
	if err := yaml.UnmarshalStrict(data, &c); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return &c
}

// TestTable holds the answer to each question of testdata, verdict by verdict,
// and that every cause and every verdict of the build is among them.
func TestTable(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join("testdata", "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	seen := map[explain.Cause]bool{}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".yaml"), func(t *testing.T) {
			c := readCase(t, path)
			b := newBench(t, c.Features)
			b.load(t, c)
			var out strings.Builder
			for _, q := range c.Questions {
				a := b.explainer.Explain(b.core.Snapshot(), q, nil)
				seen[a.Cause] = true
				fmt.Fprint(&out, goldenText(t, q, a))
				checkAnswer(t, a)
			}
			golden(t, strings.TrimSuffix(path, ".yaml")+".golden", out.String())
		})
	}
	if *update {
		removeOrphans(t, paths)
	}
	for _, c := range explain.Causes() {
		if !seen[c] {
			t.Errorf("no case comes to the cause %s", c)
		}
	}
	for _, r := range model.Reasons() {
		if !seen[explain.Cause(r.String())] {
			t.Errorf("no case comes to the reason %s", r)
		}
	}
}

// goldenText is an answer as people read it.
func goldenText(t *testing.T, q explain.Question, a *explain.Answer) string {
	t.Helper()
	question, err := json.Marshal(q)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	fmt.Fprintf(&out, "%s\n%s\n", question, a.Sentence)
	fmt.Fprintf(&out, "present %t, cause %s, object %s, port %d, via %q, priority %s\n", a.Present, a.Cause, a.Object, a.EndpointPort, a.Via, priority(a))
	for _, s := range a.Steps {
		fmt.Fprintf(&out, "  %-8s %s: %s\n", s.Verdict, s.Name, s.Text)
		for _, e := range s.Evidence {
			fmt.Fprintf(&out, "             %s %s: want %q, have %q\n", e.Object, e.Field, e.Want, e.Have)
		}
	}
	return out.String() + "\n"
}

func priority(a *explain.Answer) string {
	if a.Priority == nil {
		return "-"
	}
	return fmt.Sprint(*a.Priority)
}

// checkAnswer holds what is true of every answer.
func checkAnswer(t *testing.T, a *explain.Answer) {
	t.Helper()
	failed := slices.IndexFunc(a.Steps, func(s explain.Step) bool { return s.Verdict == explain.VerdictFailed })
	if a.Present != (failed < 0) {
		t.Errorf("present is %t, and the failed step is number %d", a.Present, failed)
	}
	if len(a.Steps) != len(explain.Steps()) {
		t.Errorf("%d steps", len(a.Steps))
	}
	if !a.Present && a.Steps[failed].Remedy == "" {
		t.Errorf("%s has no remedy", a.Cause)
	}
	if !slices.Contains(explain.Causes(), a.Cause) {
		t.Errorf("the cause %q is not in the list", a.Cause)
	}
}

func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("differs from %s; with -update it is written anew; got\n%s", path, got)
	}
}

// removeOrphans deletes golden files without a case.
func removeOrphans(t *testing.T, cases []string) {
	t.Helper()
	goldens, err := filepath.Glob(filepath.Join("testdata", "*.golden"))
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range goldens {
		if slices.Contains(cases, strings.TrimSuffix(g, ".golden")+".yaml") {
			continue
		}
		if err := os.Remove(g); err != nil {
			t.Error(err)
		}
	}
}
