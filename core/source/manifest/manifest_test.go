package manifest_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	networkingapi "istio.io/api/networking/v1alpha3"
	networkingv1 "istio.io/client-go/pkg/apis/networking/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/source"
	"github.com/edsight/edsight/core/source/manifest"
)

const file = "mesh.yaml"

// decode reads text and gives the objects and problems as short lines.
func decode(name, text string) (objects, problems []string) {
	docs, found := manifest.Decode(name, []byte(text), "Kubernetes")
	for _, d := range docs {
		objects = append(objects, strings.Join([]string{string(d.Op), string(d.Key.Cluster), d.Key.String()}, " "))
	}
	for _, p := range found {
		line := strings.TrimPrefix(p.Where, name+":")
		problems = append(problems, strings.TrimSpace(line+" "+p.Object.String()+" ["+p.Field+"] "+p.Message))
	}
	return objects, problems
}

func TestDecodeShapes(t *testing.T) {
	for name, tt := range map[string]struct{ in, want string }{
		"empty":            {"", ""},
		"comments only":    {"# nothing\n---\n# still nothing\n...\n---\n~\n", ""},
		"one":              {pod("a"), "update Kubernetes Pod/shop/a"},
		"byte order mark":  {"\ufeff" + pod("a"), "update Kubernetes Pod/shop/a"},
		"windows newlines": {strings.ReplaceAll(pod("a")+"---\n"+pod("b"), "\n", "\r\n"), "update Kubernetes Pod/shop/a|update Kubernetes Pod/shop/b"},
		"directive":        {"%YAML 1.2\n---\n" + pod("a"), "update Kubernetes Pod/shop/a"},
		"stream":           {"---\n" + pod("a") + "...\n---  # next\n" + pod("b"), "update Kubernetes Pod/shop/a|update Kubernetes Pod/shop/b"},
		"marker in text": {
			"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: istio, namespace: istio-system}\ndata:\n  mesh: |\n    a: 1\n    ---\n    b: 2\n",
			"update Kubernetes ConfigMap/istio-system/istio",
		},
		"inline document": {`--- {apiVersion: v1, kind: Node, metadata: {name: n1}}`, "update Kubernetes Node/n1"},
		"json":            {`{"apiVersion":"v1","kind":"Node","metadata":{"name":"n1"}}`, "update Kubernetes Node/n1"},
		"json stream":     {"{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"n1\"}}\n{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"n2\"}}", "update Kubernetes Node/n1|update Kubernetes Node/n2"},
		"list": {
			"apiVersion: v1\nkind: List\nmetadata: {resourceVersion: ''}\nitems:\n- apiVersion: v1\n  kind: Node\n  metadata: {name: n1}\n- apiVersion: v1\n  kind: Namespace\n  metadata: {name: shop}\n",
			"update Kubernetes Node/n1|update Kubernetes Namespace/shop",
		},
		"typed list": {
			"apiVersion: discovery.k8s.io/v1\nkind: EndpointSliceList\nitems:\n- metadata: {name: web-1, namespace: shop}\n  addressType: IPv4\n",
			"update Kubernetes EndpointSlice/shop/web-1",
		},
		"empty list":      {"apiVersion: v1\nkind: List\nitems: []\n", ""},
		"deletion":        {"$op: delete\n" + pod("a"), "delete Kubernetes Pod/shop/a"},
		"other cluster":   {"$cluster: west\n" + pod("a"), "update west Pod/shop/a"},
		"put and deleted": {pod("a") + "---\n$op: delete\n" + pod("a") + "---\n" + pod("a"), "update Kubernetes Pod/shop/a|delete Kubernetes Pod/shop/a|update Kubernetes Pod/shop/a"},
		"cluster of list": {
			"apiVersion: v1\nkind: List\n$cluster: west\nitems:\n- {apiVersion: v1, kind: Node, metadata: {name: n1}}\n- {apiVersion: v1, kind: Node, metadata: {name: n2}, $cluster: east}\n",
			"update west Node/n1|update east Node/n2",
		},
		"alias and merge": {
			"apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n  namespace: shop\n  labels: &l {app: a}\n  annotations: {<<: *l, other: x}\nspec: {nodeSelector: *l}\n",
			"update Kubernetes Pod/shop/a",
		},
	} {
		t.Run(name, func(t *testing.T) {
			objects, problems := decode(file, tt.in)
			if got := strings.Join(objects, "|"); got != tt.want {
				t.Errorf("objects %q, want %q", got, tt.want)
			}
			if len(problems) > 0 {
				t.Errorf("unexpected problems: %q", problems)
			}
		})
	}
}

