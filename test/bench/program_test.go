package bench_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/edsight/edsight/test/kubetest"
)

const programToken = "a token of the benchmark, long enough"

// program is the real program in a process of its own.
type program struct {
	url, health string
	client      *http.Client
	pid         int
	begun       time.Time
}

// launch builds the program and starts it on a cluster.
func launch(b *testing.B, k *kubetest.Cluster) *program {
	b.Helper()
	dir := b.TempDir()
	binary, tokenFile := filepath.Join(dir, "edsight"), filepath.Join(dir, "token")
	if out, err := exec.CommandContext(b.Context(), "go", "build", "-o", binary, "../../cmd/edsight").CombinedOutput(); err != nil {
		b.Fatalf("build: %v\n%s", err, out)
	}
	if err := os.WriteFile(tokenFile, []byte(programToken), 0o600); err != nil {
		b.Fatal(err)
	}
	cmd := exec.CommandContext(context.WithoutCancel(b.Context()), binary, "serve",
		"--http", "127.0.0.1:0", "--health", "127.0.0.1:0", "--token-file", tokenFile, "--log-level", "info")
	cmd.Env = []string{"KUBECONFIG=" + k.Kubeconfig(k.Config())}
	stderr, err := cmd.StderrPipe()
	if err != nil {
		b.Fatal(err)
	}
	p := &program{client: &http.Client{Timeout: patience}, begun: time.Now()}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	p.pid = cmd.Process.Pid
	b.Cleanup(func() {
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			b.Errorf("the program had ended: %v", err)
		}
		if err := cmd.Wait(); err != nil {
			b.Errorf("end of the program: %v", err)
		}
	})
	p.findAddresses(b, stderr)
	return p
}

// findAddresses reads the log up to the line with the login link, and then
// throws it away.
func (p *program) findAddresses(b *testing.B, log io.Reader) {
	b.Helper()
	health := regexp.MustCompile(`health=(\S+)`)
	link := regexp.MustCompile(`Edsight is at (http://[^/]+)/login`)
	lines := bufio.NewReader(log)
	for p.url == "" {
		line, err := lines.ReadString('\n')
		if err != nil {
			b.Fatalf("no login link in the log: %v", err)
		}
		if m := health.FindStringSubmatch(line); m != nil {
			p.health = "http://" + m[1]
		}
		if m := link.FindStringSubmatch(line); m != nil {
			p.url = m[1]
		}
	}
	go func() { _, _ = io.Copy(io.Discard, lines) }() // until the program ends
}

// ready waits until the program is, and returns how long that took.
func (p *program) ready(b *testing.B) time.Duration {
	b.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		if _, err := p.fetch(b.Context(), p.health+"/readyz", ""); err == nil {
			return time.Since(p.begun)
		}
		if time.Since(p.begun) > 2*patience {
			b.Fatal("the program is never ready")
		}
		<-tick.C
	}
}

// fetch reads an answer to its end.
func (p *program) fetch(ctx context.Context, url, accept string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+programToken)
	req.Header.Set("Accept", accept)
	resp, err := p.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close() //nolint:errcheck // it was read
	body, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", url, resp.Status)
	}
	return body, err
}

// page fetches one of the program's pages, as a browser does.
func (p *program) page(ctx context.Context, path string) ([]byte, error) {
	return p.fetch(ctx, p.url+path, "text/html")
}

// memory is VmRSS or VmHWM (the peak) in MiB.
func (p *program) memory(b *testing.B, name string) float64 {
	b.Helper()
	content, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.pid))
	if err != nil {
		b.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(content), name+":")
	kib, err := strconv.ParseFloat(strings.Fields(rest)[0], 64)
	if err != nil {
		b.Fatal(err)
	}
	return kib / 1024
}

// forgetPeak makes the present memory the peak.
func (p *program) forgetPeak(b *testing.B) {
	b.Helper()
	if err := os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", p.pid), []byte("5"), 0); err != nil {
		b.Fatal(err)
	}
}

// heap is what the program's garbage collector found to be alive, in MiB.
func (p *program) heap(b *testing.B) float64 {
	b.Helper()
	body, err := p.fetch(b.Context(), p.url+"/metrics", "")
	if err != nil {
		b.Fatal(err)
	}
	m := regexp.MustCompile(`(?m)^go_memstats_heap_alloc_bytes (\S+)$`).FindSubmatch(body)
	if m == nil {
		b.Fatal("there is no metric of the heap")
	}
	bytes, err := strconv.ParseFloat(string(m[1]), 64)
	if err != nil {
		b.Fatal(err)
	}
	return bytes / (1 << 20)
}
