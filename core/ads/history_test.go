package ads

import (
	"fmt"
	"slices"
	"testing"

	"github.com/edsight/edsight/core/model"
)

func TestHistory(t *testing.T) {
	key := func(i int) model.ServiceKey {
		return model.ServiceKey{Namespace: "n", Hostname: model.Hostname(fmt.Sprint(i))}
	}
	var h history
	const last = 3 * historySize
	for v := 1; v <= last; v++ {
		h.add(uint64(v), []model.ServiceKey{key(v)})
	}
	if _, ok := h.since(1); ok {
		t.Error("what is forgotten is not said to be")
	}
	if len(h.touches) > 2*historySize {
		t.Errorf("%d changes are kept", len(h.touches))
	}
	for _, after := range []int{last - historySize + 1, last - 5, last} {
		have, ok := h.since(uint64(after))
		var want []model.ServiceKey
		for v := after + 1; v <= last; v++ {
			want = append(want, key(v))
		}
		if !ok || !slices.Equal(have, want) {
			t.Errorf("after %d: %d changes, %v, want %d", after, len(have), ok, len(want))
		}
	}
}
