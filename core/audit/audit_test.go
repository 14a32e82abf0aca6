package audit_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/edsight/edsight/core/audit"
	"github.com/edsight/edsight/core/coretest"
	"github.com/edsight/edsight/core/model"
)

// shop has one service with one endpoint, and a proxy.
const shop = `
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec: {clusterIP: 10.96.0.9, selector: {app: web}, ports: [{name: http, port: 80}]}
---
apiVersion: v1
kind: Pod
metadata: {name: web-1, namespace: shop, labels: {app: web, version: v1}}
spec: {containers: [{name: app}, {name: istio-proxy}]}
status: {phase: Running, podIP: 10.1.0.1, podIPs: [{ip: 10.1.0.1}]}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: web-abc12, namespace: shop, labels: {kubernetes.io/service-name: web}}
addressType: IPv4
ports: [{name: http, port: 8080, protocol: TCP}]
endpoints: [{addresses: [10.1.0.1], conditions: {ready: true}, targetRef: {kind: Pod, name: web-1, namespace: shop}}]
---
apiVersion: v1
kind: Service
metadata: {name: idle, namespace: shop}
spec: {clusterIP: 10.96.0.8, ports: [{name: http, port: 80}]}
---
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: {name: wild, namespace: shop}
spec: {hosts: ["*.example.com"], resolution: NONE, ports: [{name: http, number: 80, protocol: HTTP}]}
`

// object is a manifest of Istio in namespace shop.
func object(kind, spec string) string {
	return strings.Replace(named("x", kind, "shop", spec), "2024", "2023", 1)
}

// named is one with a name, younger than those of object.
func named(name, kind, namespace, spec string) string {
	group := "networking"
	if kind == "AuthorizationPolicy" || kind == "PeerAuthentication" {
		group = "security"
	}
	return "apiVersion: " + group + ".istio.io/v1\nkind: " + kind + "\nmetadata: {name: " + name + ", namespace: " + namespace +
		", creationTimestamp: '2024-01-01T00:00:00Z'}\nspec: " + spec + "\n"
}

func mesh(config string) string {
	return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: istio, namespace: istio-system}\ndata:\n  mesh: |\n    " + config + "\n"
}

// problem is a manifest beside what is like it and in order. A field of "" is no
// problem; else it is the field at fault, and message what must be said of it.
type problem struct{ manifest, field, message string }

func run(t *testing.T, cases map[string]problem) {
	t.Helper()
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			core := coretest.New(t)
			core.Apply(shop)
			core.Apply(c.manifest)
			expect(t, audit.Config(core.Snapshot()), c.field, c.message)
		})
	}
}

func TestSidecars(t *testing.T) {
	egress := func(host string) string { return object("Sidecar", `{egress: [{hosts: ["`+host+`"]}]}`) }
	const hosts = "spec.egress[0].hosts[0]"
	run(t, map[string]problem{
		"selects a proxy":        {object("Sidecar", `{workloadSelector: {labels: {app: web}}}`), "", ""},
		"for the namespace":      {egress("./*"), "", ""},
		"selects nothing":        {object("Sidecar", `{workloadSelector: {labels: {app: web, version: v9}}}`), "spec.workloadSelector.labels", "app=web,version=v9"},
		"imports a service":      {egress("shop/web.shop.svc.cluster.local"), "", ""},
		"imports by a wildcard":  {egress("*/*.shop.svc.cluster.local"), "", ""},
		"imports from all":       {egress("*/web.shop.svc.cluster.local"), "", ""},
		"imports nothing by ~":   {egress("~/*"), "", ""},
		"imports all of nothing": {egress("empty/*"), "", ""},
		"imports a route":        {egress("./route.example.org") + "---\n" + object("VirtualService", `{hosts: [route.example.org], http: [{redirect: {uri: /}}]}`), "", ""},
		"a short name":           {egress("./web"), hosts, "no service in namespace shop has the hostname web"},
		"of another namespace":   {egress("ops/web.shop.svc.cluster.local"), hosts, "in namespace ops"},
		"of no namespace":        {egress("*/*.nowhere.example.org"), hosts, "*.nowhere.example.org"},
		"without a namespace":    {egress("web.shop.svc.cluster.local"), hosts, "namespace/hostname"},
		"a younger one":          {egress("./*") + "---\n" + named("young", "Sidecar", "shop", `{}`), "spec", "Sidecar x is for the whole namespace"},
		"one elsewhere":          {egress("./*") + "---\n" + named("young", "Sidecar", "ops", `{}`), "", ""},
	})
}

