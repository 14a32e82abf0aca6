package manifest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/edsight/edsight/core/model"
)

// Encode writes an object as JSON, and as YAML for a person to read, without what
// says nothing about the mesh: managedFields, the copy that kubectl keeps, and, as
// they may be secret, the variables of all containers but those that tell a proxy
// what it is.
func Encode(key model.ObjectKey, o metav1.Object) (asJSON json.RawMessage, asYAML string, err error) {
	m, err := valuesOf(o)
	if err != nil {
		return nil, "", fmt.Errorf("encode %s: %w", key, err)
	}
	m["apiVersion"], m["kind"] = apiVersion(key.Kind), string(key.Kind)
	if meta, ok := m["metadata"].(map[string]any); ok {
		delete(meta, "managedFields")
		if a, ok := meta["annotations"].(map[string]any); ok {
			delete(a, "kubectl.kubernetes.io/last-applied-configuration")
		}
	}
	hideVariables(m)
	prune(m)
	if asJSON, err = json.Marshal(m); err != nil {
		return nil, "", fmt.Errorf("encode %s: %w", key, err)
	}
	text, err := yaml.JSONToYAML(asJSON)
	if err != nil {
		return nil, "", fmt.Errorf("encode %s: %w", key, err)
	}
	return asJSON, string(text), nil
}

// valuesOf gives the fields of the object, as its JSON has them.
func valuesOf(o metav1.Object) (map[string]any, error) {
	text, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	var m map[string]any
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	return m, d.Decode(&m)
}

// apiVersion is the one under which a kind is shown.
func apiVersion(kind model.Kind) string {
	switch kind {
	case model.KindEndpointSlice:
		return "discovery.k8s.io/v1"
	case model.KindServiceEntry, model.KindWorkloadEntry, model.KindWorkloadGroup, model.KindSidecar,
		model.KindDestinationRule, model.KindVirtualService, model.KindGateway:
		return "networking.istio.io/v1"
	case model.KindAuthorizationPolicy, model.KindPeerAuthentication:
		return "security.istio.io/v1"
	case model.KindServiceExport, model.KindServiceImport:
		return "multicluster.x-k8s.io/v1alpha1"
	case model.KindService, model.KindEndpoints, model.KindPod, model.KindNode, model.KindNamespace, model.KindConfigMap:
		return "v1"
	}
	return ""
}

// hideVariables takes the variables out of the containers of a Pod.
func hideVariables(m map[string]any) {
	spec, _ := m["spec"].(map[string]any)
	for _, list := range []string{"containers", "initContainers", "ephemeralContainers"} {
		containers, _ := spec[list].([]any)
		for _, c := range containers {
			one, ok := c.(map[string]any)
			if !ok {
				continue // not a container
			}
			var kept []any
			env, _ := one["env"].([]any)
			for _, e := range env {
				v, _ := e.(map[string]any)
				if name, _ := v["name"].(string); one["name"] == model.ProxyContainer && strings.HasPrefix(name, model.MetadataEnv) {
					kept = append(kept, e)
				}
			}
			one["env"] = kept
		}
	}
}

// prune drops what is empty, as objects of Go have it for fields that nobody set.
func prune(m map[string]any) {
	for k, v := range m {
		switch v := v.(type) {
		case nil:
			delete(m, k)
		case []any:
			if len(v) == 0 {
				delete(m, k)
			}
			for _, e := range v {
				if one, ok := e.(map[string]any); ok {
					prune(one)
				}
			}
		case map[string]any:
			if prune(v); len(v) == 0 && k != "spec" && k != "metadata" {
				delete(m, k)
			}
		}
	}
}
