package ads

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	rpcstatus "google.golang.org/genproto/googleapis/rpc/status"
)

// The steps of a client, one a line:
//
//	cds|eds|lds|rds|odd +NAME -NAME =NAME !   asks: subscribe, unsubscribe, has the
//	                                          newest version of, refuses what it got
//	ack, nack                                 answers the last message of the type
//	put OBJECT                                changes the mesh
//	want cds|eds|… +NAME -NAME                exactly this message comes
//	none                                      nothing comes
//
// In names s0 is a service's cluster, and what else a proxy has is left out.

var protocolTypes = map[string]string{
	"cds": typeCluster, "eds": typeEndpoint, "lds": typeListener, "rds": typeRoute, "odd": "type.googleapis.com/nobody.knows",
}

var protocolObjects = map[string]string{
	"rule":  rule,
	"rule8": strings.ReplaceAll(rule, "7", "8"),
	"-rule": "$op: delete\n" + strings.TrimPrefix(rule, "\n"),
	"s0a":   slice("s0", "10.0.0.1"),
	"s0b":   slice("s0", "10.0.0.2"),
	"-s0":   "$op: delete\napiVersion: v1\nkind: Service\nmetadata: {name: s0, namespace: shop}\n",
	"s0":    strings.Split(services(1), "---\napiVersion: discovery")[0],
	"+s2":   services(3),
}

var protocolSteps = []struct{ what, steps string }{
	{"a name given up while all are wanted is not asked for any more", `
cds +* +s0
want cds +s0 +s1
cds -s0
want cds +s0
cds -*
none
put rule
none`},
	{"a name given up together with all is over", "cds +* +s1\nwant cds +s0 +s1\ncds -s1 -*\nnone\nput rule\nnone"},
	{"what goes and is given up at a time is said to have gone", "cds +* +s0\nwant cds +s0 +s1\nput -s0\nwant cds -s0\ncds -s0\nwant cds -s0"},
	{"given up and wanted in one request means wanted", "cds\nwant cds +s0 +s1\neds +s0\nwant eds +s0\neds -s0 +s0\nwant eds +s0\nput s0b\nwant eds +s0"},
	{"all given up and wanted in one request come again", "cds\nwant cds +s0 +s1\ncds -* +*\nwant cds +s0 +s1\nput rule\nwant cds +s0"},
	{"giving up first is not asking for all", "cds -s0\nnone\ncds +s1\nwant cds +s1"},
	{"all go on beside a name", "cds\nwant cds +s0 +s1\ncds +s0\nwant cds +s0\nput +s2\nwant cds +s2"},
	{"all may be given up, however they were asked for", "cds\nwant cds +s0 +s1\ncds -*\nnone\nput +s2\nnone"},
	{"what nobody asked for may be given up", "cds\nwant cds +s0 +s1\ncds -s0\nnone\neds -s1\nnone"},
	{"names may come twice", "eds +s0 +s0 -s1 -s1\nwant eds +s0\neds +s0 +s0\nwant eds +s0"},
	{"endpoints without clusters", "eds +s0\nwant eds +s0\nput s0b\nwant eds +s0\nput -s0\nwant eds -s0\nput s0\nwant eds +s0"},
	{"endpoints before clusters follow these again", "eds +s0 +s1\nwant eds +s0 +s1\ncds\nwant cds +s0 +s1\nwant eds +s0 +s1"},
	{"endpoints before clusters that the client has", "eds +s0 =s0\nnone\ncds =s0 =s1\nwant cds\nnone"},
	{"a star is no name of endpoints", "eds +*\nwant eds -*\nput s0b\nnone"},
	{"what is not there is said once, and comes later", "eds +s2\nwant eds -s2\nput s0b\nnone\nput +s2\nwant eds +s2"},
	{"what is not there is said again when asked again", "eds +s2\nwant eds -s2\neds +s2\nwant eds -s2"},
	{"versions of before: unknown, of what is gone, and equal", "cds =s0 =gone\nwant cds +s1 -gone"},
	{"versions of names of before", "eds +s0 +s1 +gone =s0 =gone\nwant eds +s1 -gone"},
	{"versions of before that are not asked for", "eds +s1 =s0\nwant eds +s1"},
	{"versions count in the first request only", "eds +s1\nwant eds +s1\neds +s0 =s0\nwant eds +s0"},
	{"listeners of before are not Edsight's", "lds =x\nwant lds -x"},
	{"types in any order", "odd +x\nwant odd -x\nrds +y\nwant rds -y\nlds\nwant lds\neds +s0\nwant eds +s0\ncds +s0\nwant cds +s0\nwant eds +s0"},
	{"a refusal without a nonce is none", "cds\nwant cds +s0 +s1\ncds !\nnone\nput rule\nwant cds +s0"},
	{"what is refused is not sent again, what comes next is", "cds\nnack cds +s0 +s1\nnone\nput rule\nnack cds +s0\nnone\nput -rule\nwant cds +s0"},
	{"a cluster that goes and comes is followed by its endpoints", `
cds
want cds +s0 +s1
eds +s0
want eds +s0
put -s0
want cds -s0
want eds -s0
put s0
want cds +s0
want eds +s0`},
	{"a cluster that goes and comes between two answers is not sent", `
cds
hold cds +s0 +s1
put -s0
put s0
none
ack cds
none`},
	{"and is if it differs", "cds\nhold cds +s0 +s1\nput -s0\nput s0\nput rule\nnone\nack cds\nwant cds +s0"},
	{"endpoints do not wait for clusters", "cds\nhold cds +s0 +s1\neds +s0\nwant eds +s0\nput s0b\nwant eds +s0"},
	{"a change of both while neither is answered", `
cds
hold cds +s0 +s1
eds +s0
hold eds +s0
put s0b
put rule
none
ack eds
want eds +s0
ack cds
want cds +s0
want eds +s0`},
}

