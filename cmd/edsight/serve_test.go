package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

const token = "0123456789abcdef0123456789abcdef"

// nothing is an environment without a cluster.
func nothing(t *testing.T) environment {
	t.Helper()
	missing := filepath.Join(t.TempDir(), "none")
	return environment{
		getenv: func(name string) string { return map[string]string{"KUBECONFIG": missing}[name] },
		out:    &bytes.Buffer{}, err: &bytes.Buffer{},
	}
}

func call(t *testing.T, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	env := nothing(t)
	var out, errs bytes.Buffer
	env.out, env.err = &out, &errs
	err = run(t.Context(), args, env)
	return out.String(), errs.String(), err
}

func file(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

const shop = `
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec:
  clusterIP: 10.96.0.10
  ports: [{name: http, port: 80}]
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: web-x7k2p, namespace: shop, labels: {kubernetes.io/service-name: web}}
addressType: IPv4
ports: [{name: http, port: 8080}]
endpoints: [{addresses: [10.1.0.5], conditions: {ready: true}}]
`

// served is a program under test.
type served struct {
	login, http, health string
	stop                func() error
}

var addressInLog = regexp.MustCompile(`msg=listening http=(\S+)(?: health=(\S+))?`)

// serve starts the program and waits for its login URL.
func serve(t *testing.T, args ...string) *served {
	t.Helper()
	env := nothing(t)
	r, w := io.Pipe()
	env.err = w
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		err := run(ctx, append([]string{"serve", "--http", "127.0.0.1:0"}, args...), env)
		done <- err
		_ = w.CloseWithError(io.EOF)
	}()
	s := &served{stop: func() error { cancel(); return <-done }}
	lines := bufio.NewScanner(r)
	for s.login == "" && lines.Scan() {
		if m := addressInLog.FindStringSubmatch(lines.Text()); m != nil {
			s.http, s.health = m[1], m[2]
		}
		if text, ok := strings.CutPrefix(lines.Text(), "Edsight is at "); ok {
			s.login, _, _ = strings.Cut(text, " ")
		}
	}
	if s.login == "" {
		t.Fatalf("no login URL: %v", <-done)
	}
	go func() { _, _ = io.Copy(io.Discard, r) }() // the log must not stand still
	return s
}

func get(t *testing.T, c *http.Client, url string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept", "text/html")
	resp, err := c.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(body)
}

func browser(t *testing.T) *http.Client {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &http.Client{Jar: jar, Timeout: 10 * time.Second}
}

func TestServeFromManifests(t *testing.T) {
	s := serve(t, "--from", file(t, "shop.yaml", shop), "--health", "127.0.0.1:0")
	if status, _ := get(t, browser(t), "http://"+s.http+"/"); status != http.StatusUnauthorized {
		t.Errorf("without a session: status %d", status)
	}
	b := browser(t)
	status, body := get(t, b, s.login)
	if status != http.StatusOK || !strings.Contains(body, "<html") {
		t.Errorf("login: status %d, %.200s", status, body)
	}
	if status, _ := get(t, browser(t), s.login); status != http.StatusUnauthorized {
		t.Errorf("the link used again: status %d", status)
	}
	if status, body := get(t, b, "http://"+s.http+"/debug/registryz"); status != http.StatusOK || !strings.Contains(body, "web.shop.svc.cluster.local") {
		t.Errorf("registryz: status %d, %.200s", status, body)
	}
	if status, body := get(t, browser(t), "http://"+s.health+"/readyz"); status != http.StatusOK || !strings.Contains(body, "ready") {
		t.Errorf("readyz: status %d, %s", status, body)
	}
	if status, _ := get(t, browser(t), "http://"+s.health+"/debug/registryz"); status == http.StatusOK {
		t.Errorf("registryz on the address for probes: status %d", status)
	}
	if err := s.stop(); err != nil {
		t.Errorf("stop: %v", err)
	}
}

// TestStopDoesNotFailForClientsThatStay: a browser keeps connections open on which
// it has not asked anything yet.
func TestStopDoesNotFailForClientsThatStay(t *testing.T) {
	t.Parallel()
	s := serve(t, "--from", file(t, "shop.yaml", shop))
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", s.http)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if _, err := io.WriteString(conn, "GET / HTTP/1.1\r\nHost: localhost\r\nX: "); err != nil {
		t.Fatal(err)
	}
	get(t, browser(t), "http://"+s.http+"/healthz") // the other connection is accepted by now
	if err := s.stop(); err != nil {
		t.Errorf("stop: %v", err)
	}
}

func TestServeTLS(t *testing.T) {
	cert, key := certificate(t)
	s := serve(t, "--from", file(t, "shop.yaml", shop), "--tls-cert", cert, "--tls-key", key)
	if !strings.HasPrefix(s.login, "https://127.0.0.1:") {
		t.Errorf("login URL is %s", s.login)
	}
	b := browser(t)
	b.Transport = &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
	if status, _ := get(t, b, s.login); status != http.StatusOK {
		t.Errorf("status %d", status)
	}
	if err := s.stop(); err != nil {
		t.Error(err)
	}
}

func TestServeRefuses(t *testing.T) {
	var lc net.ListenConfig
	busy, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = busy.Close() }()
	manifests := file(t, "shop.yaml", shop)
	open := file(t, "token", token)
	if err := os.Chmod(open, 0o644); err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		args []string
		want []string
	}{
		"no source":     {nil, []string{"--demo", "--from PATH", "--kubeconfig"}},
		"two sources":   {[]string{"--demo", "--from", manifests}, []string{"demo", "from"}},
		"port in use":   {[]string{"--from", manifests, "--http", busy.Addr().String()}, []string{busy.Addr().String(), "in use", "--http"}},
		"health in use": {[]string{"--from", manifests, "--http", "127.0.0.1:0", "--health", busy.Addr().String()}, []string{"in use", "--health"}},
		"open address":  {[]string{"--from", manifests, "--http", "0.0.0.0:0"}, []string{"other machines", "--insecure-bind"}},
		"half of TLS":   {[]string{"--from", manifests, "--tls-cert", "x"}, []string{"tls-key"}},
		"open token":    {[]string{"--from", manifests, "--token-file", open}, []string{"0644"}},
		"no manifests":  {[]string{"--from", "/nowhere", "--http", "127.0.0.1:0"}, []string{"/nowhere"}},
		"bad level":     {[]string{"--from", manifests, "--log-level", "loud"}, []string{"log-level"}},
		"an argument":   {[]string{"now"}, []string{"now"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, _, err := call(t, append([]string{"serve"}, c.args...)...)
			for _, want := range c.want {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("got %v, want %q in it", err, want)
				}
			}
		})
	}
}
