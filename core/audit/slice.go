package audit

import (
	"cmp"
	"slices"
	"time"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/source"
	"github.com/edsight/edsight/core/state"
)

// Kind says what sort of trouble there is with slices.
type Kind string

// The kinds, those first that cost endpoints.
const (
	SelectsNothing   Kind = "selects-nothing"
	WrongService     Kind = "wrong-service"
	IgnoredSlice     Kind = "ignored-slice"
	StaleEndpoint    Kind = "stale-endpoint"
	StaleReadiness   Kind = "stale-readiness"
	UnknownPort      Kind = "unknown-port"
	DuplicateAddress Kind = "duplicate-address"
	MixedManagers    Kind = "mixed-managers"
	OverMaximum      Kind = "over-maximum"
	Fragmented       Kind = "fragmented"
	IdleHints        Kind = "hints-without-zones"
	ControllerLag    Kind = "controller-lag"
)

// Kinds are all of them, in order.
func Kinds() []Kind {
	return []Kind{
		SelectsNothing, WrongService, IgnoredSlice, StaleEndpoint, StaleReadiness, UnknownPort, DuplicateAddress,
		MixedManagers, OverMaximum, Fragmented, IdleHints, ControllerLag,
	}
}

// Text says the kind in few words.
func (k Kind) Text() string {
	switch k {
	case SelectsNothing:
		return "selector without an address"
	case WrongService:
		return "no service, or a wrong one"
	case IgnoredSlice:
		return "slice that is ignored"
	case StaleEndpoint:
		return "stale address"
	case StaleReadiness:
		return "stale readiness"
	case UnknownPort:
		return "port name of no service port"
	case DuplicateAddress:
		return "address listed twice"
	case MixedManagers:
		return "slices by several writers"
	case OverMaximum:
		return "more than the maximum"
	case Fragmented:
		return "more slices than needed"
	case IdleHints:
		return "hints without effect"
	case ControllerLag:
		return "controller lags"
	}
	return string(k)
}

// Finding is something about a slice, or about the slices of a Service, that
// somebody should know.
type Finding struct {
	Kind Kind `json:"kind"`
	Problem
	// Service is the one that it concerns, zero if there is none.
	Service model.ServiceKey `json:"service,omitzero"`
	// Since is when it began, zero if that is not known.
	Since time.Time `json:"since,omitzero"`
}

// Of tells whether the slices of a service, as it is given, have the finding, without a
// look at other objects.
func (f *Finding) Of(snap *state.Snapshot, svc *state.ServiceState) bool {
	a := &sliceAudit{snap: snap, get: func(model.ObjectKey) source.Object { return nil }}
	a.service(svc)
	return slices.ContainsFunc(a.found, func(x Finding) bool {
		return x.Kind == f.Kind && x.Object == f.Object && x.Field == f.Field
	})
}

// Lookup returns an object of the source, nil if it is not there.
type Lookup func(model.ObjectKey) source.Object

// Slices holds the EndpointSlices against their Services and Pods, and against
// what Kubernetes' own controller writes. Findings come by kind, then object.
// Where get is nil, what only the slices themselves tell is left out.
func Slices(snap *state.Snapshot, get Lookup) []Finding {
	if get == nil {
		get = func(model.ObjectKey) source.Object { return nil }
	}
	a := &sliceAudit{snap: snap, get: get}
	for svc := range snap.Services() {
		a.service(svc)
	}
	for chunk := range snap.Strays() {
		a.stray(chunk)
	}
	order := map[Kind]int{}
	for i, k := range Kinds() {
		order[k] = i
	}
	slices.SortStableFunc(a.found, func(x, y Finding) int {
		return cmp.Or(cmp.Compare(order[x.Kind], order[y.Kind]), x.Object.Compare(y.Object))
	})
	return a.found
}

// sliceAudit gathers findings.
type sliceAudit struct {
	snap  *state.Snapshot
	get   Lookup
	found []Finding
}

func (a *sliceAudit) add(k Kind, svc *state.ServiceState, p Problem, since time.Time) {
	f := Finding{Kind: k, Problem: p, Since: since}
	if svc != nil {
		f.Service = svc.Key
	}
	a.found = append(a.found, f)
}

// service looks at all that is offered for one service.
func (a *sliceAudit) service(svc *state.ServiceState) {
	def := svc.Definition()
	if def != nil && selectsNothing(svc, def) {
		a.add(SelectsNothing, svc, Problem{
			Object: def.Object, Field: "spec.selector",
			Message: "no slice lists an address for it; the selector is " + labelText(def.Selector),
			Remedy:  "compare the selector with the labels of the Pods, or see whether they are scaled to zero",
		}, time.Time{})
	}
	for _, sh := range svc.Shards {
		var group sliceGroup
		rest := sh.Candidates
		for _, chunk := range sh.Chunks {
			n := min(len(chunk.Candidates), len(rest))
			if chunk.Source.Kind == model.KindEndpointSlice {
				a.chunk(svc, sh, chunk.Source, rest[:n])
				group.add(chunk, a.slice(chunk.Source))
			}
			rest = rest[n:]
		}
		group.judge(a, svc)
	}
}

func selectsNothing(svc *state.ServiceState, def *model.Service) bool {
	return def.Provider == model.ProviderKubernetes && len(def.Selector) > 0 && def.Resolution != model.Alias && svc.CandidateCount() == 0
}

// chunk looks at one slice and at what became of its candidates.
func (a *sliceAudit) chunk(svc *state.ServiceState, sh *state.Shard, key model.ObjectKey, candidates []*model.Candidate) {
	slice := a.slice(key)
	if svc.Definition() == nil {
		a.wrongService(svc, key, slice)
	}
	a.rejected(svc, key, candidates)
	a.duplicates(svc, sh, key, candidates)
	a.unknownPort(svc, key, candidates)
	a.pods(svc, key, candidates)
	if slice != nil {
		a.hints(svc, key, slice)
		a.size(svc, key, slice)
		a.lag(svc, key, slice)
	}
}

// stray looks at a slice that names no service.
func (a *sliceAudit) stray(chunk *state.Chunk) {
	if chunk.Source.Kind != model.KindEndpointSlice {
		return // legacy Endpoints have slices that mirror them
	}
	reason := model.ReasonNoServiceName
	if len(chunk.Candidates) > 0 {
		reason = chunk.Candidates[0].Reason
	}
	kind, field := WrongService, fieldServiceName
	if reason != model.ReasonNoServiceName {
		kind, field = IgnoredSlice, ""
	}
	a.add(kind, nil, Problem{Object: chunk.Source, Field: field, Message: reason.Text(), Remedy: reason.Remedy()}, time.Time{})
}
