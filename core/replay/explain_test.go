package replay_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/edsight/edsight/core/cds"
	"github.com/edsight/edsight/core/control"
	"github.com/edsight/edsight/core/explain"
	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/replay"
	"github.com/edsight/edsight/core/source"
	"github.com/edsight/edsight/core/source/manifest"
	"github.com/edsight/edsight/core/source/memory"
	"github.com/edsight/edsight/core/state"
)

// TestExplainsEverything asks, in every golden case, every proxy about every
// address that any object offers for any service: the answer must agree with the
// assignment, and be complete.
func TestExplainsEverything(t *testing.T) {
	cases := unpack(t, filepath.Join("testdata", "conformance.tar.gz"))
	dirs, err := filepath.Glob(filepath.Join(cases, "*", "*", "input"))
	if err != nil {
		t.Fatal(err)
	}
	causes := map[explain.Cause]int{}
	for _, dir := range dirs {
		dir = filepath.Dir(dir)
		rel, err := filepath.Rel(cases, dir)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(rel, func(t *testing.T) {
			s, err := replay.Load(dir)
			if err != nil {
				t.Fatal(err)
			}
			store := memory.New(dir, time.Now)
			core := control.New(control.Options{Source: store, Proxies: s.Proxies, Features: s.Features})
			put(store, s.Initial)
			store.Attach(core)
			core.Flush()
			for _, step := range s.Steps {
				put(store, step.Changes)
				core.Flush()
			}
			e := explain.New(explain.Options{Objects: store, Journal: core.Journal()})
			for p := range core.Snapshot().Proxies() {
				askAll(t, e, core.Snapshot(), p, causes)
			}
		})
	}
	if len(causes) < 30 {
		t.Errorf("only %d causes occur: %v", len(causes), causes)
	}
}

func put(store *memory.Store, docs []manifest.Document) {
	for _, d := range docs {
		if d.Op == source.OpDelete {
			store.Delete(d.Key)
		} else {
			store.Put(d.Key, d.Object)
		}
	}
}

// askAll asks one proxy about everything.
func askAll(t *testing.T, e *explain.Explainer, snap *state.Snapshot, p *model.Proxy, causes map[explain.Cause]int) {
	t.Helper()
	sent := map[string][]string{}
	for _, c := range cds.Build(snap, p) {
		if a := c.Assignment(); a != nil {
			sent[c.Name] = nil
			for _, l := range a.Localities {
				for _, x := range l.Endpoints {
					sent[c.Name] = append(sent[c.Name], x.Address)
				}
			}
		}
	}
	for svc := range snap.Services() {
		d := svc.Definition()
		if d == nil {
			d = &model.Service{Key: svc.Key, Ports: []model.Port{{Number: 80}}}
		}
		for _, port := range d.Ports {
			asked := map[string]bool{}
			for _, c := range svc.Candidates() {
				if asked[c.Address] {
					continue
				}
				asked[c.Address] = true
				q := explain.Question{Proxy: p.ID, Host: svc.Key.Hostname, Port: port.Number, Address: c.Address}
				a := e.Explain(snap, q, nil)
				causes[a.Cause]++
				checkExplained(t, q, a, sent[cds.Name(port.Number, "", svc.Key.Hostname)])
			}
		}
	}
}

// checkExplained holds an answer against what is sent.
func checkExplained(t *testing.T, q explain.Question, a *explain.Answer, sent []string) {
	t.Helper()
	if is := slices.Contains(sent, q.Address) || (a.Via != "" && slices.Contains(sent, a.Via)); is != a.Present && q.Address != "" {
		t.Errorf("%+v: present is %t, sent are %v: %s", q, a.Present, sent, a.Sentence)
	}
	failed := 0
	for _, s := range a.Steps {
		if s.Verdict == explain.VerdictFailed {
			failed++
			if s.Remedy == "" {
				t.Errorf("%+v: no remedy: %s", q, a.Sentence)
			}
		}
	}
	if (failed == 1) == a.Present {
		t.Errorf("%+v: present is %t with %d failed steps: %s", q, a.Present, failed, a.Sentence)
	}
	for _, bad := range []string{"  ", ": .", "()", " , ", "/ ", " nothing lists  ", "<nil>"} {
		if strings.Contains(a.Sentence, bad) {
			t.Errorf("%+v: %q in %s", q, bad, a.Sentence)
		}
	}
}
