package main

import (
	"crypto/tls"
	"os"
	"testing"
	"time"
)

// A certificate that is renewed under a running server is used at once; while its files
// do not fit together the one of before stays.
func TestCertificateIsRenewed(t *testing.T) {
	cert, key := certificate(t)
	s := serve(t, "--from", file(t, "shop.yaml", shop), "--tls-cert", cert, "--tls-key", key)
	shown := func() string {
		t.Helper()
		d := tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true}}
		conn, err := d.DialContext(t.Context(), "tcp", s.http)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close() }()
		return string(conn.(*tls.Conn).ConnectionState().PeerCertificates[0].Raw)
	}
	at := time.Now()
	replace := func(name, by string) {
		t.Helper()
		bytes, err := os.ReadFile(by)
		if err == nil {
			err = os.WriteFile(name, bytes, 0o600)
		}
		at = at.Add(time.Second)
		if err == nil {
			err = os.Chtimes(name, at, at)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	first := shown()
	newCert, newKey := certificate(t)
	replace(cert, newCert)
	if shown() != first {
		t.Error("a certificate without its key is used")
	}
	replace(key, newKey)
	second := shown()
	if second == first {
		t.Error("the new certificate is not used")
	}
	if err := os.Remove(key); err != nil {
		t.Fatal(err)
	}
	if shown() != second {
		t.Error("without its files the certificate is another one")
	}
	if err := s.stop(); err != nil {
		t.Error(err)
	}
}
