package explain

import (
	"context"
	"iter"
	"slices"
	"strings"
	"sync"

	"github.com/edsight/edsight/core/cds"
	"github.com/edsight/edsight/core/eds"
	"github.com/edsight/edsight/core/journal"
	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/scope"
	"github.com/edsight/edsight/core/session"
	"github.com/edsight/edsight/core/source"
	"github.com/edsight/edsight/core/state"
)

// Objects are the objects that a snapshot was made of.
type Objects interface {
	Get(key model.ObjectKey) source.Object
	All() iter.Seq2[model.ObjectKey, source.Object]
}

// May tells whether the asker may read what belongs to a namespace; "" stands for
// what belongs to none. Nil lets everything be seen.
type May func(namespace string) bool

// Options of an Explainer. All are optional; what is not there is not evidence.
type Options struct {
	Objects Objects
	Journal *journal.Journal
	// Scopes are shared with others who need them.
	Scopes *scope.Cache
	// Sessions are the connected clients.
	Sessions func() []session.Session
}

// Explainer answers questions. Its methods may be called concurrently.
type Explainer struct {
	opts  Options
	index index
}

// New returns an Explainer.
func New(o Options) *Explainer {
	if o.Scopes == nil {
		o.Scopes = &scope.Cache{}
	}
	return &Explainer{opts: o}
}

// Run makes ready for questions as soon as there is a state, and stays so until ctx
// is done. Without it the first question reads all objects.
func (e *Explainer) Run(ctx context.Context) {
	if e.opts.Objects != nil && e.opts.Journal != nil {
		e.index.run(ctx, e.opts.Objects, e.opts.Journal)
	}
}

// Explain answers a question about one moment.
func (e *Explainer) Explain(snap *state.Snapshot, q Question, may May) *Answer {
	x := e.inquire(snap, q, may)
	return x.answer(x.find())
}

// inquiry is the work on one question.
type inquiry struct {
	opts    *Options
	objects *index
	snap    *state.Snapshot
	q       Question
	may     May

	proxy *model.Proxy
	scope *scope.Scope
	imp   *scope.Import
	// service holds the candidates of the definition in use.
	service    *state.ServiceState
	rule       *scope.Rule
	cluster    *cds.Cluster
	assignment *eds.Assignment
	// The candidate that the answer is about, nil if there is none, with its
	// verdict and its shard.
	candidate *model.Candidate
	index     int
	reason    model.Reason
	shard     model.ShardKey
	// sent is the endpoint as it is sent, nil if it is not.
	sent     *eds.LbEndpoint
	locality *eds.LocalityEndpoints
	// offering are the slices with the address, once they were looked up.
	offering []offer
	// remembered are the transitions of the journal, oldest first, looked up once.
	remembered func() []*journal.Transition
}

// inquiry begins the work on a question.
func (e *Explainer) inquiry(snap *state.Snapshot, may May) *inquiry {
	return &inquiry{opts: &e.opts, objects: &e.index, snap: snap, may: may, index: -1, remembered: sync.OnceValue(e.remember)}
}

func (e *Explainer) inquire(snap *state.Snapshot, q Question, may May) *inquiry {
	q.Host = plainHost(snap, q.Host)
	x := e.inquiry(snap, may)
	x.q = q
	x.q.Address = x.addressOf(q.Address)
	if p := snap.Proxy(q.Proxy); p != nil && x.allowed(p.Namespace) {
		x.proxy = p
	} else {
		return x
	}
	x.scope = e.opts.Scopes.Narrow(snap, e.opts.Scopes.KeyOf(snap, x.proxy), q.Host)
	if x.imp = x.scope.Import(q.Host); x.imp == nil {
		return x
	}
	x.service = snap.Service(x.imp.Definition.Key)
	x.rule = x.scope.Rule(x.imp, x.proxy)
	clusters := cds.Of(x.scope, snap, x.proxy, q.Host)
	i := slices.IndexFunc(clusters, func(c cds.Cluster) bool {
		direct := c.Name == cds.Name(q.Port, q.Subset, q.Host)
		return c.Port.Number == q.Port && c.Subset == q.Subset && direct != q.Passthrough
	})
	if i < 0 {
		return x
	}
	x.cluster = &clusters[i]
	if x.assignment = x.cluster.Assignment(); x.assignment != nil {
		x.choose()
	}
	return x
}

