package control_test

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"slices"
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
}

func (n *names) say(err error, answer ...string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.answer, n.err = answer, err
}

func (n *names) count() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.asked
}

func (n *names) lookup(_ context.Context, network, name string) ([]netip.Addr, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.asked++
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
func found(c *control.Controller) []string {
	var out []string
	for _, g := range c.Snapshot().Gateways() {
		if g.Name == gatewayName && g.Port == 15443 && g.Network == "net2" {
			out = append(out, g.Addr)
		}
	}
	return out
}

// The addresses of a gateway follow what its name has, are looked up twice a minute,
// and stay while nobody answers.
func TestGatewaysAreLookedUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dns, store := &names{answer: []string{"203.0.113.9", "::ffff:203.0.113.7"}}, memory.New("test", time.Now)
		store.Put(meshWith("networks: {net2: {gateways: [{address: " + gatewayName + ", port: 15443}]}}"))
		c := control.New(control.Options{Source: store, Lookup: dns.lookup})
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go func() { _ = c.Run(ctx) }()
		want := func(what string, addresses ...string) {
			t.Helper()
			<-time.After(31 * time.Second)
			synctest.Wait()
			if got := found(c); !slices.Equal(got, addresses) {
				t.Errorf("%s the gateway has %v, want %v", what, got, addresses)
			}
		}
		want("at first", "203.0.113.7", "203.0.113.9")
		last := c.Journal().Get(c.Journal().Last())
		if last.Push.Scope.Type != state.PushFull || len(last.Causes) != 1 || last.Causes[0].Op != source.OpResolve || last.Causes[0].Key.Kind != model.KindConfigMap {
			t.Errorf("the push is %s for %+v", last.Push.Scope.Type, last.Causes)
		}
		dns.say(nil, "203.0.113.8")
		want("after another answer", "203.0.113.8")
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
		asked := dns.count()
		want("later")
		if n := dns.count() - asked; n != 0 {
			t.Errorf("a name that no gateway has is looked up %d times", n)
		}
	})
}

func TestNoLookupsWhereIstiodMakesNone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dns, store := &names{answer: []string{"203.0.113.9"}}, memory.New("test", time.Now)
		store.Put(meshWith("networks: {net2: {gateways: [{address: " + gatewayName + ", port: 15443}]}}"))
		c := control.New(control.Options{Source: store, Lookup: dns.lookup, Features: registry.Features{NoLookups: true}})
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go func() { _ = c.Run(ctx) }()
		<-time.After(time.Minute)
		if n := dns.count(); n != 0 || len(found(c)) != 0 {
			t.Errorf("%d lookups found %v", n, found(c))
		}
	})
}
