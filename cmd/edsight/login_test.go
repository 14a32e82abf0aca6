//go:build unix

package main

import (
	"net/http"
	"net/http/cookiejar"
	"os"
	"strconv"
	"strings"
	"testing"
)

// TestLogin: a used link is replaced by a new one while Edsight runs.
func TestLogin(t *testing.T) {
	s := serve(t, "--from", file(t, "mesh.yaml", shop))
	logIn := func(link string) int {
		jar, err := cookiejar.New(nil)
		if err != nil {
			t.Fatal(err)
		}
		code, _ := get(t, &http.Client{Jar: jar}, link)
		return code
	}
	if first, again := logIn(s.login), logIn(s.login); first != http.StatusOK || again != http.StatusUnauthorized {
		t.Fatalf("the first link answers %d, then %d", first, again)
	}
	if _, _, err := call(t, "login", strconv.Itoa(os.Getpid())); err != nil {
		t.Fatal(err)
	}
	if code := logIn(<-s.links); code != http.StatusOK {
		t.Errorf("the new link answers %d", code)
	}
	for _, pid := range []string{"0", "-1", "x", "999999999"} {
		if _, _, err := call(t, "login", pid); err == nil || !strings.Contains(err.Error(), pid) {
			t.Errorf("process %s: %v", pid, err)
		}
	}
	if err := s.stop(); err != nil {
		t.Error(err)
	}
}
