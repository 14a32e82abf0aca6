package files_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/source"
	"github.com/edsight/edsight/core/source/files"
)

// sink passes on what it is told.
type sink struct {
	causes chan source.Cause
	synced chan struct{}
}

func (s *sink) Dirty(causes ...source.Cause) {
	for _, c := range causes {
		s.causes <- c
	}
}
func (s *sink) Synced() { close(s.synced) }

// mesh is a directory with a running source.
type mesh struct {
	t    *testing.T
	dir  string
	src  *files.Files
	sink *sink
}

// start runs a source over the files at path in a new directory.
func start(t *testing.T, path string, content map[string]string) *mesh {
	t.Helper()
	m := &mesh{t: t, dir: t.TempDir(), sink: &sink{causes: make(chan source.Cause, 1000), synced: make(chan struct{})}}
	for name, text := range content {
		m.write(name, text)
	}
	m.run(path)
	return m
}

func (m *mesh) run(path string) {
	m.src = files.New(filepath.Join(m.dir, path), files.Options{})
	ctx, cancel := context.WithCancel(m.t.Context())
	done := make(chan error, 1)
	go func() { done <- m.src.Run(ctx, m.sink) }()
	m.t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			m.t.Errorf("run: %v", err)
		}
	})
	select {
	case <-m.sink.synced:
	case <-time.After(10 * time.Second):
		m.t.Fatal("not synced")
	}
	for len(m.sink.causes) > 0 {
		<-m.sink.causes
	}
}

// write replaces a file as editors do, by a rename.
func (m *mesh) write(name, text string) {
	m.t.Helper()
	path := filepath.Join(m.dir, name)
	for _, err := range []error{
		os.MkdirAll(filepath.Dir(path), 0o755),
		os.WriteFile(path+"~", []byte(text), 0o600),
		os.Rename(path+"~", path),
	} {
		if err != nil {
			m.t.Fatal(err)
		}
	}
}

