package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestIstiodIsAskedAtItsURLOnly(t *testing.T) {
	var asked string
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the redirect was followed") }))
	defer elsewhere.Close()
	istio := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = r.URL.String()
		if strings.Contains(asked, "moved") {
			http.Redirect(w, r, elsewhere.URL, http.StatusFound)
			return
		}
		_, _ = w.Write([]byte(edsz))
	}))
	defer istio.Close()
	ask, err := istiod(istio.URL, "")
	if err != nil {
		t.Fatal(err)
	}
	if b, err := ask(t.Context(), "a&b.shop/../x"); err != nil || string(b) != edsz || asked != "/debug/edsz?proxyID=a%26b.shop%2F..%2Fx" {
		t.Errorf("asked %s: %v %s", asked, err, b)
	}
	if _, err := ask(t.Context(), "moved"); err == nil || !strings.Contains(err.Error(), "302") || strings.Contains(err.Error(), istio.URL) {
		t.Errorf("redirect: %v", err)
	}
	for _, bad := range []string{"ftp://x", "localhost:15014", "http://", "http://%zz"} {
		if _, err := istiod(bad, ""); err == nil {
			t.Errorf("%s is taken for a URL of istiod", bad)
		}
	}
	if ask, err := istiod("", ""); ask != nil || err != nil {
		t.Errorf("without a URL: %v", err)
	}
}

// TestIstiodToken: istiod gets the token that the file holds now, and what it says of
// a token that it does not take is said.
func TestIstiodToken(t *testing.T) {
	path := filepath.Join(t.TempDir(), "token")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	istio := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer new" {
			w.WriteHeader(http.StatusUnauthorized)
		}
		_, _ = fmt.Fprint(w, edsz)
	}))
	defer istio.Close()
	write("old\n")
	ask, err := istiod(istio.URL, path)
	if err != nil {
		t.Fatal(err)
	}
	fails := func(want string) {
		t.Helper()
		if _, err := ask(t.Context(), "a.b"); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), path) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	fails("out of date")
	write("new\n")
	if b, err := ask(t.Context(), "a.b"); err != nil || string(b) != edsz {
		t.Errorf("with the new token: %v %s", err, b)
	}
	write(" \n")
	fails("holds no token")
	write("a\r\nb")
	fails("holds no token")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	fails("no such file")
	if ask, err = istiod(istio.URL, ""); err != nil {
		t.Fatal(err)
	}
	fails("start Edsight with --istiod-token-file")
}

// TestIstiodTokenStays: a token is for this machine and for https alone, and a file
// that cannot be read is an error at once.
func TestIstiodTokenStays(t *testing.T) {
	path := file(t, "token", "secret")
	for url, ok := range map[string]bool{
		"http://127.0.0.1:15014": true, "http://[::1]:15014": true, "http://localhost:15014": true, "https://istiod.istio-system:15017": true,
		"http://istiod.istio-system:15014": false, "http://10.0.0.1:15014": false, "http://localhost.example:15014": false, "http://u:p@istiod:15014": false,
	} {
		_, err := istiod(url, path)
		if (err == nil) != ok || (err != nil && (!strings.Contains(err.Error(), "in clear") || strings.Contains(err.Error(), "u:p@"))) {
			t.Errorf("%s: %v", url, err)
		}
	}
	absent := filepath.Join(t.TempDir(), "absent")
	if _, _, err := call(t, "serve", "--demo", "--http", "127.0.0.1:0", "--istiod", "http://127.0.0.1:1", "--istiod-token-file", absent); err == nil || !strings.Contains(err.Error(), absent) {
		t.Errorf("a file that is not there: %v", err)
	}
	if _, _, err := call(t, "serve", "--demo", "--http", "127.0.0.1:0", "--istiod-token-file", path); err == nil || !strings.Contains(err.Error(), "--istiod") {
		t.Errorf("a token for nobody: %v", err)
	}
}
