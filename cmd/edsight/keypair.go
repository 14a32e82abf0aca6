package main

import (
	"crypto/tls"
	"log/slog"
	"os"
	"sync"
	"time"
)

// keyPair is a certificate chain and its key in files, which may be renewed while
// they are in use.
type keyPair struct {
	cert, key string
	log       *slog.Logger

	mu      sync.Mutex // protects all below
	pair    *tls.Certificate
	changed [2]time.Time // when the files were, as they were read last
}

func loadKeyPair(cert, key string, log *slog.Logger) (*keyPair, error) {
	c := &keyPair{cert: cert, key: key, log: log}
	return c, c.read()
}

// config is of servers that have the certificate.
func (c *keyPair) config() *tls.Config {
	return &tls.Config{GetCertificate: c.get, MinVersion: tls.VersionTLS12}
}

// get gives the certificate as it is now. If the files cannot be used, the last stays.
func (c *keyPair) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	if err := c.read(); err != nil {
		c.log.Warn("certificate not renewed", "file", c.cert, "error", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.pair, nil
}

// read reads the files if they changed since they were read last.
func (c *keyPair) read() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	var changed [2]time.Time
	for i, name := range []string{c.cert, c.key} {
		about, err := os.Stat(name)
		if err != nil {
			return err
		}
		changed[i] = about.ModTime()
	}
	if changed == c.changed {
		return nil
	}
	c.changed = changed
	pair, err := tls.LoadX509KeyPair(c.cert, c.key)
	if err != nil {
		return err
	}
	c.pair = &pair
	return nil
}
