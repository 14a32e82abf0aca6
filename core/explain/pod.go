package explain

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/registry"
	"github.com/edsight/edsight/core/state"
)

// Unproxied is a Pod that is there and is no proxy.
type Unproxied struct {
	Pod model.ObjectKey
	// Why is a clause that names the Pod.
	Why string
}

// Unproxied are the Pods that are called so, and of which the snapshot has no proxy:
// by name, namespace and name, or the ID that their proxy would have. All objects are
// looked at.
func (e *Explainer) Unproxied(snap *state.Snapshot, name string, may May) []Unproxied {
	return unproxied(e.opts.Objects, snap, name, may)
}

func unproxied(objects Objects, snap *state.Snapshot, name string, may May) []Unproxied {
	var out []Unproxied
	if objects == nil {
		return nil
	}
	for key, o := range objects.All() {
		if key.Kind != model.KindPod || !isCalled(key, name) || may != nil && !may(key.Namespace) || snap.Proxy(registry.ProxyID(key)) != nil {
			continue // another, not to be seen, or with a proxy
		}
		if pod, ok := o.(*corev1.Pod); ok {
			out = append(out, Unproxied{key, "Pod " + key.Namespace + "/" + key.Name + " exists, but " + proxyless(pod)})
		}
	}
	slices.SortFunc(out, func(a, b Unproxied) int { return a.Pod.Compare(b.Pod) })
	return out
}

func isCalled(pod model.ObjectKey, name string) bool {
	return name == pod.Name || name == pod.Namespace+"/"+pod.Name || name == registry.ProxyID(pod)
}

// proxyless says why a Pod is no proxy.
func proxyless(pod *corev1.Pod) string {
	switch {
	case finished(pod):
		return "has finished (" + phaseText(pod) + "), and is not connected"
	case registry.HasProxy(pod):
		return "its proxy is not known yet, and not connected"
	}
	return "has no istio-proxy container and is not connected"
}

// noProxy says why there is no proxy of the ID that is asked about.
func (x *inquiry) noProxy() finding {
	f := finding{cause: ProxyUnknown, step: StepScope}
	if pods := unproxied(x.opts.Objects, x.snap, x.q.Proxy, x.may); len(pods) > 0 {
		f.object, f.why = pods[0].Pod, pods[0].Why
		f.remedy = "ask about a Pod with a sidecar, or have one injected: without, nothing is sent to this one"
		return f
	}
	f.why = "no proxy has the ID " + x.q.Proxy + x.went()
	f.remedy = "give the ID as <pod>.<namespace> of a Pod with a proxy"
	return f
}
