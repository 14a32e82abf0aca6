package debugz_test

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edsight/edsight/core/cds"
	"github.com/edsight/edsight/core/coretest"
	"github.com/edsight/edsight/core/debugz"
)

// normal gives JSON with what does not matter taken out: null, empty lists and
// objects, the order of lists of objects, and "@type", which edsz has and the golden
// files have not.
func normal(v any) any {
	switch v := v.(type) {
	case map[string]any:
		delete(v, "@type")
		for k, e := range v {
			if v[k] = normal(e); isEmpty(v[k]) {
				delete(v, k)
			}
		}
		return v
	case []any:
		for i := range v {
			v[i] = normal(v[i])
		}
		slices.SortFunc(v, func(a, b any) int { return strings.Compare(text(a), text(b)) })
		return v
	default:
		return v
	}
}

func isEmpty(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		return len(v) == 0
	case []any:
		return len(v) == 0
	default:
		return v == nil
	}
}

func text(v any) string {
	out, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(out)
}

func parse(t *testing.T, data []byte) any {
	t.Helper()
	var v any
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatalf("%v in %s", err, data)
	}
	return normal(v)
}

func compare(t *testing.T, golden string, write func(io.Writer) error) {
	t.Helper()
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	if err := write(&got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(parse(t, want), parse(t, got.Bytes())); diff != "" {
		t.Errorf("%s (-istiod +edsight):\n%s", filepath.Base(golden), diff)
	}
}

// TestGolden holds the JSON against what istiod 1.28.2 gave for the same objects.
func TestGolden(t *testing.T) {
	cases, err := filepath.Glob("testdata/*/input.yaml")
	if err != nil || len(cases) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, input := range cases {
		dir := filepath.Dir(input)
		t.Run(filepath.Base(dir), func(t *testing.T) {
			yaml, err := os.ReadFile(input)
			if err != nil {
				t.Fatal(err)
			}
			core := coretest.New(t)
			core.Apply(string(yaml))
			snap := core.Snapshot()
			compare(t, filepath.Join(dir, "registryz.json"), func(w io.Writer) error {
				return debugz.WriteList(w, debugz.Registry(snap), "")
			})
			compare(t, filepath.Join(dir, "endpointShardz.json"), func(w io.Writer) error {
				return debugz.WriteObject(w, debugz.EndpointShards(snap), "  ")
			})
			proxies, err := filepath.Glob(filepath.Join(dir, "*.eds.json"))
			if err != nil || len(proxies) == 0 {
				t.Fatalf("no proxies: %v", err)
			}
			for _, golden := range proxies {
				id := strings.TrimSuffix(filepath.Base(golden), ".eds.json")
				p := snap.Proxy(id)
				if p == nil {
					t.Fatalf("no proxy %s", id)
				}
				compare(t, golden, func(w io.Writer) error {
					return debugz.WriteList(w, new(debugz.Texts).Of(cds.Build(snap, p)), "")
				})
			}
		})
	}
}
