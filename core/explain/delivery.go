package explain

import (
	"github.com/edsight/edsight/core/session"
)

const assignmentType = "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment"

// delivery says how far the newest assignments got on their way to the proxy. What
// it says is about all of them: clients answer a whole message.
func (x *inquiry) delivery() (Verdict, string, []Evidence) {
	if x.sent == nil {
		return VerdictSkipped, "nothing to deliver", nil
	}
	s := x.session()
	if s == nil {
		return VerdictSkipped, "the proxy is modelled from its Pod, not connected", nil
	}
	t, ok := s.Type(assignmentType)
	if !ok {
		return VerdictFailed, x.proxy.ID + " is connected and does not ask for endpoints: it has no cluster yet, or they are warming", nil
	}
	evidence := []Evidence{{Object: x.proxy.Pod, Field: "acknowledged nonce", Want: t.Sent.Nonce, Have: t.Acked.Nonce}}
	switch t.Status() {
	case session.NotSent:
		return VerdictFailed, x.proxy.ID + " asks for endpoints and nothing was sent to it yet", evidence
	case session.Error:
		return VerdictFailed, x.proxy.ID + " rejected the last endpoints: " + t.Error, evidence
	case session.Stale:
		return VerdictFailed, "what was sent to " + x.proxy.ID + " at " + clock(t.Sent.Time) + " is not acknowledged yet", evidence
	case session.Synced:
	}
	return VerdictOK, "sent at " + clock(t.Sent.Time) + " and acknowledged at " + clock(t.Acked.Time), evidence
}

// askEnvoy says how to learn what Envoy itself has.
func (x *inquiry) askEnvoy() string {
	if x.proxy == nil || x.proxy.Pod.Name == "" {
		return "not asked"
	}
	return "not asked; it says so itself: kubectl exec -n " + x.proxy.Pod.Namespace + " " + x.proxy.Pod.Name +
		" -c istio-proxy -- pilot-agent request GET 'clusters?format=json'"
}

// session is the newest connection of the proxy, nil if there is none.
func (x *inquiry) session() *session.Session {
	if x.opts.Sessions == nil {
		return nil
	}
	var newest *session.Session
	for _, s := range x.opts.Sessions() {
		if s.Proxy == x.proxy.ID && (newest == nil || s.ConnectedAt.After(newest.ConnectedAt)) {
			newest = &s
		}
	}
	return newest
}
