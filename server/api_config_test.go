package server

import (
	"encoding/json"
	"net/http"
	"reflect"
	"testing"

	"github.com/edsight/edsight/core/coretest"
	"github.com/edsight/edsight/core/explain"
	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/registry"
)

// located knows the place of one object.
type located struct{ explain.Objects }

func (located) Where(key model.ObjectKey) string {
	if key.Kind == model.KindDestinationRule {
		return "shop.yaml:7"
	}
	return ""
}

const export = "\n---\napiVersion: multicluster.x-k8s.io/v1alpha1\nkind: ServiceExport\nmetadata: {name: web, namespace: shop}\n"

type judgedObject struct {
	Kind, APIVersion string
	Metadata         struct{ Name string }
	Spec             map[string]any
	Source           struct{ Cluster, Where string }
	Problems         []struct {
		Object                 struct{ Name string }
		Field, Message, Remedy string
	}
}

func get[T any](t *testing.T, s *testServer, path string) T {
	t.Helper()
	var out T
	a := do(t, client(), http.MethodGet, s.url+path, bearer)
	if err := json.Unmarshal([]byte(a.body), &out); err != nil || a.StatusCode != http.StatusOK {
		t.Fatalf("%s: %d %v in %s", path, a.StatusCode, err, a.body)
	}
	return out
}

// TestConfigSaysSourceAndProblems in the API and, for who asks, in configz, whose
// answer is istiod's otherwise.
func TestConfigSaysSourceAndProblems(t *testing.T) {
	core := coretest.NewWith(t, registry.Features{ServiceExports: true})
	core.Apply(shop + export)
	s := newTestServer(t, core, Options{Token: testToken, Objects: located{core.Store}})
	whole := get[struct {
		Objects  []judgedObject
		Problems []json.RawMessage
	}](t, s, "/api/v1/config")
	rule := whole.Objects[0]
	if rule.Kind != "DestinationRule" || rule.Source.Cluster != "Kubernetes" || rule.Source.Where != "shop.yaml:7" || len(rule.Spec) == 0 {
		t.Errorf("the rule is %+v", rule)
	}
	if len(rule.Problems) != 1 || rule.Problems[0].Field != "spec.subsets[0].labels" || rule.Problems[0].Remedy == "" {
		t.Errorf("the rule's problems are %+v", rule.Problems)
	}
	last := whole.Objects[len(whole.Objects)-1]
	if last.Kind != "ServiceExport" || last.APIVersion != "multicluster.x-k8s.io/v1alpha1" || last.Source.Where != "" {
		t.Errorf("the export is %+v", last)
	}
	if len(whole.Problems) != 1 {
		t.Errorf("problems: %s", whole.Problems)
	}
	judged := get[[]judgedObject](t, s, "/debug/configz?problems=true")
	if !reflect.DeepEqual(judged, whole.Objects[:len(whole.Objects)-1]) {
		t.Errorf("configz has %+v, want Istio's objects of the API", judged)
	}
	for _, o := range get[[]map[string]any](t, s, "/debug/configz") {
		for member := range o {
			switch member {
			case "kind", "apiVersion", "metadata", "spec", "status":
			default:
				t.Errorf("configz has a member %q that istiod's has not", member)
			}
		}
	}
}
