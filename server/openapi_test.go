package server

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/edsight/edsight/core/journal"
	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/source"
	"github.com/edsight/edsight/core/state"
)

// description is the OpenAPI file, as maps.
type description map[string]any

func describe(t *testing.T) description {
	t.Helper()
	var d description
	if err := yaml.UnmarshalStrict([]byte(openAPI), &d); err != nil {
		t.Fatal(err)
	}
	return d
}

// at follows keys, and references on the way.
func (d description) at(from any, keys ...string) any {
	for _, k := range keys {
		from = d.resolve(from)
		m, ok := from.(map[string]any)
		if !ok {
			return nil
		}
		from = m[k]
	}
	return d.resolve(from)
}

func (d description) resolve(v any) any {
	if m, ok := v.(map[string]any); ok {
		if ref, ok := m["$ref"].(string); ok {
			return d.at(map[string]any(d), strings.Split(strings.TrimPrefix(ref, "#/"), "/")...)
		}
	}
	return v
}

// check says in what a value differs from its schema: what is required and
// missing, and what is there and not described.
func (d description) check(schema, v any, where string) []string {
	s, ok := d.resolve(schema).(map[string]any)
	if !ok {
		return []string{where + " has no schema"}
	}
	if all, ok := s["allOf"].([]any); ok {
		merged := map[string]any{"type": "object", "properties": map[string]any{}}
		for _, part := range all {
			p, _ := d.resolve(part).(map[string]any)
			merged["required"] = slices.Concat(list(merged["required"]), list(p["required"]))
			maps.Copy(object(merged["properties"]), object(p["properties"]))
		}
		s = merged
	}
	if !slices.Contains(types(s), typeOf(v)) {
		return []string{fmt.Sprintf("%s is %s, described as %v", where, typeOf(v), s["type"])}
	}
	var wrong []string
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			wrong = append(wrong, d.check(s["items"], e, where+"[]")...)
		}
	case map[string]any:
		wrong = d.checkObject(s, v, where)
	}
	return wrong
}

func (d description) checkObject(s, v map[string]any, where string) []string {
	var wrong []string
	for _, k := range list(s["required"]) {
		if _, ok := v[k.(string)]; !ok {
			wrong = append(wrong, fmt.Sprintf("%s lacks %s", where, k))
		}
	}
	properties, described := s["properties"].(map[string]any)
	for k, e := range v {
		switch p, ok := properties[k]; {
		case ok:
			wrong = append(wrong, d.check(p, e, where+"."+k)...)
		case described:
			wrong = append(wrong, where+"."+k+" is not described")
		}
	}
	return wrong
}

func list(v any) []any            { l, _ := v.([]any); return l }
func object(v any) map[string]any { o, _ := v.(map[string]any); return o }
func types(s map[string]any) []any {
	if one, ok := s["type"].(string); ok {
		return []any{one}
	}
	return list(s["type"])
}

func typeOf(v any) any {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case float64:
		return "integer"
	case []any:
		return "array"
	default:
		_ = v
		return "object"
	}
}

// newFullCore has a transition in which everything is filled in.
func newFullCore() *fakeCore {
	core := newFakeCore()
	web := core.snap.Service(model.ServiceKey{Hostname: "web.shop.svc.cluster.local", Namespace: "shop"})
	pod := model.ObjectKey{Cluster: "Kubernetes", Kind: model.KindPod, Namespace: "shop", Name: "web-0"}
	core.journal.Append(&journal.Transition{
		Version: 1, Prev: core.snap, Next: core.snap,
		Causes: []journal.Cause{{Cause: source.Cause{Key: pod, Op: source.OpUpdate, ResourceVersion: "7", Actor: "kubelet"}, Merged: 2, ResourceVersions: []string{"6", "7"}}},
		Push:   journal.Push{Scope: state.IncrementalScope(web.Key), Triggers: []string{"endpoint"}, Because: "endpoints changed"},
		Diff: &state.Diff{
			Services: []state.ServiceChange{{Key: web.Key, Prev: web, Next: web, Definition: true, Endpoints: []state.EndpointChange{
				{Shard: web.Shards[0].Key, Before: web.Shards[0].Candidates[1], After: web.Shards[0].Candidates[0]},
			}}},
			Proxies: []state.ProxyChange{{ID: "web-0.shop", Next: core.snap.Proxy("web-0.shop")}},
			Configs: []model.ObjectKey{pod}, Strays: []model.ObjectKey{pod}, Mesh: true, Networks: true,
		},
	})
	return core
}

func TestOpenAPIDescribesEveryRoute(t *testing.T) {
	d := describe(t)
	routes := map[string]bool{}
	for _, rt := range New(newFakeCore(), Options{}).routes() {
		if !strings.HasPrefix(rt.pattern, apiPrefix) && !rt.websocket {
			continue
		}
		routes[rt.pattern] = true
		if d.at(map[string]any(d), "paths", rt.pattern, strings.ToLower(rt.method)) == nil {
			t.Errorf("%s %s is not described", rt.method, rt.pattern)
		}
	}
	for path := range object(d["paths"]) {
		if !routes[path] {
			t.Errorf("%s is described and not there", path)
		}
	}
}

func TestOpenAPIDescribesEveryAnswer(t *testing.T) {
	d := describe(t)
	s := New(newFullCore(), Options{Token: testToken})
	for _, rt := range s.apiRoutes() {
		schema := d.at(map[string]any(d), "paths", rt.pattern, "get", "responses", "200", "content", "application/json", "schema")
		for _, path := range []string{rt.pattern, strings.ReplaceAll(rt.pattern, "{seq}", "2")} {
			w := serve(s, request(t, route{method: http.MethodGet, pattern: path}, bearer))
			if w.Code != http.StatusOK {
				t.Errorf("%s: %d %s", path, w.Code, w.Body)
				continue
			}
			if w.Header().Get("Content-Type") != "application/json" {
				continue
			}
			var v any
			if err := json.Unmarshal(w.Body.Bytes(), &v); err != nil {
				t.Fatal(err)
			}
			for _, wrong := range d.check(schema, v, rt.pattern) {
				t.Error(wrong)
			}
		}
	}
}
