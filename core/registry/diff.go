package registry

import (
	"reflect"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/state"
)

func compareStrings(a, b string) int { return strings.Compare(a, b) }

// diffService says what differs between two states of a service.
func diffService(key model.ServiceKey, prev, next *state.ServiceState) state.ServiceChange {
	return state.ServiceChange{
		Key: key, Prev: prev, Next: next,
		Definition: !sameDefinitions(prev, next), Endpoints: diffEndpoints(prev, next),
	}
}

// sameDefinitions compares all but the resourceVersion.
func sameDefinitions(a, b *state.ServiceState) bool {
	return reflect.DeepEqual(withoutVersions(a), withoutVersions(b))
}

func withoutVersions(s *state.ServiceState) []model.Service {
	if s == nil {
		return nil
	}
	var out []model.Service
	for _, d := range s.Definitions {
		c := *d
		c.ResourceVersion = ""
		out = append(out, c)
	}
	return out
}

// diffEndpoints pairs the candidates of both states by shard, address and port
// name. Lists that are equal at both ends, to the pointer, are passed over.
func diffEndpoints(prev, next *state.ServiceState) []state.EndpointChange {
	var out []state.EndpointChange
	for _, key := range shardKeys(prev, next) {
		a, b := candidatesOf(shardOf(prev, key)), candidatesOf(shardOf(next, key))
		for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
			a, b = a[1:], b[1:]
		}
		for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
			a, b = a[:len(a)-1], b[:len(b)-1]
		}
		out = append(out, diffCandidates(key, a, b)...)
	}
	return out
}

func diffCandidates(shard model.ShardKey, a, b []*model.Candidate) []state.EndpointChange {
	before := make(map[candidateID][]*model.Candidate, len(a))
	for _, c := range a {
		before[idOf(c)] = append(before[idOf(c)], c)
	}
	var out []state.EndpointChange
	for _, c := range b {
		id := idOf(c)
		rest := before[id]
		if len(rest) == 0 {
			out = append(out, state.EndpointChange{Shard: shard, After: c})
			continue
		}
		if !sameCandidate(rest[0], c) && !sameButSource(rest[0], c) {
			out = append(out, state.EndpointChange{Shard: shard, Before: rest[0], After: c})
		}
		before[id] = rest[1:]
	}
	for _, c := range a {
		if rest := before[idOf(c)]; len(rest) > 0 && rest[0] == c {
			out = append(out, state.EndpointChange{Shard: shard, Before: c})
			before[idOf(c)] = rest[1:]
		}
	}
	return out
}

// candidateID pairs candidates of two states.
type candidateID struct {
	address, port string
	admitted      bool
}

func idOf(c *model.Candidate) candidateID {
	return candidateID{c.Address, c.PortName, c.Reason != model.ReasonDuplicateAddress}
}

// sameButSource tells of an endpoint that moved to another slice.
func sameButSource(a, b *model.Candidate) bool {
	return a.Endpoint != nil && b.Endpoint != nil && sameEndpoint(a.Endpoint, b.Endpoint)
}

func candidatesOf(s *state.Shard) []*model.Candidate {
	if s == nil {
		return nil
	}
	return s.Candidates
}

func shardKeys(states ...*state.ServiceState) []model.ShardKey {
	set := map[model.ShardKey]struct{}{}
	for _, s := range states {
		if s != nil {
			for _, sh := range s.Shards {
				set[sh.Key] = struct{}{}
			}
		}
	}
	return sortedKeys(set, func(a, b model.ShardKey) int { return compareStrings(a.String(), b.String()) })
}

// sameConfig compares the specs, and of labels and annotations those that are
// Istio's.
func sameConfig(a, b metav1.Object) bool {
	return reflect.DeepEqual(specOf(a), specOf(b)) &&
		reflect.DeepEqual(istioOnly(a.GetLabels()), istioOnly(b.GetLabels())) &&
		reflect.DeepEqual(istioOnly(a.GetAnnotations()), istioOnly(b.GetAnnotations()))
}

func istioOnly(m map[string]string) map[string]string {
	out := map[string]string{}
	for k, v := range m {
		if strings.Contains(k, "istio.io") {
			out[k] = v
		}
	}
	return out
}

// specOf is what an object of any type says in its spec, nil without one.
func specOf(o any) any {
	if u, ok := o.(*unstructured.Unstructured); ok {
		return u.Object["spec"]
	}
	v := reflect.Indirect(reflect.ValueOf(o)).FieldByName("Spec")
	if !v.IsValid() || !v.CanAddr() {
		return nil
	}
	return v.Addr().Interface()
}
