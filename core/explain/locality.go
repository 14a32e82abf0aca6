package explain

import (
	"maps"
	"slices"
	"strings"

	networking "istio.io/api/networking/v1alpha3"
	corev1 "k8s.io/api/core/v1"

	"github.com/edsight/edsight/core/cds"
	"github.com/edsight/edsight/core/eds"
	"github.com/edsight/edsight/core/model"
)

// setting is the locality load balancing setting in force, with its object.
func (x *inquiry) setting() (*networking.LocalityLoadBalancerSetting, model.ObjectKey) {
	s, from := x.cluster.LocalitySetting(x.snap.Mesh)
	switch from {
	case cds.LocalityOfRule:
		return s, x.policyRule(hasLoadBalancer)
	case cds.LocalityOfService:
		return s, x.imp.Definition.Object
	case cds.LocalityOfMesh:
	}
	return s, x.meshObject()
}

// placedBy names the Node from which a locality comes, or the label that says it.
func placedBy(w *model.Workload) string {
	switch label := w.Labels[model.LabelIstioLocality]; {
	case label != "":
		return " with the label " + model.LabelIstioLocality + "=" + label
	case w.Node != "":
		return " on Node " + w.Node
	}
	return ""
}

// locate says how the endpoint would get a locality.
func (x *inquiry) locate() string {
	b := x.behind()
	if b.Kind == model.KindWorkloadEntry || b.Kind == model.KindServiceEntry {
		return "set its locality in " + x.name(b)
	}
	if b.Kind == model.KindEndpointSlice {
		return "name its Pod in the targetRef of " + x.name(b) + ": the Pod's Node has the locality"
	}
	return "label its Node with " + model.LabelRegion + " and " + model.LabelZone
}

func (x *inquiry) endpointLocality() model.Locality {
	if x.candidate.Endpoint == nil || x.candidate.Endpoint.Workload == nil {
		return model.Locality{}
	}
	return x.candidate.Endpoint.Workload.Locality
}

// notDistributed says which distribution left the endpoint's locality out.
func (x *inquiry) notDistributed() finding {
	s, object := x.setting()
	from, to := "", []string(nil)
	for _, d := range s.GetDistribute() {
		if eds.LocalityMatches(x.proxy.Locality, d.GetFrom()) {
			from, to = d.GetFrom(), slices.Sorted(maps.Keys(d.GetTo()))
			break
		}
	}
	have := localityText(x.endpointLocality())
	remedy := "name " + have + " in to of " + x.name(object) + ", or give the endpoint one of these localities"
	if x.endpointLocality() == (model.Locality{}) {
		remedy = "give the endpoint a locality (" + x.locate() + "), or switch distribute off for this host by a DestinationRule"
	}
	return finding{
		cause: LocalityNotDistributed, step: StepLocality, object: object,
		why: "distribute of " + x.name(object) + " from: " + from + ", which holds for the proxy in " + localityText(x.proxy.Locality) + ", names only to: " + and(to) +
			", and " + x.listed() + placedBy(x.candidate.Endpoint.Workload) + " is in " + have,
		remedy: remedy,
		evidence: []Evidence{
			{Object: object, Field: "distribute.from", Want: x.proxy.Locality.String(), Have: from},
			{Object: object, Field: "distribute.to", Want: x.endpointLocality().String(), Have: strings.Join(to, ", ")},
			{Object: x.behind(), Field: "locality", Have: have},
		},
	}
}

