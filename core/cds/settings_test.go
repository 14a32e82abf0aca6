package cds_test

import (
	"strings"
	"testing"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"
	httpv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/upstreams/http/v3"

	"github.com/edsight/edsight/core/cds"
	"github.com/edsight/edsight/core/coretest"
	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/registry"
	"github.com/edsight/edsight/core/scope"
)

const settingsMesh = `
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec: {clusterIP: 10.0.0.1, ports: [{name: http, port: 80}, {name: grpc, port: 81}, {name: tcp, port: 82}, {name: what, port: 83}]}
---
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: {name: out, namespace: shop}
spec: {hosts: [x.com], location: MESH_EXTERNAL, resolution: DNS, subjectAltNames: [entry.x.com], ports: [{number: 443, name: https, protocol: HTTPS}]}
---
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: {name: anywhere, namespace: shop}
spec: {hosts: [any.com], resolution: NONE, ports: [{number: 80, name: http, protocol: HTTP, targetPort: 8080}]}
`

// ruled is the message of one cluster of the mesh under the trafficPolicy of a
// DestinationRule; for gRPC's libraries it is made too, and both are valid.
func ruled(t *testing.T, p *model.Proxy, port uint32, host, policy string) *clusterv3.Cluster {
	t.Helper()
	rule := ""
	if policy != "" {
		rule = "\n---\napiVersion: networking.istio.io/v1\nkind: DestinationRule\nmetadata: {name: r, namespace: shop}\n" +
			"spec: {host: " + host + ", trafficPolicy: " + policy + "}\n"
	}
	return clusterOf(t, p, cds.Name(port, "", model.Hostname(host)), settingsMesh+rule)
}

func clusterOf(t *testing.T, p *model.Proxy, name, yaml string) *clusterv3.Cluster {
	t.Helper()
	c := coretest.New(t)
	c.Apply(yaml)
	snap := c.Snapshot()
	for _, one := range cds.Build(snap, p) {
		if one.Name != name {
			continue
		}
		grpc, err := one.MessageGRPC(snap.Mesh)
		if err != nil || grpc.ValidateAll() != nil || grpc.GetTransportSocket() != nil {
			t.Fatalf("for gRPC: %v, %v, %v", err, grpc.ValidateAll(), grpc.GetTransportSocket())
		}
		m, err := one.Message(snap.Mesh)
		if err != nil || m.ValidateAll() != nil {
			t.Fatalf("%v, %v", err, m.ValidateAll())
		}
		return m
	}
	t.Fatalf("there is no cluster %s", name)
	return nil
}

func sidecarOf(ip string) *model.Proxy {
	return &model.Proxy{ID: "a.shop", Type: model.Sidecar, Namespace: "shop", Cluster: home, IPs: []string{ip}}
}

func routerOf(ip string) *model.Proxy {
	p := sidecarOf(ip)
	p.Type = model.Router
	return p
}

const webHost, v4, v6 = "web.shop.svc.cluster.local", "10.1.0.1", "2001:db8::1"

func httpOptionsOf(t *testing.T, m *clusterv3.Cluster) *httpv3.HttpProtocolOptions {
	t.Helper()
	for _, boxed := range m.GetTypedExtensionProtocolOptions() {
		o := &httpv3.HttpProtocolOptions{}
		if err := boxed.UnmarshalTo(o); err != nil {
			t.Fatal(err)
		}
		return o
	}
	return nil
}

func spoken(o *httpv3.HttpProtocolOptions) string {
	switch {
	case o == nil:
		return "none"
	case o.GetUseDownstreamProtocolConfig() != nil:
		return "as the client"
	case o.GetExplicitHttpConfig().GetHttp2ProtocolOptions() != nil:
		return "2"
	}
	return "1"
}

