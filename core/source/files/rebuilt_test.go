package files_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/edsight/edsight/core/source"
)

// objects gives all objects of the source as text.
func (m *mesh) objects() map[string]string {
	all := map[string]string{}
	for k, o := range m.src.All() {
		b, err := json.Marshal(o)
		if err != nil {
			m.t.Fatal(err)
		}
		all[string(k.Cluster)+" "+k.String()] = string(b)
	}
	return all
}

// mark waits until a file written now is known. The scan that saw it may have
// begun before, so only a second mark tells that all is known.
func (m *mesh) mark(name string) {
	m.t.Helper()
	m.write("zz/"+name+".yaml", node(name, "x"))
	for deadline := time.After(10 * time.Second); ; {
		select {
		case c := <-m.sink.causes:
			if c.Key.Name == name {
				return
			}
		case <-deadline:
			m.t.Fatalf("%s was not seen", name)
		}
	}
}

// TestFollowedEqualsReadAnew changes files at random, and holds what a source has
// followed against what a new one reads.
func TestFollowedEqualsReadAnew(t *testing.T) {
	const seed = 11
	rng := rand.New(rand.NewPCG(seed, 0))
	m := start(t, "", map[string]string{"a.yaml": node("n0", "a")})
	for round := range 6 {
		for range 15 {
			name := []string{"a.yaml", "b.yml", "c/a.yaml", "c/d/a.yaml", "clusters/west/a.yaml", "e.json"}[rng.IntN(6)]
			switch rng.IntN(5) {
			case 0:
				if err := os.RemoveAll(filepath.Join(m.dir, name)); err != nil {
					t.Fatal(err)
				}
			case 1:
				if err := os.RemoveAll(filepath.Join(m.dir, "c")); err != nil {
					t.Fatal(err)
				}
			default:
				var docs []string
				for range rng.IntN(4) {
					docs = append(docs, node(fmt.Sprintf("n%d", rng.IntN(5)), string(rune('a'+rng.IntN(3)))))
				}
				m.write(name, strings.Join(docs, "---\n"))
			}
		}
		m.mark(fmt.Sprintf("zz-%d-a", round))
		m.mark(fmt.Sprintf("zz-%d-b", round))
		anew := &mesh{t: t, dir: m.dir, sink: &sink{causes: make(chan source.Cause, 1000), synced: make(chan struct{})}}
		anew.run("")
		if diff := cmp.Diff(anew.objects(), m.objects()); diff != "" {
			t.Fatalf("seed %d, round %d (-read anew +followed):\n%s", seed, round, diff)
		}
		if diff := cmp.Diff(anew.problems(), m.problems()); diff != "" {
			t.Fatalf("seed %d, round %d, problems (-read anew +followed):\n%s", seed, round, diff)
		}
	}
}
