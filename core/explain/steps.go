package explain

import (
	"strings"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/scope"
)

// answer puts the finding into words, and the steps around it.
func (x *inquiry) answer(f finding) *Answer {
	a := &Answer{Cause: f.cause, Present: x.sent != nil}
	if f.object.Name != "" && x.mayName(f.object) {
		a.Object = f.object.String()
	}
	if x.sent != nil {
		a.EndpointPort = x.sent.Port
		priority := x.locality.Priority
		a.Priority = &priority
		if x.sent.Candidate < 0 {
			a.Via = x.sent.Address
		}
	}
	a.Sentence = x.sentence(f)
	a.Steps = x.steps(f)
	return a
}

func (x *inquiry) sentence(f finding) string {
	what := x.q.Address
	switch {
	case what == "" && x.sent != nil:
		what = "an endpoint without address"
	case what == "":
		what = "any endpoint"
	}
	var text string
	switch {
	case x.proxy == nil:
		text = upperFirst(f.why)
	case x.sent == nil:
		text = x.proxy.ID + " does not have " + what + " for " + x.target() + ": " + f.why
	case x.sent.Candidate < 0:
		text = x.proxy.ID + " has " + what + " for " + x.target() + " through the gateway " + addressText(x.sent.Address, x.sent.Port) +
			" at priority " + number(x.locality.Priority) + ": " + f.why
	default:
		text = x.proxy.ID + " has " + addressText(x.sent.Address, x.sent.Port) + " for " + x.target() +
			" at priority " + number(x.locality.Priority) + ": " + f.why
	}
	if verdict, why, _ := x.delivery(); verdict == VerdictFailed {
		text += "; but " + why
	} else if verdict == VerdictOK && f.cause == NothingWrong && f.remedy == "" {
		f.remedy = "If requests fail all the same, look at Envoy: panic threshold, outlier ejection, connection pool"
	}
	text += "."
	if f.remedy != "" {
		text += " " + upperFirst(f.remedy) + "."
	}
	return text
}

// steps gives each step its verdict. What the build decides in the view is known
// up to the step that failed; what is known of objects is known anyway.
func (x *inquiry) steps(f finding) []Step {
	failed := x.sent == nil
	reached := true
	out := make([]Step, 0, len(Steps()))
	for _, name := range Steps() {
		s := Step{Name: name}
		switch {
		case failed && name == f.step:
			s.Verdict, s.Text, s.Evidence, s.Remedy = VerdictFailed, upperFirst(f.why), x.shown(f.evidence), f.remedy
			if x.proxy != nil {
				s.Since, s.AtLeast = x.since(f)
			}
			reached = false
		case !reached && inView(name):
			s.Verdict, s.Text = VerdictSkipped, "not reached"
		default:
			s.Verdict, s.Text, s.Evidence = x.passed(name)
			s.Evidence = x.shown(s.Evidence)
			if !failed && name == f.step && (f.cause != NothingWrong || f.remedy != "") {
				s.Text, s.Evidence, s.Remedy = upperFirst(f.why), x.shown(f.evidence), f.remedy
			}
		}
		out = append(out, s)
	}
	return out
}

// inView tells whether the step is one that the assignment's build decides, or
// comes after it.
func inView(name StepName) bool {
	switch name {
	case StepPortName, StepLabels, StepPlace, StepHealth, StepNetwork, StepLocality, StepAssignment, StepDelivery:
		return true
	case StepSource, StepWorkload, StepService, StepDefinition, StepScope, StepPort, StepSubset, StepCluster, StepEnvoy:
	}
	return false
}

// shown leaves out evidence of objects that the asker may not see.
func (x *inquiry) shown(list []Evidence) []Evidence {
	var out []Evidence
	for _, e := range list {
		if e.Object.Name == "" || x.mayName(e.Object) {
			out = append(out, e)
		}
	}
	return out
}

// passed describes a step that did not fail.
func (x *inquiry) passed(name StepName) (Verdict, string, []Evidence) {
	if name == StepEnvoy {
		return VerdictSkipped, x.askEnvoy(), nil
	}
	if x.imp == nil {
		return VerdictSkipped, "nothing to look at without a service", nil
	}
	d := x.imp.Definition
	switch name {
	case StepService:
		return VerdictOK, x.name(d.Object) + " defines " + string(d.Key.Hostname), []Evidence{{Object: d.Object, Field: "host", Have: string(d.Key.Hostname)}}
	case StepDefinition:
		return x.passedDefinition(d)
	case StepScope:
		return x.passedScope()
	case StepPort:
		p, ok := d.Port(x.q.Port)
		if !ok {
			return VerdictSkipped, "there is no port " + number(x.q.Port), nil
		}
		return VerdictOK, "port " + number(p.Number) + " is " + portName(p.Name), []Evidence{{Object: d.Object, Field: "spec.ports", Want: number(x.q.Port), Have: portsText(d.Ports)}}
	case StepSubset:
		if x.q.Subset == "" || x.rule == nil {
			return VerdictSkipped, "no subset is asked for", nil
		}
		return VerdictOK, x.name(x.subsetRule()) + " defines subset " + x.q.Subset, []Evidence{{Object: x.subsetRule(), Field: "spec.subsets", Want: x.q.Subset, Have: and(subsetNames(x.rule.Spec.GetSubsets()))}}
	case StepCluster:
		if x.cluster == nil {
			return VerdictSkipped, "there is no such cluster", nil
		}
		return VerdictOK, x.cluster.Name + " is of type " + string(x.cluster.Type), []Evidence{{Field: "cluster type", Want: "EDS", Have: string(x.cluster.Type)}}
	case StepSource, StepWorkload, StepPortName, StepLabels, StepPlace, StepHealth, StepNetwork, StepLocality, StepAssignment, StepDelivery, StepEnvoy:
	}
	return x.passedCandidate(name)
}