func TestHTTPVersion(t *testing.T) {
	for _, c := range []struct {
		name, policy string
		port         uint32
		proxy        *model.Proxy
		want         string
	}{
		{"http", "", 80, sidecarOf(v4), "1"},
		{"unknown protocol", "", 83, sidecarOf(v4), "as the client"},
		{"unknown protocol, router", "", 83, routerOf(v4), "none"},
		{"upgrade", "{connectionPool: {http: {h2UpgradePolicy: UPGRADE}}}", 80, sidecarOf(v4), "2"},
		{"upgrade of what is not HTTP by name", "{connectionPool: {http: {h2UpgradePolicy: UPGRADE}}}", 82, sidecarOf(v4), "2"},
		{"as the client", "{connectionPool: {http: {useClientProtocol: true}}}", 80, sidecarOf(v4), "as the client"},
		{"as the client, grpc", "{connectionPool: {http: {useClientProtocol: true}}}", 81, sidecarOf(v4), "as the client"},
		{"as the client before upgrade", "{connectionPool: {http: {useClientProtocol: true, h2UpgradePolicy: UPGRADE}}}", 80, sidecarOf(v4), "as the client"},
		{"tcp with a limit", "{connectionPool: {tcp: {maxConnectionDuration: 20s}}}", 82, sidecarOf(v4), "1"},
		{"tcp", "", 82, sidecarOf(v4), "none"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if have := spoken(httpOptionsOf(t, ruled(t, c.proxy, c.port, webHost, c.policy))); have != c.want {
				t.Errorf("HTTP/%s is spoken, want %s", have, c.want)
			}
		})
	}
}

func TestMeshUpgradesHTTP(t *testing.T) {
	mesh := settingsMesh + `
---
apiVersion: v1
kind: ConfigMap
metadata: {name: istio, namespace: istio-system}
data: {mesh: "h2UpgradePolicy: UPGRADE\ndnsRefreshRate: 5s"}
`
	for port, want := range map[uint32]string{80: "2", 82: "none"} {
		if have := spoken(httpOptionsOf(t, clusterOf(t, sidecarOf(v4), cds.Name(port, "", webHost), mesh))); have != want {
			t.Errorf("port %d speaks HTTP/%s, want %s", port, have, want)
		}
	}
	if m := clusterOf(t, sidecarOf(v4), cds.Name(443, "", "x.com"), mesh); m.GetDnsRefreshRate().GetSeconds() != 5 { //nolint:staticcheck // what is sent
		t.Errorf("names are looked up anew every %v", m.GetDnsRefreshRate()) //nolint:staticcheck // as above
	}
}

func TestConnectionLimits(t *testing.T) {
	m := ruled(t, sidecarOf(v4), 80, webHost, "{connectionPool: {tcp: {idleTimeout: 16s, maxConnectionDuration: 20s}, http: {maxRequestsPerConnection: 3}}, retryBudget: {percent: 25}}")
	o := httpOptionsOf(t, m).GetCommonHttpProtocolOptions()
	if o.GetIdleTimeout().GetSeconds() != 16 || o.GetMaxConnectionDuration().GetSeconds() != 20 || o.GetMaxRequestsPerConnection().GetValue() != 3 {
		t.Errorf("connections are limited by %v", o)
	}
	if b := m.GetCircuitBreakers().GetThresholds()[0].GetRetryBudget(); b.GetBudgetPercent().GetValue() != 25 || b.GetMinRetryConcurrency().GetValue() != 3 {
		t.Errorf("the retry budget is %v", b)
	}
}

