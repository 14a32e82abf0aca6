package control

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"net"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/source"
	"github.com/edsight/edsight/core/state"
)

// Names are looked up again after the least time for which istiod believes an answer;
// those without addresses earlier.
const (
	lookupEvery = 30 * time.Second
	retryEvery  = 5 * time.Second
)

// lookupTimeout leaves time for a second server after a dead one. The first state waits
// for it, as its endpoints replace those that proxies have from before; later ones wait
// less, as they carry other changes, too.
const (
	lookupTimeout = 10 * time.Second
	turnTimeout   = time.Second
)

// Lookup finds the addresses of a name, as net.Resolver.LookupNetIP does.
type Lookup func(ctx context.Context, network, name string) ([]netip.Addr, error)

// named is a gateway that is a name, with the addresses of the name in order.
type named struct {
	gateway   state.Gateway
	addresses []string
}

// namesOf are the gateways that are names, by their names, with the addresses that
// were found for them.
func namesOf(snap *state.Snapshot) map[string]*named {
	out := map[string]*named{}
	for _, g := range snap.Gateways() {
		name := g.Name
		if name == "" && !g.Addressed() {
			name = g.Addr
		}
		if name == "" {
			continue // an address as written
		}
		if out[name] == nil {
			out[name] = &named{}
		}
		if g.Name == "" {
			out[name].gateway = g
		} else {
			out[name].addresses = append(out[name].addresses, g.Addr)
		}
	}
	for _, n := range out {
		n.addresses = slices.Compact(n.addresses)
	}
	return out
}

// resolve asks about the names that the state under construction has first, before
// anybody sees it: without an address, a gateway stands for nothing. It fails if ctx is
// done.
func (c *Controller) resolve(ctx context.Context, prev *state.Snapshot, b *state.Builder) error {
	if c.lookup == nil {
		return nil
	}
	before, now := namesOf(prev), namesOf(b.Current())
	var fresh []string
	for name := range now {
		if before[name] == nil {
			fresh = append(fresh, name)
		}
	}
	for name := range before {
		if now[name] == nil {
			c.world.Resolve(name, nil)
		}
	}
	limit := turnTimeout
	if prev.Version == 0 {
		limit = lookupTimeout
	}
	answers := c.ask(ctx, fresh, limit)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	for _, name := range slices.Sorted(maps.Keys(answers)) {
		if err := answers[name].err; err != nil {
			c.log.Warn("gateway not looked up", "name", name, "error", err)
			continue
		}
		c.world.Resolve(name, answers[name].addresses)
	}
	c.world.Compile(b)
	return nil
}

// renewNames keeps the addresses of names up to date until ctx is done. If a lookup
// fails what was found last stays; a name that does not exist has no addresses.
func (c *Controller) renewNames(ctx context.Context) {
	tick := time.NewTicker(retryEvery)
	defer tick.Stop()
	last := c.now()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		all := c.now().Sub(last) >= lookupEvery
		if all {
			last = c.now()
		}
		c.renew(ctx, all)
	}
}

// renew asks about all names, or about those without addresses.
func (c *Controller) renew(ctx context.Context, all bool) {
	snap := c.Snapshot()
	known := namesOf(snap)
	var list []string
	level := slog.LevelDebug // it was said
	if all {
		level = slog.LevelWarn
	}
	for name, n := range known {
		if all || len(n.addresses) == 0 {
			list = append(list, name)
		}
	}
	answers := c.ask(ctx, list, lookupTimeout)
	if ctx.Err() != nil {
		return // the end
	}
	for _, name := range slices.Sorted(maps.Keys(answers)) {
		switch a := answers[name]; {
		case a.err != nil:
			c.log.Log(ctx, level, "gateway not looked up", "name", name, "error", a.err)
		case !slices.Equal(a.addresses, known[name].addresses):
			c.dirty.addName(source.Cause{Key: c.origin(snap, known[name].gateway), Op: source.OpResolve, Seen: c.now()}, name, a.addresses)
		}
	}
}

// answer is what was found for a name.
type answer struct {
	addresses []string
	err       error
}

// ask looks names up, all at the same time.
func (c *Controller) ask(ctx context.Context, names []string, limit time.Duration) map[string]answer {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var (
		wg  sync.WaitGroup
		mu  sync.Mutex // protects out
		out = map[string]answer{}
	)
	for _, name := range names {
		wg.Go(func() {
			addresses, err := addressesOf(ctx, c.lookup, name)
			mu.Lock()
			defer mu.Unlock()
			out[name] = answer{addresses, err}
		})
	}
	wg.Wait()
	return out
}

// addressesOf are those of a name, in order. That there are none is an answer, too.
func addressesOf(ctx context.Context, lookup Lookup, name string) ([]string, error) {
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
