package kubetest

import (
	"bytes"
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// logTail is how much of a process's log a failed test shows.
const logTail = 2 << 10

var buildOnce = sync.OnceValues(build) //nolint:gochecknoglobals // the binaries are the same for all tests of a process

// build builds what is not built yet and returns the folder of the binaries. It
// is done once for all tests, so that none of them can end it.
func build() (string, error) {
	ctx := context.Background()
	mod, err := exec.CommandContext(ctx, "go", "env", "GOMOD").Output()
	if err != nil {
		return "", err
	}
	script := filepath.Join(filepath.Dir(string(mod)), "test", "kube", "build.sh")
	cmd := exec.CommandContext(ctx, script)
	cmd.Stderr = os.Stderr
	dir, err := cmd.Output()
	return string(bytes.TrimSpace(dir)), err
}

func binaries(tb testing.TB) string {
	tb.Helper()
	return must(buildOnce())(tb)
}

// process is a running program whose output goes to a file.
type process struct {
	name string
	cmd  *exec.Cmd
	log  string
	done chan struct{} // closed when it has ended
}

func (c *Cluster) startProcess(name string, args ...string) *process {
	c.t.Helper()
	p := &process{name: name, log: filepath.Join(c.dir, name+".log"), done: make(chan struct{})}
	out, err := os.OpenFile(p.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		c.t.Fatal(err)
	}
	// The process is killed by the cleanup below, in the order of its kind.
	p.cmd = exec.CommandContext(context.WithoutCancel(c.t.Context()), filepath.Join(c.bin, name), args...)
	p.cmd.Stdout, p.cmd.Stderr, p.cmd.Dir = out, out, c.dir
	if err := p.cmd.Start(); err != nil {
		c.t.Fatalf("%s: %v", name, err)
	}
	go func() {
		defer close(p.done)
		_ = p.cmd.Wait() // it is killed, so it always ends in an error
		_ = out.Close()
	}()
	c.t.Cleanup(func() {
		p.kill()
		if c.t.Failed() {
			c.t.Logf("end of the log of %s:\n%s", name, p.tail())
		}
	})
	return p
}

func (p *process) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// kill ends the process and waits for its end. It may be called again.
func (p *process) kill() {
	_ = p.cmd.Process.Kill() // it may have ended by itself
	<-p.done
}

func (p *process) tail() string {
	log, err := os.ReadFile(p.log)
	if err != nil {
		return err.Error()
	}
	return strings.ToValidUTF8(string(log[max(0, len(log)-logTail):]), "?")
}

func freePort(tb testing.TB) int {
	tb.Helper()
	var lc net.ListenConfig
	l := must(lc.Listen(tb.Context(), "tcp", "127.0.0.1:0"))(tb)
	addr, ok := l.Addr().(*net.TCPAddr)
	if err := l.Close(); err != nil || !ok {
		tb.Fatalf("listener at %v: %v", l.Addr(), err)
	}
	return addr.Port
}

// insecureClient is for asking whether a process is ready, before its
// certificate is known.
func insecureClient() *http.Client {
	return &http.Client{
		Timeout:   5 * time.Second,
		Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}, //nolint:gosec // see above
	}
}

func answers(ctx context.Context, client *http.Client, url string) bool {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return false
	}
	resp, err := client.Do(req)
	if err != nil {
		return false
	}
	_ = resp.Body.Close()
	return resp.StatusCode == http.StatusOK
}