func TestLoadBalancing(t *testing.T) {
	for _, c := range []struct{ name, policy, want string }{
		{"small ring", "{loadBalancer: {consistentHash: {httpHeaderName: x, ringHash: {minimumRingSize: 2}}}}", "ring_hash_lb_config:{minimum_ring_size:{value:2}}"},
		{"old field", "{loadBalancer: {consistentHash: {httpHeaderName: x, minimumRingSize: 512}}}", "ring_hash_lb_config:{minimum_ring_size:{value:512}}"},
		{"old warm-up", "{loadBalancer: {simple: ROUND_ROBIN, warmupDurationSecs: 15s}}", "round_robin_lb_config:{slow_start_config:{slow_start_window:{seconds:15}}}"},
		{"warm-up", "{loadBalancer: {warmup: {duration: 9s}}}", "min_weight_percent:{value:10}"},
		{"distribution for others", "{loadBalancer: {localityLbSetting: {distribute: [{from: r9, to: {r1: 100}}]}}}", "locality_weighted_lb_config"},
		{"failover", "{outlierDetection: {}, loadBalancer: {localityLbSetting: {failover: [{from: a, to: b}]}}}", "locality_weighted_lb_config"},
		{"local errors", "{outlierDetection: {splitExternalLocalOriginErrors: true}}", "enforcing_local_origin_success_rate:{}"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if text := strings.ReplaceAll(ruled(t, sidecarOf(v4), 80, webHost, c.policy).String(), "  ", " "); !strings.Contains(text, c.want) {
				t.Errorf("want %s in %s", c.want, text)
			}
		})
	}
	for _, policy := range []string{
		"{loadBalancer: {localityLbSetting: {failover: [{from: a, to: b}]}}}",
		"{outlierDetection: {}, loadBalancer: {localityLbSetting: {enabled: false, failover: [{from: a, to: b}]}}}",
	} {
		if m := ruled(t, sidecarOf(v4), 80, webHost, policy); m.GetCommonLbConfig().GetLocalityWeightedLbConfig() != nil {
			t.Errorf("localities are weighed under %s", policy)
		}
	}
}

func TestPanicThreshold(t *testing.T) {
	if m := ruled(t, sidecarOf(v4), 80, webHost, "{outlierDetection: {minHealthPercent: -1}}"); m.GetCommonLbConfig().GetHealthyPanicThreshold() != nil {
		t.Errorf("no threshold is %v", m.GetCommonLbConfig())
	}
	near := strings.Replace(settingsMesh, "clusterIP: 10.0.0.1", "clusterIP: 10.0.0.1, trafficDistribution: PreferClose", 1)
	m := clusterOf(t, sidecarOf(v4), cds.Name(80, "", webHost), near)
	if c := m.GetCommonLbConfig(); c.GetHealthyPanicThreshold() == nil || c.GetHealthyPanicThreshold().GetValue() != 0 || c.GetLocalityWeightedLbConfig() == nil {
		t.Errorf("with a traffic distribution endpoints are chosen by %v", c)
	}
}

func TestSessionsWithWhatDrains(t *testing.T) {
	mesh := strings.Replace(settingsMesh, "{name: web, namespace: shop}", "{name: web, namespace: shop, labels: {istio.io/persistent-session: c}}", 1) +
		"\n---\napiVersion: networking.istio.io/v1\nkind: DestinationRule\nmetadata: {name: r, namespace: shop}\nspec: {host: web, subsets: [{name: s}]}\n"
	for subset, want := range map[string]int{"": 4, "s": 0} {
		m := clusterOf(t, sidecarOf(v4), cds.Name(80, subset, webHost), mesh)
		if have := m.GetCommonLbConfig().GetOverrideHostStatus().GetStatuses(); len(have) != want {
			t.Errorf("sessions of subset %q are kept with endpoints that are %v, want %d kinds", subset, have, want)
		}
	}
}