// plainHost is a host as objects spell it, unless there is one of just this spelling.
func plainHost(snap *state.Snapshot, host model.Hostname) model.Hostname {
	for range snap.ServicesOf(host) {
		return host
	}
	return model.Hostname(strings.ToLower(strings.TrimSuffix(string(host), ".")))
}

// allowed tells whether the asker may see the namespace.
func (x *inquiry) allowed(namespace string) bool { return x.may == nil || x.may(namespace) }

// visible tells whether a definition may be shown: to those who may see its
// namespace, and to those whose proxy sees it.
func (x *inquiry) visible(d *model.Service, why scope.Why) bool {
	return why != scope.WhyNotExported || x.allowed(d.Key.Namespace)
}

// choose picks the candidate that the answer is about: of those with the address
// the one that got farthest.
func (x *inquiry) choose() {
	if x.service == nil {
		return // a port without any candidate
	}
	best := -1
	i := 0
	for _, sh := range x.service.Shards {
		for _, c := range sh.Candidates {
			if r := x.assignment.Reasons[i]; x.asked(c) && rank(x, c, r) > best {
				best = rank(x, c, r)
				x.candidate, x.index, x.reason, x.shard = c, i, r, sh.Key
			}
			i++
		}
	}
	x.chooseSent()
}

// asked tells whether the question is about the candidate.
func (x *inquiry) asked(c *model.Candidate) bool {
	if x.q.Address == "" || model.SameAddress(c.Address, x.q.Address) {
		return true
	}
	return c.Endpoint != nil && len(c.Endpoint.Addresses) > 1 &&
		slices.ContainsFunc(c.Endpoint.Addresses, func(a string) bool { return model.SameAddress(a, x.q.Address) })
}

// rank orders verdicts by how far they are on the way.
func rank(x *inquiry, c *model.Candidate, r model.Reason) int {
	port := 0
	if c.PortName == x.cluster.Port.Name {
		port = 100
	}
	switch r { //nolint:exhaustive // the others are in the order in which they are decided
	case model.ReasonNone:
		return 1000
	case model.ReasonReplacedByGateway:
		return 900
	case model.ReasonPortNameMismatch:
		return int(r)
	case model.ReasonDuplicateAddress:
		return 1
	}
	return 2 + port + int(r)
}

// chooseSent finds the endpoint that is sent for the candidate, or else the
// gateway that was asked for by its own address. Of several gateways it is the first
// that the proxy can reach, if there is one.
func (x *inquiry) chooseSent() {
	for i := range x.assignment.Localities {
		l := &x.assignment.Localities[i]
		for j := range l.Endpoints {
			e := &l.Endpoints[j]
			if !x.stands(e, l) {
				continue
			}
			_, foreign := x.otherFamily(e.Address)
			if x.sent == nil || !foreign {
				x.sent, x.locality = e, l
			}
			if !foreign || e.Candidate >= 0 {
				return
			}
		}
	}
}

func (x *inquiry) stands(e *eds.LbEndpoint, l *eds.LocalityEndpoints) bool {
	switch {
	case e.Candidate >= 0:
		return e.Candidate == x.index
	case x.candidate == nil:
		return model.SameAddress(e.Address, x.q.Address)
	case x.reason != model.ReasonReplacedByGateway:
		return false
	}
	return l.Locality == x.candidate.Endpoint.Workload.Locality && x.gatewayOf(e.Address, e.Port) != nil
}

// gatewayOf returns the gateway with that address that stands for the candidate.
func (x *inquiry) gatewayOf(address string, port uint32) *state.Gateway {
	list := x.gateways()
	for i := range list {
		if list[i].Addr == address && list[i].Port == port {
			return &list[i]
		}
	}
	return nil
}

// gateways of the candidate's network; those of its cluster if it has some. Of a name
// they are the addresses that were found, unless the cluster resolves names itself.
func (x *inquiry) gateways() []state.Gateway {
	if x.candidate == nil || x.candidate.Endpoint == nil || x.candidate.Endpoint.Workload == nil {
		return nil
	}
	list := slices.DeleteFunc(slices.Clone(x.snap.Gateways()), func(g state.Gateway) bool {
		if x.cluster != nil && x.cluster.View.Inline {
			return g.Name != ""
		}
		return x.snap.LookedUp(g.Addr)
	})
	return eds.GatewaysOf(list, x.candidate.Endpoint.Workload)
}
