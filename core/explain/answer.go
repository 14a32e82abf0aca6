package explain

import (
	"slices"
	"time"

	"github.com/edsight/edsight/core/model"
)

// Question asks about one cluster of one proxy.
type Question struct {
	// Proxy is the proxy's ID, "<pod>.<namespace>".
	Proxy string         `json:"proxy"`
	Host  model.Hostname `json:"host"`
	Port  uint32         `json:"port"`
	// Subset is "" for the cluster of all endpoints.
	Subset string `json:"subset,omitempty"`
	// Address asks about one endpoint; "" whether there is any.
	Address string `json:"address,omitempty"`
	// Passthrough asks about the cluster by which a gateway passes mTLS through.
	Passthrough bool `json:"passthrough,omitempty"`
}

// Answer says whether the proxy has the endpoint, and why.
type Answer struct {
	// Present tells whether the address, or a gateway that stands for it, is in the
	// assignment.
	Present bool `json:"present"`
	// EndpointPort and Priority are those of the endpoint that is sent.
	EndpointPort uint32  `json:"endpoint_port,omitempty"`
	Priority     *uint32 `json:"priority,omitempty"`
	// Via is the address of the gateway that stands for the endpoint.
	Via   string `json:"via,omitempty"`
	Cause Cause  `json:"cause"`
	// Object is the one responsible, "Kind/namespace/name"; "" if there is none.
	Object string `json:"object"`
	// Sentence names the cause, both sides of the comparison, the object and what
	// would change it.
	Sentence string `json:"sentence"`
	Steps    []Step `json:"steps"`
}

// Verdict of a step.
type Verdict string

// The verdicts.
const (
	VerdictOK      Verdict = "ok"
	VerdictFailed  Verdict = "failed"
	VerdictSkipped Verdict = "skipped" // not reached, or nothing to decide
)

// Step is one station between the slice and the proxy.
type Step struct {
	Name     StepName   `json:"name"`
	Verdict  Verdict    `json:"verdict"`
	Text     string     `json:"text"`
	Evidence []Evidence `json:"evidence,omitempty"`
	// Since is when it became so; AtLeast that it may have been so before, as memory
	// goes no farther back.
	Since   time.Time `json:"since,omitzero"`
	AtLeast bool      `json:"at_least,omitempty"`
	// Remedy is what would change a failed step.
	Remedy string `json:"remedy,omitempty"`
}

// Evidence is a field of an object, as it is and as it would have to be.
type Evidence struct {
	Object model.ObjectKey `json:"object,omitzero"`
	Field  string          `json:"field"`
	// Want is "" where there is nothing to compare with.
	Want string `json:"want,omitempty"`
	Have string `json:"have"`
}

// StepName names a step.
type StepName string

// The steps in order.
const (
	StepSource     StepName = "source"        // a slice or entry lists the address
	StepWorkload   StepName = "workload"      // the Pod or WorkloadEntry behind it
	StepService    StepName = "service"       // the registry has the host
	StepDefinition StepName = "definition"    // of several definitions this one counts
	StepScope      StepName = "scope"         // exportTo and Sidecar
	StepPort       StepName = "service port"  // the service has the port
	StepSubset     StepName = "subset"        // a DestinationRule defines it
	StepCluster    StepName = "cluster"       // the cluster takes its endpoints from EDS
	StepPortName   StepName = "port name"     // the endpoint's port is the service's
	StepLabels     StepName = "subset labels" // the workload has the subset's labels
	StepPlace      StepName = "place"         // node, cluster, network view
	StepHealth     StepName = "health"
	StepNetwork    StepName = "network" // gateways and mTLS
	StepLocality   StepName = "locality"
	StepAssignment StepName = "assignment"
	StepDelivery   StepName = "delivery" // pushed to the proxy, and acknowledged
	StepEnvoy      StepName = "envoy"    // what it says itself, if it was asked
)

// Steps lists the names of all steps in order.
func Steps() []StepName {
	return []StepName{
		StepSource, StepWorkload, StepService, StepDefinition, StepScope, StepPort, StepSubset, StepCluster,
		StepPortName, StepLabels, StepPlace, StepHealth, StepNetwork, StepLocality, StepAssignment, StepDelivery, StepEnvoy,
	}
}

// Reported fills in the last step: what the proxy's Envoy says itself, in words,
// whether it has the endpoint, and whether it uses it. Where that is not as the answer
// has it, the sentence says so; what Envoy has and does not use comes first in it.
func (a *Answer) Reported(text string, has, uses bool) {
	i := slices.IndexFunc(a.Steps, func(s Step) bool { return s.Name == StepEnvoy })
	if i < 0 {
		return // the answer is about no proxy
	}
	s := Step{Name: StepEnvoy, Verdict: VerdictOK, Text: text}
	switch {
	case has != a.Present:
		s.Verdict = VerdictFailed
		s.Remedy = "see whether the proxy is connected to another control plane, or has not acknowledged yet"
		a.Sentence += " " + upperFirst(text) + ", which is not as it should be."
	case has && !uses:
		s.Verdict = VerdictFailed
		s.Remedy = "see in the proxy's access log how requests to it failed; only in panic Envoy uses such endpoints"
		a.Sentence = upperFirst(text) + ". By the control plane, " + a.Sentence
	}
	a.Steps[i] = s
}

// Sound tells whether the endpoint is there and no step has failed: also not its
// delivery, nor what Envoy says of it.
func (a *Answer) Sound() bool {
	return a.Present && !slices.ContainsFunc(a.Steps, func(s Step) bool { return s.Verdict == VerdictFailed })
}

// Short is the step that failed and its remedy, for who sees the question beside it; the
// whole sentence if the endpoint is there. Where nothing lists the address it is left
// at that: compared with another moment that is mostly as it should be.
func (a *Answer) Short() string {
	i := slices.IndexFunc(a.Steps, func(s Step) bool { return s.Verdict == VerdictFailed })
	switch {
	case a.Present || i < 0:
		return a.Sentence
	case a.Steps[i].Remedy == "" || a.Cause == NoSource:
		return a.Steps[i].Text + "."
	}
	return a.Steps[i].Text + ". " + upperFirst(a.Steps[i].Remedy) + "."
}

// finding is what an inquiry comes to.
type finding struct {
	cause  Cause
	step   StepName
	object model.ObjectKey
	// why is a clause with the operands; remedy a clause without full stop.
	why, remedy string
	evidence    []Evidence
}

func (f finding) with(e ...Evidence) finding {
	f.evidence = append(f.evidence, e...)
	return f
}