func TestOriginatedTLS(t *testing.T) {
	for _, c := range []struct {
		name, policy string
		socket       string // "" for none
		sni, san     bool   // taken from the request
		names        string
	}{
		{"by the request", "{tls: {mode: SIMPLE}}", "tls", true, true, "entry.x.com"},
		{"by the rule", "{tls: {mode: SIMPLE, sni: y.com, subjectAltNames: [y.com]}}", "tls", false, false, "y.com"},
		{"unverified", "{tls: {mode: SIMPLE, insecureSkipVerify: true}}", "tls", true, false, ""},
		{"mutual without a certificate", "{tls: {mode: MUTUAL}}", "", false, false, ""},
		{"a credential for all sidecars", "{tls: {mode: SIMPLE, credentialName: c}}", "", false, false, ""},
		{"taken back for the port", "{tls: {mode: SIMPLE}, portLevelSettings: [{port: {number: 443}, loadBalancer: {simple: RANDOM}}]}", "", false, false, ""},
		{"within the PROXY protocol", "{proxyProtocol: {version: V2}, tls: {mode: SIMPLE, sni: y.com}}", "upstream_proxy_protocol", false, false, ""},
		{"the PROXY protocol alone", "{proxyProtocol: {version: V2}}", "upstream_proxy_protocol", false, false, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := ruled(t, sidecarOf(v4), 443, "x.com", c.policy)
			if have := strings.TrimPrefix(m.GetTransportSocket().GetName(), "envoy.transport_sockets."); have != c.socket {
				t.Fatalf("the socket is %q, want %q", have, c.socket)
			}
			o := httpOptionsOf(t, m).GetUpstreamHttpProtocolOptions()
			if o.GetAutoSni() != c.sni || o.GetAutoSanValidation() != c.san {
				t.Errorf("of the request is taken %v", o)
			}
			if c.names == "" {
				return
			}
			ctx := &tlsv3.UpstreamTlsContext{}
			if err := m.GetTransportSocket().GetTypedConfig().UnmarshalTo(ctx); err != nil {
				t.Fatal(err)
			}
			for _, n := range ctx.GetCommonTlsContext().GetValidationContext().GetMatchTypedSubjectAltNames() {
				if have := n.GetMatcher().GetExact(); have != c.names {
					t.Errorf("the certificate may be of %s, want %s", have, c.names)
				}
			}
		})
	}
}

// A proxy looks names up in the families of its own addresses, in both only if the mesh
// has both.
func TestFamilyOfNames(t *testing.T) {
	const v4only, v6only, all = clusterv3.Cluster_V4_ONLY, clusterv3.Cluster_V6_ONLY, clusterv3.Cluster_ALL
	for _, tt := range []struct {
		ips        []string
		dual       bool
		want       clusterv3.Cluster_DnsLookupFamily
		equivalent []string // addresses of a proxy of the same audience
	}{
		{nil, false, v4only, []string{v4}},
		{[]string{v4}, true, v4only, nil},
		{[]string{v6}, false, v6only, nil},
		{[]string{v6}, true, v6only, nil},
		{[]string{v4, v6}, false, v4only, []string{v4}},
		{[]string{v6, v4}, false, v4only, []string{v4}},
		{[]string{v4, v6}, true, all, []string{v6, v4}},
	} {
		core := coretest.NewWith(t, registry.Features{DualStack: tt.dual})
		core.Apply(settingsMesh)
		snap := core.Snapshot()
		proxy := func(ips []string) *model.Proxy { return sidecar(func(p *model.Proxy) { p.IPs = ips }) }
		m, err := find(t, cds.Build(snap, proxy(tt.ips)), cds.Name(443, "", "x.com")).Message(snap.Mesh)
		if err != nil || m.GetDnsLookupFamily() != tt.want {
			t.Errorf("a proxy at %v looks up %s, want %s: %v", tt.ips, m.GetDnsLookupFamily(), tt.want, err)
		}
		audience := func(ips []string) cds.Audience { return cds.NewAudiences(scope.For(snap, proxy(ips))).Of(proxy(ips)) }
		if other := []string{v4}; (audience(tt.ips) == audience(other)) != (tt.want == v4only) {
			t.Errorf("a proxy at %v, and one at %v: wrongly or not of one audience", tt.ips, other)
		}
		if tt.equivalent != nil && audience(tt.ips) != audience(tt.equivalent) {
			t.Errorf("proxies at %v and at %v are of two audiences", tt.ips, tt.equivalent)
		}
	}
}

