package cds_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	networking "istio.io/api/networking/v1alpha3"
	networkingv1 "istio.io/client-go/pkg/apis/networking/v1"
	securityv1 "istio.io/client-go/pkg/apis/security/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/edsight/edsight/core/cds"
	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/state"
)

const home = model.ClusterID("Kubernetes")

// kube is the Service "name.namespace" with ports.
func kube(name, namespace string, ports ...model.Port) *model.Service {
	host := model.Hostname(name + "." + namespace + ".svc.cluster.local")
	if len(ports) == 0 {
		ports = []model.Port{http(80)}
	}
	return &model.Service{
		Key: model.ServiceKey{Hostname: host, Namespace: namespace}, Name: name, Provider: model.ProviderKubernetes,
		Object: model.ObjectKey{Cluster: home, Kind: model.KindService, Namespace: namespace, Name: name},
		Ports:  ports, VIPs: map[model.ClusterID][]string{home: {"10.96.0.1"}},
	}
}

func entry(host, namespace string, r model.Resolution, ports ...model.Port) *model.Service {
	s := kube(host, namespace, ports...)
	s.Key.Hostname, s.Provider, s.Resolution, s.VIPs = model.Hostname(host), model.ProviderExternal, r, nil
	s.Object.Kind = model.KindServiceEntry
	return s
}

func http(number uint32) model.Port {
	return model.Port{Name: "http", Number: number, Protocol: model.ProtocolHTTP, TargetPort: number + 8000}
}

// with is a definition with endpoints.
type with struct {
	*model.Service
	endpoints []*model.Endpoint
}

func endpoint(address string, port uint32, locality string) *model.Endpoint {
	return &model.Endpoint{
		Addresses: []string{address}, PortName: "http", Port: port, Health: model.Healthy,
		Workload: &model.Workload{Name: "w", Namespace: "shop", Cluster: home, TLSMode: "istio", Locality: model.ParseLocality(locality)},
	}
}

func meta(name, namespace string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: name, Namespace: namespace, CreationTimestamp: metav1.NewTime(time.Unix(0, 0))}
}

func rule(host string, policy *networking.TrafficPolicy, subsets ...*networking.Subset) *networkingv1.DestinationRule {
	return &networkingv1.DestinationRule{ObjectMeta: meta("rule", "shop"), Spec: networking.DestinationRule{Host: host, TrafficPolicy: policy, Subsets: subsets}}
}

func snapshot(tb testing.TB, objects ...any) *state.Snapshot {
	tb.Helper()
	b := state.NewBuilder(state.Empty())
	for _, o := range objects {
		switch o := o.(type) {
		case *state.Mesh:
			b.SetMesh(o)
		case []state.Gateway:
			b.SetGateways(o)
		case *model.Service:
			b.SetService(o.Key, &state.ServiceState{Key: o.Key, Definitions: []*model.Service{o}})
		case with:
			sh := &state.Shard{Key: model.ShardKey{Provider: o.Provider, Cluster: home}, Endpoints: len(o.endpoints)}
			for _, e := range o.endpoints {
				sh.Candidates = append(sh.Candidates, &model.Candidate{Address: e.Address(), PortName: e.PortName, Port: e.Port, Endpoint: e})
			}
			b.SetService(o.Key, &state.ServiceState{Key: o.Key, Definitions: []*model.Service{o.Service}, Shards: []*state.Shard{sh}})
		case metav1.Object:
			b.SetConfig(state.Config{Key: keyOf(tb, o), Object: o})
		default:
			tb.Fatalf("a %T is nothing for a snapshot", o)
		}
	}
	return b.Snapshot(time.Unix(0, 0))
}

func keyOf(tb testing.TB, o metav1.Object) model.ObjectKey {
	tb.Helper()
	k := model.ObjectKey{Cluster: home, Namespace: o.GetNamespace(), Name: o.GetName()}
	switch o.(type) {
	case *networkingv1.Sidecar:
		k.Kind = model.KindSidecar
	case *networkingv1.DestinationRule:
		k.Kind = model.KindDestinationRule
	case *networkingv1.Gateway:
		k.Kind = model.KindGateway
	case *securityv1.AuthorizationPolicy:
		k.Kind = model.KindAuthorizationPolicy
	default:
		tb.Fatalf("no kind for a %T", o)
	}
	return k
}

func sidecar(change ...func(*model.Proxy)) *model.Proxy {
	p := &model.Proxy{
		ID: "client-0.client", Type: model.Sidecar, Namespace: "client", Cluster: home, IPs: []string{"10.9.0.1"},
		Pod: model.ObjectKey{Cluster: home, Kind: model.KindPod, Namespace: "client", Name: "client-0"}, Labels: model.Labels{"app": "client"},
	}
	for _, c := range change {
		c(p)
	}
	return p
}

func router(p *model.Proxy) { p.Type = model.Router }

// short writes clusters as "name=TYPE", without those that every proxy has.
func short(clusters []cds.Cluster) string {
	var out []string
	for _, c := range clusters {
		switch c.Name {
		case "BlackHoleCluster", "PassthroughCluster", "InboundPassthroughCluster":
			continue
		}
		out = append(out, strings.ReplaceAll(c.Name, ".svc.cluster.local", "")+"="+string(c.Type))
	}
	return strings.Join(out, " ")
}

func expectClusters(t *testing.T, clusters []cds.Cluster, want string) {
	t.Helper()
	if got := short(clusters); got != want {
		t.Errorf("clusters\n  %s\nwant\n  %s", got, want)
	}
}

func find(t *testing.T, clusters []cds.Cluster, name string) *cds.Cluster {
	t.Helper()
	i := slices.IndexFunc(clusters, func(c cds.Cluster) bool { return c.Name == name })
	if i < 0 {
		t.Fatalf("no cluster %s in %s", name, short(clusters))
	}
	return &clusters[i]
}
