package dataplane

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edsight/edsight/core/cds"
	"github.com/edsight/edsight/core/model"
)

const (
	web    = "outbound|80||web.shop.svc.cluster.local"
	webV2  = "outbound|80|v2|web.shop.svc.cluster.local"
	client = "client-0.shop"
)

const failover = `
apiVersion: networking.istio.io/v1
kind: DestinationRule
metadata: {name: web, namespace: shop}
spec:
  host: web
  trafficPolicy: {outlierDetection: {consecutive5xxErrors: 5}}
  subsets: [{name: v2, labels: {version: v2}}]
`

// world is Envoy served by Edsight, and what is behind it.
type world struct {
	*mesh
	envoy    *envoy
	backends *backends
}

func eachMode(t *testing.T, f func(t *testing.T, w *world)) {
	t.Helper()
	for _, delta := range []bool{true, false} {
		name := "state of the world"
		if delta {
			name = "delta"
		}
		t.Run(name, func(t *testing.T) {
			b := startBackends(t, 4)
			m := newMesh(t, shop(4)+"---"+b.slice(ready(1, 2)...))
			f(t, &world{mesh: m, envoy: startEnvoy(t, m, delta), backends: b})
		})
	}
}

// agree waits until Envoy's own list of hosts is our view of each of its clusters.
func (w *world) agree(step string) {
	w.t.Helper()
	var diff string
	w.eventually(step+": Envoy has our view", func() bool {
		want := w.view()
		have := w.envoy.hosts()
		maps.DeleteFunc(have, func(name string, _ []string) bool { return !strings.HasPrefix(name, "outbound|") })
		diff = cmp.Diff(want, have)
		return diff == ""
	})
}

// view is what Edsight says that the client has.
func (w *world) view() map[string][]string {
	w.t.Helper()
	snap := w.core.Snapshot()
	out := map[string][]string{}
	for _, c := range cds.Build(snap, w.proxy(client)) {
		a := c.Assignment()
		if a == nil {
			continue
		}
		list := []string{}
		for _, l := range a.Localities {
			for _, e := range l.Endpoints {
				health := "HEALTHY"
				if e.Health == model.Draining {
					health = "DRAINING"
				}
				list = append(list, fmt.Sprintf("%s:%d %s %d %s/%s", e.Address, e.Port, health, l.Priority, l.Locality.Region, l.Locality.Zone))
			}
		}
		slices.Sort(list)
		out[c.Name] = list
	}
	return out
}

// reaches asserts which backends answer requests to a cluster. Envoy tells of hosts
// a little before its worker uses them, so the first request may be repeated.
func (w *world) reaches(cluster string, want ...int) {
	w.t.Helper()
	wanted := map[string]bool{}
	for _, b := range want {
		wanted[backendIP(b)] = true
	}
	w.eventually("requests to "+cluster+" are answered", func() bool {
		who, err := w.envoy.call(cluster)
		return err == nil && wanted[who]
	})
	seen := map[string]bool{}
	for range 40 {
		who, err := w.envoy.call(cluster)
		if err != nil {
			w.t.Fatalf("request to %s: %v", cluster, err)
		}
		seen[who] = true
	}
	if d := cmp.Diff(wanted, seen); d != "" {
		w.t.Errorf("who answers requests to %s (-want +have):\n%s", cluster, d)
	}
}

func TestEnvoyFollowsEndpoints(t *testing.T) {
	eachMode(t, func(t *testing.T, w *world) {
		t.Helper()
		w.agree("start")
		w.reaches(web, 1, 2)
		w.put(w.backends.slice(ready(1, 2, 3, 4)...))
		w.agree("two more")
		w.reaches(web, 1, 2, 3, 4)
		w.put(w.backends.slice(endpoint{1, ""}, endpoint{2, "draining"}, endpoint{3, ""}, endpoint{4, "unready"}))
		w.agree("one drains, one is not ready")
		w.reaches(web, 1, 3)
		w.put(w.backends.slice(ready(3)...))
		w.agree("one left")
		w.reaches(web, 3)
		w.put(w.backends.slice())
		w.agree("scaled to zero")
		if _, err := w.envoy.call(web); err == nil || !strings.Contains(err.Error(), "503") {
			t.Errorf("request to a service without endpoints: %v, want 503", err)
		}
		w.put(w.backends.slice(ready(2)...))
		w.agree("and back")
		w.reaches(web, 2)
	})
}

