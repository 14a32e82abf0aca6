package audit

import (
	"strconv"

	networking "istio.io/api/networking/v1alpha3"

	"github.com/edsight/edsight/core/model"
)

// failovers finds settings for failover of a rule where there is no outlier
// detection that could begin one.
func failovers(key model.ObjectKey, host model.Hostname, r *networking.DestinationRule) []Problem {
	f := failover{key: key, host: host}
	general := r.GetTrafficPolicy()
	detects := general.GetOutlierDetection() != nil
	anywhere := detects
	for i, s := range r.GetSubsets() {
		p, field := s.GetTrafficPolicy(), subsetField(i)+".trafficPolicy"
		own := p.GetOutlierDetection() != nil
		f.judge(field, p.GetLoadBalancer(), detects || own)
		f.ports(field, p)
		anywhere = anywhere || own
	}
	f.judge("spec.trafficPolicy", general.GetLoadBalancer(), anywhere)
	f.ports("spec.trafficPolicy", general)
	return f.problems
}

type failover struct {
	key      model.ObjectKey
	host     model.Hostname
	problems []Problem
}

func (f *failover) judge(field string, lb *networking.LoadBalancerSettings, detects bool) {
	s := lb.GetLocalityLbSetting()
	off := s.GetEnabled() != nil && !s.GetEnabled().GetValue()
	if detects || off || len(s.GetDistribute()) > 0 || len(s.GetFailover())+len(s.GetFailoverPriority()) == 0 {
		return
	}
	f.problems = append(f.problems, Problem{
		Object: f.key, Hosts: []model.Hostname{f.host}, Field: field + ".loadBalancer.localityLbSetting",
		Message: "there is no outlierDetection, so there is no failover: all endpoints have the same priority",
		Remedy:  "set outlierDetection beside the load balancer",
	})
}

// ports judges what holds for single ports, which takes nothing over.
func (f *failover) ports(field string, p *networking.TrafficPolicy) {
	for i, l := range p.GetPortLevelSettings() {
		f.judge(field+".portLevelSettings["+strconv.Itoa(i)+"]", l.GetLoadBalancer(), l.GetOutlierDetection() != nil)
	}
}
