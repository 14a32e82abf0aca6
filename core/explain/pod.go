package explain

import (
	"slices"
	"strings"

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
// by name, namespace and name, or the ID that their proxy would have.
func (e *Explainer) Unproxied(snap *state.Snapshot, name string, may May) []Unproxied {
	return e.inquiry(snap, may).unproxied(name)
}

func (x *inquiry) unproxied(name string) []Unproxied {
	var out []Unproxied
	for _, key := range x.podsCalled(name) {
		if pod := x.pod(&key); pod != nil && x.snap.Proxy(registry.ProxyID(key)) == nil {
			out = append(out, Unproxied{key, "Pod " + key.Namespace + "/" + key.Name + " exists, but " + proxyless(pod)})
		}
	}
	return out
}

// podsCalled are the Pods of that name, namespace and name, or ID of their proxy.
func (x *inquiry) podsCalled(name string) []model.ObjectKey {
	short := name[strings.IndexByte(name, '/')+1:]
	keys := x.objects.with(x.opts, model.KindPod, called(short))
	if i := strings.LastIndexByte(short, '.'); i >= 0 {
		keys = append(keys, x.objects.with(x.opts, model.KindPod, called(short[:i]))...)
	}
	return slices.DeleteFunc(keys, func(k model.ObjectKey) bool { return !isCalled(k, name) || !x.allowed(k.Namespace) })
}

// callsPod tells whether what is asked about is a name, of a Pod if of anything, which is
// not the name of just one that has an address.
func (x *inquiry) callsPod() bool {
	return !model.IsIP(x.q.Address) && !strings.HasPrefix(x.q.Address, "/")
}

// addressOf is the address that somebody means who gives the name of a Pod: its first,
// if just one is called so. Everything else is taken as it is.
func (x *inquiry) addressOf(text string) string {
	address := model.PlainAddress(text)
	if address == "" || model.IsIP(address) {
		return address
	}
	if pods := x.podsCalled(address); len(pods) == 1 {
		if pod := x.pod(&pods[0]); pod != nil { // nil if it went meanwhile
			if ips := podIPs(pod); len(ips) > 0 {
				return ips[0]
			}
		}
	}
	return address
}

func isCalled(pod model.ObjectKey, name string) bool {
	return name == pod.Name || name == pod.Namespace+"/"+pod.Name || name == registry.ProxyID(pod)
}

// proxyless says why a Pod is no proxy.
func proxyless(pod *corev1.Pod) string {
	switch {
	case registry.Finished(pod):
		return "has finished (" + phaseText(pod) + "), and is not connected"
	case registry.HasProxy(pod):
		return "its proxy is not known yet, and not connected"
	}
	return "runs neither a sidecar nor a gateway, and is not connected"
}

// noProxy says why there is no proxy of the ID that is asked about.
func (x *inquiry) noProxy() finding {
	f := finding{cause: ProxyUnknown, step: StepScope}
	if pods := x.unproxied(x.q.Proxy); len(pods) > 0 {
		f.object, f.why = pods[0].Pod, pods[0].Why
		f.remedy = "ask about a Pod that runs a sidecar or a gateway, or have a sidecar injected: nothing is sent to this one"
		return f
	}
	f.why = "no proxy has the ID " + x.q.Proxy + x.went()
	f.remedy = "give the ID as <pod>.<namespace> of a Pod with a proxy"
	return f
}
