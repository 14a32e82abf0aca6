package e2e_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"k8s.io/client-go/rest"

	"github.com/edsight/edsight/core/control"
	"github.com/edsight/edsight/core/source"
	"github.com/edsight/edsight/test/kubetest"
)

const token = "a token of the test, long enough for Edsight"

// program is the real program, asked over HTTP and heard over its websocket.
type program struct {
	*kubetest.Cluster
	url    string
	health string
	client *http.Client
	frames <-chan frame
	last   uint64 // sequence number of the last frame taken
}

// frame is what the websocket sends.
type frame struct {
	Transition *struct {
		Seq    uint64 `json:"seq"`
		Causes []struct {
			source.Cause
			ResourceVersions []string `json:"resourceVersions"`
		} `json:"causes"`
	} `json:"transition"`
	Gap json.RawMessage `json:"gap"`
}

// serve starts the program on a cluster, with all rights.
func serve(t *testing.T, k *kubetest.Cluster) *program {
	t.Helper()
	return launch(t, k.Config(), k, "serve", "--http=127.0.0.1:0", "--health=127.0.0.1:0")
}

// launch builds the program and starts it as a user would, who has config in
// $KUBECONFIG; it ends, in order, with the test.
func launch(t *testing.T, config *rest.Config, k *kubetest.Cluster, args ...string) *program {
	t.Helper()
	dir := t.TempDir()
	binary, tokenFile := filepath.Join(dir, "edsight"), filepath.Join(dir, "token")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", binary, "../../cmd/edsight").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	if err := os.WriteFile(tokenFile, []byte(token), 0o600); err != nil {
		t.Fatal(err)
	}
	// It is killed if the test does not come to end it.
	ctx, kill := context.WithTimeout(context.WithoutCancel(t.Context()), 5*patience)
	t.Cleanup(kill)
	cmd := exec.CommandContext(ctx, binary, append(args, "--token-file", tokenFile)...)
	cmd.Env = []string{"KUBECONFIG=" + k.Kubeconfig(config)}
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p := &program{Cluster: k, client: &http.Client{Timeout: patience}}
	lines := bufio.NewReader(stderr)
	p.findAddresses(t, lines)
	var log strings.Builder
	read := make(chan error, 1)
	go func() { _, err := io.Copy(&log, lines); read <- err }()
	t.Cleanup(func() {
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Errorf("the program had ended: %v", err)
		}
		if err := <-read; err != nil {
			t.Errorf("log: %v", err)
		}
		if err := cmd.Wait(); err != nil {
			t.Errorf("end of the program: %v", err)
		}
		if t.Failed() {
			t.Logf("log of the program:\n%s", log.String())
		}
	})
	p.listen(t)
	return p
}

// findAddresses reads the log up to the line with the login link.
func (p *program) findAddresses(t *testing.T, log *bufio.Reader) {
	t.Helper()
	health := regexp.MustCompile(`health=\S+:(\d+)`)
	url := regexp.MustCompile(`Edsight is at (http://[^/]+)/login\?token=`)
	for p.url == "" {
		line, err := log.ReadString('\n')
		if err != nil {
			t.Fatalf("no login link in the log: %v", err)
		}
		if m := health.FindStringSubmatch(line); m != nil {
			p.health = "http://127.0.0.1:" + m[1]
		}
		if m := url.FindStringSubmatch(line); m != nil {
			p.url = m[1]
		}
	}
}

// listen puts what the websocket says into frames, from the first transition on.
func (p *program) listen(t *testing.T) {
	t.Helper()
	dialer := &websocket.Dialer{Subprotocols: []string{"edsight.v1.json"}, HandshakeTimeout: patience}
	header := http.Header{"Authorization": {"Bearer " + token}}
	conn, resp, err := dialer.DialContext(t.Context(), strings.Replace(p.url, "http", "ws", 1)+"/ws?since=1", header)
	if err != nil {
		t.Fatalf("websocket: %v, %v", err, resp)
	}
	_ = resp.Body.Close()
	frames := make(chan frame, 1<<16) // more than a test causes
	go func() {
		defer close(frames)
		for {
			var f frame
			if conn.ReadJSON(&f) != nil {
				return
			}
			frames <- f
		}
	}()
	t.Cleanup(func() { _ = conn.Close() })
	p.frames = frames
}

// get asks the program for a body of JSON.
func (p *program) get(t *testing.T, path string, into any) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, p.url+path, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	resp, err := p.client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close() //nolint:errcheck // it was read
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s", path, resp.Status)
	}
	if err := json.NewDecoder(resp.Body).Decode(into); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

func (p *program) shards(t *testing.T) shardz {
	t.Helper()
	var body shardz
	p.get(t, "/debug/endpointShardz", &body)
	return body
}

func (p *program) status(t *testing.T) control.Status {
	t.Helper()
	var st control.Status
	p.get(t, "/api/v1/status", &st)
	return st
}

// until takes one frame after another, each of which must follow on the last,
// until ok holds.
func (p *program) until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	timeout := time.After(patience)
	for !ok() {
		select {
		case f, open := <-p.frames:
			if !open || f.Transition == nil || f.Transition.Seq != p.last+1 {
				t.Fatalf("after frame %d came %+v (open: %v)", p.last, f, open)
			}
			p.last = f.Transition.Seq
		case <-timeout:
			t.Fatalf("waited in vain for %s; status %+v", what, p.status(t))
		}
	}
}

// probe asks the listener of probes.
func (p *program) probe(ctx context.Context, path string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, p.health+path, http.NoBody)
	if err != nil {
		return err
	}
	resp, err := p.client.Do(req)
	if err != nil {
		return err
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", path, resp.Status)
	}
	return nil
}
