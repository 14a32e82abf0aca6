package manifest_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	networkingv1 "istio.io/client-go/pkg/apis/networking/v1"

	"github.com/edsight/edsight/core/source/manifest"
)

// TestDurationsAsIstioTakesThem reads durations as Istio's documentation writes them.
// Beside them what is unknown is still found, in its place.
func TestDurationsAsIstioTakesThem(t *testing.T) {
	const rule = `apiVersion: networking.istio.io/v1
kind: DestinationRule
metadata: {name: web, namespace: shop}
spec:
  host: wéb
  trafficPolicy:
    outlierDetection: {interval: %[1]s, baseEjectionTime: %[1]s}
  subsets: [{name: a, labels: {wait: %[1]s}}]
`
	for text, want := range map[string]time.Duration{
		"5s": 5 * time.Second, "1.5s": 1500 * time.Millisecond, "30ms": 30 * time.Millisecond, "5m": 5 * time.Minute, "1h": time.Hour, "1m0s": time.Minute,
		"100h": 100 * time.Hour, "1h2m3.000004s": 3723*time.Second + 4*time.Microsecond, "15m": 15 * time.Minute,
	} {
		for extra, problems := range map[string]string{"": "[]", "  exportsTo: [.]\n": "[a.yaml:9 spec.exportsTo]"} {
			docs, found := manifest.Decode("a.yaml", []byte(fmt.Sprintf(rule, text)+extra), "Kubernetes")
			have := []string{}
			for _, p := range found {
				have = append(have, p.Where+" "+p.Field)
			}
			if len(docs) != 1 || fmt.Sprint(have) != problems {
				t.Errorf("%s: %d objects, problems %v", text, len(docs), found)
				continue
			}
			o, ok := docs[0].Object.(*networkingv1.DestinationRule)
			if !ok {
				t.Fatalf("%T", docs[0].Object)
			}
			ejection := o.Spec.GetTrafficPolicy().GetOutlierDetection()
			if ejection.GetInterval().AsDuration() != want || ejection.GetBaseEjectionTime().AsDuration() != want || o.Spec.GetSubsets()[0].GetLabels()["wait"] != text {
				t.Errorf("%s: %v", text, &o.Spec)
			}
		}
	}
	for _, text := range []string{"", "5", "soon", "5 m", "1d", strings.Repeat("1", 30) + "m"} {
		if docs, found := manifest.Decode("a.yaml", []byte(fmt.Sprintf(rule, `"`+text+`"`)), "Kubernetes"); len(docs) != 0 || len(found) != 1 || found[0].Where != "a.yaml:7" {
			t.Errorf("%s: %d objects, problems %v", text, len(docs), found)
		}
	}
}

// TestProblemBesideDurations: what is wrong is told as it is written, in its place.
func TestProblemBesideDurations(t *testing.T) {
	const rule = `{"apiVersion": "networking.istio.io/v1", "kind": "DestinationRule", "metadata": {"name": "web", "namespace": "shop"},
"spec": {"host": "web", "trafficPolicy": {"outlierDetection": {"interval": "5m", "baseEjectionTime": "5µs",
"maxEjectionPercent": "5m"}}}}`
	docs, found := manifest.Decode("a.json", []byte(rule), "Kubernetes")
	const want = `invalid value for int32 field maxEjectionPercent: "5m"`
	if len(docs) != 0 || len(found) != 1 || found[0].Where != "a.json:3" || found[0].Message != want || found[0].Field != "spec.trafficPolicy.outlierDetection.maxEjectionPercent" {
		t.Errorf("%d objects, problems %+v, want %s", len(docs), found, want)
	}
}

// TestManyDurations: the work grows with their number, and not with its square.
func TestManyDurations(t *testing.T) {
	const count = 1000
	service := []byte("apiVersion: networking.istio.io/v1\nkind: VirtualService\nmetadata: {name: web, namespace: shop}\nspec:\n  http:\n" +
		strings.Repeat("  - {timeout: 5m, route: [{destination: {host: web}}]}\n", count))
	allocations := testing.AllocsPerRun(1, func() {
		docs, found := manifest.Decode("a.yaml", service, "Kubernetes")
		if len(docs) != 1 || len(found) != 0 {
			t.Fatalf("%d objects, problems %v", len(docs), found)
		}
		o, ok := docs[0].Object.(*networkingv1.VirtualService)
		if !ok || len(o.Spec.GetHttp()) != count || o.Spec.GetHttp()[count-1].GetTimeout().AsDuration() != 5*time.Minute {
			t.Errorf("%T is not as it was written", docs[0].Object)
		}
	})
	if allocations > 1000*count {
		t.Errorf("%v allocations for %d durations", allocations, count)
	}
}
