package model_test

import (
	"testing"

	"github.com/edsight/edsight/core/model"
)

// TestPlainAddress writes addresses in the ways in which people and tools do.
func TestPlainAddress(t *testing.T) {
	for text, want := range map[string]string{
		"10.1.1.1": "10.1.1.1", "10.1.1.1:8080": "10.1.1.1", "[10.1.1.1]": "10.1.1.1",
		"2001:DB8:0::1": "2001:db8::1", "[2001:db8::1]": "2001:db8::1", "[2001:db8:0::1]:80": "2001:db8::1", "::1": "::1",
		"unix:///var/run/x.sock": "/var/run/x.sock", "/var/run/x.sock": "/var/run/x.sock",
		"web-0": "web-0", "web.example.com": "web.example.com", "": "", "[": "[", "[10.1.1.1]:80": "10.1.1.1", "host:80": "host:80",
	} {
		if got := model.PlainAddress(text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}

// FuzzPlainAddress: what is plain stays as it is, and is the same address.
func FuzzPlainAddress(f *testing.F) {
	for _, seed := range []string{"10.1.1.1:80", "[::1]:80", "2001:DB8::1", "unix:///x", "[[::1]]", "fe80::1%eth0"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		plain := model.PlainAddress(text)
		if model.IsIP(text) && (!model.SameAddress(text, plain) || model.PlainAddress(plain) != plain) {
			t.Errorf("%q is %q, which is %q", text, plain, model.PlainAddress(plain))
		}
	})
}
