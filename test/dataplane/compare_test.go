package dataplane

import (
	"testing"

	"github.com/edsight/edsight/core/cds"
	"github.com/edsight/edsight/core/compare"
)

// dumps is what Envoy says of itself, in both of its forms.
func (w *world) dumps() map[string]*compare.Document {
	w.t.Helper()
	out := map[string]*compare.Document{}
	for _, path := range []string{"/config_dump?include_eds", "/clusters?format=json"} {
		body, err := w.envoy.get(path)
		if err != nil {
			w.t.Fatal(err)
		}
		d, err := compare.ParseDocument([]byte(body))
		if err != nil {
			w.t.Fatalf("%s: %v", path, err)
		}
		if d.Party != compare.Envoy {
			w.t.Errorf("%s is taken for %s", path, d.Party)
		}
		out[d.Format] = d
	}
	if got := out["config_dump"].Proxy; got != client {
		w.t.Errorf("the dump is that of %q, want %s", got, client)
	}
	return out
}

// ours is what Edsight says that the client has.
func (w *world) ours() compare.Set {
	w.t.Helper()
	return compare.Of(cds.Build(w.core.Snapshot(), w.proxy(client)))
}

// TestEnvoysDumpsAreOurView holds Envoy's own words against our view after each step;
// a dump from before a step differs in just that.
func TestEnvoysDumpsAreOurView(t *testing.T) {
	eachMode(t, func(t *testing.T, w *world) {
		t.Helper()
		same := func(step string) {
			t.Helper()
			w.agree(step)
			for format, d := range w.dumps() {
				diff := compare.Sets(w.ours(), d.Set)
				if !diff.Empty() || diff.Same == 0 {
					t.Errorf("%s, %s: %d the same, differs in %+v", step, format, diff.Same, diff.Clusters)
				}
			}
		}
		same("start")
		w.put(w.backends.slice(ready(1, 2, 3, 4)...))
		same("two more")
		w.put(failover)
		same("failover by zone")
		w.put(w.backends.slice(endpoint{1, ""}, endpoint{2, "draining"}, endpoint{3, ""}, endpoint{4, "unready"}))
		same("one drains, one is not ready")
		before := w.dumps()
		w.put(w.backends.slice(ready(3)...))
		same("one left")
		for format, d := range before {
			diff := compare.Sets(w.ours(), d.Set)
			if diff.OnlyThere != 2 || diff.OnlyHere != 0 {
				t.Errorf("%s from before: %+v, want the two that are gone", format, diff)
			}
		}
		w.put(w.backends.slice())
		same("none")
	})
}
