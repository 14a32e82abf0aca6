package control

import (
	"context"
	"errors"
	"maps"
	"net"
	"net/netip"
	"slices"
	"time"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/source"
	"github.com/edsight/edsight/core/state"
)

// Names are looked up again after the least time for which istiod believes an answer.
const (
	lookupEvery   = 30 * time.Second
	lookupTimeout = 5 * time.Second
)

// Lookup finds the addresses of a name, as net.Resolver.LookupNetIP does.
type Lookup func(ctx context.Context, network, name string) ([]netip.Addr, error)

// LookUpGateways keeps the addresses of the gateways between networks that are known
// by a name, until ctx is done. If a lookup fails what was found last stays; a name
// that does not exist has no addresses.
func (c *Controller) LookUpGateways(ctx context.Context, lookup Lookup) {
	known := map[string]answer{}
	for ctx.Err() == nil && !c.Snapshot().Mesh.Features.NoLookups {
		next := c.journal.Last() + 1
		c.lookUp(ctx, lookup, known)
		wait, cancel := context.WithTimeout(ctx, lookupEvery)
		if c.journal.Wait(wait, next) != nil {
			c.log.Debug("gateways looked up again", "names", len(known))
		}
		cancel()
	}
}

// answer is what was found for a name.
type answer struct {
	addresses []string
	at        time.Time
}

// lookUp asks about the names that are new, or were asked about some time ago.
func (c *Controller) lookUp(ctx context.Context, lookup Lookup, known map[string]answer) {
	snap := c.Snapshot()
	named := map[string]state.Gateway{}
	for _, g := range snap.Gateways() {
		if !g.Addressed() {
			named[g.Addr] = g
		}
	}
	for name := range known {
		if _, ok := named[name]; !ok {
			delete(known, name)
			c.resolved(c.mesh, name, nil)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(named)) {
		was, asked := known[name]
		if asked && c.now().Sub(was.at) < lookupEvery {
			continue // still good
		}
		addresses, err := addressesOf(ctx, lookup, name)
		if err != nil {
			c.log.Warn("gateway not looked up", "name", name, "error", err)
			addresses = was.addresses
		}
		known[name] = answer{addresses, c.now()}
		if !slices.Equal(addresses, was.addresses) {
			c.resolved(c.origin(snap, named[name]), name, addresses)
		}
	}
}

// addressesOf are those of a name, in order. That there are none is an answer, too.
func addressesOf(ctx context.Context, lookup Lookup, name string) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, lookupTimeout)
	defer cancel()
	found, err := lookup(ctx, "ip", name)
	var dns *net.DNSError
	if errors.As(err, &dns) && dns.IsNotFound {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out []string
	for _, a := range found {
		out = append(out, a.Unmap().String())
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

func (c *Controller) resolved(by model.ObjectKey, name string, addresses []string) {
	c.dirty.addName(source.Cause{Key: by, Op: source.OpResolve, Seen: c.now()}, name, addresses)
}

// origin is the object that names the gateway: a Service, or the mesh's networks.
func (c *Controller) origin(snap *state.Snapshot, g state.Gateway) model.ObjectKey {
	if g.Cluster != "" {
		for svc := range snap.Services() {
			for _, d := range svc.Definitions {
				if d = d.In(g.Cluster); d != nil && slices.Contains(d.ExternalAddresses[g.Cluster], g.Addr) {
					return d.Object
				}
			}
		}
	}
	return c.mesh
}
