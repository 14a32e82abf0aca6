package control_test

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/edsight/edsight/core/control"
	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/registry"
	"github.com/edsight/edsight/core/source"
	"github.com/edsight/edsight/core/source/memory"
	"github.com/edsight/edsight/core/state"
)

const gatewayName = "lb.example.com"

// names is a DNS that answers with what it is told to.
type names struct {
	mu     sync.Mutex // protects all below
	answer []string
	err    error
	asked  int
	dead   bool // nothing answers
}

func (n *names) say(err error, answer ...string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.answer, n.err, n.dead = answer, err, false
}

func (n *names) die() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.dead = true
}

func (n *names) count() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.asked
}

func (n *names) lookup(ctx context.Context, network, name string) ([]netip.Addr, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.asked++
	if n.dead || strings.HasPrefix(name, "dead") {
		n.mu.Unlock()
		<-ctx.Done()
		n.mu.Lock()
		return nil, ctx.Err()
	}
	if network != "ip" || name != gatewayName {
		return nil, errors.New("asked about " + network + " " + name)
	}
	var out []netip.Addr
	for _, a := range n.answer {
		out = append(out, netip.MustParseAddr(a))
	}
	return out, n.err
}

func meshWith(networks string) (model.ObjectKey, *corev1.ConfigMap) {
	key := model.ObjectKey{Cluster: "Kubernetes", Kind: model.KindConfigMap, Namespace: "istio-system", Name: "istio"}
	return key, &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}, Data: map[string]string{"meshNetworks": networks},
	}
}

// found are the addresses of the gateway's name.
func found(s *state.Snapshot) []string {
	var out []string
	for _, g := range s.Gateways() {
		if g.Name == gatewayName && g.Port == 15443 && g.Network == "net2" {
			out = append(out, g.Addr)
		}
	}
	return out
}

// running is a controller over a store, which runs until the test ends.
func running(t *testing.T, store *memory.Store, dns *names, f registry.Features) *control.Controller {
	t.Helper()
	c := control.New(control.Options{Source: store, Lookup: dns.lookup, Features: f})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- c.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("the core ended: %v", err)
		}
	})
	return c
}

// after lets time pass, and all that it brings about be done.
func after(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

// The addresses of a gateway follow what its name has, are looked up twice a minute,
// and stay while nobody answers.
func TestGatewaysAreLookedUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dns, store := &names{answer: []string{"203.0.113.9", "::ffff:203.0.113.7"}}, memory.New("test", time.Now)
		store.Put(meshWith("networks: {net2: {gateways: [{address: " + gatewayName + ", port: 15443}]}}"))
		c := running(t, store, dns, registry.Features{})
		want := func(what string, addresses ...string) {
			t.Helper()
			after(35 * time.Second)
			if got := found(c.Snapshot()); !slices.Equal(got, addresses) {
				t.Errorf("%s the gateway has %v, want %v", what, got, addresses)
			}
		}
		want("at first", "203.0.113.7", "203.0.113.9")
		dns.say(nil, "203.0.113.8")
		want("after another answer", "203.0.113.8")
		last := c.Journal().Get(c.Journal().Last())
		if last.Push.Scope.Type != state.PushFull || len(last.Causes) != 1 || last.Causes[0].Op != source.OpResolve || last.Causes[0].Key.Kind != model.KindConfigMap {
			t.Errorf("the push is %s for %+v", last.Push.Scope.Type, last.Causes)
		}
		version := c.Snapshot().Version
		dns.say(errors.New("no server"))
		want("without an answer", "203.0.113.8")
		if v := c.Snapshot().Version; v != version {
			t.Errorf("a failed lookup publishes version %d after %d", v, version)
		}
		dns.say(&net.DNSError{Err: "no such host", IsNotFound: true})
		want("when there is no such name")
		dns.say(nil, "2001:db8::1")
		want("in another family", "2001:db8::1")
		store.Put(meshWith("networks: {}"))
		want("without networks")
		asked, seq := dns.count(), c.Journal().Last()
		want("later")
		if n := dns.count() - asked; n != 0 {
			t.Errorf("a name that no gateway has is looked up %d times", n)
		}
		if n := c.Journal().Last() - seq; n != 0 {
			t.Errorf("%d transitions for a name that no gateway has", n)
		}
		dns.say(errors.New("no server"))
		store.Put(meshWith("networks: {net2: {gateways: [{address: " + gatewayName + ", port: 15443}]}}"))
		want("when the gateway is back, and nobody answers")
	})
}

