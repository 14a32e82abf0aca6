package ads

import (
	"fmt"
	"testing"
)

// TestForgottenNamesDoNotPileUp asks for names and forgets them without end: what
// is due stays bounded, and what is still wanted stays due.
func TestForgottenNamesDoNotPileUp(t *testing.T) {
	w := newWatch(typeEndpoint)
	w.want("kept", 0)
	for i := range 100_000 {
		name := fmt.Sprint(i % 7)
		w.want(name, 0)
		w.forget(name)
	}
	if len(w.due) > 2*maxForgotten {
		t.Errorf("%d names are due, want few", len(w.due))
	}
	n := 0
	for _, name := range w.due {
		if name == "kept" {
			n++
		}
	}
	if n != 1 || !w.names["kept"].due() {
		t.Errorf("the name that is wanted is due %d times, want once", n)
	}
}
