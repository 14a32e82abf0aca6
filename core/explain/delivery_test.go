package explain_test

import (
	"strings"
	"testing"
	"time"

	"github.com/edsight/edsight/core/explain"
	"github.com/edsight/edsight/core/registry"
	"github.com/edsight/edsight/core/session"
)

// TestDelivery tells how far what was sent to a connected proxy got.
func TestDelivery(t *testing.T) {
	const url = "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment"
	at := time.Date(2024, 3, 2, 3, 4, 5, 0, time.UTC)
	sent := session.Message{Nonce: "2", Time: at}
	acked := func(nonce string) session.Message { return session.Message{Nonce: nonce, Time: at.Add(time.Second)} }
	for name, tt := range map[string]struct {
		types   []session.Type
		verdict explain.Verdict
		want    string
	}{
		"acknowledged":     {[]session.Type{{URL: url, Sent: sent, Acked: acked("2")}}, explain.VerdictOK, "look at Envoy"},
		"not acknowledged": {[]session.Type{{URL: url, Sent: sent, Acked: acked("1")}}, explain.VerdictFailed, "at 03:04:05 is not acknowledged yet"},
		"rejected":         {[]session.Type{{URL: url, Sent: sent, Error: "no such port"}}, explain.VerdictFailed, "rejected the last endpoints: no such port"},
		"not sent":         {[]session.Type{{URL: url}}, explain.VerdictFailed, "nothing was sent"},
		"not asked for":    {nil, explain.VerdictFailed, "does not ask for endpoints"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, registry.Features{})
			b.load(t, readCase(t, "testdata/nothing-wrong.yaml"))
			e := explain.New(explain.Options{Sessions: func() []session.Session {
				return []session.Session{{Proxy: "other.client"}, {Proxy: "client-0.client", Types: tt.types}}
			}})
			a := e.Explain(b.core.Snapshot(), explain.Question{Proxy: "client-0.client", Host: "web.shop.svc.cluster.local", Port: 80, Address: "10.1.1.1"}, nil)
			last := a.Steps[len(a.Steps)-1]
			if !a.Present || last.Verdict != tt.verdict || !strings.Contains(a.Sentence, tt.want) {
				t.Errorf("present %t, %s, %s", a.Present, last.Verdict, a.Sentence)
			}
		})
	}
}