func TestEnvoyFollowsRules(t *testing.T) {
	eachMode(t, func(t *testing.T, w *world) {
		t.Helper()
		w.put(w.backends.slice(ready(1, 2, 3, 4)...))
		w.agree("start")
		w.put(failover)
		w.agree("failover by zone")
		w.reaches(web, 1, 3)
		w.reaches(webV2, 3)
		w.put(w.backends.slice(ready(2, 4)...))
		w.agree("the own zone is empty")
		w.reaches(web, 2, 4)
		w.put(strings.ReplaceAll(failover, "labels: {version: v2}", "labels: {version: v1}"))
		w.agree("the subset moves")
		w.reaches(webV2, 2)
		w.put("$op: delete\n" + failover)
		w.agree("no rule")
		w.reaches(web, 2, 4)
		w.put("$op: delete\napiVersion: v1\nkind: Service\nmetadata: {name: web, namespace: shop}\n")
		w.agree("no service")
		w.put(shop(4))
		w.agree("the service is back")
		w.reaches(web, 2, 4)
	})
}

func TestEnvoyOutlivesRestarts(t *testing.T) {
	eachMode(t, func(t *testing.T, w *world) {
		t.Helper()
		w.agree("start")
		var calls, failed atomic.Int64
		stop, stopped := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(stopped)
			for {
				select {
				case <-stop:
					return
				default:
				}
				if _, err := w.envoy.call(web); err != nil {
					failed.Add(1)
					t.Logf("request: %v", err)
				}
				calls.Add(1)
			}
		}()
		w.end()
		w.put(w.backends.slice(ready(3, 4)...))
		w.start()
		w.agree("after a restart of Edsight")
		w.reaches(web, 3, 4)
		close(stop)
		<-stopped
		if calls.Load() < 20 || failed.Load() > 0 {
			t.Errorf("%d of %d requests failed over a restart of Edsight", failed.Load(), calls.Load())
		}
		w.envoy.stop()
		w.envoy.start()
		w.agree("after a restart of Envoy")
		w.reaches(web, 3, 4)
	})
}

const unusable = `
apiVersion: networking.istio.io/v1
kind: DestinationRule
metadata: {name: other, namespace: shop}
spec: {host: other, trafficPolicy: {tls: {mode: SIMPLE, caCertificates: /nowhere/ca.pem}}}
---
apiVersion: v1
kind: Service
metadata: {name: other, namespace: shop}
spec: {clusterIP: 10.0.0.2, ports: [{name: http, port: 80}]}
`

func TestEnvoyRefusesACluster(t *testing.T) {
	eachMode(t, func(t *testing.T, w *world) {
		t.Helper()
		w.agree("start")
		w.put(unusable)
		var told string
		w.eventually("the refusal is known", func() bool {
			for _, s := range w.ads.Sessions() {
				for _, one := range s.Types {
					if one.Error != "" {
						told = one.Error
					}
				}
			}
			return told != ""
		})
		if !strings.Contains(told, "/nowhere/ca.pem") {
			t.Errorf("the session says %q, want Envoy's words", told)
		}
		rejections := 0
		for _, tr := range w.core.Journal().Since(1, 1000).Transitions {
			for _, r := range w.core.Journal().Delivery(tr.Seq).Counts().Rejections {
				rejections++
				if r.Proxy != client || !strings.Contains(r.Message, "/nowhere/ca.pem") {
					t.Errorf("the journal says %+v", r)
				}
			}
		}
		if rejections == 0 {
			t.Error("the journal does not know of the refusal")
		}
		w.put(w.backends.slice(ready(4)...))
		w.eventually("endpoints go on", func() bool {
			who, err := w.envoy.call(web)
			return err == nil && who == backendIP(4)
		})
	})
}