// TestProtocol holds the incremental protocol to what its description demands.
func TestProtocol(t *testing.T) {
	t.Parallel()
	for _, c := range protocolSteps {
		t.Run(c.what, func(t *testing.T) {
			t.Parallel()
			h := start(t, services(2))
			p := &player{h: h, last: map[string]*discoveryv3.DeltaDiscoveryResponse{}, versions: map[string]map[string]string{}}
			seen := h.delta("other-0.shop", &discoveryv3.DeltaDiscoveryRequest{TypeUrl: typeCluster})
			p.versions["cds"] = versions(seen.next())
			seen.send(&discoveryv3.DeltaDiscoveryRequest{TypeUrl: typeEndpoint, ResourceNamesSubscribe: []string{cluster("s0"), cluster("s1")}})
			p.versions["eds"] = versions(seen.next())
			seen.cancel()
			for line := range strings.Lines(strings.TrimSpace(c.steps)) {
				p.do(t, strings.Fields(line))
			}
		})
	}
}

// player plays the steps of a client.
type player struct {
	h        *harness
	c        *deltaClient
	last     map[string]*discoveryv3.DeltaDiscoveryResponse
	versions map[string]map[string]string
}

func (p *player) do(t *testing.T, words []string) {
	t.Helper()
	switch words[0] {
	case "put":
		p.h.put(protocolObjects[words[1]])
		p.h.eventually("the change is looked at", func() bool { return p.h.core.Status().Waiting == 0 })
	case "none":
		p.c.nothing()
	case "ack":
		p.c.ack(p.last[words[1]])
	case "want", "hold", "nack":
		m := p.c.next()
		if have := spoken(m); have != strings.Join(words[1:], " ") {
			t.Fatalf("message is %s, want %s", have, strings.Join(words[1:], " "))
		}
		p.last[words[1]] = m
		switch words[0] {
		case "want":
			p.c.ack(m)
		case "nack":
			p.c.nack(m, "no")
		}
	default:
		p.ask(p.request(words))
	}
}

func (p *player) ask(r *discoveryv3.DeltaDiscoveryRequest) {
	if p.c == nil {
		p.c = p.h.delta("client-0.shop", r)
		return
	}
	p.c.send(r)
}

func (p *player) request(words []string) *discoveryv3.DeltaDiscoveryRequest {
	r := &discoveryv3.DeltaDiscoveryRequest{TypeUrl: protocolTypes[words[0]], InitialResourceVersions: map[string]string{}}
	for _, w := range words[1:] {
		name := w[1:]
		if strings.HasPrefix(name, "s") {
			name = cluster(name)
		}
		switch w[0] {
		case '+':
			r.ResourceNamesSubscribe = append(r.ResourceNamesSubscribe, name)
		case '-':
			r.ResourceNamesUnsubscribe = append(r.ResourceNamesUnsubscribe, name)
		case '=':
			r.InitialResourceVersions[name] = "2024-11-02T00:00:00Z/7" // another server's
			if v, ok := p.versions[words[0]][name]; ok {
				r.InitialResourceVersions[name] = v
			}
		case '!':
			r.ErrorDetail = &rpcstatus.Status{Code: 3, Message: "no"}
		}
	}
	if len(r.GetInitialResourceVersions()) > 0 && words[0] == "cds" {
		for name, v := range p.versions["cds"] { // what every proxy has
			if !strings.HasPrefix(name, "outbound|") {
				r.InitialResourceVersions[name] = v
			}
		}
	}
	return r
}

