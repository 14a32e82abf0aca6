package cds

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"

	security "istio.io/api/security/v1beta1"

	"github.com/edsight/edsight/core/model"
)

func attributeOfPort(key string) bool { return key == "destination.port" }

func attributeOfAddress(key string) bool {
	return key == "source.ip" || key == "remote.ip" || key == "destination.ip"
}

// knownAttributes tells whether all conditions of a rule are about something that
// Istio knows. It leaves other rules out, whatever their action.
func knownAttributes(r *security.Rule) bool {
	return !slices.ContainsFunc(r.GetWhen(), func(c *security.Condition) bool { return !model.KnownAttribute(c.GetKey()) })
}

// canAllow tells whether requests can be allowed by a rule. Where a rule to deny or
// audit is widened by what cannot be checked, one to allow is left out: what only
// HTTP has on TCP, a port or an address that is none.
func canAllow(r *security.Rule, tcp bool) bool {
	return knownAttributes(r) && (!tcp || !needsHTTP(r)) &&
		!slices.ContainsFunc(ports(r), func(p string) bool { return !isPort(p) }) &&
		!slices.ContainsFunc(addresses(r), func(a string) bool { return !isAddress(a) })
}

func isPort(text string) bool {
	_, err := strconv.ParseUint(text, 10, 16)
	return err == nil
}

// isAddress reads an address or a range of them.
func isAddress(text string) bool {
	if strings.Contains(text, "/") {
		_, err := netip.ParsePrefix(text)
		return err == nil
	}
	_, err := netip.ParseAddr(text)
	return err == nil
}

func ports(r *security.Rule) []string {
	out := conditionValues(r, attributeOfPort)
	for _, t := range r.GetTo() {
		out = slices.Concat(out, t.GetOperation().GetPorts(), t.GetOperation().GetNotPorts())
	}
	return out
}

func addresses(r *security.Rule) []string {
	out := conditionValues(r, attributeOfAddress)
	for _, f := range r.GetFrom() {
		s := f.GetSource()
		out = slices.Concat(out, s.GetIpBlocks(), s.GetNotIpBlocks(), s.GetRemoteIpBlocks(), s.GetNotRemoteIpBlocks())
	}
	return out
}

// conditionValues lists the values of the conditions on some attributes.
func conditionValues(r *security.Rule, on func(key string) bool) []string {
	var out []string
	for _, c := range r.GetWhen() {
		if on(c.GetKey()) {
			out = slices.Concat(out, c.GetValues(), c.GetNotValues())
		}
	}
	return out
}

// needsHTTP tells whether a rule speaks of what only HTTP requests have.
func needsHTTP(r *security.Rule) bool {
	for _, f := range r.GetFrom() {
		if s := f.GetSource(); len(s.GetRequestPrincipals())+len(s.GetNotRequestPrincipals()) > 0 {
			return true
		}
	}
	for _, t := range r.GetTo() {
		o := t.GetOperation()
		if len(o.GetHosts())+len(o.GetNotHosts())+len(o.GetMethods())+len(o.GetNotMethods())+len(o.GetPaths())+len(o.GetNotPaths()) > 0 {
			return true
		}
	}
	return slices.ContainsFunc(r.GetWhen(), func(c *security.Condition) bool { return strings.HasPrefix(c.GetKey(), "request.") })
}
