package registry

import (
	"encoding/json"
	"fmt"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/wrapperspb"
	meshconfig "istio.io/api/mesh/v1alpha1"
	networking "istio.io/api/networking/v1alpha3"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/state"
)

// meshOf reads the ConfigMap over the defaults. A part that cannot be read stays
// as it was last.
func meshOf(cm *corev1.ConfigMap, rootNamespace string, last *state.Mesh) *state.Mesh {
	m := &state.Mesh{
		Config:        defaultMeshConfig(rootNamespace),
		Networks:      &meshconfig.MeshNetworks{},
		RootNamespace: rootNamespace, SystemNamespace: rootNamespace, DomainSuffix: "cluster.local",
	}
	if cm == nil {
		return m
	}
	if last == nil {
		last = m
	}
	if readYAML(cm.Data["mesh"], m.Config) != nil {
		m.Config = last.Config
	}
	if readYAML(cm.Data["meshNetworks"], m.Networks) != nil {
		m.Networks = last.Networks
	}
	m.RootNamespace = m.Config.GetRootNamespace()
	return m
}

// defaultMeshConfig holds those of Istio's defaults that have a meaning for
// endpoints and clusters.
func defaultMeshConfig(rootNamespace string) *meshconfig.MeshConfig {
	return &meshconfig.MeshConfig{
		RootNamespace:                  rootNamespace,
		TrustDomain:                    "cluster.local",
		EnableAutoMtls:                 wrapperspb.Bool(true),
		OutboundTrafficPolicy:          &meshconfig.MeshConfig_OutboundTrafficPolicy{Mode: meshconfig.MeshConfig_OutboundTrafficPolicy_ALLOW_ANY},
		DefaultServiceExportTo:         []string{"*"},
		DefaultVirtualServiceExportTo:  []string{"*"},
		DefaultDestinationRuleExportTo: []string{"*"},
		LocalityLbSetting:              &networking.LocalityLoadBalancerSetting{Enabled: wrapperspb.Bool(true)},
	}
}

// readYAML lays the text over into; unknown fields are passed over.
func readYAML(text string, into proto.Message) error {
	js, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		return fmt.Errorf("read YAML: %w", err)
	}
	if string(js) == "null" {
		return nil
	}
	next := into.ProtoReflect().New().Interface()
	if err := json.Unmarshal(js, next); err != nil { // as Istio reads it, who takes durations like "5m"
		return fmt.Errorf("read %s: %w", into.ProtoReflect().Descriptor().Name(), err)
	}
	// What is given replaces the default as a whole.
	next.ProtoReflect().Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		into.ProtoReflect().Set(f, v)
		return true
	})
	return nil
}

// MeshProblems says what is wrong with a mesh ConfigMap, by key of its data.
func MeshProblems(cm *corev1.ConfigMap) map[string]error {
	out := map[string]error{}
	if err := readYAML(cm.Data["mesh"], &meshconfig.MeshConfig{}); err != nil {
		out["mesh"] = err
	}
	if err := readYAML(cm.Data["meshNetworks"], &meshconfig.MeshNetworks{}); err != nil {
		out["meshNetworks"] = err
	}
	return out
}

func (w *World) meshConfigMap() *corev1.ConfigMap {
	cm, _ := w.objects[model.ObjectKey{Cluster: w.config, Kind: model.KindConfigMap, Namespace: w.rootNamespace, Name: "istio"}].(*corev1.ConfigMap)
	return cm
}
