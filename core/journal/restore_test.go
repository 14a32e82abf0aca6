package journal_test

import (
	"testing"

	"github.com/edsight/edsight/core/journal"
)

func TestRestore(t *testing.T) {
	list := []*journal.Transition{{Seq: 41}, {Seq: 42}, {Seq: 43}}
	j := journal.Restore(list)
	for _, one := range list {
		if j.Get(one.Seq) != one || j.Delivery(one.Seq) == nil {
			t.Errorf("transition %d is not there", one.Seq)
		}
	}
	if b := j.Since(0, 10); j.Last() != 43 || len(b.Transitions) != 3 || b.Gap == nil || b.Gap.To != 40 {
		t.Errorf("last %d, %d transitions, gap %+v", j.Last(), len(b.Transitions), b.Gap)
	}
	if j.Get(40) != nil || j.Get(44) != nil {
		t.Error("there are transitions that were not given")
	}
	if j := journal.Restore(nil); j.Last() != 0 || len(j.Since(0, 10).Transitions) != 0 {
		t.Error("a journal of nothing has transitions")
	}
}
