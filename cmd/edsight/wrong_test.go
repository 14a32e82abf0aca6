package main

import (
	"bytes"
	"encoding/json"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/edsight/edsight/core/archive"
	"github.com/edsight/edsight/views"
)

// strayPort is a slice whose port is called as none of the Service's.
const strayPort = `---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: web-stray, namespace: shop, labels: {kubernetes.io/service-name: web}}
addressType: IPv4
ports: [{name: https, port: 8443}]
endpoints: [{addresses: [10.1.0.6], conditions: {ready: true}}]
`

// askedWrong runs the command; code is what the program would end with.
func askedWrong(t *testing.T, args ...string) (out, said string, code int) {
	t.Helper()
	out, _, err := call(t, append([]string{"wrong"}, args...)...)
	var b bytes.Buffer
	code = exitCode(err, &b)
	return out, b.String(), code
}

func TestWrong(t *testing.T) {
	if out, said, code := askedWrong(t, "--from", file(t, "shop.yaml", shop)); code != 0 || out != "nothing is wrong\n" {
		t.Errorf("of a sound mesh: ends with %d: %s%s", code, said, out)
	}
	from := file(t, "shop.yaml", shop+strayPort)
	out, said, code := askedWrong(t, "--from", from)
	if code != exitWrong || said != "" {
		t.Errorf("ends with %d: %s", code, said)
	}
	for _, want := range []string{"1 service in trouble:\n✗ shop/web.shop.svc.cluster.local: 1 with the unknown port name", "1 finding about slices:\n✗ EndpointSlice/shop/web-stray: ports: "} {
		if !strings.Contains(out, want) {
			t.Errorf("it lacks %q:\n%s", want, out)
		}
	}
	state := filepath.Join(t.TempDir(), "state"+archive.Extension)
	if _, _, err := call(t, "snapshot", "--from", from, "-o", state); err != nil {
		t.Fatal(err)
	}
	if out, _, code := askedWrong(t, "--from", state); code != exitWrong || !strings.Contains(out, "not at hand") || !strings.Contains(out, "web-stray") {
		t.Errorf("of an exported state: ends with %d: %s", code, out)
	}
}

// TestWrongIsThePage: the command prints the JSON of the page of a running Edsight.
func TestWrongIsThePage(t *testing.T) {
	secret := file(t, "token", token)
	s := serve(t, "--from", file(t, "shop.yaml", shop+strayPort), "--token-file", secret, "--health", "127.0.0.1:0")
	defer func() {
		if err := s.stop(); err != nil {
			t.Error(err)
		}
	}()
	for ready := false; !ready; {
		status, _ := get(t, browser(t), "http://"+s.health+"/readyz")
		ready = status == http.StatusOK
	}
	out, said, code := askedWrong(t, "--server", "http://"+s.http, "--token-file", secret, "-o", "json")
	var m views.Wrong
	if err := json.Unmarshal([]byte(out), &m); err != nil || code != exitWrong || m.ServiceCount != 1 || m.FindingCount != 1 || !m.State.Ready {
		t.Errorf("ends with %d: %v: %s%s", code, err, said, out)
	}
}

func TestWrongRefuses(t *testing.T) {
	for _, args := range [][]string{
		{},
		{"x"},
		{"--no-flag"},
		{"--from", "x", "--server", "http://y"},
		{"--from", "x", "-o", "yaml"},
		{"--from", "/nowhere"},
		{"--server", "ftp://y"},
	} {
		if _, said, code := askedWrong(t, args...); code != exitTrouble || said == "" {
			t.Errorf("%v: ends with %d and says %q", args, code, said)
		}
	}
}

// TestWrongText counts what does not fit on the page.
func TestWrongText(t *testing.T) {
	m := views.Wrong{ServiceCount: 3, Services: []views.ServiceRow{{Trouble: []string{"a", "b"}}}, Problems: []views.Problem{{Where: "x:1", Message: "c", Remedy: "d"}}}
	const want = "3 services in trouble:\n✗ /: a; b\n  and 2 more\n1 problem with the configuration:\n✗ x:1: c; d\n"
	if got := wrongText(&m); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
