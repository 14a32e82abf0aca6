package debugz_test

import (
	"encoding/json"
	"errors"
	"iter"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/edsight/edsight/core/debugz"
)

// TestPiecesEqualTheWhole holds what is written piece by piece against the
// encoder's own output.
func TestPiecesEqualTheWhole(t *testing.T) {
	list := []any{1, "two & <three>", map[string]any{"a": []int{1, 2}, "b": nil}, []string{}}
	object := map[string]any{"x": list, "y\n": "z"}
	for _, indent := range []string{"", "  ", "\t"} {
		for _, items := range [][]any{nil, list[:1], list} {
			var got, configs strings.Builder
			if err := debugz.WriteList(&got, slices.Values(items), indent); err != nil {
				t.Fatal(err)
			}
			if want := whole(t, append([]any{}, items...), indent); got.String() != want {
				t.Errorf("list, indent %q:\ngot  %swant %s", indent, got.String(), want)
			}
			if err := debugz.WriteConfigs(&configs, slices.Values(items), indent); err != nil {
				t.Fatal(err)
			}
			if want := whole(t, map[string]any{"configs": append([]any{}, items...)}, indent); configs.String() != want {
				t.Errorf("configs, indent %q:\ngot  %swant %s", indent, configs.String(), want)
			}
		}
		var got strings.Builder
		if err := debugz.WriteObject(&got, ordered(object), indent); err != nil {
			t.Fatal(err)
		}
		if want := whole(t, object, indent); got.String() != want {
			t.Errorf("object, indent %q:\ngot  %swant %s", indent, got.String(), want)
		}
	}
}

func whole(t *testing.T, v any, indent string) string {
	t.Helper()
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetIndent("", indent)
	if err := enc.Encode(v); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func ordered(m map[string]any) iter.Seq2[string, any] {
	return func(yield func(string, any) bool) {
		for _, k := range slices.Sorted(maps.Keys(m)) {
			if !yield(k, m[k]) {
				return
			}
		}
	}
}

type failing struct{ after int }

var errFull = errors.New("full")

func (f *failing) Write(p []byte) (int, error) {
	if f.after -= len(p); f.after < 0 {
		return 0, errFull
	}
	return len(p), nil
}

func TestWritingStopsAtTheFirstError(t *testing.T) {
	asked := 0
	endless := func(yield func(string) bool) {
		for asked < 1<<20 && yield(strings.Repeat("x", 1<<10)) {
			asked++
		}
	}
	if err := debugz.WriteList(&failing{after: 256 << 10}, endless, ""); !errors.Is(err, errFull) {
		t.Errorf("got %v", err)
	}
	if asked > 1<<10 {
		t.Errorf("%d items were taken after the error", asked)
	}
}
