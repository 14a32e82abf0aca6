package replay

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"github.com/edsight/edsight/core/cds"
	"github.com/edsight/edsight/core/eds"
	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/registry"
	"github.com/edsight/edsight/core/state"
)

// view is what one proxy has: its clusters and its assignments, in JSON by name.
type view struct{ clusters, assignments map[string][]byte }

// sentTo is what one proxy gets in a step.
type sentTo struct {
	Types     []string `json:"types"`
	Resources []string `json:"edsResources"`
}

// clusterFile is one element of clusters.json.
type clusterFile struct {
	Name       string          `json:"name"`
	Type       cds.Type        `json:"type"`
	Service    string          `json:"edsServiceName,omitempty"`
	Endpoints  int             `json:"endpoints,omitempty"`
	Assignment json.RawMessage `json:"loadAssignment,omitempty"`
}

// proxies writes what every proxy has, and says what of it is new.
func (w *writer) proxies(dir string, snap *state.Snapshot) (map[string]*sentTo, error) {
	sent := map[string]*sentTo{}
	next := map[string]view{}
	for _, pin := range w.scenario.Proxies {
		id := registry.ProxyID(pin.Pod)
		proxy := snap.Proxy(id)
		if proxy == nil || proxy.Pod != pin.Pod {
			continue // not there yet, or never: see missing
		}
		w.seen[pin.Pod] = true
		v, err := viewOf(cds.Build(snap, proxy))
		if err != nil {
			return nil, err
		}
		authz, err := json.MarshalIndent(cds.ExtAuthz(snap, proxy), "", "  ")
		if err != nil {
			return nil, fmt.Errorf("encode ext_authz of %s: %w", id, err)
		}
		for name, list := range map[string][]byte{"clusters.json": join(v.clusters), "eds.json": join(v.assignments), "ext_authz.json": authz} {
			if err := w.stream(dir, filepath.Join("proxies", id, name), func(to io.Writer) error {
				_, err := to.Write(list)
				return err
			}); err != nil {
				return nil, err
			}
		}
		next[id] = v
		sent[id] = compare(w.views[id], v)
	}
	w.views = next
	return sent, nil
}

// missing reports the proxies that the scenario names and that were never there.
func (w *writer) missing(path string) {
	for _, pin := range w.scenario.Proxies {
		switch other, found := w.other(pin.Pod); {
		case w.seen[pin.Pod]:
		case found:
			w.scenario.mistake(path, "cluster", fmt.Sprintf("proxy %s: the one in cluster %s has the same name, and is written; that in cluster %s gets nothing",
				registry.ProxyID(pin.Pod), other.Cluster, pin.Pod.Cluster))
		default:
			w.scenario.mistake(path, "pod", fmt.Sprintf("proxy %s: there is no %s with a sidecar or router in cluster %s, neither in input nor in a step; it gets nothing",
				registry.ProxyID(pin.Pod), pin.Pod, pin.Pod.Cluster))
		}
	}
}

// other is the Pod of that name in another cluster whose proxy was written.
func (w *writer) other(pod model.ObjectKey) (model.ObjectKey, bool) {
	for _, pin := range w.scenario.Proxies {
		if pin.Pod != pod && w.seen[pin.Pod] && registry.ProxyID(pin.Pod) == registry.ProxyID(pod) {
			return pin.Pod, true
		}
	}
	return model.ObjectKey{}, false
}

func viewOf(clusters []cds.Cluster) (view, error) {
	v := view{clusters: map[string][]byte{}, assignments: map[string][]byte{}}
	for i := range clusters {
		c := &clusters[i]
		f := clusterFile{Name: c.Name, Type: c.Type, Service: c.EDSServiceName}
		if c.Inline != nil {
			f.Assignment, f.Endpoints = encode(c.Inline), c.Inline.Sent()
		}
		body, err := json.Marshal(f)
		if err != nil {
			return v, err
		}
		v.clusters[c.Name] = body
		if a := c.Assignment(); a != nil {
			v.assignments[a.Cluster] = encode(a)
		}
	}
	return v, nil
}

func encode(a *eds.Assignment) []byte { return a.AppendJSON(nil, "") }

// compare says what a proxy that has prev gets to have next: all clusters if one
// differs, and the assignments that differ.
func compare(prev, next view) *sentTo {
	s := &sentTo{Types: []string{}, Resources: []string{}}
	if len(prev.clusters) != len(next.clusters) || len(differing(prev.clusters, next.clusters)) > 0 {
		s.Types = append(s.Types, "CDS")
	}
	if s.Resources = differing(prev.assignments, next.assignments); len(s.Resources) > 0 {
		s.Types = append(s.Types, "EDS")
	}
	return s
}

func differing(prev, next map[string][]byte) []string {
	out := []string{}
	for name, body := range next {
		if !bytes.Equal(prev[name], body) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// join makes a JSON list of the values in the order of their names.
func join(parts map[string][]byte) []byte {
	names := make([]string, 0, len(parts))
	for n := range parts {
		names = append(names, n)
	}
	slices.Sort(names)
	var buf bytes.Buffer
	buf.WriteString("[")
	for i, n := range names {
		if i > 0 {
			buf.WriteString(",")
		}
		buf.WriteString("\n")
		buf.Write(parts[n])
	}
	buf.WriteString("\n]\n")
	return buf.Bytes()
}
