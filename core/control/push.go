package control

import (
	"fmt"
	"slices"

	"github.com/edsight/edsight/core/journal"
	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/state"
)

// decide says what a difference has to push, and why this much. Full is for
// everything that can change which clusters a proxy has or how it uses them;
// endpoints alone are incremental; a change that no proxy could see is none.
func decide(d *state.Diff, first bool) journal.Push {
	if first {
		return journal.Push{Scope: state.FullScope(), Triggers: []string{"global"}, Because: "this is the first state"}
	}
	var p journal.Push
	add := func(s state.PushScope, trigger, because string) {
		if p.Because == "" || s.Type > p.Scope.Type {
			p.Because = because
		}
		p.Scope = p.Scope.Union(s)
		if trigger != "" && !slices.Contains(p.Triggers, trigger) {
			p.Triggers = append(p.Triggers, trigger)
		}
	}
	if d.Mesh {
		add(state.FullScope(), "global", "the mesh configuration changed")
	}
	if d.Networks {
		add(state.FullScope(), "networks", "the networks or their gateways changed")
	}
	for _, k := range d.Configs {
		if k.Kind == model.KindWorkloadEntry || k.Kind == model.KindWorkloadGroup || k.Kind == model.KindServiceEntry {
			continue // what they mean is in the services they define or select
		}
		add(state.FullScope(), "config", k.String()+" changed")
	}
	for i := range d.Services {
		decideService(&d.Services[i], add)
		p.Proxies = append(p.Proxies, d.Services[i].Servers...)
	}
	for _, c := range d.Proxies {
		if c.Prev != nil && c.Next != nil {
			add(state.PushScope{}, "proxy", "the properties of proxy "+c.ID+" changed")
			p.Proxies = append(p.Proxies, c.ID)
		}
	}
	if p.Because == "" {
		p.Because = becauseNothing(d)
	}
	slices.Sort(p.Triggers)
	slices.Sort(p.Proxies)
	p.Proxies = slices.Compact(p.Proxies)
	return p
}

func decideService(c *state.ServiceChange, add func(state.PushScope, string, string)) {
	if c.Definition {
		add(state.FullScope(), "service", "the definition of "+string(c.Key.Hostname)+" changed")
	}
	if len(c.Endpoints) == 0 {
		return
	}
	if unseen := onlyUnseen(c.Endpoints, sendsUnhealthy(c.Next)); unseen != "" {
		add(state.PushScope{}, "", unseen)
		return
	}
	if c.Next != nil {
		for _, def := range c.Next.Definitions {
			decideInline(def, add)
		}
	}
	add(state.IncrementalScope(c.Key), "endpoint", fmt.Sprintf("endpoints of %s changed", c.Key.Hostname))
}

// decideInline adds what follows from endpoints which are not sent as EDS: those
// of headless services are listeners, those of DNS services are in the cluster.
func decideInline(def *model.Service, add func(state.PushScope, string, string)) {
	switch def.Resolution {
	case model.Passthrough:
		add(state.FullScope(), "headlessendpoint", "endpoints of the headless service "+string(def.Key.Hostname)+" changed")
	case model.DNSLB, model.DNSRoundRobinLB, model.DynamicDNS:
		add(state.FullScope(), "endpoint", "endpoints of "+string(def.Key.Hostname)+" changed, which are in the cluster itself")
	case model.ClientSideLB, model.Alias:
	}
}

// onlyUnseen says why no proxy can see any of the changes, "" if one can.
func onlyUnseen(changes []state.EndpointChange, unhealthySent bool) string {
	neverSent := func(e *model.Endpoint) bool {
		return e.Health == model.Terminating || e.Health == model.UnHealthy && !unhealthySent && !e.SendUnhealthy
	}
	waiting, unhealthy := "", ""
	for _, c := range changes {
		switch c.Kind() {
		case state.CandidateWaiting:
			one := c.After
			if one == nil {
				one = c.Before
			}
			waiting = fmt.Sprintf("%s was not and is not in the shard: %s", one.Address, one.Reason.Text())
		case state.EndpointAdded:
			if !neverSent(c.After.Endpoint) {
				return ""
			}
			unhealthy = "only an unhealthy newcomer: " + c.After.Address
		case state.EndpointRemoved:
			if !neverSent(c.Before.Endpoint) {
				return ""
			}
			unhealthy = c.Before.Address + " left, which was not sent, being " + c.Before.Endpoint.Health.String()
		case state.EndpointChanged:
			if !neverSent(c.Before.Endpoint) || !neverSent(c.After.Endpoint) {
				return ""
			}
			unhealthy = c.After.Address + " was and is not sent, being " + c.After.Endpoint.Health.String()
		}
	}
	if unhealthy != "" {
		return unhealthy
	}
	return waiting
}

// sendsUnhealthy tells whether views contain endpoints that are not ready, as
// they do with a traffic distribution.
func sendsUnhealthy(s *state.ServiceState) bool {
	if s == nil {
		return false
	}
	return slices.ContainsFunc(s.Definitions, func(d *model.Service) bool {
		return d.TrafficDistribution != model.DistributionAny
	})
}

func becauseNothing(d *state.Diff) string {
	switch {
	case len(d.Strays) > 0:
		return d.Strays[0].String() + " belongs to no service"
	case len(d.Services) > 0:
		return "no endpoint of " + string(d.Services[0].Key.Hostname) + " differs in what a proxy sees"
	case len(d.Configs) > 0:
		return "no service changed by " + d.Configs[0].String()
	case len(d.Proxies) > 0:
		return "only the proxy " + d.Proxies[0].ID + " came or went"
	default:
		return "no service and no proxy differs"
	}
}
