package server

import (
	"bytes"
	"testing"
	"time"

	"github.com/edsight/edsight/core/cds"
	"github.com/edsight/edsight/core/debugz"
	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/state"
)

// TestTexts: assignments are what they are now, whether they were asked for before,
// and those that did not change are not written again.
func TestTexts(t *testing.T) {
	core := newLargeCore(20, 3)
	proxy := core.snap.Proxy("web-0.shop")
	var remembered texts
	same := func() []cds.Cluster {
		t.Helper()
		clusters := cds.Build(core.snap, proxy)
		var got, want bytes.Buffer
		if err := debugz.WriteConfigs(&got, remembered.of(clusters), ""); err != nil {
			t.Fatal(err)
		}
		if err := debugz.WriteConfigs(&want, debugz.EDS(clusters), ""); err != nil {
			t.Fatal(err)
		}
		if got.String() != want.String() || got.Len() < 20*3*100 {
			t.Fatalf("got %.300s\nwant %.300s", got.String(), want.String())
		}
		return clusters
	}
	key := model.ServiceKey{Hostname: "s7.ns7.svc.cluster.local", Namespace: "ns7"}
	change := func(endpoints int) {
		b := state.NewBuilder(core.snap)
		b.SetService(key, largeService(key, 300, endpoints))
		core.snap = b.Snapshot(time.Unix(1700000001, 0))
	}
	first := same()
	change(2)
	before := map[string]*byte{}
	for i := range first {
		if first[i].Type == cds.EDS {
			before[first[i].Name] = &remembered.one(&first[i]).json[0]
		}
	}
	for _, c := range same() {
		if was := before[c.Name]; was != nil && (&remembered.one(&c).json[0] == was) != (c.Service.Key != key) {
			t.Errorf("%s: written anew or not, and should not or should", c.Name)
		}
	}
	remembered.size = maxTexts + 1
	change(4)
	same()
	if remembered.size > maxTexts || len(remembered.known) == 0 {
		t.Errorf("%d bytes of %d texts are kept", remembered.size, len(remembered.known))
	}
}
