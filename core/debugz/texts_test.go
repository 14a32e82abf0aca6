package debugz

import (
	"bytes"
	"testing"

	"github.com/edsight/edsight/core/cds"
	"github.com/edsight/edsight/core/coretest"
)

// TestTexts: assignments are what they are now, whether they were asked for before,
// and those that did not change are not written again.
func TestTexts(t *testing.T) {
	const services, endpoints = 20, 3
	mesh := coretest.Mesh{Services: services, Namespaces: 2, Endpoints: endpoints}
	c := coretest.New(t)
	mesh.Fill(c.Store)
	c.Flush()
	var texts Texts
	ask := func() []cds.Cluster {
		t.Helper()
		clusters := cds.Build(c.Snapshot(), c.Snapshot().Proxy("svc-0-0.load-0"))
		var got, want bytes.Buffer
		if err := WriteConfigs(&got, texts.Of(clusters), ""); err != nil {
			t.Fatal(err)
		}
		if err := WriteConfigs(&want, new(Texts).Of(clusters), ""); err != nil {
			t.Fatal(err)
		}
		if got.String() != want.String() || got.Len() < services*endpoints*100 {
			t.Fatalf("got %.300s\nwant %.300s", got.String(), want.String())
		}
		return clusters
	}
	version := 1
	change := func() {
		version++
		c.Store.Put(mesh.SliceKey(7), mesh.Slice(7, version, version%2 == 1))
		c.Flush()
	}
	before := map[string]*byte{}
	for _, one := range ask() {
		if one.Type == cds.EDS {
			before[one.Name] = &texts.known[one.View].json[0]
		}
	}
	change()
	for _, one := range ask() {
		if was := before[one.Name]; was != nil && (&texts.known[one.View].json[0] == was) == (one.Definition.Name == mesh.Name(7)) {
			t.Errorf("%s: written anew and need not, or not and should", one.Name)
		}
	}
	texts.size = maxTexts + 1
	change()
	if ask(); texts.size > maxTexts || len(texts.known) == 0 {
		t.Errorf("%d bytes of %d texts are kept", texts.size, len(texts.known))
	}
}