func TestServiceEntries(t *testing.T) {
	entry := func(spec string) string { return object("ServiceEntry", `{hosts: [a.example.org], `+spec+`}`) }
	const ports = `ports: [{name: http, number: 80}]`
	run(t, map[string]problem{
		"without addresses":           {entry(`resolution: NONE, ` + ports), "", ""},
		"with addresses":              {entry(`resolution: STATIC, endpoints: [{address: 1.2.3.4}, {address: "unix:///a.sock"}]`), "", ""},
		"ignores its endpoints":       {entry(`resolution: NONE, endpoints: [{address: 1.2.3.4}]`), "spec.endpoints", "NONE"},
		"ignores its selector":        {entry(`resolution: NONE, workloadSelector: {labels: {app: web}}`), "spec.workloadSelector", "NONE"},
		"selects a Pod":               {entry(`resolution: STATIC, workloadSelector: {labels: {app: web}}, ` + ports), "", ""},
		"selects nothing":             {entry(`resolution: STATIC, workloadSelector: {labels: {app: wed}}, ` + ports), "spec.workloadSelector", "has app=wed"},
		"selects and lists":           {entry(`resolution: STATIC, workloadSelector: {labels: {app: web}}, endpoints: [{address: 1.2.3.4}], ` + ports), "spec.endpoints", "workloadSelector"},
		"without endpoints":           {entry(`resolution: STATIC, ` + ports), "spec.endpoints", "STATIC"},
		"resolves its own name":       {entry(`resolution: DNS, ` + ports), "", ""},
		"a name where addresses are":  {entry(`resolution: STATIC, endpoints: [{address: 1.2.3.4}, {address: b.example.org}], ` + ports), "spec.endpoints[1].address", "b.example.org is no IP"},
		"a name where names are":      {entry(`resolution: DNS, endpoints: [{address: b.example.org}], ` + ports), "", ""},
		"ranges":                      {entry(`resolution: NONE, addresses: [10.0.0.0/8, 10.1.2.3, "fd00::/8"], ` + ports), "", ""},
		"no range":                    {entry(`resolution: NONE, addresses: [10.0.0.0/8, 10.0.0.0/33], ` + ports), "spec.addresses[1]", "10.0.0.0/33"},
		"a name twice":                {entry(`resolution: NONE, ports: [{name: http, number: 80}, {name: http, number: 81}]`), "spec.ports[1].name", "http"},
		"a number twice":              {entry(`resolution: NONE, ports: [{name: http, number: 80}, {name: tcp, number: 80}]`), "spec.ports[1].number", "80"},
		"the host of a Service":       {object("ServiceEntry", `{hosts: [web.shop.svc.cluster.local], resolution: NONE, `+ports+`}`), "spec.hosts[0]", "Service web"},
		"the host of another place's": {named("x", "ServiceEntry", "ops", `{hosts: [web.shop.svc.cluster.local], resolution: NONE, `+ports+`}`), "", ""},
		"the host of a private Service": {strings.ReplaceAll(shop[:strings.Index(shop, "---")], "namespace: shop", `namespace: shop, annotations: {networking.istio.io/exportTo: "."}`) +
			"---\n" + object("ServiceEntry", `{hosts: [web.shop.svc.cluster.local], resolution: NONE, `+ports+`}`), "", ""},
	})
}

