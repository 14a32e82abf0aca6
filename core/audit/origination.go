package audit

import (
	"fmt"

	networking "istio.io/api/networking/v1alpha3"

	"github.com/edsight/edsight/core/model"
)

// originations finds TLS that a rule asks for and nobody gets: mutual without a
// certificate, and what the settings for a port take back.
func originations(key model.ObjectKey, host model.Hostname, r *networking.DestinationRule) []Problem {
	o := origination{key: key, host: host}
	general := r.GetTrafficPolicy()
	o.judge("spec.trafficPolicy", general, nil)
	for i, s := range r.GetSubsets() {
		o.judge(subsetField(i)+".trafficPolicy", s.GetTrafficPolicy(), general.GetTls())
	}
	return o.problems
}

type origination struct {
	key      model.ObjectKey
	host     model.Hostname
	problems []Problem
}

func (o *origination) find(field, message, remedy string) {
	o.problems = append(o.problems, Problem{Object: o.key, Hosts: []model.Hostname{o.host}, Field: field, Message: message, Remedy: remedy})
}

// judge looks at a policy, over which there may be general TLS.
func (o *origination) judge(field string, p *networking.TrafficPolicy, general *networking.ClientTLSSettings) {
	o.certificate(field+".tls", p.GetTls())
	if p.GetTls() != nil {
		general = p.GetTls()
	}
	for i, l := range p.GetPortLevelSettings() {
		at := fmt.Sprintf("%s.portLevelSettings[%d]", field, i)
		o.certificate(at+".tls", l.GetTls())
		mode := general.GetMode()
		if l.GetTls() == nil && (mode == networking.ClientTLSSettings_SIMPLE || mode == networking.ClientTLSSettings_MUTUAL) {
			o.find(at, fmt.Sprintf("settings for a port take nothing over, so connections to port %d are made without the TLS that is asked for in general", l.GetPort().GetNumber()),
				"write tls in the settings for the port, too")
		}
	}
}

func (o *origination) certificate(field string, t *networking.ClientTLSSettings) {
	if t.GetMode() == networking.ClientTLSSettings_MUTUAL && t.GetCredentialName() == "" && (t.GetClientCertificate() == "" || t.GetPrivateKey() == "") {
		o.find(field, "mode MUTUAL without clientCertificate and privateKey is nothing: connections are made without TLS", "name both files, or (for proxies of istiod) a credentialName; or use mode SIMPLE")
	}
}
