package audit

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/state"
)

const fieldServiceName = "metadata.labels[" + model.LabelServiceName + "]"

func (a *sliceAudit) slice(key model.ObjectKey) *discoveryv1.EndpointSlice {
	s, _ := a.get(key).(*discoveryv1.EndpointSlice)
	return s
}

func (a *sliceAudit) pod(key *model.ObjectKey) *corev1.Pod {
	if key == nil || key.Kind != model.KindPod {
		return nil
	}
	p, _ := a.get(*key).(*corev1.Pod)
	return p
}

// wrongService finds a slice whose label names no Service, and the Service that
// the slice is named after.
func (a *sliceAudit) wrongService(svc *state.ServiceState, key model.ObjectKey, slice *discoveryv1.EndpointSlice) {
	p := Problem{
		Object: key, Field: fieldServiceName, Hosts: []model.Hostname{svc.Key.Hostname},
		Message: model.ReasonNoService.Text(), Remedy: model.ReasonNoService.Remedy(),
	}
	if slice != nil {
		p.Message = "no Service is called " + slice.Labels[model.LabelServiceName]
	}
	if i := strings.LastIndexByte(key.Name, '-'); i > 0 {
		name := key.Name[:i]
		host := model.Hostname(name + "." + key.Namespace + ".svc." + a.snap.Mesh.DomainSuffix)
		if other := a.snap.Service(model.ServiceKey{Hostname: host, Namespace: key.Namespace}); other.Definition() != nil {
			p.Remedy = "did you mean " + name + "? The slice is named after that Service"
		}
	}
	a.add(WrongService, svc, p, time.Time{})
}

// rejected finds slices that are ignored as a whole, and addresses of Pods that
// are not there.
func (a *sliceAudit) rejected(svc *state.ServiceState, key model.ObjectKey, candidates []*model.Candidate) {
	for _, reason := range []model.Reason{model.ReasonFQDNSlice, model.ReasonSliceKindIgnored, model.ReasonSliceWithoutPorts} {
		if slices.ContainsFunc(candidates, func(c *model.Candidate) bool { return c.Reason == reason }) {
			a.add(IgnoredSlice, svc, Problem{Object: key, Message: reason.Text(), Remedy: reason.Remedy()}, time.Time{})
		}
	}
	for _, reason := range []model.Reason{model.ReasonPodNotSeen, model.ReasonPodGone, model.ReasonPodFinished} {
		with := addresses(candidates, func(c *model.Candidate) bool { return c.Reason == reason })
		if len(with.list) == 0 {
			continue
		}
		message := with.String() + ": " + reason.Text()
		if with.first.Target != nil {
			message += " (" + with.first.Target.String() + ")"
		}
		a.add(StaleEndpoint, svc, Problem{Object: key, Message: message, Remedy: reason.Remedy()}, time.Time{})
	}
}

// duplicates names the slice that listed the first of the duplicates before.
func (a *sliceAudit) duplicates(svc *state.ServiceState, sh *state.Shard, key model.ObjectKey, candidates []*model.Candidate) {
	twice := addresses(candidates, func(c *model.Candidate) bool { return c.Reason == model.ReasonDuplicateAddress })
	if len(twice.list) == 0 {
		return
	}
	other := "another slice"
	for _, c := range sh.Candidates {
		if c.Endpoint != nil && c.Address == twice.first.Address && c.Port == twice.first.Port && *c.Source != key {
			other = c.Source.Name
			break
		}
	}
	a.add(DuplicateAddress, svc, Problem{
		Object: key, Field: "endpoints", Message: twice.String() + ": " + other + " lists the same address and port, which counts once",
		Remedy: "let one controller write the slices of a Service",
	}, time.Time{})
}

