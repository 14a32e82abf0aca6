package explain_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/edsight/edsight/core/explain"
	"github.com/edsight/edsight/core/registry"
	"github.com/edsight/edsight/core/session"
)

const assignmentURL = "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment"

// TestDelivery tells how far what was sent to a connected proxy got.
func TestDelivery(t *testing.T) {
	at := time.Date(2024, 3, 2, 3, 4, 5, 0, time.UTC)
	sent := session.Message{Nonce: "2", Time: at}
	acked := func(nonce string) session.Message { return session.Message{Nonce: nonce, Time: at.Add(time.Second)} }
	for name, tt := range map[string]struct {
		types   []session.Type
		verdict explain.Verdict
		want    string
	}{
		"acknowledged":     {[]session.Type{{URL: assignmentURL, Sent: sent, Acked: acked("2")}}, explain.VerdictOK, "look at Envoy"},
		"not acknowledged": {[]session.Type{{URL: assignmentURL, Sent: sent, Acked: acked("1")}}, explain.VerdictFailed, "at 2024-03-02 03:04:05 UTC is not acknowledged yet"},
		"rejected":         {[]session.Type{{URL: assignmentURL, Sent: sent, Error: "no such port"}}, explain.VerdictFailed, "rejected the last endpoints: no such port"},
		"not sent":         {[]session.Type{{URL: assignmentURL}}, explain.VerdictFailed, "nothing was sent"},
		"not asked for":    {nil, explain.VerdictFailed, "does not ask for endpoints"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, registry.Features{})
			b.load(t, readCase(t, "testdata/nothing-wrong.yaml"))
			e := explain.New(explain.Options{Sessions: func() []session.Session {
				return []session.Session{{Proxy: "other.client"}, {Proxy: "client-0.client", Types: tt.types}}
			}})
			a := e.Explain(b.core.Snapshot(), explain.Question{Proxy: "client-0.client", Host: "web.shop.svc.cluster.local", Port: 80, Address: "10.1.1.1"}, nil)
			last := step(a, explain.StepDelivery)
			if !a.Present || last.Verdict != tt.verdict || !strings.Contains(a.Sentence, tt.want) {
				t.Errorf("present %t, %s, %s", a.Present, last.Verdict, a.Sentence)
			}
		})
	}
}

// TestDeliveredOfAbandoned acknowledges an address that only a slice without maintainer
// lists: what would mend that is said, and not to look at Envoy.
func TestDeliveredOfAbandoned(t *testing.T) {
	b := newBench(t, registry.Features{})
	b.load(t, readCase(t, "testdata/slice-abandoned.yaml"))
	message := session.Message{Nonce: "1", Time: time.Date(2024, 3, 2, 3, 4, 5, 0, time.UTC)}
	e := explain.New(explain.Options{Objects: b.store, Sessions: func() []session.Session {
		return []session.Session{{Proxy: "client-0.client", Types: []session.Type{{URL: assignmentURL, Sent: message, Acked: message}}}}
	}})
	a := e.Explain(b.core.Snapshot(), explain.Question{Proxy: "client-0.client", Host: "web.shop.svc.cluster.local", Port: 80, Address: "10.1.1.1"}, nil)
	const remedy = "elete EndpointSlice shop/web-1 if its addresses should go"
	if s := step(a, explain.StepSource); !strings.Contains(a.Sentence, remedy) || strings.Contains(a.Sentence, "Envoy") || !strings.Contains(s.Remedy, remedy) {
		t.Errorf("%s\nthe step: %s", a.Sentence, s.Remedy)
	}
}

func step(a *explain.Answer, name explain.StepName) explain.Step {
	i := slices.IndexFunc(a.Steps, func(s explain.Step) bool { return s.Name == name })
	return a.Steps[i]
}

// TestReported lays what Envoy says beside the answer.
func TestReported(t *testing.T) {
	ask := func() *explain.Answer {
		b := newBench(t, registry.Features{})
		b.load(t, readCase(t, "testdata/nothing-wrong.yaml"))
		return b.explainer.Explain(b.core.Snapshot(), explain.Question{Proxy: "client-0.client", Host: "web.shop.svc.cluster.local", Port: 80, Address: "10.1.1.1"}, nil)
	}
	a := ask()
	if s := step(a, explain.StepEnvoy); s.Verdict != explain.VerdictSkipped || !strings.Contains(s.Text, "kubectl exec -n client client-0 -c istio-proxy") {
		t.Errorf("nobody was asked: %s, %s", s.Verdict, s.Text)
	}
	before := a.Sentence
	a.Reported("Envoy has 10.1.1.1:8080", true, true)
	if s := step(a, explain.StepEnvoy); s.Verdict != explain.VerdictOK || a.Sentence != before || !a.Sound() {
		t.Errorf("the two agree: %s, %s", s.Verdict, a.Sentence)
	}
	a = ask()
	a.Reported("Envoy does not have it among the 3 of the cluster", false, true)
	if s := step(a, explain.StepEnvoy); s.Verdict != explain.VerdictFailed || s.Remedy == "" || !strings.Contains(a.Sentence, "does not have it among") {
		t.Errorf("the two differ: %s, %s", s.Verdict, a.Sentence)
	}
	if a.Sound() {
		t.Error("an answer is sound with which Envoy does not agree")
	}
	a = ask()
	a.Reported("Envoy has 10.1.1.1:8080 (ejected) and balances no requests to it", true, false)
	if s := step(a, explain.StepEnvoy); s.Verdict != explain.VerdictFailed || a.Sound() || !strings.HasPrefix(a.Sentence, s.Text) || !strings.HasSuffix(a.Sentence, before) {
		t.Errorf("Envoy does not use it: %s, %s", s.Verdict, a.Sentence)
	}
	var nobody explain.Answer
	nobody.Reported("Envoy has it", true, true)
	if len(nobody.Steps) != 0 {
		t.Errorf("steps of an answer about no proxy: %v", nobody.Steps)
	}
}