func TestWorkloadEntries(t *testing.T) {
	run(t, map[string]problem{
		"selected by a Service": {object("WorkloadEntry", `{address: 1.2.3.4, labels: {app: web}}`), "", ""},
		"selected by a ServiceEntry": {object("WorkloadEntry", `{address: 1.2.3.4, labels: {app: vm}}`) + "---\n" +
			named("vms", "ServiceEntry", "shop", `{hosts: [vm.example.org], resolution: STATIC, workloadSelector: {labels: {app: vm}}, ports: [{name: http, number: 80}]}`), "", ""},
		"selected by nothing":        {object("WorkloadEntry", `{address: 1.2.3.4, labels: {app: wed}}`), "spec.labels", "endpoint of nothing"},
		"selected elsewhere":         {named("x", "WorkloadEntry", "ops", `{address: 1.2.3.4, labels: {app: web}}`), "spec.labels", "namespace ops"},
		"without an address":         {object("WorkloadEntry", `{labels: {app: web}}`), "spec.address", "neither"},
		"behind a network's gateway": {object("WorkloadEntry", `{network: far, labels: {app: web}}`), "", ""},
		"that a Sidecar selects":     {object("WorkloadEntry", `{address: 1.2.3.4, labels: {app: web, vm: y}}`) + "---\n" + named("s", "Sidecar", "shop", `{workloadSelector: {labels: {vm: y}}}`), "", ""},
	})
}

func TestDestinationRules(t *testing.T) {
	rule := func(spec string) string { return object("DestinationRule", `{host: web`+spec+`}`) }
	const failover = `loadBalancer: {localityLbSetting: {failover: [{from: a, to: b}]}}`
	const detect = `outlierDetection: {interval: 1s}`
	const v1 = `labels: {version: v1}`
	young := func(host, exportTo string) string {
		return "---\n" + named("young", "DestinationRule", "shop", `{host: `+host+exportTo+`, trafficPolicy: {`+detect+`}, subsets: [{name: one, `+v1+`}]}`)
	}
	old := rule(`, trafficPolicy: {` + detect + `}`)
	run(t, map[string]problem{
		"for a short name":           {rule(``), "", ""},
		"for a wildcard":             {object("DestinationRule", `{host: "*.shop.svc.cluster.local"}`), "", ""},
		"within a wildcard":          {object("DestinationRule", `{host: api.example.com}`), "", ""},
		"without a service":          {object("DestinationRule", `{host: wed}`), "spec.host", "wed.shop.svc.cluster.local"},
		"subset with an endpoint":    {rule(`, subsets: [{name: one, ` + v1 + `}]`), "", ""},
		"subset of an idle service":  {object("DestinationRule", `{host: idle, subsets: [{name: one, `+v1+`}]}`), "", ""},
		"subset without an endpoint": {rule(`, subsets: [{name: one, ` + v1 + `}, {name: two, labels: {version: v2}}]`), "spec.subsets[1].labels", "none of the 1 of web.shop.svc.cluster.local has version=v2"},
		"failover":                   {rule(`, trafficPolicy: {` + failover + `, ` + detect + `}`), "", ""},
		"failover of nothing":        {rule(`, trafficPolicy: {` + failover + `}`), "spec.trafficPolicy.loadBalancer.localityLbSetting", "outlierDetection"},
		"failover of a subset":       {rule(`, trafficPolicy: {` + failover + `}, subsets: [{name: one, ` + v1 + `, trafficPolicy: {` + detect + `}}]`), "", ""},
		"failover by the rule's":     {rule(`, trafficPolicy: {` + detect + `}, subsets: [{name: one, ` + v1 + `, trafficPolicy: {` + failover + `}}]`), "", ""},
		"a subset's of nothing":      {rule(`, subsets: [{name: one, ` + v1 + `, trafficPolicy: {` + failover + `}}]`), "spec.subsets[0].trafficPolicy.loadBalancer.localityLbSetting", "outlierDetection"},
		"a port's of nothing":        {rule(`, trafficPolicy: {` + detect + `, portLevelSettings: [{port: {number: 80}, ` + failover + `}]}`), "spec.trafficPolicy.portLevelSettings[0].loadBalancer.localityLbSetting", "outlierDetection"},
		"failover that is off":       {rule(`, trafficPolicy: {loadBalancer: {localityLbSetting: {enabled: false, failoverPriority: [a]}}}`), "", ""},
		"TLS":                        {rule(`, trafficPolicy: {tls: {mode: SIMPLE}, portLevelSettings: [{port: {number: 80}, tls: {mode: DISABLE}}]}`), "", ""},
		"mTLS of the mesh":           {rule(`, trafficPolicy: {tls: {mode: ISTIO_MUTUAL}, portLevelSettings: [{port: {number: 80}, ` + detect + `}]}`), "", ""},
		"TLS that a port takes back": {rule(`, trafficPolicy: {tls: {mode: SIMPLE}, portLevelSettings: [{port: {number: 80}, ` + detect + `}]}`), "spec.trafficPolicy.portLevelSettings[0]", "port 80"},
		"or a port of a subset":      {rule(`, trafficPolicy: {tls: {mode: SIMPLE}}, subsets: [{name: one, ` + v1 + `, trafficPolicy: {portLevelSettings: [{port: {number: 80}, ` + detect + `}]}}]`), "spec.subsets[0].trafficPolicy.portLevelSettings[0]", "port 80"},
		"mutual with a credential":   {rule(`, trafficPolicy: {tls: {mode: MUTUAL, credentialName: c}}`), "", ""},
		"mutual without a key":       {rule(`, trafficPolicy: {tls: {mode: MUTUAL, clientCertificate: c}}`), "spec.trafficPolicy.tls", "clientCertificate and privateKey"},
		"distribute":                 {rule(`, trafficPolicy: {loadBalancer: {localityLbSetting: {distribute: [{from: a, to: {a: 100}}]}}}`), "", ""},
		"a subset twice":             {rule(`, subsets: [{name: one, ` + v1 + `}, {name: one}]`), "spec.subsets[1]", "the rule has a subset one for the host before"},
		"a policy beside an older":   {old + young("web", ""), "spec.trafficPolicy", "older DestinationRule x has a trafficPolicy"},
		"a subset beside an older":   {rule(`, subsets: [{name: one, `+v1+`}]`) + young("web.shop.svc.cluster.local", ""), "spec.subsets[0]", "older DestinationRule x has a subset one"},
		"for another host":           {old + young("idle", ""), "", ""},
		"for other clients":          {old + young("web", `, exportTo: ["."]`), "", ""},
		"lost in one that selects":   {rule(`, exportTo: ["."]`) + young("web", `, workloadSelector: {matchLabels: {app: web}}`), "spec.exportTo", "no other workload"},
		"beside one that selects":    {rule(``) + young("web", `, workloadSelector: {matchLabels: {app: web}}`), "", ""},
	})
}

