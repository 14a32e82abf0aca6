package debugz

import (
	"encoding/json"
	"fmt"
	"iter"
	"slices"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/state"
)

// Config is an element of configz.
type Config struct {
	Kind       model.Kind      `json:"kind"`
	APIVersion string          `json:"apiVersion"`
	Metadata   json.RawMessage `json:"metadata"`
	Spec       json.RawMessage `json:"spec"`
	Status     json.RawMessage `json:"status,omitempty"`
}

// Resource is an element of resourcesz: a kind that is read.
type Resource struct {
	Group   string     `json:"group"`
	Version string     `json:"version"`
	Kind    model.Kind `json:"kind"`
}

// Resources gives the elements of resourcesz: Istio's kinds that are read.
func Resources() []Resource {
	kinds := []model.Kind{
		model.KindAuthorizationPolicy, model.KindDestinationRule, model.KindGateway, model.KindPeerAuthentication,
		model.KindServiceEntry, model.KindSidecar, model.KindVirtualService, model.KindWorkloadEntry, model.KindWorkloadGroup,
	}
	all := make([]Resource, len(kinds))
	for i, k := range kinds {
		all[i] = Resource{Group: groupOf(k), Version: "v1", Kind: k}
	}
	return all
}

func groupOf(k model.Kind) string {
	if k == model.KindAuthorizationPolicy || k == model.KindPeerAuthentication {
		return "security.istio.io"
	}
	return "networking.istio.io"
}

// Configs gives the elements of configz by kind, namespace and name: the objects
// of Istio's own kinds. An object that has no JSON form is there with its error in
// place of the specification.
func Configs(snap *state.Snapshot) iter.Seq[*Config] {
	return func(yield func(*Config) bool) {
		for c := range snap.Configs("") {
			if c.Key.Kind.IsIstio() && !yield(NewConfig(c)) {
				return
			}
		}
	}
}

// NewConfig gives one object as configz shows it.
func NewConfig(c state.Config) *Config {
	j := &Config{Kind: c.Key.Kind, APIVersion: groupOf(c.Key.Kind) + "/v1"}
	if err := j.fill(c); err != nil {
		text := fmt.Appendf(nil, "%s: %v", c.Key, err)
		j.Metadata, _ = json.Marshal(map[string]string{"name": c.Key.Name, "namespace": c.Key.Namespace})
		j.Spec, _ = json.Marshal(string(text))
	}
	return j
}

func (j *Config) fill(c state.Config) error {
	text, err := json.Marshal(c.Object)
	if err != nil {
		return err
	}
	var o struct {
		APIVersion   string                     `json:"apiVersion"`
		Metadata     map[string]json.RawMessage `json:"metadata"`
		Spec, Status json.RawMessage
	}
	if err := json.Unmarshal(text, &o); err != nil {
		return err
	}
	delete(o.Metadata, "managedFields")
	if j.Metadata, err = json.Marshal(o.Metadata); err != nil {
		return err
	}
	if !c.Key.Kind.IsIstio() {
		j.APIVersion = o.APIVersion
	}
	j.Spec, j.Status = o.Spec, o.Status
	if slices.Equal(j.Status, []byte("{}")) {
		j.Status = nil
	}
	return nil
}
