package manifest_test

import (
	"strings"
	"testing"

	"github.com/edsight/edsight/core/source/manifest"
)

const busyPod = `apiVersion: v1
kind: Pod
metadata:
  name: web
  namespace: shop
  annotations: {kubectl.kubernetes.io/last-applied-configuration: "{}", a: b}
  managedFields: [{manager: kubectl}]
spec:
  containers:
  - {name: app, ports: [{containerPort: 8080}], env: [{name: PASSWORD, value: hunter2}]}
  - {name: istio-proxy, env: [{name: ISTIO_META_NETWORK, value: n1}, {name: TOKEN, value: hunter2}]}
status: {podIP: 10.1.0.1}
`

// TestEncode shows what was read, and no variable that may be secret.
func TestEncode(t *testing.T) {
	for name, c := range map[string]struct {
		manifest string
		want     []string
		not      []string
	}{
		"Pod": {
			busyPod,
			[]string{"apiVersion: v1\nkind: Pod\n", "a: b", "containerPort: 8080", "ISTIO_META_NETWORK", "podIP: 10.1.0.1"},
			[]string{"hunter2", "PASSWORD", "TOKEN", "managedFields", "last-applied", "null", "{}"},
		},
		"Sidecar": {
			"apiVersion: networking.istio.io/v1beta1\nkind: Sidecar\nmetadata: {name: a, namespace: b}\nspec: {egress: [{hosts: [\"./*\"], port: {number: 9080}}]}\n",
			[]string{"apiVersion: networking.istio.io/v1\nkind: Sidecar\n", "number: 9080", "- ./*"},
			[]string{"status", "null"},
		},
	} {
		docs, problems := manifest.Decode("a.yaml", []byte(c.manifest), "Kubernetes")
		if len(docs) != 1 || len(problems) > 0 {
			t.Fatalf("%s: %v", name, problems)
		}
		_, text, err := manifest.Encode(docs[0].Key, docs[0].Object)
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range c.want {
			if !strings.Contains(text, w) {
				t.Errorf("%s lacks %q:\n%s", name, w, text)
			}
		}
		for _, n := range c.not {
			if strings.Contains(text, n) {
				t.Errorf("%s has %q:\n%s", name, n, text)
			}
		}
		again, problems := manifest.Decode("b.yaml", []byte(text), "Kubernetes")
		if len(again) != 1 || again[0].Key != docs[0].Key || len(problems) > 0 {
			t.Errorf("%s cannot be read again: %v", name, problems)
		}
	}
}