// TestOutsideSubsets finds endpoints that no subset of any rule has, unless none has
// any.
func TestOutsideSubsets(t *testing.T) {
	const odd = `apiVersion: v1
kind: Pod
metadata: {name: web-2, namespace: shop, labels: {app: web, version: v2-fix}}
spec: {containers: [{name: app}]}
status: {phase: Running, podIP: 10.1.0.2, podIPs: [{ip: 10.1.0.2}]}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: web-odd, namespace: shop, labels: {kubernetes.io/service-name: web}}
addressType: IPv4
ports: [{name: http, port: 8080, protocol: TCP}]
endpoints: [{addresses: [10.1.0.2], conditions: {ready: true}, targetRef: {kind: Pod, name: web-2, namespace: shop}}]
---
`
	rule := func(name, subsets string) string {
		return named(name, "DestinationRule", "shop", `{host: web, `+subsets+`}`)
	}
	const v1, fix, all = `subsets: [{name: v1, labels: {version: v1}}]`, `subsets: [{name: fix, labels: {version: v2-fix}}]`, `subsets: [{name: all}]`
	const none = `subsets: [{name: v9, labels: {version: v9}}]`
	run(t, map[string]problem{
		"one of two":            {odd + rule("a", v1), "spec.subsets", "no subset matches 1 of the 2 endpoints of web.shop.svc.cluster.local, so no route to a subset leads there: 10.1.0.2 has version=v2-fix"},
		"in that of a second":   {odd + rule("a", v1) + "---\n" + rule("b", fix), "", ""},
		"in one without labels": {odd + rule("a", all), "", ""},
		"without any subset":    {odd + rule("a", `trafficPolicy: {}`), "", ""},
		"none in any":           {odd + rule("a", none), "spec.subsets[0].labels", "subset v9 matches no endpoint"},
	})
}

