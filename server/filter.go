package server

import (
	"net/url"
	"slices"
	"strings"

	"github.com/edsight/edsight/core/journal"
	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/state"
)

// filter says which transitions a reader wants. The zero value wants all.
type filter struct {
	namespace, service, proxy, address, push string
}

// newFilter reads namespace=, service=, proxy=, address= and push= of a query.
func newFilter(q url.Values) (filter, error) {
	f := filter{
		namespace: q.Get("namespace"), service: q.Get("service"), proxy: q.Get("proxy"),
		address: model.PlainAddress(strings.TrimSpace(q.Get("address"))), push: q.Get("push"),
	}
	types := []string{"", pushAny, state.PushNone.String(), state.PushIncremental.String(), state.PushFull.String()}
	if !slices.Contains(types, f.push) {
		return filter{}, badRequest("push is one of any, none, incremental, full, not %q", f.push)
	}
	return f, nil
}

// pushAny stands for every type of push but none.
const pushAny = "any"

func (f filter) wantsPush(t state.PushType) bool {
	return f.push == "" || f.push == t.String() || (f.push == pushAny && t != state.PushNone)
}

// wants tells whether the transition passes every part of the filter. concerns
// decides about the proxy, which costs most and comes last.
func (f filter) wants(t *journal.Transition, concerns func(*journal.Transition, string) bool) bool {
	if f == (filter{}) {
		return true
	}
	d := t.Diff
	return f.wantsPush(t.Push.Scope.Type) &&
		(f.namespace == "" || touchesNamespace(d, f.namespace)) &&
		(f.service == "" || slices.ContainsFunc(d.Services, func(c state.ServiceChange) bool { return isNamed(c.Key, f.service) })) &&
		(f.address == "" || touchesAddress(d, f.address)) &&
		(f.proxy == "" || concerns(t, f.proxy))
}

func touchesNamespace(d *state.Diff, namespace string) bool {
	inNamespace := func(k model.ObjectKey) bool { return k.Namespace == namespace }
	return slices.ContainsFunc(d.Services, func(c state.ServiceChange) bool { return c.Key.Namespace == namespace }) ||
		slices.ContainsFunc(d.Proxies, func(c state.ProxyChange) bool { return proxyOf(c).Namespace == namespace }) ||
		slices.ContainsFunc(d.Configs, inNamespace) || slices.ContainsFunc(d.Strays, inNamespace)
}

func proxyOf(c state.ProxyChange) *model.Proxy {
	if c.Next != nil {
		return c.Next
	}
	return c.Prev
}

// isNamed tells whether a person means the service by this name: its hostname,
// "namespace/hostname", or the first part of the hostname.
func isNamed(k model.ServiceKey, name string) bool {
	host := string(k.Hostname)
	return name == host || name == k.String() || strings.HasPrefix(host, name+".")
}

func touchesAddress(d *state.Diff, address string) bool {
	has := func(c *model.Candidate) bool {
		return c != nil && (model.SameAddress(c.Address, address) || hasAddress(c.Endpoint, address))
	}
	for _, s := range d.Services {
		for _, e := range s.Endpoints {
			if has(e.Before) || has(e.After) {
				return true
			}
		}
	}
	return false
}

func hasAddress(e *model.Endpoint, address string) bool {
	return e != nil && slices.ContainsFunc(e.Addresses, func(a string) bool { return model.SameAddress(a, address) })
}