// placed says what the endpoint's priority comes from, if there is something to
// say: a rule, or a rule that has no effect.
func (x *inquiry) placed() (finding, bool) {
	if x.locality == nil {
		return finding{}, false
	}
	s, object := x.setting()
	v := x.cluster.View.Locality
	switch {
	case len(s.GetDistribute()) > 0 && v.Distribute == "":
		var from []string
		for _, d := range s.GetDistribute() {
			from = append(from, d.GetFrom())
		}
		return finding{
			cause: NoDistributeRule, step: StepLocality, object: object,
			why: "the proxy is in " + localityText(x.proxy.Locality) + ", and distribute of " + x.name(object) + " has only rules from: " + and(from) +
				", so none holds and all localities are equal",
			evidence: []Evidence{{Object: object, Field: "distribute.from", Want: localityText(x.proxy.Locality), Have: strings.Join(from, ", ")}},
		}, true
	case v.Distribute != "":
		return finding{
			cause: NothingWrong, step: StepLocality, object: *x.candidate.Source,
			why:      "distribute of " + x.name(object) + " gives its locality, " + localityText(x.endpointLocality()) + ", the weight " + number(x.locality.Weight),
			evidence: []Evidence{{Object: object, Field: "distribute", Have: "weight " + number(x.locality.Weight)}},
		}, true
	case (v.Failover || v.Priority != "") && x.severalPriorities():
		return x.prioritised(s, object), true
	}
	return finding{}, false
}

func (x *inquiry) severalPriorities() bool {
	return slices.ContainsFunc(x.assignment.Localities, func(l eds.LocalityEndpoints) bool { return l.Priority != 0 })
}

// prioritised names the rule which gave the priority.
func (x *inquiry) prioritised(s *networking.LocalityLoadBalancerSetting, object model.ObjectKey) finding {
	v := x.cluster.View.Locality
	f := finding{cause: Priority, step: StepLocality, object: object}
	f.why = "it is at priority " + number(x.locality.Priority)
	if v.Failover || x.endpointLocality() != (model.Locality{}) {
		f.why += " since it is in " + localityText(x.endpointLocality()) + " and the proxy in " + localityText(x.proxy.Locality)
	}
	var rules []string
	if v.Priority != "" {
		rules = append(rules, "failoverPriority ("+strings.Join(s.GetFailoverPriority(), ", ")+") of "+x.name(object)+x.comparedLabels())
	}
	if v.Failover {
		text := "failover by closeness (region, zone, subzone) of " + x.name(object)
		if v.HasTo {
			text += " (from: " + v.Proxy.Region + ", to: " + orNone(v.To) + ")"
		}
		rules = append(rules, text)
	}
	f.why += ", by " + and(rules)
	switch d := x.imp.Definition; {
	case d.TrafficDistribution != model.DistributionAny && object == d.Object:
		f.why += ", as " + x.distribution() + " says"
	case x.rule != nil:
		f.why += "; outlierDetection is set by " + x.name(x.policyRule(hasOutlierDetection))
	}
	return f.with(
		Evidence{Object: x.behind(), Field: "locality", Want: localityText(x.proxy.Locality), Have: localityText(x.endpointLocality())},
		Evidence{Object: object, Field: "rule", Have: and(rules)},
	)
}

// rulesText names the objects that ask for an order, each once.
func (x *inquiry) rulesText(a, b model.ObjectKey) string {
	if a == b {
		return x.name(a) + " says"
	}
	return x.name(a) + " and " + x.name(b) + " say"
}

// distribution is how the service says that near endpoints are preferred: by the
// annotation if its value is known, else by the field.
func (x *inquiry) distribution() string {
	o := x.object(x.imp.Definition.Object)
	if o == nil {
		return "trafficDistribution"
	}
	value := o.GetAnnotations()[model.AnnotationTrafficDist]
	switch s, ok := o.(*corev1.Service); {
	case slices.Contains([]string{"preferclose", "prefersamezone", "prefersamenode"}, strings.ToLower(value)):
		return "trafficDistribution by the annotation " + model.AnnotationTrafficDist + "=" + value
	case ok && s.Spec.TrafficDistribution != nil:
		return "trafficDistribution: " + *s.Spec.TrafficDistribution
	}
	return "trafficDistribution"
}

