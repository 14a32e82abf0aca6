package dataplane

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	adminv3 "github.com/envoyproxy/go-control-plane/envoy/admin/v3"
	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/edsight/edsight/core/cds"
)

// trafficPolicies are what a DestinationRule can say, by the name of the service
// that it is for; CERTS is a folder with a certificate and its key.
var trafficPolicies = map[string]string{
	"none":                 `{}`,
	"round-robin":          `{loadBalancer: {simple: ROUND_ROBIN, warmup: {duration: 30s, minimumPercent: 5, aggression: 1.5}}}`,
	"least-request":        `{loadBalancer: {simple: LEAST_REQUEST, warmupDurationSecs: 60s}}`,
	"least-conn":           `{loadBalancer: {simple: LEAST_CONN}}`,
	"random":               `{loadBalancer: {simple: RANDOM}}`,
	"passthrough":          `{loadBalancer: {simple: PASSTHROUGH}}`,
	"hash-header":          `{loadBalancer: {consistentHash: {httpHeaderName: x-user}}}`,
	"hash-cookie":          `{loadBalancer: {consistentHash: {httpCookie: {name: user, path: /, ttl: 0s}}}}`,
	"hash-source":          `{loadBalancer: {consistentHash: {useSourceIp: true}}}`,
	"hash-query":           `{loadBalancer: {consistentHash: {httpQueryParameterName: user}}}`,
	"ring":                 `{loadBalancer: {consistentHash: {useSourceIp: true, ringHash: {minimumRingSize: 64}}}}`,
	"ring-old":             `{loadBalancer: {consistentHash: {useSourceIp: true, minimumRingSize: 4096}}}`,
	"maglev":               `{loadBalancer: {consistentHash: {useSourceIp: true, maglev: {tableSize: 101}}}}`,
	"maglev-default":       `{loadBalancer: {consistentHash: {useSourceIp: true, maglev: {}}}}`,
	"locality":             `{loadBalancer: {localityLbSetting: {distribute: [{from: "r1/*", to: {"r1/a/*": 70, "r1/b/*": 30}}]}}, outlierDetection: {}}`,
	"locality-ring":        `{loadBalancer: {consistentHash: {useSourceIp: true}, localityLbSetting: {distribute: [{from: "*", to: {"r1/*": 100}}]}}}`,
	"failover":             `{loadBalancer: {localityLbSetting: {failover: [{from: r1, to: r2}]}}, outlierDetection: {consecutive5xxErrors: 1}}`,
	"failover-priority":    `{loadBalancer: {localityLbSetting: {failoverPriority: ["topology.kubernetes.io/region", "version=v1"]}}, outlierDetection: {interval: 1s}}`,
	"outliers":             `{outlierDetection: {consecutive5xxErrors: 7, consecutiveGatewayErrors: 5, splitExternalLocalOriginErrors: true, consecutiveLocalOriginFailures: 3, interval: 1ms, baseEjectionTime: 1ms, maxEjectionPercent: 100, minHealthPercent: 50}}`,
	"outliers-off":         `{outlierDetection: {consecutive5xxErrors: 0, consecutiveGatewayErrors: 0, splitExternalLocalOriginErrors: true, consecutiveLocalOriginFailures: 0, maxEjectionPercent: 0, minHealthPercent: 0}}`,
	"pool":                 `{connectionPool: {tcp: {maxConnections: 1, connectTimeout: 30ms, maxConnectionDuration: 1h, idleTimeout: 5s, tcpKeepalive: {probes: 3, time: 7200s, interval: 75s}}, http: {http1MaxPendingRequests: 1, http2MaxRequests: 1, maxRequestsPerConnection: 1, maxRetries: 1, idleTimeout: 1s}}}`,
	"pool-most":            `{connectionPool: {tcp: {maxConnections: 2147483647}, http: {http1MaxPendingRequests: 2147483647, http2MaxRequests: 2147483647, maxRequestsPerConnection: 536870912, maxRetries: 2147483647}}}`,
	"pool-none":            `{connectionPool: {tcp: {tcpKeepalive: {}}, http: {}}}`,
	"http2":                `{connectionPool: {http: {h2UpgradePolicy: UPGRADE, maxConcurrentStreams: 100, idleTimeout: 1s}}}`,
	"http2-most":           `{connectionPool: {http: {h2UpgradePolicy: UPGRADE, maxConcurrentStreams: 2147483647}}}`,
	"as-client":            `{connectionPool: {http: {useClientProtocol: true, maxConcurrentStreams: 5}}}`,
	"tls-simple":           `{tls: {mode: SIMPLE}}`,
	"tls-files":            `{tls: {mode: SIMPLE, caCertificates: CERTS/cert.pem, sni: example.com, subjectAltNames: [example.com, "spiffe://cluster.local/ns/a/sa/b"]}}`,
	"tls-http2":            `{tls: {mode: SIMPLE, insecureSkipVerify: true, sni: example.com}, connectionPool: {http: {h2UpgradePolicy: UPGRADE}}}`,
	"tls-as-client":        `{tls: {mode: SIMPLE, sni: example.com}, connectionPool: {http: {useClientProtocol: true}}}`,
	"tls-mutual":           `{tls: {mode: MUTUAL, caCertificates: CERTS/cert.pem, clientCertificate: CERTS/cert.pem, privateKey: CERTS/key.pem}}`,
	"tls-credential":       `{tls: {mode: SIMPLE, credentialName: secret}}`,
	"tls-mutual-secret":    `{tls: {mode: MUTUAL, credentialName: secret}}`,
	"tls-istio":            `{tls: {mode: ISTIO_MUTUAL, subjectAltNames: [a]}}`,
	"tls-off":              `{tls: {mode: DISABLE}}`,
	"proxy-v1":             `{proxyProtocol: {version: V1}}`,
	"proxy-v2":             `{proxyProtocol: {version: V2}, tls: {mode: SIMPLE, sni: example.com}}`,
	"tunnel":               `{tunnel: {protocol: CONNECT, targetHost: example.com, targetPort: 443}}`,
	"retry-budget":         `{retryBudget: {percent: 20.5, minRetryConcurrency: 3}}`,
	"port-level":           `{portLevelSettings: [{port: {number: 80}, loadBalancer: {simple: RANDOM}, tls: {mode: SIMPLE}, connectionPool: {tcp: {maxConnections: 3}}, outlierDetection: {consecutiveGatewayErrors: 1}}]}`,
	"everything-but-lists": `{loadBalancer: {consistentHash: {httpHeaderName: x, ringHash: {minimumRingSize: 8}}}, outlierDetection: {interval: 5s}, tls: {mode: SIMPLE, sni: a}, connectionPool: {tcp: {connectTimeout: 1s}, http: {h2UpgradePolicy: DO_NOT_UPGRADE, maxRequestsPerConnection: 9}}}`,
}

