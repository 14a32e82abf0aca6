package archive

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/edsight/edsight/core/state"
)

// pack compresses lines as they are.
func pack(tb testing.TB, lines ...string) []byte {
	tb.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := io.WriteString(w, strings.Join(lines, "\n")+"\n"); err != nil {
		tb.Fatal(err)
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

const header = `{"header":{"format":"edsight-archive","number":1}}`

func end(n int) string { return fmt.Sprintf(`{"end":{"records":%d}}`, n) }

func TestHostileInput(t *testing.T) {
	candidate := func(c string) string {
		return `{"service":{"key":{"Hostname":"a"},"shards":[{"candidates":[0]}],"candidates":[` + c + `]}}`
	}
	bomb := `{"source":{"name":"` + strings.Repeat("a", 4<<20) + `"}}`
	cases := []struct {
		name  string
		input []byte
		want  string
		is    error
	}{
		{"empty", nil, "no gzip file", ErrFormat},
		{"not gzip", []byte("hello, world"), "named *.edsight.gz", ErrFormat},
		{"not JSON", pack(t, "hello"), "line 1", ErrFormat},
		{"other JSON", pack(t, `{"kind":"List"}`), "header", ErrFormat},
		{"foreign header", pack(t, `{"header":{"format":"x"}}`), "not an archive", ErrFormat},
		{"newer format", pack(t, `{"header":{"format":"edsight-archive","number":2}}`), "format is 2", nil},
		{"two headers", pack(t, header, header), "line 2", ErrFormat},
		{"no end", pack(t, header), "unexpected EOF", io.ErrUnexpectedEOF},
		{"wrong count", pack(t, header, end(7)), "says 7", ErrFormat},
		{"more after the end", pack(t, header, end(1), `{}`), "after its end", ErrFormat},
		{"unknown record", pack(t, header, `{"surprise":1}`), "nothing that this version knows", nil},
		{"bomb", pack(t, header, bomb), "to 1", ErrLimit},
		{"deep", pack(t, header, strings.Repeat("[", 100)), "deeper", ErrLimit},
		{"index", pack(t, header, candidate(`{"reason":"pod-gone","source":3}`)), "outside", errIndex},
		{"negative index", pack(t, header, candidate(`{"endpoint":{"workload":-1}}`)), "outside", errIndex},
		{"health", pack(t, header, `{"service":{"key":{},"workloads":[{}],"candidates":[{"endpoint":{"workload":0,"settings":{"Health":9}}}]}}`), "health 9", nil},
		{"reason", pack(t, header, candidate(`{"reason":"because"}`)), `"because"`, nil},
		{"neither", pack(t, header, candidate(`{}`)), "neither", nil},
		{"both", pack(t, header, candidate(`{"reason":"pod-gone","endpoint":{}}`)), "or both", nil},
		{"null definition", pack(t, header, `{"service":{"key":{},"definitions":[null]}}`), "null", nil},
		{"null workload", pack(t, header, `{"service":{"key":{},"workloads":[null]}}`), "null", nil},
		{"twice", pack(t, header, `{"proxy":{"ID":"a"}}`, `{"proxy":{"ID":"a"}}`), "twice", nil},
		{"config kind", pack(t, header, `{"config":{"key":{"kind":"Secret","name":"a"},"object":{}}}`), "not a kind", nil},
		{"config name", pack(t, header, `{"config":{"key":{"kind":"Sidecar","name":"a"},"object":{"metadata":{"name":"../a"}}}}`), "name is", nil},
		{"config null", pack(t, header, `{"config":{"key":{"kind":"Sidecar","name":"a"}}}`), "Sidecar/a", nil},
		{"change of nothing", pack(t, header, `{"transition":{"seq":1,"push":{"type":"full"},"services":[{"key":{},"endpoints":[{}]}]}}`), "neither a state before", nil},
		{"change of no proxy", pack(t, header, `{"transition":{"seq":1,"push":{"type":"full"},"proxies":[{"ID":"a.b"}]}}`), "proxy a.b", nil},
		{"change of no service", pack(t, header, `{"transition":{"seq":1,"push":{"type":"full"},"services":[{"key":{"Hostname":"a"},"came":true,"went":true}]}}`), "its change has neither", nil},
		{"push type", pack(t, header, `{"transition":{"seq":1,"push":{"type":"huge"}}}`), `"huge"`, nil},
		{"no number", pack(t, header, `{"transition":{"push":{"type":"full"}}}`), "no such number", ErrFormat},
		{"number", pack(t, header, `{"transition":{"seq":3,"push":{"type":"full"}}}`, `{"transition":{"seq":7,"push":{"type":"full"}}}`), "7 follows 3", ErrFormat},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := Read(bytes.NewReader(c.input), DefaultLimits())
			if err == nil || !strings.Contains(err.Error(), c.want) || (c.is != nil && !errors.Is(err, c.is)) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

// TestCandidatesHaveTheirObjects even where an archive does not say them.
func TestCandidatesHaveTheirObjects(t *testing.T) {
	c := read(t, pack(t, header, `{"service":{"key":{},"shards":[{"candidates":[0]}],"candidates":[{"reason":"pod-gone"}]}}`, end(2)))
	for s := range c.Snapshot.Services() {
		for _, one := range s.Candidates() {
			if one.Source == nil || one.Target == nil {
				t.Errorf("%+v lacks its objects", one)
			}
		}
	}
}

func TestLimits(t *testing.T) {
	input := write(t, sample(t))
	for name, change := range map[string]func(*Limits){
		"bytes":  func(l *Limits) { l.Bytes = 1000 },
		"line":   func(l *Limits) { l.Line = 300 },
		"depth":  func(l *Limits) { l.Depth = 3 },
		"values": func(l *Limits) { l.Values = 50 },
	} {
		l := DefaultLimits()
		change(&l)
		if _, err := Read(bytes.NewReader(input), l); !errors.Is(err, ErrLimit) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestEveryTruncationIsAnError(t *testing.T) {
	input := write(t, sample(t))
	for n := range input {
		if _, err := Read(bytes.NewReader(input[:n]), DefaultLimits()); err == nil {
			t.Fatalf("%d of %d bytes were read without error", n, len(input))
		}
	}
}

func TestWriteErrorIsReturned(t *testing.T) {
	r, w := io.Pipe()
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if err := Write(w, &Content{Snapshot: state.Empty()}); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("got %v", err)
	}
}

// FuzzRead reads lines of any kind: it may refuse them, but what it accepts can
// be written and read again.
func FuzzRead(f *testing.F) {
	f.Add(header + "\n" + end(1))
	f.Add(header + "\n" + `{"proxy":{"ID":"a.b","Labels":{"app":"a"}}}` + "\n" + end(2))
	f.Add(header + "\n" + `{"mesh":{"config":{"trustDomain":"a"},"networks":{}}}` + "\n" + end(2))
	f.Add(header + "\n" + `{"service":{"key":{"Hostname":"a"},"objects":[{"kind":"Pod","name":"a"}],"workloads":[{}],` +
		`"candidates":[{"source":0,"target":0,"reason":"pod-gone"},{"source":0,"endpoint":{"workload":0,"settings":{"Addresses":["::1"],"Health":1}}}],` +
		`"shards":[{"provider":"Kubernetes","cluster":"c","chunks":[{"source":{},"candidates":[0,1]}],"candidates":[0,1]}]}}` + "\n" + end(2))
	f.Add(header + "\n" + `{"transition":{"seq":1,"push":{"type":"full"},"services":[{"key":{},"endpoints":[{"before":0}]}],` +
		`"objects":[{}],"candidates":[{"source":0,"reason":"externalname-alias"}]}}` + "\n" + end(2))
	f.Add(header + "\n" + `{"transition":{"seq":1,"push":{"type":"full"},"proxies":[{"ID":"a.b"},{"ID":"a.b","Next":{"ID":"a.b"}}],"services":[{"key":{},"came":true,"went":true}]}}` + "\n" + end(2))
	f.Add(header + "\n" + `{"config":{"key":{"kind":"Sidecar","name":"a"},"object":{"metadata":{"name":"a"},"spec":{}}}}` + "\n" + end(2))
	limits := Limits{Bytes: 1 << 20, Line: 1 << 18, Depth: 32, Values: 1 << 14, Ratio: 1000}
	f.Fuzz(func(t *testing.T, lines string) {
		c, err := Read(bytes.NewReader(pack(t, lines)), limits)
		if err != nil {
			return
		}
		again, err := Read(bytes.NewReader(write(t, c)), DefaultLimits())
		if err != nil {
			t.Fatalf("what was read cannot be read again: %v", err)
		}
		if again.Snapshot.ServiceCount() != c.Snapshot.ServiceCount() || again.Snapshot.ProxyCount() != c.Snapshot.ProxyCount() {
			t.Fatal("something was lost")
		}
	})
}