func (a *sliceAudit) unknownPort(svc *state.ServiceState, key model.ObjectKey, candidates []*model.Candidate) {
	def := svc.Definition()
	if def == nil || len(def.Ports) == 0 {
		return
	}
	known := func(name string) bool {
		return slices.ContainsFunc(def.Ports, func(p model.Port) bool { return p.Name == name })
	}
	var names []string
	for _, c := range candidates {
		if c.Endpoint != nil && !known(c.PortName) && !slices.Contains(names, c.PortName) {
			names = append(names, c.PortName)
		}
	}
	if len(names) == 0 {
		return
	}
	ports := make([]string, len(def.Ports))
	for i, p := range def.Ports {
		ports[i] = fmt.Sprintf("%q", p.Name)
	}
	a.add(UnknownPort, svc, Problem{
		Object: key, Field: "ports",
		Message: fmt.Sprintf("the slice's port is called %q, those of the Service %s: no proxy gets these endpoints", names[0], strings.Join(ports, ", ")),
		Remedy:  "give both ports the same name",
	}, time.Time{})
}

// pods holds the addresses and the readiness of a slice against the Pods.
func (a *sliceAudit) pods(svc *state.ServiceState, key model.ObjectKey, candidates []*model.Candidate) {
	differs := addresses(candidates, func(c *model.Candidate) bool {
		pod := a.pod(c.Target)
		return c.Endpoint != nil && pod != nil && pod.Status.PodIP != "" && !hasIP(pod, c.Address)
	})
	if len(differs.list) > 0 {
		pod := a.pod(differs.first.Target)
		a.add(StaleEndpoint, svc, Problem{
			Object: key, Field: "endpoints[].targetRef",
			Message: differs.String() + ": " + differs.first.Target.String() + " has the address " + pod.Status.PodIP,
			Remedy:  "wait for the EndpointSlice controller, or correct the targetRef",
		}, time.Time{})
	}
	def := svc.Definition()
	if def == nil || def.PublishNotReady {
		return // not ready Pods may be listed as ready
	}
	var since time.Time
	unready := addresses(candidates, func(c *model.Candidate) bool {
		at, stale := notReadySince(a.pod(c.Target))
		stale = stale && c.Endpoint != nil && c.Endpoint.Health == model.Healthy
		if stale && (since.IsZero() || at.Before(since)) {
			since = at
		}
		return stale
	})
	if len(unready.list) > 0 {
		a.add(StaleReadiness, svc, Problem{
			Object: key, Field: "endpoints[].conditions.ready",
			Message: unready.String() + ": the slice says ready, " + unready.first.Target.String() + " is not",
			Remedy:  "see whether the EndpointSlice controller works; until then requests fail there",
		}, since)
	}
}

func hasIP(pod *corev1.Pod, address string) bool {
	return pod.Status.PodIP == address || slices.ContainsFunc(pod.Status.PodIPs, func(ip corev1.PodIP) bool { return ip.IP == address })
}

func notReadySince(pod *corev1.Pod) (time.Time, bool) {
	if pod == nil {
		return time.Time{}, false
	}
	for i := range pod.Status.Conditions {
		if c := &pod.Status.Conditions[i]; c.Type == corev1.PodReady {
			return c.LastTransitionTime.Time, c.Status == corev1.ConditionFalse
		}
	}
	return time.Time{}, false
}

// addressList is some addresses of a slice, each once.
type addressList struct {
	list  []string
	first *model.Candidate
}

func addresses(candidates []*model.Candidate, wanted func(*model.Candidate) bool) addressList {
	var l addressList
	for _, c := range candidates {
		if len(l.list) > 0 && l.list[len(l.list)-1] == c.Address || !wanted(c) {
			continue // another port of the same, or not wanted
		}
		if l.first == nil {
			l.first = c
		}
		l.list = append(l.list, c.Address)
	}
	return l
}

// String names the first address, and counts the others.
func (l addressList) String() string {
	switch more := len(l.list) - 1; more {
	case 0:
		return l.list[0]
	case 1:
		return l.list[0] + " and 1 other"
	default:
		return fmt.Sprintf("%s and %d others", l.list[0], more)
	}
}
