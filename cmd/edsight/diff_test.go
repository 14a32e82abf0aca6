package main

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"runtime"
	"runtime/metrics"
	"strings"
	"testing"
	"time"

	"github.com/edsight/edsight/core/archive"
	"github.com/edsight/edsight/core/compare"
	"github.com/edsight/edsight/core/state"
)

// exported is a snapshot of manifests.
func exported(t *testing.T, yaml string) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), "state"+archive.Extension)
	if _, _, err := call(t, "snapshot", "--from", file(t, "shop.yaml", yaml), "-o", out); err != nil {
		t.Fatal(err)
	}
	return out
}

// diff runs the command; code is what the program would end with.
func diff(t *testing.T, args ...string) (out, said string, code int) {
	t.Helper()
	out, _, err := call(t, append([]string{"diff"}, args...)...)
	var b bytes.Buffer
	code = exitCode(err, &b)
	return out, b.String(), code
}

const edsz = `{"configs":[{"@type":"type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment",` +
	`"clusterName":"outbound|80||web.shop.svc.cluster.local","endpoints":[{"lbEndpoints":[{"endpoint":{"address":{"socketAddress":{"address":"ADDRESS","portValue":8080}}},"healthStatus":"HEALTHY"}]}]}]}`

func TestDiffOfStates(t *testing.T) {
	a, b := exported(t, shop+clientPod), exported(t, strings.ReplaceAll(shop, "10.1.0.5", "10.1.0.6")+clientPod)
	if out, said, code := diff(t, a, a); code != 0 || said != "" || !strings.Contains(out, "services that differ: 0") {
		t.Errorf("the same: %d %s%s", code, out, said)
	}
	out, said, code := diff(t, a, b)
	if code != exitDiffers || said != "" || !strings.Contains(out, "service shop/web.shop.svc.cluster.local changed: endpoints +1 −1 ~0") ||
		!strings.Contains(out, "proxy client-0.shop changed: clusters 1, endpoints +1 −1 ~0") {
		t.Errorf("they differ: %d %s%s", code, out, said)
	}
	if out, _, code := diff(t, a, exported(t, shop)); code != exitDiffers || !strings.Contains(out, "proxy client-0.shop went\n") {
		t.Errorf("the proxy went: %d %s", code, out)
	}
	out, _, code = diff(t, a, b, "--proxy", "client-0.shop")
	for _, want := range []string{"- 10.1.0.5:8080", "+ 10.1.0.6:8080", "Nothing lists 10.1.0.6", "Nothing lists 10.1.0.5"} {
		if code != exitDiffers || !strings.Contains(out, want) {
			t.Errorf("one proxy lacks %q: %d %s", want, code, out)
		}
	}
	var d difference
	out, _, code = diff(t, a, b, "-o", "json")
	if err := json.Unmarshal([]byte(out), &d); err != nil || code != exitDiffers || len(d.Services) != 1 || len(d.Proxies) != 1 || d.Proxies[0].OnlyThere != 1 {
		t.Errorf("as JSON: %d %v %s", code, err, out)
	}
}

func TestDiffWithDump(t *testing.T) {
	state := exported(t, shop+clientPod)
	same := file(t, "edsz.json", strings.Replace(edsz, "ADDRESS", "10.1.0.5", 1))
	other := file(t, "other.json", strings.Replace(edsz, "ADDRESS", "10.1.0.9", 1))
	if out, said, code := diff(t, state, same, "--proxy", "client-0.shop"); code != 0 {
		t.Errorf("the same: %d %s%s", code, out, said)
	}
	out, _, code := diff(t, state, other, "--proxy", "client-0.shop", "-o", "json")
	var d compare.Difference
	if err := json.Unmarshal([]byte(out), &d); err != nil || code != exitDiffers || d.OnlyHere != 1 || d.OnlyThere != 1 {
		t.Fatalf("they differ: %d %v %s", code, err, out)
	}
	if p := d.Clusters[0].Endpoints[1]; p.Here != nil || !strings.Contains(p.Why, "Nothing lists 10.1.0.9") {
		t.Errorf("no reason: %+v", p)
	}
	if out, _, code := diff(t, same, other); code != exitDiffers || !strings.Contains(out, "+ 10.1.0.9:8080") {
		t.Errorf("two dumps: %d %s", code, out)
	}
	steering := file(t, "steer.json", strings.Replace(edsz, "ADDRESS", `\u001b[2J`, 1))
	if out, _, _ := diff(t, state, steering, "--proxy", "client-0.shop"); strings.Contains(out, "\x1b") {
		t.Errorf("a dump steers the terminal: %q", out)
	}
}

