package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/edsight/edsight/core/explain"
)

// clientPod is a Pod with a proxy beside the shop.
const clientPod = `---
apiVersion: v1
kind: Pod
metadata: {name: client-0, namespace: shop}
spec: {containers: [{name: app}, {name: istio-proxy}]}
status: {phase: Running, podIP: 10.9.0.1, podIPs: [{ip: 10.9.0.1}], conditions: [{type: Ready, status: "True"}]}
`

// explained runs the command; code is what the program would end with.
func explained(t *testing.T, args ...string) (out, said string, code int) {
	t.Helper()
	out, _, err := call(t, append([]string{"explain"}, args...)...)
	var b bytes.Buffer
	code = exitCode(err, &b)
	return out, b.String(), code
}

func TestExplainManifests(t *testing.T) {
	from := file(t, "shop.yaml", shop+clientPod)
	out, said, code := explained(t, "client-0.shop", "web.shop.svc.cluster.local:80", "--address", "10.255.0.9", "--from", from)
	if code != exitAbsent || said != "" {
		t.Errorf("it ends with %d and says %q", code, said)
	}
	for _, want := range []string{"client-0.shop does not have 10.255.0.9", "nothing lists 10.255.0.9", "✗ source", "– assignment"} {
		if !strings.Contains(out, want) {
			t.Errorf("the answer lacks %q:\n%s", want, out)
		}
	}
	if out, said, code = explained(t, "client-0.shop", "web.shop.svc.cluster.local:80", "--from", from, "-o", "json"); code != 0 {
		t.Fatalf("%d %s", code, said)
	}
	var a explain.Answer
	if err := json.Unmarshal([]byte(out), &a); err != nil || !a.Present || a.Cause != explain.NothingWrong || len(a.Steps) == 0 {
		t.Errorf("%v: %s", err, out)
	}
}

// TestExplainHoldsEnvoyAgainst lays what Envoy says beside the answer: of another
// address, of none, of another proxy, and what is no dump.
func TestExplainHoldsEnvoyAgainst(t *testing.T) {
	from := file(t, "shop.yaml", shop+clientPod)
	dump := func(address, more string) string {
		return `{"cluster_statuses":[{"name":"outbound|80||web.shop.svc.cluster.local","host_statuses":[
			{"address":{"socket_address":{"address":"` + address + `","port_value":8080}},"health_status":{"eds_health_status":"HEALTHY"` + more + `},"weight":1}]}]}`
	}
	for _, c := range []struct {
		name, envoy string
		code        int
		says        []string
	}{
		{"has an endpoint", dump("10.1.0.1", ""), 0, []string{"✓ envoy", "Envoy has 1 endpoint in the cluster"}},
		{"has no such cluster", `{"cluster_statuses":[]}`, exitAbsent, []string{"✗ envoy", "which is not as it should be"}},
		{"has ejected it", dump("10.1.0.1", `,"failed_outlier_check":true`), exitAbsent, []string{"✗ envoy", "Envoy has 1 endpoint in the cluster, and balances no requests to 1 of them: 10.1.0.1:8080"}},
		{"is no dump", "{", exitTrouble, nil},
	} {
		out, said, code := explained(t, "client-0.shop", "web.shop.svc.cluster.local:80", "--from", from, "--envoy", file(t, "envoy.json", c.envoy))
		if code != c.code {
			t.Errorf("%s: ends with %d: %s%s", c.name, code, said, out)
		}
		for _, says := range c.says {
			if !strings.Contains(out, says) {
				t.Errorf("%s: the answer lacks %q:\n%s", c.name, says, out)
			}
		}
	}
}

