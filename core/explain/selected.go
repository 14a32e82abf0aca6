package explain

import (
	"strings"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/registry"
)

// notSelected says by which label, or by which namespace, a workload is not one
// of the service's.
func (x *inquiry) notSelected(key model.ObjectKey, labels model.Labels) finding {
	d := x.imp.Definition
	f := finding{cause: WorkloadNotSelected, step: StepWorkload, object: key}
	f.evidence = append(f.evidence, Evidence{Object: key, Field: "metadata.labels", Want: labelText(d.Selector), Have: labelText(labels)})
	wrong := unmatched(d.Selector, labels)
	what := x.name(key) + " has " + x.q.Address
	switch {
	case len(d.Selector) == 0:
		f.why = what + ", and " + x.name(d.Object) + " has no selector: it takes only what is listed for it"
		f.remedy = "list the address for " + x.name(d.Object) + ", or give it a selector"
	case key.Namespace != d.Key.Namespace:
		f.why = what + " and is in namespace " + key.Namespace + ", and " + x.name(d.Object) + " selects (" + labelText(d.Selector) + ") in its own namespace, " + d.Key.Namespace + ", only"
		f.remedy = "move the workload to namespace " + d.Key.Namespace + ", or define the service in " + key.Namespace
		if len(wrong) > 0 {
			f.why += "; it also has " + strings.Join(wrong, ", ")
			f.remedy = "ask about an address of " + x.name(d.Object) + ", or move the workload to namespace " + d.Key.Namespace + " and label it with " + labelText(d.Selector)
		}
		f.evidence = append(f.evidence, Evidence{Object: key, Field: "metadata.namespace", Want: d.Key.Namespace, Have: key.Namespace})
	case len(wrong) > 0:
		f.why = what + ", and does not match the selector of " + x.name(d.Object) + ": it has " + strings.Join(wrong, ", ")
		f.remedy = "label the workload with " + labelText(d.Selector) + ", or change the selector of " + x.name(d.Object)
	case x.switchedOff(key.Kind) != "":
		f.why = what + " and matches the selector of " + x.name(d.Object) + ", but " + x.switchedOff(key.Kind) + " is off: it selects no " + string(key.Kind)
		f.remedy = "switch " + x.switchedOff(key.Kind) + " on, or list the address for " + x.name(d.Object)
	case x.inOtherCluster(key):
		f.why = what + " and matches the selector of " + x.name(d.Object) + ", which cluster " + string(key.Cluster) + " does not have: a Service selects the WorkloadEntries of its own cluster only"
		f.remedy = "create the Service in cluster " + string(key.Cluster) + " too, or the WorkloadEntry where the Service is"
		f.evidence = append(f.evidence, Evidence{Object: key, Field: "cluster", Want: string(d.Object.Cluster), Have: string(key.Cluster)})
	default:
		f.why = what + " and matches the selector of " + x.name(d.Object) + ", which did not take it in"
		f.remedy = "look at whether its address can be used"
	}
	if pod := x.pod(&key); pod != nil && registry.Finished(pod) {
		f.why += "; besides, it has status.phase: " + phaseText(pod)
	}
	if other := x.serviceWithAddress(); other != "" {
		f.why += "; " + x.q.Address + " is an address of " + other
		f.remedy += "; or ask for " + other
	}
	return f
}

// unmatched lists where labels are not as the selector wants them.
func unmatched(selector, labels model.Labels) []string {
	var out []string
	for _, m := range mismatches(selector, labels) {
		out = append(out, m.have+" (wanted "+m.want+")")
	}
	return out
}

// mismatch is a label as it is, in words, and as it is wanted.
type mismatch struct{ have, want string }

func mismatches(selector, labels model.Labels) []mismatch {
	var out []mismatch
	for pair := range strings.SplitSeq(labelText(selector), ", ") {
		k, want, ok := strings.Cut(pair, "=")
		if !ok {
			continue // no labels are wanted
		}
		switch have, there := labels[k]; {
		case !there:
			out = append(out, mismatch{"no label " + k, pair})
		case have != want:
			out = append(out, mismatch{k + "=" + have, pair})
		}
	}
	return out
}

// nowWithout looks at what had the address before: a Pod that has finished, lost
// its IP or its labels.
func (x *inquiry) nowWithout() (finding, bool) {
	c, _ := x.former(x.imp.Definition.Key)
	if c == nil || c.Target == nil {
		return finding{}, false
	}
	pod := x.pod(c.Target)
	switch {
	case pod == nil:
		return finding{}, false
	case registry.Finished(pod):
		return x.podFinished(*c.Target, phaseText(pod)), true
	case len(podIPs(pod)) == 0:
		return x.podWithoutIP(*c.Target), true
	case !x.selects(model.KindPod, pod.Namespace, pod.Labels) && len(x.imp.Definition.Selector) > 0:
		return x.notSelected(*c.Target, pod.Labels), true
	}
	return finding{}, false
}

// onlyPending looks at Pods without address where nothing else has, or had, one. Beside
// others nothing says that the address asked about will be theirs.
func (x *inquiry) onlyPending() (finding, bool) {
	for _, c := range x.service.Candidates() {
		if c.Address != "" {
			return finding{}, false
		}
	}
	if former, _ := x.former(x.imp.Definition.Key); former != nil {
		return finding{}, false
	}
	return x.pendingPod()
}

// pendingPod looks at Pods that the service selects and that have no address:
// those which may get one first.
func (x *inquiry) pendingPod() (finding, bool) {
	d := x.imp.Definition
	if !x.allowed(d.Key.Namespace) {
		return finding{}, false
	}
	var done *model.ObjectKey
	for _, key := range x.objects.with(x.opts, model.KindPod, waiting(d.Key.Namespace)) {
		pod := x.pod(&key)
		switch {
		case pod == nil || !x.selects(model.KindPod, key.Namespace, pod.Labels):
			continue // another's
		case !registry.Finished(pod):
			return x.podWithoutIP(key), true
		case done == nil:
			done = &key
		}
	}
	if done == nil {
		return finding{}, false
	}
	return x.podFinished(*done, phaseText(x.pod(done))), true
}