// external are ServiceEntries of every resolution.
const external = `---
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: {name: none, namespace: shop}
spec: {hosts: [none.example, "*.wild.example"], ports: [{number: 443, name: tls, protocol: TLS}, {number: 80, name: http, protocol: HTTP}], resolution: NONE}
---
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: {name: static, namespace: shop}
spec:
  hosts: [static.example]
  ports: [{number: 80, name: http, protocol: HTTP}, {number: 90, name: grpc, protocol: GRPC}, {number: 27017, name: mongo, protocol: MONGO}]
  resolution: STATIC
  endpoints: [{address: 192.0.2.1, locality: r1/a/s}, {address: 2001:db8::1, weight: 3}, {address: 192.0.2.2, ports: {http: 8080}, network: other}]
---
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: {name: socket, namespace: shop}
spec: {hosts: [socket.example], ports: [{number: 80, name: http, protocol: HTTP}], resolution: STATIC, endpoints: [{address: "unix:///var/run/socket"}]}
---
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: {name: dns, namespace: shop}
spec: {hosts: [dns.invalid], ports: [{number: 443, name: https, protocol: HTTPS}, {number: 5432, name: tcp, protocol: TCP}], resolution: DNS}
---
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: {name: named, namespace: shop}
spec:
  hosts: [named.example]
  ports: [{number: 80, name: http, protocol: HTTP}]
  resolution: DNS
  endpoints: [{address: a.invalid, locality: r1/a}, {address: b.invalid, ports: {http: 8080}, weight: 2, locality: r2/b}]
---
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: {name: one, namespace: shop}
spec: {hosts: [one.invalid], ports: [{number: 80, name: http, protocol: HTTP}], resolution: DNS_ROUND_ROBIN}
---
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: {name: dynamic, namespace: shop}
spec: {hosts: ["*.dynamic.invalid"], ports: [{number: 443, name: tls, protocol: TLS}], resolution: DYNAMIC_DNS}
---
apiVersion: v1
kind: Service
metadata: {name: headless, namespace: shop}
spec: {clusterIP: None, ports: [{name: http, port: 80}, {name: tcp, port: 81}]}
---
apiVersion: v1
kind: Service
metadata: {name: elsewhere, namespace: shop}
spec: {type: ExternalName, externalName: elsewhere.invalid, ports: [{name: http, port: 80}]}
`