func TestVirtualServices(t *testing.T) {
	to := func(destination string) string {
		return object("VirtualService", `{hosts: [web], http: [{route: [{destination: {host: `+destination+`}}]}]}`)
	}
	at := func(gateway string) string {
		return object("VirtualService", `{hosts: [web], gateways: ["`+gateway+`"], http: [{route: [{destination: {host: web}}]}]}`) + "---\n" +
			named("edge", "Gateway", "ops", `{selector: {app: web}}`)
	}
	delegate := func(to string) string {
		return object("VirtualService", `{hosts: [web], http: [{delegate: `+to+`}]}`) + "---\n" + named("inner", "VirtualService", "ops", `{http: [{redirect: {uri: /}}]}`)
	}
	rules := "---\n" + named("r", "DestinationRule", "shop", `{host: "*.shop.svc.cluster.local", subsets: [{name: v1}]}`)
	const first = "spec.http[0].route[0].destination"
	run(t, map[string]problem{
		"to a service":       {object("VirtualService", `{hosts: [web], http: [{route: [{destination: {host: web}}]}], tcp: [{route: [{destination: {host: idle}}]}]}`), "", ""},
		"to nothing":         {object("VirtualService", `{hosts: [web], http: [{redirect: {uri: /}}, {route: [{destination: {host: web}}, {destination: {host: web.default}}]}]}`), "spec.http[1].route[1].destination.host", "web.default"},
		"mirror to nothing":  {object("VirtualService", `{hosts: [web], http: [{route: [{destination: {host: web}}], mirrors: [{destination: {host: wed}}]}]}`), "spec.http[0].mirrors[0].destination.host", "wed.shop"},
		"TLS to nothing":     {object("VirtualService", `{hosts: [web], tls: [{match: [{sniHosts: [web]}], route: [{destination: {host: wed}}]}]}`), "spec.tls[0].route[0].destination.host", "wed.shop"},
		"to a port":          {to(`web, port: {number: 80}`), "", ""},
		"to no port":         {to(`web, port: {number: 8080}`), first + ".port.number", "no port 8080"},
		"to a wildcard's":    {to(`api.example.com, port: {number: 8080}`), "", ""},
		"to a subset":        {to(`web, subset: v1`) + rules, "", ""},
		"to no subset":       {to(`web, subset: v2`) + rules, first + ".subset", "subset v2"},
		"to another's":       {to(`api.example.com, subset: v1`) + rules, first + ".subset", "no DestinationRule for api.example.com"},
		"at a gateway":       {at("ops/edge"), "", ""},
		"at the mesh":        {at("mesh"), "", ""},
		"at a generated one": {at("ops/edge-istio-autogenerated-k8s-gateway-http"), "", ""},
		"at no gateway":      {at("edge"), "spec.gateways[0]", "no Gateway shop/edge"},
		"by a delegate":      {delegate(`{name: inner, namespace: ops}`), "", ""},
		"by no delegate":     {delegate(`{name: inner}`), "spec.http[0].delegate", "shop/inner"},
	})
}

func TestGateways(t *testing.T) {
	run(t, map[string]problem{
		"a proxy":    {object("Gateway", `{selector: {app: web}}`), "", ""},
		"everywhere": {named("x", "Gateway", "ops", `{selector: {app: web}}`), "", ""},
		"all":        {object("Gateway", `{}`), "", ""},
		"nobody":     {object("Gateway", `{selector: {istio: gate}}`), "spec.selector", "istio=gate"},
	})
}

