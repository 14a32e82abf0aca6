package archive

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	extensions "istio.io/api/networking/v1"
	networking "istio.io/client-go/pkg/apis/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/edsight/edsight/core/journal"
	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/source"
	"github.com/edsight/edsight/core/state"
)

var epoch = time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)

// fill sets every exported field of *v to something, so that a field which the
// format forgets shows in a round trip.
func fill(t *testing.T, v any) {
	t.Helper()
	n := 0
	fillValue(t, reflect.ValueOf(v).Elem(), &n)
}

// maxFill ends values that can hold themselves.
const maxFill = 300

func fillValue(t *testing.T, v reflect.Value, n *int) {
	t.Helper()
	if *n++; *n > maxFill && v.Kind() == reflect.Pointer {
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(fmt.Sprintf("text-%d", *n))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(1)
	case reflect.Uint8, reflect.Uint32, reflect.Uint64:
		v.SetUint(1)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fillValue(t, v.Elem(), n)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fillValue(t, v.Index(0), n)
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fillValue(t, key, n)
		fillValue(t, value, n)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(epoch))
			return
		}
		for _, field := range v.Fields() {
			fillValue(t, field, n)
		}
	default:
		t.Fatalf("cannot fill a %s", v.Type())
	}
}

func filled[T any](t *testing.T) *T {
	t.Helper()
	v := new(T)
	fill(t, v)
	return v
}

// sample is a Content in which every field is set that can be.
func sample(t *testing.T) *Content {
	t.Helper()
	admitted := filled[model.Candidate](t)
	admitted.Reason = model.ReasonNone
	admitted.Endpoint.Workload.Labels = model.Labels{"app": "web"}
	second := *admitted
	second.Endpoint = &model.Endpoint{Workload: admitted.Endpoint.Workload, Addresses: []string{"10.0.0.2"}, Health: model.Terminating}
	waiting := &model.Candidate{Address: "10.0.0.3", Reason: model.ReasonPodNotSeen, Source: admitted.Source, Target: admitted.Target}
	duplicate := &model.Candidate{Address: "10.0.0.2", Reason: model.ReasonDuplicateAddress, Source: admitted.Source}

	service := filled[state.ServiceState](t)
	service.Key = model.ServiceKey{Hostname: "web.shop.svc.cluster.local", Namespace: "shop"}
	service.Shards = []*state.Shard{{
		Key: model.ShardKey{Provider: model.ProviderKubernetes, Cluster: "Kubernetes"},
		Chunks: []*state.Chunk{
			{Source: *admitted.Source, ResourceVersion: "7", Candidates: []*model.Candidate{admitted, waiting}},
			{Source: *admitted.Target, ResourceVersion: "8", Candidates: []*model.Candidate{&second, &second}},
		},
		Candidates: []*model.Candidate{admitted, waiting, &second, duplicate},
		Endpoints:  2,
	}, {Key: model.ShardKey{Provider: model.ProviderExternal, Cluster: "remote"}}}

	b := state.NewBuilder(state.Empty())
	b.SetService(service.Key, service)
	b.SetService(model.ServiceKey{Hostname: "bare"}, &state.ServiceState{Key: model.ServiceKey{Hostname: "bare"}})
	proxy := filled[model.Proxy](t)
	b.SetProxy(proxy.ID, proxy)
	stray := &state.Chunk{Source: *admitted.Source, ResourceVersion: "9", Candidates: []*model.Candidate{waiting}}
	b.SetStray(stray.Source, stray)
	b.SetConfig(entry("shop", "api", nil))
	mesh := state.DefaultMesh()
	for _, field := range reflect.ValueOf(mesh).Elem().Fields() {
		if field.Kind() != reflect.Pointer {
			n := 0
			fillValue(t, field, &n)
		}
	}
	mesh.RootNamespace, mesh.DomainSuffix = "mesh-system", "example.org"
	mesh.Config.TrustDomain = "example.org"
	b.SetMesh(mesh)
	b.SetGateways([]state.Gateway{*filled[state.Gateway](t)})
	snapshot := b.Snapshot(epoch)
	snapshot.Version, snapshot.ConfigVersion = 48213, 48000
	return &Content{
		Header:      Header{Program: "v1.2.3", Created: epoch},
		Snapshot:    snapshot,
		Source:      *filled[source.Status](t),
		Transitions: []*journal.Transition{transition(t, service.Key, proxy, admitted, waiting)},
	}
}

func transition(t *testing.T, key model.ServiceKey, p *model.Proxy, a, b *model.Candidate) *journal.Transition {
	t.Helper()
	shard := model.ShardKey{Provider: model.ProviderKubernetes, Cluster: "Kubernetes"}
	before, after := &state.ServiceState{Key: key}, &state.ServiceState{Key: key}
	tr := &journal.Transition{
		Seq: 12, Version: 48213, Causes: []journal.Cause{*filled[journal.Cause](t)},
		Push: *filled[journal.Push](t), Times: *filled[journal.Times](t),
		Diff: &state.Diff{
			Services: []state.ServiceChange{
				{Key: key, Prev: before, Next: after, Definition: true, Endpoints: []state.EndpointChange{
					{Shard: shard, Before: a, After: b}, {Shard: shard, After: a}, {Shard: shard, Before: b},
				}},
				{Key: key, Next: after},
				{Key: key, Prev: before},
			},
			Proxies: []state.ProxyChange{{ID: p.ID, Next: p}},
			Configs: []model.ObjectKey{*filled[model.ObjectKey](t)}, Strays: []model.ObjectKey{*filled[model.ObjectKey](t)},
			Mesh: true, Networks: true,
		},
	}
	fields(t, reflect.TypeFor[state.Diff](), 6)
	fields(t, reflect.TypeFor[state.ServiceChange](), 6)
	fields(t, reflect.TypeFor[state.EndpointChange](), 3)
	return tr
}

// fields fails when a type that records copy field by field has a new one.
func fields(t *testing.T, of reflect.Type, n int) {
	t.Helper()
	if of.NumField() != n {
		t.Fatalf("%s has %d fields: carry the new one in its record, and set it in the sample", of, of.NumField())
	}
}

func entry(namespace, name string, annotations map[string]string) state.Config {
	return state.Config{
		Key: model.ObjectKey{Cluster: "Kubernetes", Kind: model.KindServiceEntry, Namespace: namespace, Name: name},
		Object: &networking.ServiceEntry{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, ResourceVersion: "3", Annotations: annotations},
			Spec: extensions.ServiceEntry{
				Hosts: []string{"api.example.com"}, Resolution: extensions.ServiceEntry_STATIC,
				Ports: []*extensions.ServicePort{{Number: 443, Name: "tls", Protocol: "TLS"}},
			},
		},
	}
}
