package server

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/state"
	"github.com/edsight/edsight/views"
)

// newDefinition shows what one object says of a service.
func newDefinition(def *model.Service) *views.Definition {
	d := &views.Definition{
		Object: def.Object, Provider: string(def.Provider),
		ResourceVersion: def.ResourceVersion, Created: def.Created, Facts: []views.Fact{},
	}
	for _, f := range definitionFacts(def) {
		if f.Value != "" {
			d.Facts = append(d.Facts, f)
		}
	}
	return d
}

// definitionFacts are the properties of a definition in words, "" for those
// which say nothing. Two definitions have the same facts in the same order.
func definitionFacts(def *model.Service) []views.Fact {
	if def == nil {
		def = &model.Service{}
	}
	created := ""
	if !def.Created.IsZero() {
		created = def.Created.UTC().Format("2006-01-02 15:04:05 UTC")
	}
	return []views.Fact{
		{Name: "type", Value: def.Type},
		{Name: "resolution", Value: resolutionText(def)},
		{Name: "ports", Value: portsText(def.Ports)},
		{Name: "selector", Value: labelText(def.Selector)},
		{Name: "virtual IPs", Value: vipsText(def)},
		{Name: "external name", Value: def.ExternalName},
		{Name: "exported to", Value: exportText(def.ExportTo)},
		{Name: "internal traffic", Value: when(def.NodeLocal, "only to endpoints of the same node")},
		{Name: "traffic distribution", Value: distributionText(def.TrafficDistribution)},
		{Name: "not ready addresses", Value: when(def.PublishNotReady, "published")},
		{Name: "persistent sessions", Value: when(def.PersistentSession || def.PersistentSessionHeader, "draining endpoints are kept")},
		{Name: "outside the mesh", Value: when(def.MeshExternal, "yes")},
		{Name: "external addresses", Value: byCluster(def.ExternalAddresses)},
		{Name: "service accounts", Value: strings.Join(def.ServiceAccounts, ", ")},
		{Name: "aliases", Value: aliasText(def.Aliases)},
		{Name: "labels", Value: labelText(def.Labels)},
		{Name: "created", Value: created},
		{Name: "resource version", Value: def.ResourceVersion},
	}
}

// fieldChanges are the facts which differ between two definitions.
func fieldChanges(prev, next *model.Service) []views.FieldChange {
	var list []views.FieldChange
	before, after := definitionFacts(prev), definitionFacts(next)
	for i := range before {
		if before[i].Value != after[i].Value {
			list = append(list, views.FieldChange{Field: before[i].Name, Before: orNone(before[i].Value), After: orNone(after[i].Value)})
		}
	}
	return list
}

// otherDefinitions are further definitions of the host: in this namespace, where
// the first counts, and in others.
func otherDefinitions(snap *state.Snapshot, svc *state.ServiceState) []views.OtherDefinition {
	var list []views.OtherDefinition
	for other := range snap.ServicesOf(svc.Key.Hostname) {
		for i, def := range other.Definitions {
			if other.Key == svc.Key && i == 0 {
				continue
			}
			o := views.OtherDefinition{ServiceRef: views.Ref(other.Key), Object: def.Object, Created: def.Created}
			if other.Key == svc.Key {
				o.Standing = "the same host in the same namespace: its endpoints join those of the first definition where the port name is the same"
			} else {
				o.Standing = "clients in namespace " + other.Key.Namespace + " use this one; others prefer Kubernetes, then the oldest"
			}
			list = append(list, o)
		}
	}
	return list
}

func portsText(ports []model.Port) string {
	parts := make([]string, 0, len(ports))
	for _, p := range ports {
		text := fmt.Sprintf("%s %d", p.Name, p.Number)
		switch {
		case p.TargetPortName != "":
			text += " → " + p.TargetPortName
		case p.TargetPort != 0 && p.TargetPort != p.Number:
			text += " → " + strconv.FormatUint(uint64(p.TargetPort), 10)
		}
		parts = append(parts, text+" "+string(p.Protocol))
	}
	return strings.Join(parts, ", ")
}

func vipsText(def *model.Service) string {
	list := vips(def)
	parts := make([]string, 0, len(list))
	for _, v := range list {
		if v.Cluster == "" {
			parts = append(parts, v.Address)
		} else {
			parts = append(parts, v.Address+" in "+string(v.Cluster))
		}
	}
	return strings.Join(parts, ", ")
}

func exportText(to []string) string {
	parts := slices.Clone(to)
	for i, p := range parts {
		switch p {
		case "*":
			parts[i] = "everybody (*)"
		case ".":
			parts[i] = "its own namespace (.)"
		case "~":
			parts[i] = "nobody (~)"
		}
	}
	return strings.Join(parts, ", ")
}

func distributionText(d model.TrafficDistribution) string {
	switch d {
	case model.DistributionAny:
		return ""
	case model.DistributionPreferSameZone:
		return "the same zone first"
	case model.DistributionPreferSameNode:
		return "the same node first, then the same zone"
	}
	return "unknown"
}

func byCluster(m map[model.ClusterID][]string) string {
	parts := make([]string, 0, len(m))
	for _, c := range slices.Sorted(maps.Keys(m)) {
		parts = append(parts, strings.Join(m[c], ", ")+" in "+string(c))
	}
	return strings.Join(parts, "; ")
}

func aliasText(keys []model.ServiceKey) string {
	parts := make([]string, 0, len(keys))
	for _, k := range keys {
		parts = append(parts, k.String())
	}
	return strings.Join(parts, ", ")
}

func when(yes bool, text string) string {
	if yes {
		return text
	}
	return ""
}
