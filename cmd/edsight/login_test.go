//go:build unix

package main

import (
	"bufio"
	"io"
	"net/http"
	"net/http/cookiejar"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
)

// TestMain makes the tests' program an Edsight if it is started as one.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "serve" {
		main()
		return
	}
	m.Run()
}

// started is an Edsight as a process of its own, and the login links that it prints.
func started(t *testing.T, args ...string) (pid int, links func() string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], append([]string{"serve", "--http", "127.0.0.1:0"}, args...)...)
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Wait() }) // the end of the context has killed it
	lines := bufio.NewScanner(stderr)
	return cmd.Process.Pid, func() string {
		for lines.Scan() {
			if text, ok := strings.CutPrefix(lines.Text(), "Edsight is at "); ok {
				link, _, _ := strings.Cut(text, " ")
				return link
			}
		}
		t.Fatal("it printed no link")
		return ""
	}
}

// TestLogin: a used link is replaced by a new one while Edsight runs.
func TestLogin(t *testing.T) {
	pid, links := started(t, "--from", file(t, "mesh.yaml", shop))
	logIn := func(link string) int {
		jar, err := cookiejar.New(nil)
		if err != nil {
			t.Fatal(err)
		}
		code, _ := get(t, &http.Client{Jar: jar}, link)
		return code
	}
	link := links()
	if first, again := logIn(link), logIn(link); first != http.StatusOK || again != http.StatusUnauthorized {
		t.Fatalf("the first link answers %d, then %d", first, again)
	}
	out, _, err := call(t, "login", strconv.Itoa(pid))
	if err != nil || !strings.Contains(out, "log of process "+strconv.Itoa(pid)) {
		t.Fatalf("it says %q, %v", out, err)
	}
	if code := logIn(links()); code != http.StatusOK {
		t.Errorf("the new link answers %d", code)
	}
}

// TestLoginAsksNobodyElse: another program is named, and goes on.
func TestLoginAsksNobodyElse(t *testing.T) {
	other := exec.CommandContext(t.Context(), "cat")
	stdin, err := other.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := other.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	// What it passes on shows that it runs: a new process has no command line at first.
	if _, err := stdin.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(stdout, make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	for pid, want := range map[string]string{
		"0": `not "0"`, "-1": "unknown shorthand", "x": `not "x"`, "999999999": "999999999: it does not run",
		strconv.Itoa(other.Process.Pid): `no Edsight that serves, but "cat"`,
		strconv.Itoa(os.Getpid()):       "no Edsight that serves, but", // the same program, which does something else
	} {
		if _, _, err := call(t, "login", pid); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("process %s: %v, want %q", pid, err, want)
		}
	}
	if err := stdin.Close(); err != nil {
		t.Fatal(err)
	}
	if err := other.Wait(); err != nil {
		t.Errorf("the other program ended: %v", err)
	}
}