// No state is published in which a gateway has a name that was not asked about, as
// long as somebody answers: endpoints would be sent as if there were no gateway.
func TestGatewaysAreLookedUpBeforehand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dns, store := &names{answer: []string{"203.0.113.9"}}, memory.New("test", time.Now)
		networks := "networks: {net2: {gateways: [{address: " + gatewayName + ", port: 15443}]}}"
		store.Put(meshWith(networks))
		c := running(t, store, dns, registry.Features{})
		synctest.Wait()
		store.Put(meshWith("networks: {}"))
		synctest.Wait()
		store.Put(meshWith(networks))
		synctest.Wait()
		for _, tr := range c.Journal().Since(1, 10).Transitions {
			want := []string{"203.0.113.9"}
			if tr.Seq == 2 {
				want = nil
			}
			if got := found(tr.Next); !slices.Equal(got, want) {
				t.Errorf("in state %d the gateway has %v, want %v", tr.Seq, got, want)
			}
		}
		if n := c.Journal().Last(); n != 3 {
			t.Errorf("there are %d transitions, want 3", n)
		}
	})
}

// Names that nobody answers for delay the first state by ten seconds, a later one by
// one, and no other name.
func TestNobodyAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dns, store := &names{answer: []string{"203.0.113.9"}}, memory.New("test", time.Now)
		gateways := func(names ...string) string {
			text := "networks: {net2: {gateways: ["
			for _, n := range names {
				text += "{address: " + n + ", port: 15443}, "
			}
			return text + "]}}"
		}
		store.Put(meshWith(gateways("dead-1.example.com", "dead-2.example.com", gatewayName)))
		c := running(t, store, dns, registry.Features{})
		if after(9 * time.Second); c.Status().Ready {
			t.Error("the first state does not wait for the names")
		}
		if after(2 * time.Second); !slices.Equal(found(c.Snapshot()), []string{"203.0.113.9"}) {
			t.Errorf("after eleven seconds the gateway has %v", found(c.Snapshot()))
		}
		store.Put(meshWith("networks: {}"))
		synctest.Wait()
		dns.die()
		store.Put(meshWith(gateways(gatewayName)))
		seq := c.Journal().Last()
		if synctest.Wait(); c.Journal().Last() != seq {
			t.Error("a state does not wait for a new name")
		}
		if after(2 * time.Second); c.Journal().Last() != seq+1 || len(found(c.Snapshot())) != 0 {
			t.Errorf("after two seconds the gateway has %v in state %d", found(c.Snapshot()), c.Journal().Last())
		}
		dns.say(nil, "203.0.113.8")
		if after(16 * time.Second); !slices.Equal(found(c.Snapshot()), []string{"203.0.113.8"}) {
			t.Errorf("when the DNS is back the gateway has %v", found(c.Snapshot()))
		}
	})
}

// Who is told to end does so at once, and publishes no state without the addresses.
func TestEndWhileNobodyAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.New("test", time.Now)
		store.Put(meshWith("networks: {net2: {gateways: [{address: dead.example.com, port: 15443}]}}"))
		c := control.New(control.Options{Source: store, Lookup: (&names{}).lookup})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		begin := time.Now()
		if err := c.Run(ctx); err != nil || time.Since(begin) != time.Second || c.Status().Ready {
			t.Errorf("ended after %s with error %v and state %d", time.Since(begin), err, c.Snapshot().Version)
		}
	})
}

func TestNoLookupsWhereIstiodMakesNone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dns, store := &names{answer: []string{"203.0.113.9"}}, memory.New("test", time.Now)
		store.Put(meshWith("networks: {net2: {gateways: [{address: " + gatewayName + ", port: 15443}]}}"))
		c := running(t, store, dns, registry.Features{NoLookups: true})
		after(time.Minute)
		if n := dns.count(); n != 0 || len(found(c.Snapshot())) != 0 {
			t.Errorf("%d lookups found %v", n, found(c.Snapshot()))
		}
	})
}
