package replay_test

import (
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"
)

func mapKeys[V any](m map[string]V) iter.Seq[string] { return maps.Keys(m) }

// compareFile says what differs in one file of one state. Either what a living
// istiod holds is right, or what one holds that starts anew.
func compareFile(rel string, want, got stateFiles, before map[string]string) []string {
	if _, ok := got.files[rel]; !ok {
		return []string{"it is missing"}
	}
	if rel == "push.json" {
		return comparePush(want.files[rel], got.files, before)
	}
	have, err := normal(rel, got.files[rel])
	if err != nil {
		return []string{err.Error()}
	}
	var out []string
	for _, path := range append([]string{want.files[rel]}, want.fresh[rel]...) {
		w, err := normal(rel, path)
		if err != nil {
			return []string{err.Error()}
		}
		d := cmp.Diff(w, have)
		if d == "" {
			return nil
		}
		if out == nil {
			out = []string{d}
		}
	}
	return out
}

// normal reads a file and takes out what does not matter: absent and empty are
// the same, and lists without a meaningful order are sorted.
func normal(rel, path string) (any, error) {
	v, err := read(path)
	if err != nil {
		return nil, err
	}
	list, _ := v.([]any)
	switch filepath.Base(rel) {
	case "registryz.json":
		for _, s := range list {
			sortLists(s, "Addresses")
		}
		return sorted(prune(list)), nil
	case "endpointShardz.json":
		return shards(v), nil
	case "eds.json":
		return byName(list, "clusterName"), nil
	case "clusters.json":
		return byName(list, "name"), nil
	case "ext_authz.json":
		return sorted(prune(list)), nil
	default:
		return nil, fmt.Errorf("unknown kind of file: %s", rel)
	}
}

func read(path string) (any, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var v any
	return v, json.Unmarshal(data, &v)
}

// prune takes out null, empty lists and empty objects.
func prune(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for k, e := range v {
			if p := prune(e); p != nil {
				out[k] = p
			}
		}
		if len(out) > 0 {
			return out
		}
		return nil
	case []any:
		var out []any
		for _, e := range v {
			out = append(out, prune(e))
		}
		if len(out) > 0 {
			return out
		}
		return nil
	default:
		return v
	}
}

func sorted(v any) any {
	list, _ := v.([]any)
	slices.SortFunc(list, func(a, b any) int { return strings.Compare(text(a), text(b)) })
	return list
}

func text(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(data)
}

// sortLists sorts the lists of strings below the key.
func sortLists(v any, key string) {
	m, _ := v.(map[string]any)
	for k, e := range m {
		if lists, ok := e.(map[string]any); ok && k == key {
			for _, l := range lists {
				sorted(l)
			}
			continue
		}
		sortLists(e, key)
	}
}

// shards sorts the endpoints, and leaves out hosts without any.
func shards(v any) any {
	out := map[string]any{}
	hosts, _ := v.(map[string]any)
	for host, byNamespace := range hosts {
		namespaces, _ := byNamespace.(map[string]any)
		for namespace, e := range namespaces {
			entry, _ := e.(map[string]any)
			accounts, _ := entry["ServiceAccounts"].(map[string]any)
			all, _ := entry["Shards"].(map[string]any)
			kept := map[string]any{}
			for key, list := range all {
				if p := prune(list); p != nil {
					kept[key] = sorted(p)
				}
			}
			if len(kept) > 0 {
				out[host+" in "+namespace] = map[string]any{"accounts": slices.Sorted(mapKeys(accounts)), "shards": kept}
			}
		}
	}
	return out
}

// byName makes a map of clusters or assignments.
func byName(list []any, key string) any {
	out := map[string]any{}
	for _, e := range list {
		m, _ := e.(map[string]any)
		name, _ := m[key].(string)
		if inline, ok := m["loadAssignment"].(map[string]any); ok {
			m["loadAssignment"] = assignment(inline)
		}
		if key == "clusterName" {
			m, _ = assignment(m).(map[string]any)
		}
		out[name] = prune(m)
	}
	return out
}

// assignment sorts the endpoints within a locality, and the localities; which
// priority one has is part of it.
func assignment(m map[string]any) any {
	localities, _ := m["endpoints"].([]any)
	for _, l := range localities {
		locality, _ := l.(map[string]any)
		if _, ok := locality["priority"]; !ok {
			locality["priority"] = 0.0
		}
		sorted(locality["lbEndpoints"])
	}
	sorted(localities)
	return m
}

// push is what push.json says.
type push struct {
	Push *struct {
		Full bool `json:"full"`
	} `json:"push"`
	Proxies map[string]struct {
		Types     []string `json:"types"`
		Resources []string `json:"edsResources"`
	} `json:"proxies"`
}

// comparePush holds a push between two bounds: who is concerned gets what
// changed, and nobody gets what istiod did not send, unless it changed.
func comparePush(wantPath string, now, before map[string]string) []string {
	var want, got push
	for path, into := range map[string]*push{wantPath: &want, now["push.json"]: &got} {
		data, err := os.ReadFile(path)
		if err == nil {
			err = json.Unmarshal(data, into)
		}
		if err != nil {
			return []string{err.Error()}
		}
	}
	var out []string
	if got.Push != nil && got.Push.Full && (want.Push == nil || !want.Push.Full) {
		out = append(out, "the push is full, and istiod's was not")
	}
	for id, istiod := range want.Proxies {
		sent := got.Proxies[id]
		changed := differing(id, "eds.json", now, before)
		for _, n := range changed {
			if !slices.Contains(sent.Resources, n) {
				out = append(out, fmt.Sprintf("%s does not get %s, which changed", id, n))
			}
		}
		for _, n := range sent.Resources {
			if !slices.Contains(changed, n) && !slices.Contains(istiod.Resources, n) {
				out = append(out, fmt.Sprintf("%s gets %s, which did not change", id, n))
			}
		}
		clusters := len(differing(id, "clusters.json", now, before)) > 0 || len(differing(id, "clusters.json", before, now)) > 0
		if sends := slices.Contains(sent.Types, "CDS"); clusters && !sends {
			out = append(out, id+" does not get its clusters, which changed")
		} else if sends && !clusters && !slices.Contains(istiod.Types, "CDS") {
			out = append(out, id+" gets its clusters, which did not change")
		}
	}
	return out
}

// differing lists the names in a proxy's file that are new or differ.
func differing(id, name string, now, before map[string]string) []string {
	rel := filepath.Join("proxies", id, name)
	a, b := named(rel, before), named(rel, now)
	var out []string
	for n, v := range b {
		if !cmp.Equal(a[n], v) {
			out = append(out, n)
		}
	}
	return out
}

func named(rel string, files map[string]string) map[string]any {
	path, ok := files[rel]
	if !ok {
		return nil
	}
	v, err := normal(rel, path)
	if err != nil {
		return map[string]any{"unreadable": err.Error()}
	}
	m, _ := v.(map[string]any)
	return m
}
