package manifest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edsight/edsight/core/source/manifest"
)

const service = `apiVersion: v1
kind: Service
metadata:
  name: web
  namespace: shop
spec:
  ports:
  - name: http
    port: 80
`

func TestProblems(t *testing.T) {
	for name, tt := range map[string]struct {
		in      string
		objects int
		want    []string
	}{
		"syntax":             {service + "---\na: b\n c: d\n---\n" + pod("a"), 2, []string{"12 / [] invalid YAML: mapping values are not allowed in this context"}},
		"not an object":      {"- a\n- b\n", 0, []string{"1 / [] is array where object is expected"}},
		"plain text":         {"hello\n", 0, []string{"1 / [] is string where object is expected"}},
		"no kind":            {"\n# values\nreplicas: 3\n", 0, []string{"3 / [kind] is missing; not a Kubernetes object"}},
		"no version":         {"kind: Pod\nmetadata: {name: a}\n", 0, []string{`1 Pod/a [apiVersion] "" is not an API version`}},
		"ignored kind":       {"apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a, namespace: shop}\n", 0, []string{"1 Deployment/shop/a [] objects of kind Deployment of apps/v1 are not read; this one is ignored"}},
		"foreign gateway":    {"apiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {name: a, namespace: shop}\n", 0, []string{"1 Gateway/shop/a [] objects of kind Gateway of gateway.networking.k8s.io/v1 are not read; this one is ignored"}},
		"old version":        {"apiVersion: discovery.k8s.io/v1beta1\nkind: EndpointSlice\nmetadata: {name: a, namespace: shop}\n", 0, []string{"1 EndpointSlice/shop/a [] objects of kind EndpointSlice of discovery.k8s.io/v1beta1 are not read; this one is ignored"}},
		"no name":            {"apiVersion: v1\nkind: Pod\nmetadata:\n  namespace: shop\n", 0, []string{"3 Pod/shop/ [metadata.name] is missing"}},
		"markup":             {"apiVersion: v1\nkind: Node\nmetadata:\n  name: <b>n</b>\n", 0, []string{`4 Node/<b>n</b> [metadata.name] "<b>n</b>" is not a name: `}},
		"bad namespace":      {strings.Replace(service, "shop", "../shop", 1), 0, []string{`5 Service/../shop/web [metadata.namespace] "../shop" is not a namespace: `}},
		"no namespace":       {strings.Replace(service, "  namespace: shop\n", "", 1), 1, []string{`3 Service/default/web [metadata.namespace] is missing; taken as "default"`}},
		"node in namespace":  {"apiVersion: v1\nkind: Node\nmetadata:\n  name: n1\n  namespace: shop\n", 1, []string{"5 Node/n1 [metadata.namespace] is ignored; a Node is in no namespace"}},
		"unknown field":      {service + "    prot: TCP\n", 1, []string{"10 Service/shop/web [spec.ports[0].prot] unknown field; it is ignored"}},
		"duplicate field":    {service + "    port: 81\n", 1, []string{"9 Service/shop/web [spec.ports[0].port] duplicate field; the last one counts"}},
		"wrong type":         {service + "  - name: tcp\n    port: many\n", 0, []string{"11 Service/shop/web [spec.ports[1].port] is string where int32 is expected"}},
		"wrong name type":    {strings.Replace(service, "web", "5", 1), 0, []string{"4 Service/shop/ [metadata.name] is number where string is expected"}},
		"list for object":    {strings.Replace(service, "spec:\n  ports:", "spec:\n  selector: [a]\n  ports:", 1), 0, []string{"7 Service/shop/web [spec.selector] is array where object is expected"}},
		"bad time":           {strings.Replace(service, "  name: web", "  name: web\n  creationTimestamp: noon", 1), 0, []string{"1 Service/shop/web [] parsing time"}},
		"bad op":             {"$op: replace\n" + service, 0, []string{`1 Service/shop/web [$op] is "replace"; only "delete" is known`}},
		"bad cluster":        {"$cluster: ''\n" + service, 0, []string{"1 / [$cluster] is not the name of a cluster"}},
		"list in list":       {"apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: List\n  items: []\n", 0, []string{"4 / [items] a list within a list is not read"}},
		"item of list":       {"apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Node, metadata: {name: n1}}\n- apiVersion: v1\n  kind: Node\n  metadata:\n    name: n2\n  spec:\n    podCIDR: 3\n", 1, []string{"10 Node/n2 [spec.podCIDR] is number where string is expected"}},
		"complex key":        {"? [a]\n: b\n", 0, []string{"1 / [] the key of a field must be a word"}},
		"infinity":           {"apiVersion: v1\nkind: .inf\n", 0, []string{`2 / [] ".inf" is not a number that JSON knows`}},
		"self":               {"a: &a [*a]\n", 0, []string{"1 / [] nested deeper than 100 levels"}},
		"merge of itself":    {"a: &a\n  <<: *a\n", 0, []string{"2 / [] aliases stand for more than 100000 nodes"}},
		"merge of a word":    {"<<: x\n", 0, []string{"1 / [] only mappings can be merged"}},
		"depth":              {strings.Repeat("[", 200) + strings.Repeat("]", 200), 0, []string{"1 / [] nested deeper than 100 levels"}},
		"two at once":        {service + "    a: 1\n  b: 2\n", 1, []string{"10 Service/shop/web [spec.ports[0].a] unknown field; it is ignored", "11 Service/shop/web [spec.b] unknown field; it is ignored"}},
		"istio unknown":      {istio + "  portz: 1\n  resolution: STATIC\n", 1, []string{"9 ServiceEntry/shop/pay [spec.portz] unknown field; it is ignored"}},
		"istio nested":       {istio + "    prot: TLS\n", 1, []string{"9 ServiceEntry/shop/pay [spec.ports[0].prot] unknown field; it is ignored"}},
		"istio wrong type":   {istio + "  resolution: 17x\n", 0, []string{`9 ServiceEntry/shop/pay [spec.resolution] invalid value for enum field resolution: "17x"`}},
		"istio wrong number": {istio + "  - number: -1\n", 0, []string{"9 ServiceEntry/shop/pay [spec.ports[1].number] invalid value for uint32 field number: -1"}},
		"istio unknown top":  {istio + "specs: {}\n", 1, []string{"9 ServiceEntry/shop/pay [specs] unknown field; it is ignored"}},
	} {
		t.Run(name, func(t *testing.T) {
			objects, got := decode(file, tt.in)
			if len(objects) != tt.objects {
				t.Errorf("objects %q, want %d", objects, tt.objects)
			}
			for i := range min(len(got), len(tt.want)) {
				if strings.HasPrefix(got[i], tt.want[i]) { // library texts are longer
					got[i] = tt.want[i]
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}

const istio = `apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: {name: pay, namespace: shop}
spec:
  hosts:
  - pay.example.com
  ports:
  - number: 443
`

func TestProblemInJSON(t *testing.T) {
	const text = `{
	"apiVersion": "v1",
	"kind": "Service",
	"metadata": {"name": "web", "namespace": "shop"},
	"spec": {
		"ports": [
			{"port": "x"}
		]
	}
}`
	_, problems := decode("web.json", text)
	if diff := cmp.Diff([]string{"7 Service/shop/web [spec.ports[0].port] is string where int32 is expected"}, problems); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
	_, problems = decode("web.json", strings.Replace(text, `"spec"`, `spec`, 1))
	if len(problems) != 1 || !strings.HasPrefix(problems[0], "5 / [] invalid JSON: invalid character 's'") {
		t.Errorf("problems %q", problems)
	}
}

func TestAliasBomb(t *testing.T) {
	var b strings.Builder
	b.WriteString("l0: &l0 [x, x, x, x, x, x, x, x, x, x]\n")
	for i := 1; i < 12; i++ {
		fmt.Fprintf(&b, "l%d: &l%d [%s*l%d]\n", i, i, strings.Repeat(fmt.Sprintf("*l%d, ", i-1), 9), i-1)
	}
	_, problems := decode(file, b.String())
	if len(problems) != 1 || !strings.HasSuffix(problems[0], "aliases stand for more than 100000 nodes") {
		t.Errorf("problems %q", problems)
	}
	b.Reset()
	b.WriteString("l0: &l0 {a: b}\n")
	for i := 1; i < 60; i++ {
		fmt.Fprintf(&b, "l%d: &l%d {<<: [*l%d, *l%d]}\n", i, i, i-1, i-1)
	}
	_, problems = decode(file, b.String())
	if len(problems) != 1 || !strings.HasSuffix(problems[0], "aliases stand for more than 100000 nodes") {
		t.Errorf("problems %q", problems)
	}
}

func TestProblemsAreBounded(t *testing.T) {
	_, problems := decode(file, strings.Repeat("a: b\n---\n", 5000))
	if len(problems) != 1001 || !strings.HasSuffix(problems[1000], "further problems of this file are not listed") {
		t.Errorf("%d problems, the last %q", len(problems), problems[len(problems)-1])
	}
	docs, found := manifest.Decode(file, make([]byte, manifest.MaxBytes+1), "Kubernetes")
	if len(docs) != 0 || len(found) != 1 || found[0].Message != "the file is larger than 64 MiB" {
		t.Errorf("%d documents, problems %v", len(docs), found)
	}
}

func TestBroken(t *testing.T) {
	web := "Service/shop/web"
	for name, tt := range map[string]struct {
		in   string
		want []string
	}{
		"whole":         {service + "---\n" + istio, nil},
		"unknown field": {service + "a: b\n---\n" + istio + "  a: b\n", nil},
		"ignored kind":  {"apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a, namespace: shop}\n", nil},
		"wrong type":    {service + "    protocol: 6\n---\n" + istio + "  resolution: 17x\n", []string{web, "ServiceEntry/shop/pay"}},
		"syntax":        {service + "\tx\n---\n" + istio, []string{"/"}},
		"no name":       {"apiVersion: v1\nkind: Node\n", []string{"/"}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, k := range manifest.DecodeFile(file, []byte(tt.in), "Kubernetes").Broken {
				got = append(got, k.String())
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("broken (-want +got):\n%s", diff)
			}
		})
	}
}
