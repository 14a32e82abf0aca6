package server

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/edsight/edsight/core/archive"
	"github.com/edsight/edsight/core/compare"
	"github.com/edsight/edsight/core/explain"
	"github.com/edsight/edsight/core/scope"
)

// maxOpened is how many snapshots are open at a time.
const maxOpened = 3

// maxName is how much of a file's name is kept.
const maxName = 80

// uploadLimits are those of an archive that is opened by a page: it stays in memory.
func uploadLimits() archive.Limits {
	return archive.Limits{Bytes: 256 << 20, Line: 64 << 20, Depth: 64, Values: 8 << 20, Ratio: 200}
}

// shelf holds the snapshots that were opened. Its zero value is ready.
type shelf struct {
	reading sync.Mutex // held while something is read that was sent: one at a time

	mu     sync.Mutex // protects all below
	opened []*opened  // oldest first
	last   int
}

// opened is a snapshot that was opened. Its scopes are its own: its version means
// nothing among those of the core.
type opened struct {
	key, name, by string
	at            time.Time
	content       *archive.Content
	scopes        scope.Cache
	explainer     *explain.Explainer
}

func (o *opened) side() compare.Side {
	return compare.Side{Snap: o.content.Snapshot, Scopes: &o.scopes}
}

// read reads something that was sent, unless something else is being read.
func (s *shelf) read(w http.ResponseWriter, f func() error) error {
	if !s.reading.TryLock() {
		w.Header().Set("Retry-After", "5")
		return errorf(http.StatusServiceUnavailable, "another file is being read; try again in a moment")
	}
	defer s.reading.Unlock()
	return f()
}

// add puts a snapshot on the shelf; the oldest goes if there are too many.
func (s *shelf) add(c *archive.Content, name, by string, at time.Time) *opened {
	o := &opened{name: fileName(name), by: by, at: at, content: c}
	o.explainer = explain.New(explain.Options{Journal: c.Journal(), Scopes: &o.scopes})
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last++
	o.key = strconv.Itoa(s.last)
	if len(s.opened) == maxOpened {
		s.opened = slices.Delete(s.opened, 0, 1)
	}
	s.opened = append(s.opened, o)
	return o
}

// fileName is a name to be shown.
func fileName(name string) string {
	name = strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return -1
	}, strings.ToValidUTF8(name, ""))
	if runes := []rune(name); len(runes) > maxName {
		name = string(runes[:maxName]) + "…"
	}
	if name == "" {
		return "snapshot"
	}
	return name
}

func (s *shelf) all() []*opened {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.opened)
}

func (s *shelf) find(key string) *opened {
	for _, o := range s.all() {
		if o.key == key {
			return o
		}
	}
	return nil
}

// remove tells whether the snapshot was there.
func (s *shelf) remove(key string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(s.opened)
	s.opened = slices.DeleteFunc(s.opened, func(o *opened) bool { return o.key == key })
	return len(s.opened) < n
}
