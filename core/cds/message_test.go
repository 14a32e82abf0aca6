package cds_test

import (
	"testing"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"
	httpv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/upstreams/http/v3"

	"github.com/edsight/edsight/core/cds"
	"github.com/edsight/edsight/core/coretest"
	"github.com/edsight/edsight/core/model"
)

const messageMesh = `
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec: {clusterIP: 10.0.0.1, ports: [{name: http, port: 80}, {name: grpc, port: 81}, {name: tcp, port: 82}]}
---
apiVersion: v1
kind: Service
metadata: {name: headless, namespace: shop}
spec: {clusterIP: None, ports: [{name: http, port: 80}]}
---
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: {name: out, namespace: shop}
spec: {hosts: [api.example.com], location: MESH_EXTERNAL, resolution: DNS, ports: [{number: 443, name: https, protocol: HTTPS}]}
---
apiVersion: networking.istio.io/v1
kind: DestinationRule
metadata: {name: out, namespace: shop}
spec: {host: api.example.com, trafficPolicy: {tls: {mode: SIMPLE, sni: api.example.com, subjectAltNames: [api.example.com]}}}
---
apiVersion: networking.istio.io/v1
kind: DestinationRule
metadata: {name: web, namespace: shop}
spec:
  host: web
  trafficPolicy:
    connectionPool: {tcp: {maxConnections: 7, connectTimeout: 3s}, http: {http1MaxPendingRequests: 9}}
    outlierDetection: {consecutive5xxErrors: 5, interval: 1s, minHealthPercent: 30}
    loadBalancer: {consistentHash: {httpHeaderName: x}}
    tls: {mode: ISTIO_MUTUAL}
  subsets: [{name: v1, labels: {version: v1}, trafficPolicy: {loadBalancer: {simple: ROUND_ROBIN}}}]
`

// messages makes the clusters of a proxy as they are sent, each of which Envoy's
// own rules accept.
func messages(t *testing.T, yaml string) map[string]*clusterv3.Cluster {
	t.Helper()
	c := coretest.New(t)
	c.Apply(yaml)
	snap := c.Snapshot()
	out := map[string]*clusterv3.Cluster{}
	for _, one := range cds.Build(snap, &model.Proxy{ID: "a.shop", Type: model.Sidecar, Namespace: "shop", Cluster: "Kubernetes"}) {
		for _, message := range []func() (*clusterv3.Cluster, error){
			func() (*clusterv3.Cluster, error) { return one.MessageGRPC(snap.Mesh) },
			func() (*clusterv3.Cluster, error) { return one.Message(snap.Mesh) },
		} {
			m, err := message()
			if err != nil {
				t.Fatal(err)
			}
			if err := m.ValidateAll(); err != nil {
				t.Errorf("%s: %v", one.Name, err)
			}
			out[one.Name] = m
		}
	}
	return out
}

func TestMessages(t *testing.T) {
	all := messages(t, messageMesh)
	const web, headless = "web.shop.svc.cluster.local", "headless.shop.svc.cluster.local"
	http := all[cds.Name(80, "", web)]
	switch {
	case http.GetType() != clusterv3.Cluster_EDS || http.GetEdsClusterConfig().GetEdsConfig().GetAds() == nil:
		t.Errorf("endpoints come by %v", http.GetEdsClusterConfig())
	case http.GetConnectTimeout().GetSeconds() != 3:
		t.Errorf("connect timeout is %v", http.GetConnectTimeout())
	case http.GetCircuitBreakers().GetThresholds()[0].GetMaxConnections().GetValue() != 7,
		http.GetCircuitBreakers().GetThresholds()[0].GetMaxPendingRequests().GetValue() != 9:
		t.Errorf("circuit breakers are %v", http.GetCircuitBreakers())
	case http.GetOutlierDetection().GetConsecutive_5Xx().GetValue() != 5, http.GetCommonLbConfig().GetHealthyPanicThreshold().GetValue() != 30:
		t.Errorf("outlier detection is %v, %v", http.GetOutlierDetection(), http.GetCommonLbConfig())
	case http.GetLbPolicy() != clusterv3.Cluster_RING_HASH:
		t.Errorf("load balancing is %s", http.GetLbPolicy())
	case http.GetTransportSocket() != nil:
		t.Error("a socket for mTLS without certificates is sent")
	}
	if p := all[cds.Name(80, "v1", web)].GetLbPolicy(); p != clusterv3.Cluster_ROUND_ROBIN {
		t.Errorf("load balancing of the subset is %s", p)
	}
	if m := all[cds.Name(80, "", headless)]; m.GetType() != clusterv3.Cluster_ORIGINAL_DST || m.GetLbPolicy() != clusterv3.Cluster_CLUSTER_PROVIDED {
		t.Errorf("the headless service is %s, %s", m.GetType(), m.GetLbPolicy())
	}
}

func TestProtocolsOfMessages(t *testing.T) {
	all := messages(t, messageMesh)
	for port, want := range map[uint32]string{80: "1", 81: "2", 82: ""} {
		have := ""
		for _, boxed := range all[cds.Name(port, "", "web.shop.svc.cluster.local")].GetTypedExtensionProtocolOptions() {
			o := &httpv3.HttpProtocolOptions{}
			if err := boxed.UnmarshalTo(o); err != nil {
				t.Fatal(err)
			}
			switch {
			case o.GetExplicitHttpConfig().GetHttp2ProtocolOptions() != nil:
				have = "2"
			case o.GetExplicitHttpConfig().GetHttpProtocolOptions() != nil:
				have = "1"
			}
		}
		if have != want {
			t.Errorf("port %d speaks HTTP/%s, want %s", port, have, want)
		}
	}
}

func TestTLSOfMessages(t *testing.T) {
	m := messages(t, messageMesh)[cds.Name(443, "", "api.example.com")]
	if m.GetType() != clusterv3.Cluster_STRICT_DNS || len(m.GetLoadAssignment().GetEndpoints()) != 1 {
		t.Errorf("the external service is %s with %v", m.GetType(), m.GetLoadAssignment())
	}
	ctx := &tlsv3.UpstreamTlsContext{}
	if err := m.GetTransportSocket().GetTypedConfig().UnmarshalTo(ctx); err != nil {
		t.Fatal(err)
	}
	v := ctx.GetCommonTlsContext().GetValidationContext()
	if ctx.GetSni() != "api.example.com" || v.GetTrustedCa().GetFilename() == "" || len(v.GetMatchTypedSubjectAltNames()) != 2 {
		t.Errorf("TLS is %v", ctx)
	}
}