func TestPolicies(t *testing.T) {
	authz, peer := "AuthorizationPolicy", "PeerAuthentication"
	const labels, provider = "spec.selector.matchLabels", "spec.provider.name"
	providers := mesh(`extensionProviders: [{name: ask, envoyExtAuthzGrpc: {service: web.shop.svc.cluster.local, port: 80}}]`) + "---\n"
	run(t, map[string]problem{
		"policy for a workload":   {object(authz, `{selector: {matchLabels: {app: web}}}`), "", ""},
		"policy for nobody":       {object(authz, `{selector: {matchLabels: {app: wed}}}`), labels, "app=wed"},
		"policy of the mesh":      {named("x", authz, "istio-system", `{selector: {matchLabels: {app: wed}}}`), "", ""},
		"asks a provider":         {providers + object(authz, `{action: CUSTOM, provider: {name: ask}}`), "", ""},
		"asks nobody":             {providers + object(authz, `{action: CUSTOM, provider: {name: who}}`), provider, "no extension provider who"},
		"asks for a header":       {object(authz, `{rules: [{when: [{key: "request.headers[x]", values: [y]}]}]}`), "", ""},
		"asks for nothing known":  {object(authz, `{rules: [{}, {when: [{key: wrong.key, values: [y]}]}]}`), "spec.rules[1].when[0].key", "wrong.key"},
		"peers of a workload":     {object(peer, `{selector: {matchLabels: {app: web}}, portLevelMtls: {80: {mode: DISABLE}}}`), "", ""},
		"peers of nobody":         {object(peer, `{selector: {matchLabels: {app: wed}}}`), labels, "app=wed"},
		"peers of the mesh":       {named("x", peer, "istio-system", `{}`), "", ""},
		"peers selected by all":   {named("x", peer, "istio-system", `{selector: {matchLabels: {app: web}}}`), "spec.selector", "root namespace"},
		"a port of all workloads": {object(peer, `{portLevelMtls: {80: {mode: DISABLE}}}`), "spec.portLevelMtls", "no selector"},
		"a younger one":           {object(peer, `{}`) + "---\n" + named("young", peer, "shop", `{}`), "spec", "PeerAuthentication x"},
	})
}

func TestMeshConfig(t *testing.T) {
	grpc := func(service, port string) string {
		return mesh(`extensionProviders: [{name: t, zipkin: {service: nobody, port: 1}}, {name: authz, envoyExtAuthzGrpc: {service: ` + service + `, port: ` + port + `}}]`)
	}
	const at = "data.mesh.extensionProviders["
	run(t, map[string]problem{
		"provider with a service":      {grpc("shop/web.shop.svc.cluster.local", "80"), "", ""},
		"provider without a service":   {grpc("authz.shop.svc.cluster.local", "80"), at + "1].envoyExtAuthzGrpc.service", "no service is authz.shop"},
		"provider of another place":    {grpc("ops/web.shop.svc.cluster.local", "80"), at + "1].envoyExtAuthzGrpc.service", "no service is ops/web"},
		"provider without a port":      {grpc("web.shop.svc.cluster.local", "9000"), at + "1].envoyExtAuthzGrpc.port", "has no port 9000"},
		"HTTP provider without a port": {mesh(`extensionProviders: [{name: authz, envoyExtAuthzHttp: {service: web.shop.svc.cluster.local, port: 1}}]`), at + "0].envoyExtAuthzHttp.port", "has no port 1"},
		"defaults":                     {mesh(`{defaultServiceExportTo: ["."], defaultVirtualServiceExportTo: ["*"]}`), "", ""},
		"default of a namespace":       {mesh(`{defaultServiceExportTo: [".", ops]}`), "data.mesh.defaultServiceExportTo[1]", "ops sees no service"},
		"default of a route":           {mesh(`{defaultVirtualServiceExportTo: [ops]}`), "data.mesh.defaultVirtualServiceExportTo[0]", "VirtualService"},
	})
}

