package scope_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	networking "istio.io/api/networking/v1alpha3"
	networkingv1 "istio.io/client-go/pkg/apis/networking/v1"
	securityv1 "istio.io/client-go/pkg/apis/security/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/scope"
	"github.com/edsight/edsight/core/state"
)

// born gives the objects of a test different ages, in the order of their making.
func born(second int) time.Time { return time.Date(2024, 3, 1, 0, 0, second, 0, time.UTC) }

// kube is a Kubernetes Service "name.namespace" with ports.
func kube(name, namespace string, ports ...uint32) *model.Service {
	host := name + "." + namespace + ".svc.cluster.local"
	return define(host, namespace, model.ProviderKubernetes, 0, ports)
}

// entry is a ServiceEntry for a host.
func entry(host, namespace string, second int, ports ...uint32) *model.Service {
	return define(host, namespace, model.ProviderExternal, second, ports)
}

func define(host, namespace string, p model.Provider, second int, ports []uint32) *model.Service {
	kind, name := model.KindService, host
	if p == model.ProviderExternal {
		kind, name = model.KindServiceEntry, fmt.Sprintf("%s-%d", host, second)
	}
	s := &model.Service{
		Key: model.ServiceKey{Hostname: model.Hostname(host), Namespace: namespace}, Provider: p, Name: host, Created: born(second),
		Object: model.ObjectKey{Cluster: "Kubernetes", Kind: kind, Namespace: namespace, Name: name},
	}
	if len(ports) == 0 {
		ports = []uint32{80}
	}
	for _, n := range ports {
		s.Ports = append(s.Ports, model.Port{Name: fmt.Sprintf("http-%d", n), Number: n, Protocol: model.ProtocolHTTP})
	}
	return s
}

func exported(s *model.Service, to ...string) *model.Service {
	s.ExportTo = to
	return s
}

func meta(name, namespace string, second int) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: name, Namespace: namespace, CreationTimestamp: metav1.NewTime(born(second))}
}

func egress(name, namespace string, second int, hosts ...string) *networkingv1.Sidecar {
	return &networkingv1.Sidecar{ObjectMeta: meta(name, namespace, second), Spec: networking.Sidecar{
		Egress: []*networking.IstioEgressListener{{Hosts: hosts}},
	}}
}

// snapshot holds services and Istio objects; a *state.Mesh among them replaces
// the default one.
func snapshot(tb testing.TB, objects ...any) *state.Snapshot {
	tb.Helper()
	b := state.NewBuilder(state.Empty())
	b.TouchConfig()
	services := map[model.ServiceKey]*state.ServiceState{}
	for _, o := range objects {
		switch o := o.(type) {
		case *state.Mesh:
			b.SetMesh(o)
		case *model.Service:
			if services[o.Key] == nil {
				services[o.Key] = &state.ServiceState{Key: o.Key}
			}
			services[o.Key].Definitions = append(services[o.Key].Definitions, o)
		case metav1.Object:
			b.SetConfig(state.Config{Key: keyOf(tb, o), Object: o})
		default:
			tb.Fatalf("a %T is nothing for a snapshot", o)
		}
	}
	for k, s := range services {
		b.SetService(k, s)
	}
	return b.Snapshot(born(0))
}

func keyOf(tb testing.TB, o metav1.Object) model.ObjectKey {
	tb.Helper()
	k := model.ObjectKey{Cluster: "Kubernetes", Namespace: o.GetNamespace(), Name: o.GetName()}
	switch o.(type) {
	case *networkingv1.Sidecar:
		k.Kind = model.KindSidecar
	case *networkingv1.DestinationRule:
		k.Kind = model.KindDestinationRule
	case *networkingv1.VirtualService:
		k.Kind = model.KindVirtualService
	case *networkingv1.Gateway:
		k.Kind = model.KindGateway
	case *securityv1.PeerAuthentication:
		k.Kind = model.KindPeerAuthentication
	default:
		tb.Fatalf("no kind for a %T", o)
	}
	return k
}

func client(namespace string, labels ...string) *model.Proxy {
	p := &model.Proxy{ID: "client." + namespace, Type: model.Sidecar, Namespace: namespace, Cluster: "Kubernetes", Labels: model.Labels{}}
	for i := 0; i < len(labels); i += 2 {
		p.Labels[labels[i]] = labels[i+1]
	}
	return p
}

func router(namespace string) *model.Proxy {
	p := client(namespace)
	p.Type = model.Router
	return p
}

// imports writes a scope in short: "namespace/host:ports" in order.
func imports(s *scope.Scope) string {
	var out []string
	for _, i := range s.Imports {
		var ports []string
		for _, p := range i.Definition.Ports {
			ports = append(ports, fmt.Sprint(p.Number))
		}
		host := strings.TrimSuffix(string(i.Definition.Key.Hostname), ".svc.cluster.local")
		out = append(out, i.Definition.Key.Namespace+"/"+host+":"+strings.Join(ports, ","))
	}
	return strings.Join(out, " ")
}

// excluded writes what is not in use: "namespace/host=reason" in order.
func excluded(s *scope.Scope) string {
	var out []string
	for _, e := range s.Excluded {
		host := strings.TrimSuffix(string(e.Definition.Key.Hostname), ".svc.cluster.local")
		out = append(out, e.Definition.Key.Namespace+"/"+host+"="+e.Why.String())
	}
	return strings.Join(out, " ")
}

func expectScope(t *testing.T, s *scope.Scope, wantImports, wantExcluded string) {
	t.Helper()
	if got := imports(s); got != wantImports {
		t.Errorf("imports\n  %s\nwant\n  %s", got, wantImports)
	}
	if got := excluded(s); got != wantExcluded {
		t.Errorf("excluded\n  %s\nwant\n  %s", got, wantExcluded)
	}
	if !slices.IsSortedFunc(s.Imports, func(a, b scope.Import) int { return a.Definition.Key.Compare(b.Definition.Key) }) {
		t.Error("the imports are not sorted")
	}
}
