package server

import (
	"iter"
	"sync"

	"github.com/edsight/edsight/core/cds"
	"github.com/edsight/edsight/core/debugz"
	"github.com/edsight/edsight/core/eds"
	"github.com/edsight/edsight/core/state"
)

// maxTexts bounds the bytes of texts: two proxies of 2,000 services with 25 endpoints.
const maxTexts = 32 << 20

// texts remembers assignments as JSON. Who asks for those of a proxy asks again, and
// meanwhile few services have changed. The zero value is ready.
type texts struct {
	mu    sync.Mutex // protects what follows
	known map[eds.View]text
	size  int
}

// text is an assignment as it is for one state of its service.
type text struct {
	service *state.ServiceState
	json    []byte
}

// AppendJSON adds the text.
func (t text) AppendJSON(b []byte) []byte { return append(b, t.json...) }

// MarshalJSON gives the same.
func (t text) MarshalJSON() ([]byte, error) { return t.json, nil }

// of gives the assignments of the EDS clusters, in their order.
func (t *texts) of(clusters []cds.Cluster) iter.Seq[text] {
	return func(yield func(text) bool) {
		for i := range clusters {
			if c := &clusters[i]; c.Type == cds.EDS && !yield(t.one(c)) {
				return
			}
		}
	}
}

func (t *texts) one(c *cds.Cluster) text {
	t.mu.Lock()
	have := t.known[c.View]
	t.mu.Unlock()
	if have.service == c.Service {
		return have
	}
	made := text{c.Service, debugz.Assignment{Assignment: c.Assignment()}.AppendJSON(nil)}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.known == nil || t.size > maxTexts {
		t.known, t.size = map[eds.View]text{}, 0
	}
	t.size += len(made.json) - len(t.known[c.View].json)
	t.known[c.View] = made
	return made
}