// expect waits for a number of causes and compares them, in any order.
func (m *mesh) expect(want ...string) {
	m.t.Helper()
	var got []string
	for range want {
		select {
		case c := <-m.sink.causes:
			got = append(got, strings.TrimSpace(fmt.Sprintf("%s %s %s", c.Op, c.Key.Cluster, c.Key)))
		case <-time.After(10 * time.Second):
			m.t.Fatalf("only %q, want %q", got, want)
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		m.t.Fatalf("causes (-want +got):\n%s", diff)
	}
}

// problems gives the problems with file names relative to the directory.
func (m *mesh) problems() []string {
	var all []string
	for _, p := range m.src.Status().Problems {
		where := strings.TrimPrefix(p.Where, m.dir+"/")
		all = append(all, where+" "+p.Object.String()+" "+strings.ReplaceAll(p.Message, m.dir+"/", ""))
		if p.Since.IsZero() {
			m.t.Errorf("no time in %+v", p)
		}
	}
	return all
}

func (m *mesh) label(name string) string {
	o := m.src.Get(model.ObjectKey{Cluster: "Kubernetes", Kind: model.KindNode, Name: name})
	if o == nil {
		return "absent"
	}
	return o.GetLabels()["v"]
}

func node(name, label string) string {
	return fmt.Sprintf("apiVersion: v1\nkind: Node\nmetadata:\n  name: %s\n  labels: {v: %s}\n", name, label)
}

func TestChanges(t *testing.T) {
	m := start(t, "", map[string]string{
		"a.yaml": node("n1", "a") + "---\n" + node("n2", "a"), "sub/b.yml": node("n3", "a"),
		"clusters/west/c.json": `{"apiVersion":"v1","kind":"Node","metadata":{"name":"n1"}}`,
		"notes.txt":            "kind: nothing", ".git/x.yaml": "broken: [",
	})
	keys := map[string]bool{}
	for k := range m.src.All() {
		keys[string(k.Cluster)+" "+k.String()] = true
	}
	if diff := cmp.Diff(map[string]bool{"Kubernetes Node/n1": true, "Kubernetes Node/n2": true, "Kubernetes Node/n3": true, "west Node/n1": true}, keys); diff != "" {
		t.Fatalf("objects (-want +got):\n%s", diff)
	}

	m.write("a.yaml", "# moved down\n"+node("n1", "b")+"---\n"+node("n2", "a"))
	m.expect("update Kubernetes Node/n1") // n2 says the same
	m.write("new/deep/d.yaml", node("n4", "a"))
	m.expect("add Kubernetes Node/n4")
	m.write("new/deep/d.yaml", node("n4", "b"))
	m.expect("update Kubernetes Node/n4")
	m.write("a.yaml", node("n2", "a"))
	m.expect("delete Kubernetes Node/n1")
	if err := os.RemoveAll(filepath.Join(m.dir, "new")); err != nil {
		t.Fatal(err)
	}
	m.expect("delete Kubernetes Node/n4")
	m.write("clusters/west/c.json", `{}`)
	m.write("z.yaml", node("n5", "a"))
	m.expect("add Kubernetes Node/n5")
	if got := m.problems(); len(got) != 1 || got[0] != "clusters/west/c.json:1 / is missing; not a Kubernetes object; objects that are missing now stay as they were" {
		t.Errorf("problems %q", got)
	}
}

func TestBrokenKeepsLastGood(t *testing.T) {
	m := start(t, "", map[string]string{"a.yaml": node("n1", "a") + "---\n" + node("n2", "a") + "---\n" + node("n3", "a")})
	// n1 is broken by syntax and has no name any more, n2 has a wrong type, n3 changes.
	m.write("a.yaml", "kind: [\n---\n"+node("n2", "[b]")+"---\n"+node("n3", "b"))
	m.expect("update Kubernetes Node/n3")
	if m.label("n1") != "a" || m.label("n2") != "a" {
		t.Errorf("n1 %s, n2 %s", m.label("n1"), m.label("n2"))
	}
	want := []string{
		"a.yaml:1 / invalid YAML: did not find expected node content; objects that are missing now stay as they were",
		"a.yaml:7 Node/n2 is array where string is expected; its last good version stays in use",
	}
	if diff := cmp.Diff(want, m.problems()); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
	since := m.src.Status().Problems[1].Since
	m.write("a.yaml", node("n1", "b")+"---\n"+strings.Repeat("\n", 1)+node("n2", "[b]")+"---\n")
	m.expect("update Kubernetes Node/n1", "delete Kubernetes Node/n3")
	if got := m.src.Status().Problems; len(got) != 1 || got[0].Since.Before(since) {
		t.Errorf("problems %v", got)
	}
	m.write("a.yaml", node("n2", "b"))
	m.expect("delete Kubernetes Node/n1", "update Kubernetes Node/n2")
	if got := m.problems(); got != nil {
		t.Errorf("problems %q", got)
	}
	mended := m.src.Status().Mended
	if last := mended[len(mended)-1]; len(mended) != 3 || last.Object.Name != "n2" || last.Until.Before(last.Since) {
		t.Errorf("mended %+v", mended)
	}
}

func TestSameObjectInTwoFiles(t *testing.T) {
	m := start(t, "", map[string]string{"b.yaml": node("n1", "b"), "a.yaml": node("n1", "a")})
	n1 := model.ObjectKey{Cluster: "Kubernetes", Kind: model.KindNode, Name: "n1"}
	if where := m.src.Where(n1); m.label("n1") != "b" || where != filepath.Join(m.dir, "b.yaml")+":1" {
		t.Errorf("n1 is %s at %q", m.label("n1"), where)
	}
	if diff := cmp.Diff([]string{"a.yaml:1 Node/n1 the object is also at b.yaml:1, which counts"}, m.problems()); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
	if err := os.Remove(filepath.Join(m.dir, "b.yaml")); err != nil {
		t.Fatal(err)
	}
	m.expect("update Kubernetes Node/n1")
	if m.label("n1") != "a" || m.problems() != nil || m.src.Where(n1) != filepath.Join(m.dir, "a.yaml")+":1" {
		t.Errorf("n1 is %s at %q, problems %q", m.label("n1"), m.src.Where(n1), m.problems())
	}
}

func TestSingleFile(t *testing.T) {
	m := start(t, "a.yaml", map[string]string{"a.yaml": node("n1", "a"), "b.yaml": node("n2", "a")})
	if m.label("n1") != "a" || m.label("n2") != "absent" {
		t.Fatalf("n1 %s, n2 %s", m.label("n1"), m.label("n2"))
	}
	m.write("a.yaml", node("n1", "b"))
	m.expect("update Kubernetes Node/n1")
	if err := os.Remove(filepath.Join(m.dir, "a.yaml")); err != nil {
		t.Fatal(err)
	}
	m.write("a.yaml", node("n1", "c"))
	m.expect("update Kubernetes Node/n1")
}

func TestMissingPath(t *testing.T) {
	s := files.New(filepath.Join(t.TempDir(), "nothing"), files.Options{})
	if err := s.Run(t.Context(), &sink{}); err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Errorf("error %v", err)
	}
}
