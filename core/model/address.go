package model

import (
	"net"
	"net/netip"
	"strings"
)

// PlainAddress is an address, however somebody writes it, in its one spelling: an IP
// address without brackets and port, a socket without its scheme. Objects may write it in
// another; SameAddress compares.
func PlainAddress(text string) string {
	if !strings.ContainsAny(text, ":[") {
		return text
	}
	bare := strings.Trim(text, "[]")
	if host, _, err := net.SplitHostPort(text); err == nil {
		bare = host
	}
	if a, err := netip.ParseAddr(bare); err == nil {
		return a.String()
	}
	return strings.TrimPrefix(text, "unix://")
}

// SameAddress compares addresses; IPv6 addresses by value, as they are written in
// several ways. Most comparisons are of two that differ, so that comes first.
func SameAddress(a, b string) bool {
	if a == b {
		return true
	}
	six := strings.IndexByte(b, ':') >= 0
	if !six {
		return len(a) == len(b) && strings.EqualFold(a, b)
	}
	if strings.IndexByte(a, ':') < 0 {
		return false
	}
	pa, errA := netip.ParseAddr(a)
	pb, errB := netip.ParseAddr(b)
	return errA == nil && errB == nil && pa == pb
}

// IsIP tells whether the text is an IP address.
func IsIP(s string) bool {
	_, err := netip.ParseAddr(s)
	return err == nil
}

// IsIPv6 tells whether the text is an IPv6 address.
func IsIPv6(s string) bool {
	a, err := netip.ParseAddr(s)
	return err == nil && a.Is6() && !a.Is4In6()
}