func pod(name string) string {
	return "apiVersion: v1\nkind: Pod\nmetadata:\n  name: " + name + "\n  namespace: shop\n"
}

func TestDecodeValues(t *testing.T) {
	const text = `
apiVersion: v1
kind: Pod
metadata:
  name: a
  namespace: shop
  creationTimestamp: 2024-03-01T00:00:01Z
  labels: &labels {app: a, tier: "on"}
  annotations: {<<: *labels, app: b}
spec:
  hostNetwork: yes
  terminationGracePeriodSeconds: 0x1e
---
apiVersion: networking.istio.io/v1beta1
kind: ServiceEntry
metadata: {name: pay, namespace: shop, generation: 3}
spec:
  hosts: [pay.example.com]
  resolution: STATIC
  ports: [{number: 443, name: tls, protocol: TLS}]
status:
  addresses: [{value: 240.240.0.1}]
`
	docs, problems := manifest.Decode(file, []byte(text), "Kubernetes")
	if len(problems) > 0 || len(docs) != 2 {
		t.Fatalf("%d documents, problems %v", len(docs), problems)
	}
	p, ok := docs[0].Object.(*corev1.Pod)
	if !ok || docs[0].Line != 2 {
		t.Fatalf("first is a %T on line %d", docs[0].Object, docs[0].Line)
	}
	if !p.Spec.HostNetwork || *p.Spec.TerminationGracePeriodSeconds != 30 || p.CreationTimestamp.Unix() != 1709251201 {
		t.Errorf("spec %+v of %v", p.Spec, p.CreationTimestamp)
	}
	if diff := cmp.Diff(map[string]string{"app": "b", "tier": "on"}, p.Annotations); diff != "" {
		t.Errorf("annotations (-want +got):\n%s", diff)
	}
	se, ok := docs[1].Object.(*networkingv1.ServiceEntry)
	if !ok || docs[1].Line != 14 {
		t.Fatalf("second is a %T on line %d", docs[1].Object, docs[1].Line)
	}
	if se.Spec.GetResolution() != networkingapi.ServiceEntry_STATIC || se.Spec.GetPorts()[0].GetNumber() != 443 ||
		se.Status.GetAddresses()[0].GetValue() != "240.240.0.1" || se.Generation != 3 {
		t.Errorf("spec %v, status %v", &se.Spec, &se.Status)
	}
	if se.APIVersion != "networking.istio.io/v1" || se.Kind != "ServiceEntry" {
		t.Errorf("type %v", se.TypeMeta)
	}
}

func TestDuplicateLaterWins(t *testing.T) {
	docs, problems := manifest.Decode(file, []byte(pod("a")+"---\n"+pod("b")+"---\n"+pod("a")), "Kubernetes")
	if len(docs) != 3 || docs[2].Line != 13 {
		t.Fatalf("%d documents", len(docs))
	}
	want := []source.Problem{{
		Object: model.ObjectKey{Cluster: "Kubernetes", Kind: model.KindPod, Namespace: "shop", Name: "a"},
		Where:  file + ":13", Message: "the object is already on line 1; the later one counts",
	}}
	if diff := cmp.Diff(want, problems); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
}
