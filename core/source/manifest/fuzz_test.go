package manifest_test

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/edsight/edsight/core/source/manifest"
)

// FuzzDecode holds that hostile text neither panics nor gives objects without
// names or problems without places.
func FuzzDecode(f *testing.F) {
	for _, s := range []string{
		service, istio, pod("a"), "$op: delete\n$cluster: west\n" + pod("a"),
		"apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Node, metadata: {name: n1}}\n",
		`{"apiVersion":"v1","kind":"PodList","items":[{"metadata":{"name":"a","namespace":"b"}}]}`,
		"a: &a {<<: *a}\n", "--- >\n text\n...\n%TAG ! x:\n---\n!!binary aGk=\n", "? {a: b}\n: [c]\n", istio + "  x: {y: 1}\n",
		timed("5m"), timed(""), timed("0"), timed("5µs"), timed("-1.5h0.000000001s"),
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		lines := 1
		for _, end := range []string{"\n", "\r", "\u0085", "\u2028", "\u2029"} { // YAML's ends of lines
			lines += bytes.Count(data, []byte(end))
		}
		docs, problems := manifest.Decode(file, data, "Kubernetes")
		for _, d := range docs {
			if d.Object == nil || d.Key.Name == "" || d.Object.GetName() != d.Key.Name || d.Object.GetNamespace() != d.Key.Namespace {
				t.Errorf("document %+v", d)
			}
			if d.Line < 1 || d.Line > lines {
				t.Errorf("%v is on line %d of %d", d.Key, d.Line, lines)
			}
		}
		for _, p := range problems {
			line, err := strconv.Atoi(strings.TrimPrefix(p.Where, file+":"))
			if err != nil || line < 1 || line > lines || p.Message == "" {
				t.Errorf("problem %+v of %d lines", p, lines)
			}
		}
	})
}

// timed is an Istio object with a duration, and with the same text where none is.
func timed(text string) string {
	return "apiVersion: networking.istio.io/v1\nkind: VirtualService\nmetadata: {name: web, namespace: shop}\n" +
		fmt.Sprintf("spec: {hosts: [%[1]q], http: [{timeout: %[1]q, route: [{destination: {host: web}, weight: %[1]q}]}]}\n", text)
}

// BenchmarkDecode reads 1,000 documents of the size of a Pod.
func BenchmarkDecode(b *testing.B) {
	var text strings.Builder
	for i := range 1000 {
		text.WriteString("---\n" + pod(fmt.Sprintf("pod-%d", i)) + podRest)
	}
	data := []byte(text.String())
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if docs, problems := manifest.Decode(file, data, "Kubernetes"); len(docs) != 1000 || len(problems) > 0 {
			b.Fatalf("%d documents, problems %v", len(docs), problems)
		}
	}
}

const podRest = `  resourceVersion: '1050'
  labels:
    app: cart
    version: v2
    security.istio.io/tlsMode: istio
spec:
  serviceAccountName: cart
  containers:
  - name: app
    image: app:1
  nodeName: n1
status:
  phase: Running
  conditions:
  - type: Ready
    status: 'True'
  podIP: 10.1.2.3
  podIPs:
  - ip: 10.1.2.3
`