// policies writes a Service with an endpoint for each traffic policy, and its rule,
// which says the same of a subset.
func policies(certs string) string {
	var s strings.Builder
	for i, name := range slices.Sorted(maps.Keys(trafficPolicies)) {
		policy := strings.ReplaceAll(trafficPolicies[name], "CERTS", certs)
		fmt.Fprintf(&s, `---
apiVersion: v1
kind: Service
metadata: {name: %[1]s, namespace: shop}
spec: {clusterIP: 10.0.7.%[2]d, ports: [{name: http, port: 80}, {name: grpc, port: 81}, {name: tcp, port: 82}]}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: %[1]s-1, namespace: shop, labels: {kubernetes.io/service-name: %[1]s}}
addressType: IPv4
ports: [{name: http, port: 8080}, {name: grpc, port: 8081}, {name: tcp, port: 8082}]
endpoints: [{addresses: [10.7.0.%[2]d], conditions: {ready: true}, zone: a}]
---
apiVersion: networking.istio.io/v1
kind: DestinationRule
metadata: {name: %[1]s, namespace: shop}
spec: {host: %[1]s, trafficPolicy: %[3]s, subsets: [{name: v1, trafficPolicy: %[3]s}]}
`, name, i+1, policy)
	}
	return s.String()
}

// TestEnvoyTakesEveryPolicy has Envoy take clusters with all that rules and
// ServiceEntries can say: it refuses nothing, and waits for nothing.
func TestEnvoyTakesEveryPolicy(t *testing.T) {
	certs := t.TempDir()
	writeCertificate(t, certs)
	eachMode(t, func(t *testing.T, w *world) {
		t.Helper()
		w.agree("start")
		w.put(policies(certs) + external)
		var want []string
		for _, c := range cds.Build(w.core.Snapshot(), w.proxy(client)) {
			want = append(want, c.Name)
		}
		slices.Sort(want)
		if len(want) < 6*len(trafficPolicies) {
			t.Fatalf("there are %d clusters", len(want))
		}
		var diff string
		defer func() {
			if t.Failed() {
				t.Logf("clusters (-want +have):\n%s", diff)
			}
		}()
		w.eventually("Envoy has all clusters", func() bool {
			for _, s := range w.ads.Sessions() {
				for _, one := range s.Types {
					if one.Error != "" {
						t.Fatalf("Envoy refuses: %s", one.Error)
					}
				}
			}
			active, warming := w.envoy.clusters()
			diff = cmp.Diff(want, active) + cmp.Diff([]string(nil), warming)
			return diff == ""
		})
		have := w.envoy.hosts()
		for name, hosts := range w.view() {
			if d := cmp.Diff(hosts, have[name]); d != "" {
				t.Errorf("hosts of %s (-want +have):\n%s", name, d)
			}
		}
	})
}

// clusters are the names of those that Envoy uses, and that it prepares.
func (e *envoy) clusters() (active, warming []string) {
	e.t.Helper()
	body, err := e.get("/config_dump?resource=&mask=")
	if err != nil {
		e.t.Fatal(err)
	}
	dump := &adminv3.ConfigDump{}
	if err := (protojson.UnmarshalOptions{DiscardUnknown: true}).Unmarshal([]byte(body), dump); err != nil {
		e.t.Fatal(err)
	}
	name := func(c *adminv3.ClustersConfigDump_DynamicCluster) string {
		m := &clusterv3.Cluster{}
		if err := c.GetCluster().UnmarshalTo(m); err != nil {
			e.t.Fatal(err)
		}
		return m.GetName()
	}
	for _, part := range dump.GetConfigs() {
		all := &adminv3.ClustersConfigDump{}
		if !part.MessageIs(all) {
			continue
		}
		if err := part.UnmarshalTo(all); err != nil {
			e.t.Fatal(err)
		}
		for _, c := range all.GetDynamicActiveClusters() {
			active = append(active, name(c))
		}
		for _, c := range all.GetDynamicWarmingClusters() {
			warming = append(warming, name(c))
		}
	}
	slices.Sort(active)
	slices.Sort(warming)
	return active, warming
}
