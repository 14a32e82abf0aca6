package ads

import (
	"slices"

	"github.com/edsight/edsight/core/model"
)

// historySize bounds the changes that are kept.
const historySize = 8192

// history holds which services' endpoints changed lately, for streams on the way
// from one audience to another.
type history struct {
	touches []touch // by version
	// from is the version after which all changes are there.
	from, newest uint64
}

type touch struct {
	version uint64
	service model.ServiceKey
}

func (h *history) add(version uint64, services []model.ServiceKey) {
	h.newest = version
	for _, s := range services {
		h.touches = append(h.touches, touch{version, s})
	}
	if extra := len(h.touches) - historySize; extra > historySize {
		h.from = h.touches[extra-1].version
		h.touches = slices.Clone(h.touches[extra:])
	}
}

// forget is for changes that nobody knows of, up to the newest version.
func (h *history) forget() { h.touches, h.from = nil, h.newest }

// since returns the services that changed after a version, with repetitions; false
// if the history does not reach back so far.
func (h *history) since(version uint64) ([]model.ServiceKey, bool) {
	if version < h.from {
		return nil, false
	}
	at, _ := slices.BinarySearchFunc(h.touches, version+1, func(t touch, v uint64) int {
		if t.version < v {
			return -1
		}
		return 1
	})
	out := make([]model.ServiceKey, 0, len(h.touches)-at)
	for _, t := range h.touches[at:] {
		out = append(out, t.service)
	}
	return out, true
}