func TestExplainAsksServer(t *testing.T) {
	secret := file(t, "token", token)
	s := serve(t, "--from", file(t, "shop.yaml", shop+clientPod), "--token-file", secret, "--health", "127.0.0.1:0")
	defer func() {
		if err := s.stop(); err != nil {
			t.Error(err)
		}
	}()
	for ready := false; !ready; {
		status, _ := get(t, browser(t), "http://"+s.health+"/readyz")
		ready = status == http.StatusOK
	}
	ask := func(args ...string) (string, error) {
		out, _, err := call(t, append([]string{"explain", "--server", "http://" + s.http}, args...)...)
		return out, err
	}
	out, err := ask("client-0.shop", "nothing.example.com:80", "--token-file", secret)
	if exitCode(err, io.Discard) != exitAbsent || !strings.Contains(out, "no Service and no ServiceEntry has the host nothing.example.com") {
		t.Errorf("%v: %s", err, out)
	}
	if _, err := ask("nobody.shop", "web.shop.svc.cluster.local:80", "--token-file", secret); err == nil || !strings.Contains(err.Error(), "no proxy nobody.shop") {
		t.Errorf("an unknown proxy: %v", err)
	}
	if _, err := ask("client-0.shop", "web.shop.svc.cluster.local:80"); err == nil || !strings.Contains(err.Error(), "--token-file") {
		t.Errorf("without a token: %v", err)
	}
	other := file(t, "other", strings.Repeat("x", len(token)))
	if _, err := ask("client-0.shop", "web.shop.svc.cluster.local:80", "--token-file", other); err == nil || !strings.Contains(err.Error(), "start it with the same --token-file") {
		t.Errorf("with another token: %v", err)
	}
}

func TestExplainRefuses(t *testing.T) {
	for _, args := range [][]string{
		{"a.b"},
		{"a.b", "web:80"},
		{"a.b", "web", "--from", "x"},
		{"a.b", "web:0", "--from", "x"},
		{"a.b", "web:http", "--from", "x"},
		{"a.b", "web:80", "--from", "x", "-o", "yaml"},
		{"a.b", "web:80", "--from", "x", "--server", "http://y"},
		{"a.b", "web:80", "--from", "/nowhere"},
	} {
		if _, said, code := explained(t, args...); code != exitTrouble || said == "" {
			t.Errorf("%v: ends with %d and says %q", args, code, said)
		}
	}
}

// TestTroubleInJSON: programs that want JSON get it in trouble too.
func TestTroubleInJSON(t *testing.T) {
	from := file(t, "shop.yaml", shop+clientPod)
	for _, args := range [][]string{
		{"explain", "nobody.shop", "web.shop.svc.cluster.local:80", "--from", from},
		{"explain", "client-0.shop", "web", "--from", from},
		{"explain", "client-0.shop", "web:80", "--from", "/nowhere"},
		{"wrong", "--from", "/nowhere"},
		{"diff", from, from},
		{"diff", "/nowhere", from},
	} {
		out, _, err := call(t, append(args, "-o", "json")...)
		var said bytes.Buffer
		var got struct{ Error string }
		code := exitCode(err, &said)
		if e := json.Unmarshal([]byte(out), &got); e != nil || got.Error == "" || code != exitTrouble || said.Len() > 0 {
			t.Errorf("%v: ends with %d, says %q and prints %q", args, code, said.String(), out)
		}
	}
}

// TestExplainSteersNoTerminal holds that names cannot carry control characters to
// the terminal.
func TestExplainSteersNoTerminal(t *testing.T) {
	if got := printable("a\x1b[31mb\u202ec\nd"); got != "a?[31mb?c\nd" {
		t.Errorf("got %q", got)
	}
}

func TestEvidenceLine(t *testing.T) {
	for want, e := range map[string]explain.Evidence{
		`labels[version] is absent, wanted "v1"`: {Field: "labels[version]", Want: "v1", Have: "absent"},
		`labels[version] is "v2", wanted "v1"`:   {Field: "labels[version]", Want: "v1", Have: "v2"},
		`status.podIP is ""`:                     {Field: "status.podIP"},
	} {
		if got := evidenceLine(e); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
