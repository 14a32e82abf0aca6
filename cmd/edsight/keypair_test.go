package main

import (
	"bytes"
	"crypto/tls"
	"log/slog"
	"os"
	"strings"
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

// TestFilesThatAreBadForAMoment: they are tried again although they do not change, and
// what is wrong is told once.
func TestFilesThatAreBadForAMoment(t *testing.T) {
	cert, key := certificate(t)
	good, err := os.ReadFile(cert)
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	pair, err := loadKeyPair(cert, key, slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	at := time.Now().Add(time.Second)
	look := func(text string) *tls.Certificate {
		t.Helper()
		err := os.WriteFile(cert, []byte(text), 0o600)
		if err == nil {
			err = os.Chtimes(cert, at, at)
		}
		shown, _ := pair.get(nil)
		if err != nil || shown == nil {
			t.Fatal(shown, err)
		}
		return shown
	}
	first, _ := pair.get(nil)
	for range 2 {
		for range 3 {
			if look("no certificate") != first {
				t.Error("a certificate is used that is none")
			}
		}
		second := look(string(good))
		if second == first {
			t.Error("the certificate is not read again")
		}
		first, at = second, at.Add(time.Second)
	}
	if n := strings.Count(log.String(), "certificate not renewed"); n != 2 {
		t.Errorf("it is told %d times, want 2:\n%s", n, &log)
	}
	if _, err := loadKeyPair(cert, key+"x", slog.New(slog.DiscardHandler)); err == nil {
		t.Error("a key that is not there: no error")
	}
}