func TestDiffTrouble(t *testing.T) {
	state := exported(t, shop+clientPod)
	dump := file(t, "dump.json", `{"configs":[{"@type":"x/envoy.admin.v3.BootstrapConfigDump","bootstrap":{"node":{"id":"sidecar~10.0.0.9~other-0.shop~x"}}},{"@type":"x/envoy.admin.v3.EndpointsConfigDump"}]}`)
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{state}, "accepts 2 arg(s)"},
		{[]string{state, state, "--what"}, "unknown flag"},
		{[]string{state, state, "-o", "yaml"}, `"text" or "json"`},
		{[]string{"-", "-"}, "only one of both"},
		{[]string{state, "/nowhere"}, "no such file"},
		{[]string{state, file(t, "x.json", "{}")}, "x.json: this is no dump"},
		{[]string{state, file(t, "x.gz", "\x1f\x8bx")}, "x.gz: read archive"},
		{[]string{state, file(t, "edsz.json", edsz)}, "say with --proxy"},
		{[]string{state, dump, "--proxy", "client-0.shop"}, "is the dump of other-0.shop, not of client-0.shop"},
		{[]string{state, dump}, "there is no proxy other-0.shop"},
		{[]string{state, server.URL}, "404"},
	} {
		if out, said, code := diff(t, c.args...); code != exitTrouble || !strings.Contains(said, c.says) || out != "" {
			t.Errorf("%v: %d %s%s, want %s", c.args, code, out, said, c.says)
		}
	}
}

// TestDiffWithRunning exports the state of a server.
func TestDiffWithRunning(t *testing.T) {
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
	if out, said, code := diff(t, exported(t, shop+clientPod), "http://"+s.http, "--token-file", secret); code != 0 {
		t.Errorf("%d %s%s", code, out, said)
	}
}

// TestArchiveIsServedAndExplained opens what a colleague exported.
func TestArchiveIsServedAndExplained(t *testing.T) {
	state := exported(t, shop+clientPod)
	out, _, err := call(t, "explain", "client-0.shop", "web.shop.svc.cluster.local:80", "--address", "10.1.0.5", "--from", state)
	if err != nil || !strings.Contains(out, "client-0.shop has 10.1.0.5:8080") {
		t.Errorf("explain: %v %s", err, out)
	}
	s := serve(t, "--from", state)
	defer func() {
		if err := s.stop(); err != nil {
			t.Error(err)
		}
	}()
	c := browser(t)
	if status, body := get(t, c, s.login); status != http.StatusOK || !strings.Contains(body, "This is an exported state of") {
		t.Errorf("the first page: %d, without a notice", status)
	}
	for _, path := range []string{
		"/services", "/services/shop/web.shop.svc.cluster.local", "/proxies/client-0.shop", "/transitions/1", "/pushes", "/waiting", "/config", "/snapshots",
		"/explain?proxy=client-0.shop&host=web.shop.svc.cluster.local&port=80", "/proxies/client-0.shop/compare", "/debug/registryz", "/?proxy=client-0.shop",
	} {
		if status, body := get(t, c, "http://"+s.http+path); status != http.StatusOK {
			t.Errorf("%s: %d %.200s", path, status, body)
		}
	}
	if status, body := get(t, c, "http://"+s.http+"/proxies/client-0.shop/compare?at=1"); status != http.StatusOK {
		t.Errorf("the moment of the archive: %d %.200s", status, body)
	}
	for _, args := range [][]string{{"--xds", "127.0.0.1:0"}, {"--context", "x"}, {"--demo"}} {
		if _, _, err := call(t, append([]string{"serve", "--http", "127.0.0.1:0", "--from", state}, args...)...); err == nil {
			t.Errorf("%v beside an archive: no error", args)
		}
	}
	broken := file(t, "broken"+archive.Extension, "\x1f\x8bnothing")
	if _, _, err := call(t, "serve", "--http", "127.0.0.1:0", "--from", broken); err == nil || !strings.Contains(err.Error(), "read archive") {
		t.Errorf("a broken archive: %v", err)
	}
}

// TestArchiveIsReady even if nothing happened to it: garbage is collected as when the
// first state is there.
func TestArchiveIsReady(t *testing.T) {
	var b bytes.Buffer
	if err := archive.Write(&b, &archive.Content{Snapshot: state.Empty()}); err != nil {
		t.Fatal(err)
	}
	s := serve(t, "--from", file(t, "state"+archive.Extension, b.String()))
	sample := []metrics.Sample{{Name: "/gc/gogc:percent"}}
	for end := time.Now().Add(10 * time.Second); sample[0].Value.Kind() != metrics.KindUint64 || sample[0].Value.Uint64() != gcPercent; metrics.Read(sample) {
		if time.Now().After(end) {
			t.Fatalf("GOGC is %d", sample[0].Value.Uint64())
		}
		runtime.Gosched()
	}
	if err := s.stop(); err != nil {
		t.Error(err)
	}
}

// TestStandardInputIsNotCut: what is longer than may be read is an error that names the
// limit.
func TestStandardInputIsNotCut(t *testing.T) {
	const limit = 2 << 20
	if b, err := readAtMost(strings.NewReader(strings.Repeat("x", limit)), limit); err != nil || len(b) != limit {
		t.Errorf("%d bytes: %v", len(b), err)
	}
	if _, err := readAtMost(strings.NewReader(strings.Repeat("x", limit+1)), limit); err == nil || err.Error() != "it is longer than 2 MiB" {
		t.Errorf("a byte more: %v", err)
	}
}
