package files_test

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edsight/edsight/core/source"
	"github.com/edsight/edsight/core/source/files"
)

// swap points a link to another target in one step, as the kubelet does.
func (m *mesh) swap(link, target string) {
	m.t.Helper()
	path := filepath.Join(m.dir, link)
	for _, err := range []error{os.Symlink(target, path+".tmp"), os.Rename(path+".tmp", path)} {
		if err != nil {
			m.t.Fatal(err)
		}
	}
}

// volume makes a directory laid out as the mount of a ConfigMap.
func volume(t *testing.T) *mesh {
	t.Helper()
	m := &mesh{t: t, dir: t.TempDir(), sink: &sink{causes: make(chan source.Cause, 100), synced: make(chan struct{})}}
	m.write("mesh/..1/mesh.yaml", node("n1", "a"))
	m.swap("mesh/..data", "..1")
	m.swap("mesh/mesh.yaml", "..data/mesh.yaml")
	return m
}

func TestConfigMapVolume(t *testing.T) {
	m := volume(t)
	m.run("mesh")
	for i, label := range []string{"b", "c"} {
		next := []string{"..2", "..3"}[i]
		m.write("mesh/"+next+"/mesh.yaml", node("n1", label))
		m.swap("mesh/..data", next)
		m.expect("update Kubernetes Node/n1")
		if m.label("n1") != label {
			t.Errorf("n1 is %s, want %s", m.label("n1"), label)
		}
	}
	if got := m.problems(); got != nil {
		t.Errorf("problems %q", got)
	}
}

func TestLinkedRoot(t *testing.T) {
	m := volume(t)
	m.write("other/mesh.yaml", node("n1", "z"))
	m.swap("root", "mesh")
	m.run("root")
	if m.label("n1") != "a" {
		t.Fatalf("n1 is %s", m.label("n1"))
	}
	m.swap("root", "other")
	m.expect("update Kubernetes Node/n1")
	m.write("other/mesh.yaml", node("n1", "y"))
	m.expect("update Kubernetes Node/n1")
	if m.label("n1") != "y" {
		t.Errorf("n1 is %s", m.label("n1"))
	}
}

func TestLinkTargetIsWatched(t *testing.T) {
	m := start(t, "in", map[string]string{"elsewhere/x.yaml": node("n1", "a"), "in/y.yaml": node("n2", "a")})
	m.swap("in/x.yaml", "../elsewhere/x.yaml")
	m.expect("add Kubernetes Node/n1")
	m.write("elsewhere/x.yaml", node("n1", "b"))
	m.expect("update Kubernetes Node/n1")
	m.swap("in/loop", "..")
	m.write("in/y.yaml", node("n2", "b"))
	m.expect("update Kubernetes Node/n2")
	if got := m.problems(); len(got) != 1 || got[0] != "in/loop / a symbolic link to a directory is not followed" {
		t.Errorf("problems %q", got)
	}
}

func TestUnreadableKeepsObjects(t *testing.T) {
	m := start(t, "", map[string]string{"a.yaml": node("n1", "a"), "b.yaml": node("n2", "a")})
	// A link to nowhere and a pipe can be read by nobody, not even by root.
	m.swap("a.yaml", "nowhere")
	if err := os.Remove(filepath.Join(m.dir, "b.yaml")); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(m.dir, "c.yaml"), 0o600); err != nil {
		t.Fatal(err)
	}
	m.expect("delete Kubernetes Node/n2")
	if m.label("n1") != "a" {
		t.Errorf("n1 is %s", m.label("n1"))
	}
	got := m.problems()
	if len(got) != 2 || !strings.HasPrefix(got[0], "a.yaml / the file cannot be read: ") || !strings.HasPrefix(got[1], "c.yaml / the file cannot be read: open c.yaml: not a regular file;") {
		t.Errorf("problems %q", got)
	}
	m.swap("a.yaml", "nowhere2")
	m.write("nowhere2", node("n1", "b"))
	m.write("d.yaml", node("n3", "a"))
	m.expect("update Kubernetes Node/n1", "add Kubernetes Node/n3")
}

// TestProblemsStayWithoutTheRoot: while the root is gone, what was known stays, and so
// does what is wrong with it.
func TestProblemsStayWithoutTheRoot(t *testing.T) {
	m := start(t, "in", map[string]string{"in/a.yaml": "kind: x\n", "in/b.yaml": node("n1", "a")})
	m.swap("in/loop", "..")
	m.write("in/b.yaml", node("n1", "b"))
	m.expect("update Kubernetes Node/n1")
	before := m.src.Status().Problems
	rename := func(from, to string) {
		t.Helper()
		if err := os.Rename(filepath.Join(m.dir, from), filepath.Join(m.dir, to)); err != nil {
			t.Fatal(err)
		}
	}
	rename("in", "out")
	for len(m.src.Status().Problems) == len(before) {
		runtime.Gosched()
	}
	st := m.src.Status()
	if diff := cmp.Diff(before, st.Problems[:len(st.Problems)-1]); len(before) != 2 || diff != "" || len(st.Mended) > 0 {
		t.Errorf("mended %+v, problems (-want +got):\n%s", st.Mended, diff)
	}
	if got := st.Problems[len(st.Problems)-1].Message; !strings.Contains(got, "what was known stays") {
		t.Errorf("the problem is %s", got)
	}
	rename("out", "in")
	for len(m.src.Status().Mended) == 0 {
		runtime.Gosched()
	}
	if diff := cmp.Diff(before, m.src.Status().Problems); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
}

// lockedBuffer is a buffer for a logger of another goroutine.
type lockedBuffer struct {
	mu sync.Mutex // protects buf
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func TestProblemsAreLoggedOnce(t *testing.T) {
	m := &mesh{t: t, dir: t.TempDir(), sink: &sink{causes: make(chan source.Cause, 100), synced: make(chan struct{})}}
	m.write("a.yaml", "kind: x")
	var log lockedBuffer
	m.src = files.New(m.dir, files.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	go func() { _ = m.src.Run(t.Context(), m.sink) }()
	<-m.sink.synced
	m.write("b.yaml", node("n1", "a"))
	m.expect("add Kubernetes Node/n1")
	if n := strings.Count(log.String(), "problem in a file"); n != 1 || !strings.Contains(log.String(), "a.yaml:1") {
		t.Errorf("log:\n%s", log.String())
	}
}
