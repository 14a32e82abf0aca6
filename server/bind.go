package server

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strings"
)

// Bind says how a listener is going to be used.
type Bind struct {
	// TLS tells that the listener speaks TLS.
	TLS bool
	// OpenDebug tells that some answers need no authentication.
	OpenDebug bool
	// Insecure tells that the user insists.
	Insecure bool
}

// CheckBind refuses an address which others than this machine can reach, unless
// what they find there is encrypted and authenticated, or the user insists.
func CheckBind(addr string, b Bind) error {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return fmt.Errorf("address %q: %w", addr, err)
	}
	switch {
	case isLoopback(host) || b.Insecure:
		return nil
	case !b.TLS:
		return fmt.Errorf("address %q can be reached from other machines: it needs TLS", addr)
	case b.OpenDebug:
		return fmt.Errorf("address %q can be reached from other machines: it needs authentication for every answer", addr)
	}
	return nil
}

func isLoopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.IsLoopback()
}

// minTokenLength is how short a token may be; shorter ones could be guessed.
const minTokenLength = 32

// ReadTokenFile reads the token for programs from a file which nobody but its
// owner can read.
func ReadTokenFile(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", fmt.Errorf("token file: %w", err)
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		return "", fmt.Errorf("token file %s: mode is %04o, must be 0600", path, mode)
	}
	data, err := os.ReadFile(path) //nolint:gosec // whoever starts the program names the file
	if err != nil {
		return "", fmt.Errorf("token file: %w", err)
	}
	token := strings.TrimSpace(string(data))
	if len(token) < minTokenLength {
		return "", fmt.Errorf("token file %s: %w", path, errShortToken)
	}
	return token, nil
}

var errShortToken = errors.New("the token is shorter than 32 characters")
