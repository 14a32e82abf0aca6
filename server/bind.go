package server

import (
	"fmt"
	"net"
	"net/netip"
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
	case IsLoopback(host) || b.Insecure:
		return nil
	case !b.TLS:
		return fmt.Errorf("address %q can be reached from other machines: it needs TLS", addr)
	case b.OpenDebug:
		return fmt.Errorf("address %q can be reached from other machines: it needs authentication for every answer", addr)
	}
	return nil
}

// IsLoopback tells whether a host, a name or an address, is this machine.
func IsLoopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.IsLoopback()
}
