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
	changed [2]time.Time // when the files were, as the pair was read
	said    string       // the error of the last look at the files
}

func loadKeyPair(cert, key string, log *slog.Logger) (*keyPair, error) {
	c := &keyPair{cert: cert, key: key, log: log}
	_, err := c.look()
	return c, err
}

// config is of servers that have the certificate.
func (c *keyPair) config() *tls.Config {
	return &tls.Config{GetCertificate: c.get, MinVersion: tls.VersionTLS12}
}

// get gives the certificate as it is now. If the files cannot be used, the last stays.
func (c *keyPair) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	pair, err := c.look()
	if err != nil {
		c.log.Warn("certificate not renewed", "file", c.cert, "error", err)
	}
	return pair, nil
}

// look looks at the files, and gives what is in use then. An error that was there the
// last time is not given again.
func (c *keyPair) look() (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	before := c.said
	c.said = ""
	err := c.readLocked()
	if err != nil {
		c.said = err.Error()
	}
	if c.said == before {
		err = nil
	}
	return c.pair, err
}

// readLocked reads the files unless they are as they were when they could be used.
func (c *keyPair) readLocked() error {
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
	pair, err := tls.LoadX509KeyPair(c.cert, c.key)
	if err != nil {
		return err
	}
	c.pair, c.changed = &pair, changed
	return nil
}