func TestNetworks(t *testing.T) {
	networks := func(far string) string {
		return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: istio, namespace: istio-system}\ndata:\n  meshNetworks: |\n    networks: {far: {" + far + "}}\n"
	}
	gateway := func(name, address string) string {
		return "---\napiVersion: v1\nkind: Service\nmetadata: {name: " + name + ", namespace: shop, labels: {topology.istio.io/network: far}}\n" +
			"spec: {type: LoadBalancer, clusterIP: 10.96.0.3, ports: [{name: tls, port: 15443}]}\nstatus: {loadBalancer: {ingress: [" + address + "]}}\n"
	}
	const field = "data.meshNetworks.networks.far."
	run(t, map[string]problem{
		"in order":              {networks(`endpoints: [{fromCidr: 10.0.0.0/8}], gateways: [{address: 203.0.113.1, port: 443}]`), "", ""},
		"no range":              {networks(`endpoints: [{fromCidr: 10.0.0.0}]`), field + "endpoints[0]", "10.0.0.0 is not a range"},
		"a named gateway":       {networks(`gateways: [{address: gw.example.org, port: 443}]`), field + "gateways[0]", "gw.example.org is a name"},
		"a gateway's Service":   {networks(`endpoints: [{fromRegistry: Kubernetes}], gateways: [{registryServiceName: gw.shop.svc.cluster.local, port: 15443}]`) + strings.Replace(gateway("gw", "{ip: 203.0.113.1}"), "topology.istio.io/network", "app", 1), "", ""},
		"no Service":            {networks(`gateways: [{registryServiceName: gw.shop, port: 15443}]`), field + "gateways[0]", "no Service has the hostname gw.shop"},
		"a Service within":      {networks(`gateways: [{registryServiceName: web.shop.svc.cluster.local, port: 80}]`), field + "gateways[0]", "no external address"},
		"a labelled Service":    {networks(``) + gateway("gw", "{ip: 203.0.113.1}"), "", ""},
		"a Service with a name": {networks(``) + gateway("gw", "{hostname: lb.example.org}"), "status.loadBalancer", "lb.example.org is a name"},
	})
}

func expect(t *testing.T, got []audit.Problem, field, message string) {
	t.Helper()
	if field == "" {
		if len(got) > 0 {
			t.Errorf("a problem where there is none: %+v", got)
		}
		return
	}
	if len(got) != 1 {
		t.Fatalf("%d problems, not 1: %+v", len(got), got)
	}
	p := got[0]
	if p.Field != field || !strings.Contains(p.Message, message) || p.Remedy == "" || p.Object.Name == "" {
		t.Errorf("the problem is %+v, not with %s and %q", p, field, message)
	}
}

// TestOrder gives problems of several objects by object and field.
func TestOrder(t *testing.T) {
	core := coretest.New(t)
	core.Apply(shop)
	core.Apply(object("Sidecar", `{workloadSelector: {labels: {app: none}}}`) + "---\n" + object("DestinationRule", `{host: none}`) + "---\n" +
		object("VirtualService", `{hosts: [web], http: [{route: [{destination: {host: none}}, {destination: {host: none}}]}]}`))
	var got []string
	for _, p := range audit.Config(core.Snapshot()) {
		got = append(got, string(p.Object.Kind)+" "+p.Field)
	}
	want := "DestinationRule spec.host, Sidecar spec.workloadSelector.labels, VirtualService spec.http[0].route[0].destination.host, VirtualService spec.http[0].route[1].destination.host"
	if strings.Join(got, ", ") != want {
		t.Errorf("the order is %s", strings.Join(got, ", "))
	}
}

// TestMesh names the part of the ConfigMap that cannot be read, and what is no field.
func TestMesh(t *testing.T) {
	key := model.ObjectKey{Kind: model.KindConfigMap, Namespace: "istio-system", Name: "istio"}
	good := &corev1.ConfigMap{Data: map[string]string{"mesh": "trustDomain: a", "meshNetworks": "networks: {}"}}
	expect(t, audit.Mesh(key, good), "", "")
	bad := &corev1.ConfigMap{Data: map[string]string{"mesh": "trustDomain: a", "meshNetworks": "networks: [one]"}}
	expect(t, audit.Mesh(key, bad), "data.meshNetworks", "cannot be read")
	misspelt := &corev1.ConfigMap{Data: map[string]string{"mesh": "discoverySelector: []"}}
	expect(t, audit.Mesh(key, misspelt), "data.mesh.discoverySelector", "ignored")
}
