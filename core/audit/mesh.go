package audit

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/registry"
	"github.com/edsight/edsight/core/source"
	"github.com/edsight/edsight/core/state"
)

// Mesh finds the parts of the mesh's ConfigMap that cannot be read, and the fields that
// are none.
func Mesh(key model.ObjectKey, o source.Object) []Problem {
	cm, ok := o.(*corev1.ConfigMap)
	if !ok || cm == nil {
		return nil
	}
	var out []Problem
	problems := registry.MeshProblems(cm)
	for _, field := range slices.Sorted(maps.Keys(problems)) {
		out = append(out, Problem{
			Object: key, Field: "data." + field, Message: "cannot be read: " + problems[field].Error(),
			Remedy: "correct it; until then what was last read of this part is in force",
		})
	}
	for _, field := range registry.UnknownMeshFields(cm) {
		out = append(out, Problem{
			Object: key, Field: "data." + field, Message: "unknown field; it is ignored", Remedy: "correct its name, or take it out",
		})
	}
	return out
}

// providers finds the external authorization services that cannot be reached.
func providers(snap *state.Snapshot) []Problem {
	var out []Problem
	for i, x := range snap.Mesh.Config.GetExtensionProviders() {
		kind, service, port := "envoyExtAuthzGrpc", x.GetEnvoyExtAuthzGrpc().GetService(), x.GetEnvoyExtAuthzGrpc().GetPort()
		if h := x.GetEnvoyExtAuthzHttp(); h != nil {
			kind, service, port = "envoyExtAuthzHttp", h.GetService(), h.GetPort()
		} else if x.GetEnvoyExtAuthzGrpc() == nil {
			continue // a provider of something else
		}
		field, message := backing(snap, service, port)
		if message == "" {
			continue
		}
		out = append(out, Problem{
			Object: meshKey(snap), Field: fmt.Sprintf("data.mesh.extensionProviders[%d].%s.%s", i, kind, field),
			Message: "provider " + x.GetName() + ": " + message,
			Remedy:  "name one service of the mesh and one of its ports; policies with this provider deny every request until then",
		})
	}
	return out
}

// backing says which field of a provider leads nowhere, and why; "" if a service
// backs its cluster.
func backing(snap *state.Snapshot, service string, port uint32) (field, message string) {
	namespace, host, qualified := strings.Cut(service, "/")
	if !qualified {
		namespace, host = "", service
	}
	var found []*model.Service
	for svc := range snap.ServicesOf(model.Hostname(host)) {
		if def := svc.Definition(); def != nil && (!qualified || svc.Key.Namespace == namespace) {
			found = append(found, def)
		}
	}
	switch len(found) {
	case 0:
		return "service", "no service is " + service
	case 1:
		if _, ok := found[0].Port(port); !ok {
			return "port", fmt.Sprintf("%s has no port %d", service, port)
		}
		return "", ""
	default:
		return "service", fmt.Sprintf("%d namespaces define %s, write namespace/%s", len(found), host, host)
	}
}

// meshKey is the ConfigMap that the mesh configuration is read from.
func meshKey(snap *state.Snapshot) model.ObjectKey {
	return model.ObjectKey{Kind: model.KindConfigMap, Namespace: snap.Mesh.SystemNamespace, Name: "istio"}
}
