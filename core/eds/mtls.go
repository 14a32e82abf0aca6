package eds

import (
	"encoding/json"
	"strconv"

	"github.com/edsight/edsight/core/model"
)

const (
	tlsModeIstio    = "istio"
	tlsModeDisabled = "disabled"
)

// PeerRule is one PeerAuthentication as clients need to know it.
type PeerRule struct {
	// Selector of workloads; empty for the namespace's or the mesh's own rule.
	Selector model.Labels `json:"selector,omitempty"`
	// Disable tells that workloads do not take mTLS.
	Disable bool `json:"disable,omitempty"`
	// Ports differ from the rest of the workload.
	Ports map[string]bool `json:"ports,omitempty"`
}

// PeerAuth is a list of PeerRules in a form that can be compared.
type PeerAuth string

// NewPeerAuth takes the rules in their order of precedence. It is empty if no
// rule disables mTLS.
func NewPeerAuth(rules []PeerRule) PeerAuth {
	disables := false
	for _, r := range rules {
		disables = disables || r.Disable
		for _, d := range r.Ports {
			disables = disables || d
		}
	}
	if !disables {
		return ""
	}
	text, err := json.Marshal(rules)
	if err != nil {
		return "" // cannot happen: a PeerRule has only strings and booleans
	}
	return PeerAuth(text)
}

func (p PeerAuth) rules() []PeerRule {
	if p == "" {
		return nil
	}
	var rules []PeerRule
	if json.Unmarshal([]byte(p), &rules) != nil {
		return nil
	}
	return rules
}

// tlsDecider says which endpoints are reached by mTLS.
type tlsDecider struct {
	tls   TLS
	rules []PeerRule
}

// mode returns the value of the endpoint's transport socket match, "" for plain
// text.
func (d tlsDecider) mode(e *model.Endpoint) string {
	mode := e.Workload.TLSMode
	switch d.tls {
	case TLSOther:
		return ""
	case TLSMutual:
		if mode == tlsModeDisabled {
			return ""
		}
		return mode
	case TLSAuto:
	}
	if mode != tlsModeIstio || d.disabled(e) {
		return ""
	}
	return mode
}

func (d tlsDecider) disabled(e *model.Endpoint) bool {
	_, off := decide(d.rules, e)
	return off
}

// Decide finds the rule that holds for an endpoint, in the order of the rules, and
// whether it turns mTLS off; -1 if none holds.
func (p PeerAuth) Decide(e *model.Endpoint) (rule int, off bool) { return decide(p.rules(), e) }

func decide(rules []PeerRule, e *model.Endpoint) (rule int, off bool) {
	for i, r := range rules {
		if !r.Selector.SubsetOf(e.Workload.Labels) {
			continue // for other workloads
		}
		if off, ok := r.Ports[strconv.FormatUint(uint64(e.Port), 10)]; ok {
			return i, off
		}
		return i, r.Disable
	}
	return -1, false
}
