package debugz

import (
	"iter"
	"sync"

	"github.com/edsight/edsight/core/cds"
	"github.com/edsight/edsight/core/eds"
	"github.com/edsight/edsight/core/state"
)

// maxTexts bounds the bytes of Texts: two proxies of 2,000 services with 25 endpoints.
const maxTexts = 32 << 20

// Texts remembers assignments as JSON. Who asks for those of a proxy asks again, and
// meanwhile few services have changed. The zero value is ready.
type Texts struct {
	mu    sync.Mutex // protects what follows
	known map[eds.View]Text
	size  int
}

// Text is the JSON of an assignment, which has its type in "@type", for one state of
// its service.
type Text struct {
	service *state.ServiceState
	json    []byte
}

// AppendJSON adds the text.
func (t Text) AppendJSON(b []byte) []byte { return append(b, t.json...) }

// MarshalJSON gives the same.
func (t Text) MarshalJSON() ([]byte, error) { return t.json, nil }

// Of gives the assignments of the EDS clusters, in their order.
func (t *Texts) Of(clusters []cds.Cluster) iter.Seq[Text] {
	return func(yield func(Text) bool) {
		for i := range clusters {
			if c := &clusters[i]; c.Type == cds.EDS && !yield(t.one(c)) {
				return
			}
		}
	}
}

func (t *Texts) one(c *cds.Cluster) Text {
	t.mu.Lock()
	have := t.known[c.View]
	t.mu.Unlock()
	if have.service == c.Service {
		return have
	}
	made := Text{c.Service, c.Assignment().AppendJSON(nil, `"@type":"`+typeEndpoint+`"`)}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.known == nil || t.size > maxTexts {
		t.known, t.size = map[eds.View]Text{}, 0
	}
	t.size += len(made.json) - len(t.known[c.View].json)
	t.known[c.View] = made
	return made
}