// unknownDistribution is how the service asks for near endpoints by a word that is
// not known, "" if it does not.
func (x *inquiry) unknownDistribution() string {
	o := x.object(x.imp.Definition.Object)
	if o == nil || x.imp.Definition.TrafficDistribution != model.DistributionAny {
		return ""
	}
	if value := o.GetAnnotations()[model.AnnotationTrafficDist]; value != "" && !strings.EqualFold(value, "any") {
		return "trafficDistribution by the annotation " + model.AnnotationTrafficDist + "=" + value
	}
	if s, ok := o.(*corev1.Service); ok && s.Spec.TrafficDistribution != nil {
		return "trafficDistribution: " + *s.Spec.TrafficDistribution
	}
	return ""
}

// comparedLabels says in which label of failoverPriority the endpoint differs from
// the proxy first.
func (x *inquiry) comparedLabels() string {
	if x.candidate.Endpoint == nil {
		return ""
	}
	for k, want := range x.cluster.View.Locality.Priority.All() {
		if have := x.candidate.Endpoint.Workload.Labels[k]; have != want {
			return ", of which " + k + " differs first (" + orNone(have) + ", the proxy's is " + orNone(want) + ")"
		}
	}
	return ", of which all are the same"
}

// unplaced says why all endpoints are at priority 0 though they are in
// several places, or a rule speaks of it.
func (x *inquiry) unplaced() (finding, bool) {
	if x.locality == nil || x.severalPriorities() {
		return finding{}, false
	}
	s, object := x.setting()
	if len(s.GetDistribute()) > 0 {
		return finding{}, false
	}
	explicit := len(s.GetFailover()) > 0 || len(s.GetFailoverPriority()) > 0
	kinds := "failover"
	if len(s.GetFailover()) == 0 {
		kinds = "failoverPriority (" + strings.Join(s.GetFailoverPriority(), ", ") + ")"
	}
	several := len(x.assignment.Localities) > 1
	active := x.cluster.View.Locality.Failover || x.cluster.View.Locality.Priority != ""
	if !explicit && !several && (!active || object == x.imp.Definition.Object) {
		return finding{}, false
	}
	f := finding{cause: NoPriorities, step: StepLocality, object: object}
	rule := x.imp.Definition.Object
	if x.rule != nil {
		rule = x.policyRule(hasOutlierDetection)
	}
	f.why = "all endpoints are at priority 0, "
	switch e := s.GetEnabled(); {
	case e != nil && !e.GetValue():
		f.why += "as localityLbSetting of " + x.name(object) + " is switched off (enabled: false)"
		f.remedy = "set enabled to true in " + x.name(object)
	case !active:
		f.object = rule
		elsewhere := x.outlierElsewhere()
		f.why += "as no outlierDetection is set for it (" + x.name(rule) + "), without which localities have no order" + elsewhere
		if explicit {
			f.why += " and " + kinds + " of " + x.name(object) + " has no effect"
		}
		f.remedy = "set outlierDetection in a DestinationRule for " + string(x.q.Host)
		if !explicit && elsewhere == "" { // nobody asked for an order
			f.cause, f.object, f.remedy = NothingWrong, *x.candidate.Source, ""
		}
	case x.proxy.Locality == model.Locality{}:
		f.object = x.proxy.Pod
		f.why += "as the proxy (" + x.name(x.proxy.Pod) + ") has no locality to compare with, whatever " + x.rulesText(object, rule)
		f.remedy = "label the proxy's Node with " + model.LabelRegion + " and " + model.LabelZone
	case x.endpointLocality() == model.Locality{}:
		f.object = x.behind()
		f.why += "as " + x.listed() + placedBy(x.candidate.Endpoint.Workload) + " has no locality to compare with, whatever " + x.rulesText(object, rule)
		f.remedy = x.locate()
	case !several:
		return finding{}, false
	case x.cluster.View.Locality.Priority != "":
		f.why += "as failoverPriority (" + strings.Join(s.GetFailoverPriority(), ", ") + ") of " + x.name(object) + " gives all of them the same" + x.comparedLabels()
	default:
		f.why += "as all are equally close to the proxy in " + localityText(x.proxy.Locality)
	}
	return f.with(Evidence{Object: f.object, Field: "locality", Want: localityText(x.proxy.Locality), Have: localityText(x.endpointLocality())}), true
}