func TestTargetPortOfPassthrough(t *testing.T) {
	m := ruled(t, sidecarOf(v4), 80, "any.com", "")
	if port := m.GetOriginalDstLbConfig().GetUpstreamPortOverride().GetValue(); port != 8080 {
		t.Errorf("connections go to port %d, want 8080", port)
	}
}

func TestSubsetThatPassesThrough(t *testing.T) {
	const head = settingsMesh + "\n---\napiVersion: networking.istio.io/v1\nkind: DestinationRule\nmetadata: {name: r, namespace: shop}\nspec:\n  host: web\n  subsets:\n  - name: s\n    trafficPolicy: "
	const passthrough, other = "loadBalancer: {simple: PASSTHROUGH}", "loadBalancer: {simple: RANDOM}"
	port := func(s string) string { return "portLevelSettings: [{port: {number: 80}, " + s + "}]" }
	for policy, want := range map[string]clusterv3.Cluster_DiscoveryType{
		"{" + passthrough + "}":                      clusterv3.Cluster_ORIGINAL_DST,
		"{" + port(passthrough) + "}":                clusterv3.Cluster_ORIGINAL_DST,
		"{" + passthrough + ", " + port(other) + "}": clusterv3.Cluster_ORIGINAL_DST,
		"{" + port(other) + "}":                      clusterv3.Cluster_EDS,
	} {
		if m := clusterOf(t, sidecarOf(v4), cds.Name(80, "s", webHost), head+policy); m.GetType() != want {
			t.Errorf("%s makes it %s, want %s", policy, m.GetType(), want)
		}
	}
}

func TestInboundLimits(t *testing.T) {
	const rule = "\n---\napiVersion: networking.istio.io/v1\nkind: DestinationRule\nmetadata: {name: r, namespace: shop}\n" +
		"spec: {host: web, trafficPolicy: {outlierDetection: {}, connectionPool: {tcp: {maxConnections: 5}, http: {h2UpgradePolicy: UPGRADE}}}"
	const sidecar = "\n---\napiVersion: networking.istio.io/v1\nkind: Sidecar\nmetadata: {name: s, namespace: shop}\nspec: {inboundConnectionPool: {tcp: {maxConnections: 6}}}\n"
	const open = 1<<32 - 1
	own := strings.Replace(settingsMesh, "clusterIP: 10.0.0.1", "clusterIP: 10.0.0.1, selector: {app: web}", 1)
	p := sidecarOf(v4)
	p.Labels = model.Labels{"app": "web"}
	for _, c := range []struct {
		name, yaml string
		want       uint32
	}{
		{"the rule's", own + rule + "}", 5},
		{"the Sidecar's", own + rule + "}" + sidecar, 6},
		{"of a rule for clients", own + rule + ", workloadSelector: {matchLabels: {app: web}}}", open},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := clusterOf(t, p, "inbound|80||", c.yaml)
			if n := m.GetCircuitBreakers().GetThresholds()[0].GetMaxConnections().GetValue(); n != c.want {
				t.Errorf("%d connections are taken, want %d", n, c.want)
			}
			if m.GetOutlierDetection() != nil || spoken(httpOptionsOf(t, m)) != "1" {
				t.Errorf("a rule for clients is in %v", m)
			}
		})
	}
}

func TestIngressProtocol(t *testing.T) {
	m := clusterOf(t, sidecarOf(v4), "inbound|9000||", settingsMesh+`
---
apiVersion: networking.istio.io/v1
kind: Sidecar
metadata: {name: s, namespace: shop}
spec: {ingress: [{port: {number: 9000, name: grpc, protocol: GRPC}, defaultEndpoint: "127.0.0.1:8080", connectionPool: {tcp: {maxConnections: 4}}}]}
`)
	if have := spoken(httpOptionsOf(t, m)); have != "2" {
		t.Errorf("the listener's workload is spoken to in HTTP/%s", have)
	}
	if n := m.GetCircuitBreakers().GetThresholds()[0].GetMaxConnections().GetValue(); n != 4 {
		t.Errorf("%d connections are taken, want 4", n)
	}
}
