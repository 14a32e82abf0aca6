package debugz

import (
	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/scope"
	"github.com/edsight/edsight/core/state"
)

// SidecarScope is the body of sidecarz: what a proxy may see.
type SidecarScope struct {
	Name                  string                      `json:"name,omitempty"`
	Namespace             string                      `json:"namespace"`
	Version               uint64                      `json:"version,string"`
	Sidecar               any                         `json:"sidecar,omitempty"`
	OutboundTrafficPolicy any                         `json:"outboundTrafficPolicy,omitempty"`
	Services              []*Service                  `json:"services"`
	ServicesByHostname    map[model.Hostname]*Service `json:"servicesByHostname"`
	DestinationRules      map[model.Hostname]any      `json:"destinationRules"`
}

// Sidecar gives the body of sidecarz for one proxy.
func Sidecar(snap *state.Snapshot, p *model.Proxy) *SidecarScope {
	sc := scope.For(snap, p)
	j := &SidecarScope{
		Namespace: p.Namespace, Version: snap.Version, Services: make([]*Service, 0, len(sc.Imports)),
		ServicesByHostname: make(map[model.Hostname]*Service, len(sc.Imports)),
		DestinationRules:   map[model.Hostname]any{},
	}
	if sc.Sidecar != nil {
		j.Name, j.Namespace, j.Sidecar = sc.Sidecar.Name, sc.Sidecar.Namespace, &sc.Sidecar.Spec
		j.OutboundTrafficPolicy = sc.Sidecar.Spec.GetOutboundTrafficPolicy()
	} else if snap.Mesh.Config != nil {
		j.OutboundTrafficPolicy = snap.Mesh.Config.GetOutboundTrafficPolicy()
	}
	for i := range sc.Imports {
		imp := &sc.Imports[i]
		svc := NewService(imp.Definition)
		j.Services = append(j.Services, svc)
		j.ServicesByHostname[svc.Hostname] = svc
		if r := sc.Rule(imp, p); r != nil {
			j.DestinationRules[svc.Hostname] = r.Spec
		}
	}
	return j
}
