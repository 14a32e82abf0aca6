package registry

import (
	"maps"
	"slices"
	"strconv"

	"google.golang.org/protobuf/reflect/protoreflect"
	meshconfig "istio.io/api/mesh/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

// UnknownMeshFields are the paths in a mesh ConfigMap's data that name no field; what is
// there is passed over.
func UnknownMeshFields(cm *corev1.ConfigMap) []string {
	return slices.Concat(
		unknownIn("mesh", cm.Data["mesh"], (&meshconfig.MeshConfig{}).ProtoReflect().Descriptor()),
		unknownIn("meshNetworks", cm.Data["meshNetworks"], (&meshconfig.MeshNetworks{}).ProtoReflect().Descriptor()))
}

func unknownIn(path, text string, d protoreflect.MessageDescriptor) []string {
	var value any
	if yaml.Unmarshal([]byte(text), &value) != nil {
		return nil // cannot be read at all
	}
	return unknownFields(path, value, d)
}

func unknownFields(path string, value any, d protoreflect.MessageDescriptor) []string {
	object, ok := value.(map[string]any)
	if !ok || d == nil || d.ParentFile().Package() == "google.protobuf" {
		return nil // no message, or one that is written as a value
	}
	var out []string
	for _, name := range slices.Sorted(maps.Keys(object)) {
		at, v := path+"."+name, object[name]
		f := d.Fields().ByJSONName(name)
		if f == nil {
			f = d.Fields().ByTextName(name)
		}
		switch {
		case f == nil:
			out = append(out, at)
		case f.IsMap():
			entries, _ := v.(map[string]any)
			for _, key := range slices.Sorted(maps.Keys(entries)) {
				out = append(out, unknownFields(at+"."+key, entries[key], f.MapValue().Message())...)
			}
		case f.IsList():
			elements, _ := v.([]any)
			for i, e := range elements {
				out = append(out, unknownFields(at+"["+strconv.Itoa(i)+"]", e, f.Message())...)
			}
		default:
			out = append(out, unknownFields(at, v, f.Message())...)
		}
	}
	return out
}
