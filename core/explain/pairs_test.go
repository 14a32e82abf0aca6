package explain_test

import (
	"strings"
	"testing"
	"text/template"

	"github.com/edsight/edsight/core/explain"
	"github.com/edsight/edsight/core/registry"
)

// parts are what can be wrong with a mesh of one service and its endpoint; the zero
// value is a mesh where nothing is.
type parts struct {
	NoSlice, NoPod, NoService                 bool
	SliceLabel, SliceType, SlicePort, Ready   string
	PodLabel, PodIP, Node                     string
	ServicePort, ServicePortNumber, ClusterIP string
	ExportTo, Policy, Session, Draining       string
	Sidecar, Rule, Distribute, Selectors      string
}

const pairMesh = `
apiVersion: v1
kind: ConfigMap
metadata: {name: istio, namespace: istio-system}
data: {mesh: '{{or .Selectors "{}"}}'}
{{if not .NoService}}---
apiVersion: v1
kind: Service
metadata:
  name: web
  namespace: shop
  labels: {a: b{{.Session}}}
  annotations: {networking.istio.io/exportTo: '{{or .ExportTo "*"}}'}
spec:
  clusterIP: {{or .ClusterIP "10.96.0.10"}}
  {{.Policy}}
  selector: {app: web}
  ports: [{name: {{or .ServicePort "http"}}, port: {{or .ServicePortNumber "80"}}}]
{{end}}{{if not .NoSlice}}---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: web-1, namespace: shop, labels: { {{or .SliceLabel "kubernetes.io/service-name: web"}} }}
addressType: {{or .SliceType "IPv4"}}
ports: {{or .SlicePort "[{name: http, port: 8080}]"}}
endpoints: [{addresses: [10.1.1.1], conditions: { {{or .Ready "ready: true"}} }, targetRef: {kind: Pod, name: web-0, namespace: shop}}]
{{end}}{{if not .NoPod}}---
apiVersion: v1
kind: Pod
metadata: {name: web-0, namespace: shop, labels: {app: {{or .PodLabel "web"}}, version: v1{{.Draining}}}}
spec: {nodeName: {{or .Node "n1"}}, containers: [{name: app}]}
status: {phase: Running, podIP: {{or .PodIP "10.1.1.1"}}, conditions: [{type: Ready, status: 'True'}]}
{{end}}{{with .Sidecar}}---
apiVersion: networking.istio.io/v1
kind: Sidecar
metadata: {name: default, namespace: client}
spec: {egress: [{hosts: [{{.}}]}]}
{{end}}---
apiVersion: networking.istio.io/v1
kind: DestinationRule
metadata: {name: web, namespace: shop}
spec:
  host: web.shop.svc.cluster.local
  subsets: [{name: {{or .Rule "v1, labels: {version: v1}"}} }]
  {{with .Distribute}}trafficPolicy: {loadBalancer: {localityLbSetting: {distribute: [{from: 'r1/*', to: { {{.}}: 100}}]}}}{{end}}
`

// wrongs are single things that are wrong, each with the cause that it comes to
// alone, in the order in which they are found. That one is called for what has to be
// changed first.
func wrongs() []struct {
	cause explain.Cause
	set   func(*parts)
} {
	return []struct {
		cause explain.Cause
		set   func(*parts)
	}{
		{explain.NoService, func(p *parts) { p.NoService = true }},
		{explain.NamespaceNotDiscovered, func(p *parts) { p.Selectors = `{"discoverySelectors": [{"matchLabels": {"mesh": "on"}}]}` }},
		{explain.ExportTo, func(p *parts) { p.ExportTo = "pay" }},
		{explain.SidecarScope, func(p *parts) { p.Sidecar = "./*" }},
		{explain.ServicePortAbsent, func(p *parts) { p.ServicePortNumber = "8000" }},
		{explain.SubsetNotDefined, func(p *parts) { p.Rule = "v2, labels: {version: v1}" }},
		{explain.NotEDS, func(p *parts) { p.ClusterIP = "None" }},
		{explain.NoSource, func(p *parts) { p.NoSlice = true }},
		{explain.WrongServiceName, func(p *parts) { p.SliceLabel = "kubernetes.io/service-name: wep" }},
		{explain.NoServiceName, func(p *parts) { p.SliceLabel = "a: b" }},
		{explain.FQDNSlice, func(p *parts) { p.SliceType = "FQDN" }},
		{explain.SliceWithoutPorts, func(p *parts) { p.SlicePort = "[]" }},
		{explain.PodNotSeen, func(p *parts) { p.NoPod = true }},
		{explain.PortNameMismatch, func(p *parts) { p.ServicePort = "web" }},
		{explain.SubsetLabels, func(p *parts) { p.Rule = "v1, labels: {version: v9}" }},
		{explain.NodeLocal, func(p *parts) { p.Policy, p.Node = "internalTrafficPolicy: Local", "n2" }},
		{explain.Unhealthy, func(p *parts) { p.Ready = "ready: false, serving: false, terminating: false" }},
		{explain.Draining, func(p *parts) { p.Draining = ", istio.io/draining: 'true'" }},
		{explain.LocalityNotDistributed, func(p *parts) { p.Distribute = "r9/*" }},
	}
}

// TestPairs has two things wrong at once, in every combination: the answer names the
// one that is found first, and says it without a hole in the sentence.
func TestPairs(t *testing.T) {
	text := template.Must(template.New("").Parse(pairMesh))
	list := wrongs()
	for i := range list {
		for j := i; j < len(list); j++ {
			var p parts
			list[j].set(&p)
			list[i].set(&p)
			var b strings.Builder
			if err := text.Execute(&b, &p); err != nil {
				t.Fatal(err)
			}
			a := askPair(t, b.String())
			if a.Present || a.Cause != list[i].cause {
				t.Errorf("%s and %s: present %t, %s: %s", list[i].cause, list[j].cause, a.Present, a.Cause, a.Sentence)
			}
			for _, hole := range []string{"  ", " ,", " ;", "()", "nothing has", ": .", "..", "; ;"} {
				if strings.Contains(strings.ReplaceAll(a.Sentence, "...", ""), hole) {
					t.Errorf("%s and %s: %q is in %q", list[i].cause, list[j].cause, hole, a.Sentence)
				}
			}
		}
	}
}

func askPair(t *testing.T, mesh string) *explain.Answer {
	t.Helper()
	b := newBench(t, registry.Features{})
	b.put(t, mesh, "Kubernetes")
	b.store.Attach(b.core)
	b.core.Flush()
	a := b.explainer.Explain(b.core.Snapshot(), explain.Question{
		Proxy: "client-0.client", Host: "web.shop.svc.cluster.local", Port: 80, Subset: "v1", Address: "10.1.1.1",
	}, nil)
	checkAnswer(t, a)
	return a
}