func (x *inquiry) passedDefinition(d *model.Service) (Verdict, string, []Evidence) {
	others := x.excludedAs(scope.WhyOtherWon, scope.WhyKubernetesWon, scope.WhyOlderWon, scope.WhyMerged)
	if len(others) == 0 {
		return VerdictOK, x.name(d.Object) + " is the only definition that this proxy sees", nil
	}
	evidence := make([]Evidence, 0, len(others))
	for _, e := range others {
		evidence = append(evidence, Evidence{Object: e.Definition.Object, Field: "not used", Have: e.Why.Text()})
	}
	return VerdictOK, x.name(d.Object) + " is used: " + wonBecause(x.imp, d, others[0]), evidence
}

func (x *inquiry) passedScope() (Verdict, string, []Evidence) {
	d := x.imp.Definition
	to := strings.Join(d.ExportTo, ", ")
	if to == "" {
		to = "the mesh's default"
	}
	exported := Evidence{Object: d.Object, Field: "exportTo", Have: to}
	if x.imp.Via.Name == "" {
		return VerdictOK, "exported to namespace " + x.proxy.Namespace + ", and no Sidecar limits the proxy", []Evidence{exported}
	}
	return VerdictOK, "imported by " + x.name(x.imp.Via), []Evidence{exported, {Object: x.imp.Via, Field: "imports", Have: d.Key.String()}}
}

// passedCandidate describes a step about the endpoint itself.
func (x *inquiry) passedCandidate(name StepName) (Verdict, string, []Evidence) {
	c := x.candidate
	if c == nil {
		return VerdictSkipped, "there is no candidate to look at", nil
	}
	switch name {
	case StepSource:
		return VerdictOK, x.name(*c.Source) + " offers " + addressText(c.Address, c.Port), []Evidence{{Object: *c.Source, Field: "address", Have: addressText(c.Address, c.Port)}}
	case StepWorkload:
		if c.Target == nil {
			return VerdictSkipped, "a bare address, without Pod", nil
		}
		return VerdictOK, x.name(*c.Target) + " is behind it", x.workloadEvidence(*c.Target)
	case StepPortName, StepLabels, StepPlace, StepHealth, StepNetwork, StepLocality:
		if c.Endpoint == nil {
			return VerdictSkipped, "not in the shard", nil
		}
		return x.passedView(name)
	case StepAssignment:
		if x.sent == nil {
			return VerdictSkipped, "not sent", nil
		}
		return VerdictOK, "in the assignment of " + x.cluster.Name + " as " + addressText(x.sent.Address, x.sent.Port) + ", priority " + number(x.locality.Priority), nil
	case StepDelivery:
		return x.delivery()
	case StepService, StepDefinition, StepScope, StepPort, StepSubset, StepCluster, StepEnvoy:
	}
	return VerdictSkipped, "", nil
}

func (x *inquiry) workloadEvidence(key model.ObjectKey) []Evidence {
	pod := x.pod(&key)
	if pod == nil {
		return nil
	}
	_, ready := podReady(pod)
	return []Evidence{
		{Object: key, Field: "status.podIPs", Have: strings.Join(podIPs(pod), ", ")},
		{Object: key, Field: "status.phase", Have: phaseText(pod)},
		{Object: key, Field: "status.conditions[Ready]", Have: ready},
	}
}

func (x *inquiry) passedView(name StepName) (Verdict, string, []Evidence) {
	e, v := x.candidate.Endpoint, &x.cluster.View
	w := e.Workload
	switch name { //nolint:exhaustive // called for these only
	case StepPortName:
		return VerdictOK, "the port name is " + portName(e.PortName), []Evidence{{Object: *x.candidate.Source, Field: "ports.name", Want: x.cluster.Port.Name, Have: e.PortName}}
	case StepLabels:
		if v.Subset == "" {
			return VerdictSkipped, "the cluster wants no labels", nil
		}
		return VerdictOK, "the workload has the subset's labels", []Evidence{{Object: x.behind(), Field: "labels", Have: labelText(w.Labels)}}
	case StepPlace:
		return VerdictOK, "node " + orNone(w.Node) + " and cluster " + string(w.Cluster) + " are no hindrance", []Evidence{{Object: x.behind(), Field: "node", Have: w.Node}}
	case StepHealth:
		return VerdictOK, "health is " + e.Health.String(), []Evidence{{Object: *x.candidate.Source, Field: "conditions", Have: x.conditions(x.candidate)}}
	case StepNetwork:
		return VerdictOK, "the endpoint is in " + networkText(w.Network) + ", the proxy in " + networkText(x.proxy.Network), nil
	}
	return VerdictOK, "the endpoint is in " + localityText(w.Locality) + ", the proxy in " + localityText(x.proxy.Locality), nil
}