// spoken writes a message as the steps do.
func spoken(m *discoveryv3.DeltaDiscoveryResponse) string {
	var out []string
	for name, typeURL := range protocolTypes {
		if typeURL == m.GetTypeUrl() {
			out = append(out, name)
		}
	}
	for one := range strings.FieldsSeq(summary(m)) {
		short := strings.TrimSuffix(strings.Replace(one, "outbound|80||", "", 1), ".shop.svc.cluster.local")
		if short != one || m.GetTypeUrl() != typeCluster || one == "-gone" {
			out = append(out, short)
		}
	}
	return strings.Join(out, " ")
}

// TestProtocolOfTheWorld does the same for the other protocol: each step is a
// request's names and nonce, and what comes of it.
func TestProtocolOfTheWorld(t *testing.T) {
	t.Parallel()
	s0, s1, s2 := cluster("s0"), cluster("s1"), cluster("s2")
	type step struct {
		names []string
		nonce string // "last" is that of the last message, "stale" the one before
		put   string
		want  []string // nil: nothing comes
	}
	none := []string{}
	for _, c := range []struct {
		what, typeURL string
		steps         []step
	}{
		{"endpoints, named anew", typeEndpoint, []step{
			{[]string{s0}, "", "", []string{s0}},
			{[]string{s0}, "last", "", nil},
			{[]string{s0, s1}, "last", "", []string{s1}},
			{[]string{s1}, "last", "", nil},
			{[]string{s1, s0}, "last", "", []string{s0}}, // it may have forgotten it
			{[]string{s0, s1}, "last", "s0b", []string{s0}},
		}},
		{"endpoints that are not there cannot be told of", typeEndpoint, []step{
			{[]string{s2}, "", "", nil},
			{[]string{s2, s0}, "", "", []string{s0}},
			{[]string{s2, s0}, "last", "+s2", []string{s2}},
		}},
		{"endpoints given up", typeEndpoint, []step{
			{[]string{s0}, "", "", []string{s0}},
			{[]string{}, "last", "s0b", nil},
			{[]string{s0}, "last", "", []string{s0}},
		}},
		{"names twice", typeEndpoint, []step{{[]string{s0, s0, s1, s0}, "", "", []string{s0, s1}}, {[]string{s1, s0}, "last", "", nil}}},
		{"an older nonce asks, and answers nothing", typeEndpoint, []step{
			{[]string{s0}, "", "", []string{s0}},
			{[]string{s0}, "last", "s0b", []string{s0}},
			{[]string{s0, s1}, "stale", "s0a", nil},
			{[]string{s0, s1}, "last", "", []string{s0, s1}},
		}},
		{"all clusters, none, all", typeCluster, []step{
			{nil, "", "", []string{s0, s1}},
			{nil, "last", "rule", []string{s0, s1}},
			{[]string{s1}, "last", "", []string{s1}},
			{nil, "last", "rule8", nil},
			{[]string{"*"}, "last", "", []string{s0, s1}},
			{[]string{"*", s0}, "last", "", []string{s0, s1}},
			{[]string{s0}, "last", "+s2", nil},
		}},
		{"a cluster that is not there", typeCluster, []step{
			{[]string{s2}, "", "", none},
			{[]string{s2}, "last", "+s2", []string{s2}},
		}},
		{"listeners are none", typeListener, []step{{nil, "", "", none}, {nil, "last", "s0b", nil}}},
		{"routes of no gRPC client", typeRoute, []step{{[]string{s0}, "", "", nil}}},
		{"an unknown type", protocolTypes["odd"], []step{{[]string{"x"}, "", "", nil}}},
	} {
		t.Run(c.what, func(t *testing.T) {
			t.Parallel()
			h := start(t, services(2))
			s, err := discoveryv3.NewAggregatedDiscoveryServiceClient(h.dial()).StreamAggregatedResources(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			w := newSotw(t, s)
			nonces := map[string]string{"": ""}
			for i, step := range c.steps {
				w.send(&discoveryv3.DiscoveryRequest{
					TypeUrl: c.typeURL, Node: nodeOf("client-0.shop"), ResourceNames: step.names, ResponseNonce: nonces[step.nonce], VersionInfo: "x",
				})
				if step.put != "" {
					h.put(protocolObjects[step.put])
				}
				if step.want == nil {
					w.nothing()
					continue
				}
				m := w.takes(fmt.Sprintf("step %d", i), step.want)
				nonces["stale"], nonces["last"] = nonces["last"], m.GetNonce()
			}
		})
	}
}

// takes waits for a message with these names.
func (c *sotwClient) takes(what string, want []string) *discoveryv3.DiscoveryResponse {
	c.t.Helper()
	select {
	case m := <-c.got:
		if have := names(c.t, m); !slices.Equal(have, want) {
			c.t.Fatalf("%s: message has %v, want %v", what, have, want)
		}
		return m
	case <-time.After(patience):
		c.t.Fatalf("%s: no message came", what)
	}
	return nil
}
