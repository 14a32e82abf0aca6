package registry

import (
	"slices"

	"google.golang.org/protobuf/proto"
	discoveryv1 "k8s.io/api/discovery/v1"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/state"
)

// Compile brings the snapshot under construction up to date with the objects and
// says what differs. What does not differ is kept, to the pointer.
func (w *World) Compile(b *state.Builder) *state.Diff {
	d := &state.Diff{}
	w.compileMesh(b, d)
	if w.touched.all {
		w.touchEverything()
	}
	if w.touched.entries {
		w.allocate()
	}
	w.compileStrays(b, d)
	for _, key := range sortedKeys(w.touched.services, model.ServiceKey.Compare) {
		prev := b.Current().Service(key)
		next := w.compileService(key, prev, w.touched.services[key], b.Version())
		if next == prev {
			continue // nothing differs
		}
		change := diffService(key, prev, next)
		change.Servers = w.servers(&change)
		d.Services = append(d.Services, change)
		b.SetService(key, next)
	}
	w.compileGateways(b, d)
	w.compileProxies(b, d)
	w.compileConfigs(b, d)
	w.touched = newTouched()
	return d
}

func (w *World) compileMesh(b *state.Builder, d *state.Diff) {
	if !w.touched.mesh {
		return
	}
	next := meshOf(w.meshConfigMap(), w.rootNamespace, w.mesh)
	d.Mesh = !proto.Equal(next.Config, w.mesh.Config)
	d.Networks = !proto.Equal(next.Networks, w.mesh.Networks)
	if d.Mesh || d.Networks {
		w.mesh = next
		w.mesh.Features = w.features
		w.readSelectors()
		w.touched.all = true
	}
	b.SetMesh(w.mesh)
}

// touchEverything marks all that there is.
func (w *World) touchEverything() {
	for key := range w.objects {
		switch key.Kind {
		case model.KindService:
			w.rebuild(key.Namespace, key.Name)
		case model.KindEndpointSlice:
			w.touchSlice(key, w.objects[key])
		case model.KindPod:
			w.stale[key] = true
			w.touched.pods[key] = struct{}{}
		case model.KindServiceEntry:
			w.touchServiceEntry(key, w.objects[key])
		case model.KindWorkloadEntry, model.KindWorkloadGroup, model.KindSidecar, model.KindDestinationRule, model.KindVirtualService,
			model.KindGateway, model.KindAuthorizationPolicy, model.KindPeerAuthentication, model.KindServiceExport, model.KindServiceImport:
			w.touchConfig(key)
		case model.KindEndpoints, model.KindNode, model.KindNamespace, model.KindConfigMap:
		}
	}
	for key := range w.touched.services {
		w.touched.services[key] = true
	}
}

// compileStrays keeps the slices that belong to no service, with the reason.
func (w *World) compileStrays(b *state.Builder, d *state.Diff) {
	for _, key := range sortedKeys(w.touched.slices, model.ObjectKey.Compare) {
		slice, _ := w.objects[key].(*discoveryv1.EndpointSlice)
		have, was := b.Current().Stray(key)
		if slice == nil || slice.Labels[model.LabelServiceName] != "" {
			if was {
				b.SetStray(key, nil)
				d.Strays = append(d.Strays, key)
			}
			continue // compiled with its service
		}
		if next := w.sliceChunk(key, "", slice, nil); !was || !sameChunk(have, next) {
			b.SetStray(key, next)
			d.Strays = append(d.Strays, key)
		}
	}
}

func (w *World) compileProxies(b *state.Builder, d *state.Diff) {
	ids := map[string]model.ObjectKey{}
	for key := range w.touched.pods {
		ids[ProxyID(key)] = key
	}
	for _, id := range sortedKeys(ids, compareStrings) {
		prev := b.Current().Proxy(id)
		next := w.proxyOf(id, ids[id], prev)
		if prev.Equal(next) {
			continue // nothing differs
		}
		b.SetProxy(id, next)
		d.Proxies = append(d.Proxies, state.ProxyChange{ID: id, Prev: prev, Next: next})
	}
}

// proxyOf returns the proxy of the Pod of that name, nil if there is none. If several
// clusters have one, that which is pinned goes before, then that of the config cluster.
func (w *World) proxyOf(id string, pod model.ObjectKey, prev *model.Proxy) *model.Proxy {
	pins := w.pinned[id]
	for _, cluster := range sortedKeys(pins, w.clusterOrder) {
		pod.Cluster = cluster
		have, pin := podOf(w.objects[pod]), pins[cluster]
		switch {
		case have != nil:
			p := w.proxy(pod, have)
			if pin.apply(p); p.Type == "" {
				return nil // not modelled
			}
			return p
		case pin.Proxy != nil:
			return pin.Proxy
		case prev != nil && prev.Pod == pod:
			return prev // stays without its Pod
		}
	}
	for _, cluster := range w.clusters() {
		pod.Cluster = cluster
		if have := podOf(w.objects[pod]); have != nil && HasProxy(have) && !Finished(have) {
			return w.proxy(pod, have)
		}
	}
	return nil
}

func (w *World) compileConfigs(b *state.Builder, d *state.Diff) {
	for _, key := range sortedKeys(w.touched.configs, model.ObjectKey.Compare) {
		prev, was := b.Current().Config(key)
		next := w.objects[key]
		if next == nil || !w.discovered(key.Cluster, key.Namespace) {
			if was {
				b.SetConfig(state.Config{Key: key})
				d.Configs = append(d.Configs, key)
			}
			continue // gone, or left out by the mesh
		}
		b.SetConfig(state.Config{Key: key, Object: next})
		if !was || !sameConfig(prev.Object, next) {
			d.Configs = append(d.Configs, key)
		}
	}
}

func sortedKeys[K comparable, V any](m map[K]V, compare func(a, b K) int) []K {
	out := make([]K, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.SortFunc(out, compare)
	return out
}
