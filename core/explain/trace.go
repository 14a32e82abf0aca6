package explain

import (
	"cmp"
	"slices"

	"github.com/edsight/edsight/core/cds"
	"github.com/edsight/edsight/core/eds"
	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/scope"
	"github.com/edsight/edsight/core/state"
)

// Trace is everything that is known of one address.
type Trace struct {
	Address string `json:"address"`
	// Note is a clause about a name that stands for no address and that nothing lists:
	// which Pods are called so, if some are.
	Note string `json:"note,omitempty"`
	// Pods, entries and legacy Endpoints that have the address, and the proxies of
	// these Pods.
	Pods      []model.ObjectKey `json:"pods"`
	Entries   []model.ObjectKey `json:"entries"`
	Endpoints []model.ObjectKey `json:"endpoints"`
	Proxies   []string          `json:"proxies"`
	// Offers are the slices and entries that list it, each with what became of it.
	Offers []Offer `json:"offers"`
	// MoreOffers counts those for which there is no place in the list.
	MoreOffers int `json:"moreOffers,omitempty"`
	// Holders are the proxies that have it, and those that do not, by the answer
	// which they share.
	Holders []Holder `json:"holders"`
	// Unlisted is the number of answers to proxies whose groups are not among them.
	Unlisted int `json:"unlisted,omitempty"`
}

// Offer is one candidate with the address.
type Offer struct {
	Service  model.ServiceKey `json:"service"`
	Source   model.ObjectKey  `json:"source"`
	Target   *model.ObjectKey `json:"target,omitempty"`
	PortName string           `json:"portName,omitempty"`
	Port     uint32           `json:"port,omitempty"`
	Admitted bool             `json:"admitted"`
	Health   string           `json:"health,omitempty"`
	Reason   model.Reason     `json:"reason,omitempty"`
}

// Holder is a group of proxies to which the same answer holds.
type Holder struct {
	Question Question `json:"question"`
	Count    int      `json:"count"`
	// Proxies are the first of them.
	Proxies []string `json:"proxies"`
	Answer  *Answer  `json:"answer"`
}

// What a Trace lists; there is seldom more.
const (
	maxOffers       = 200
	maxHolders      = 50
	maxGroupMembers = 20
)

// Trace says everything that is known of an address.
func (e *Explainer) Trace(snap *state.Snapshot, address string, may May) *Trace {
	x := e.inquiry(snap, may)
	address = x.addressOf(address)
	x.q.Address = address
	t := &Trace{
		Address: address, Pods: list(x.podsWith()), Entries: list(x.entriesWith()), Endpoints: list(x.endpointsWith()),
		Proxies: []string{}, Offers: []Offer{}, Holders: []Holder{},
	}
	for p := range snap.Proxies() {
		if x.allowed(p.Namespace) && slices.ContainsFunc(p.IPs, func(ip string) bool { return model.SameAddress(ip, address) }) {
			t.Proxies = append(t.Proxies, p.ID)
		}
	}
	for chunk := range snap.Strays() {
		t.offer(x, model.ServiceKey{}, chunk.Candidates)
	}
	var offering []*model.Service
	for svc := range snap.Services() {
		offers := false
		for _, sh := range svc.Shards {
			offers = t.offer(x, svc.Key, sh.Candidates) || offers
		}
		if d := svc.Definition(); offers && d != nil {
			offering = append(offering, d)
		}
	}
	for i := range offering {
		e.hold(t, x, offering, i)
	}
	if _, gateway := x.gatewayAsked(); address != "" && len(t.Offers) == 0 && !gateway && x.callsPod() {
		t.Note = x.calledSo()
	}
	return t
}

func list(keys []model.ObjectKey) []model.ObjectKey {
	if keys == nil {
		return []model.ObjectKey{}
	}
	return keys
}

// offer lists the candidates with the address, and tells whether there are some.
func (t *Trace) offer(x *inquiry, service model.ServiceKey, candidates []*model.Candidate) (offers bool) {
	for _, c := range candidates {
		if !x.asked(c) || !x.allowed(c.Source.Namespace) {
			continue // another address, or not to be seen
		}
		offers = true
		if len(t.Offers) == maxOffers {
			t.MoreOffers++
			continue // enough are listed
		}
		o := Offer{Service: service, Source: *c.Source, Target: c.Target, PortName: c.PortName, Port: c.Port, Reason: c.Reason}
		if c.Endpoint != nil {
			o.Admitted, o.Health = true, c.Endpoint.Health.String()
		}
		t.Offers = append(t.Offers, o)
	}
	return offers
}

// group tells which proxies share an answer: those of one scope with equal Views.
type group struct {
	scope scope.Key
	view  eds.View
	port  uint32
}

// hold asks for every proxy about each port of one of the services that offer the
// address, once for those that share the answer.
func (e *Explainer) hold(t *Trace, x *inquiry, offering []*model.Service, i int) {
	f := follow{
		explainer: e, asked: x, def: offering[i], offering: offering, trace: t,
		audiences: map[scope.Key]*cds.Audiences{}, known: map[cds.Audience][]int{}, at: map[group]int{},
	}
	for p := range x.snap.Proxies() {
		if !x.allowed(p.Namespace) {
			continue // not to be seen
		}
		for _, i := range f.holders(p) {
			if i == unlisted {
				t.Unlisted++
				continue // enough groups are listed
			}
			h := &t.Holders[i]
			if h.Count++; len(h.Proxies) < maxGroupMembers {
				h.Proxies = append(h.Proxies, p.ID)
			}
		}
	}
	slices.SortStableFunc(t.Holders, func(a, b Holder) int { return cmp.Compare(b.Count, a.Count) })
}

// follow finds the holders that proxies belong to for one service, once for each
// audience.
type follow struct {
	explainer *Explainer
	asked     *inquiry // about the address alone
	def       *model.Service
	offering  []*model.Service
	trace     *Trace
	audiences map[scope.Key]*cds.Audiences
	// known are the holders of an audience, at those of a group, by number; a holder
	// may be unlisted.
	known map[cds.Audience][]int
	at    map[group]int
}

// holders are the numbers of those that a proxy belongs to, one for each port of
// the service, as far as there is room.
func (f *follow) holders(p *model.Proxy) []int {
	scopes := f.explainer.opts.Scopes
	key := scopes.KeyOf(f.asked.snap, p)
	a := f.audiences[key]
	if a == nil {
		a = cds.NewAudiences(scopes.Narrow(f.asked.snap, key, f.def.Key.Hostname))
		f.audiences[key] = a
	}
	audience := a.Of(p)
	if out, ok := f.known[audience]; ok {
		return out
	}
	var out []int
	for _, g := range f.groups(p, key) {
		i, ok := f.at[g]
		if !ok {
			i = f.list(p, g)
			f.at[g] = i
		}
		out = append(out, i)
	}
	f.known[audience] = out
	return out
}

// unlisted is the number of holders for which there is no place.
const unlisted = -1

// list begins a holder with the answer to a proxy of the group.
func (f *follow) list(p *model.Proxy, g group) int {
	if len(f.trace.Holders) == maxHolders {
		return unlisted
	}
	q := Question{Proxy: p.ID, Host: f.def.Key.Hostname, Port: g.port, Address: f.trace.Address}
	x := f.explainer.inquire(f.asked.snap, q, f.asked.may)
	x.remembered = f.asked.remembered
	f.trace.Holders = append(f.trace.Holders, Holder{Question: q, Answer: x.answer(x.find())})
	return len(f.trace.Holders) - 1
}

// groups are those that a proxy belongs to, one for each port of the service.
func (f *follow) groups(p *model.Proxy, key scope.Key) []group {
	var out []group
	sc, host := f.explainer.opts.Scopes.Narrow(f.asked.snap, key, f.def.Key.Hostname), f.def.Key.Hostname
	im := sc.Import(host)
	if !f.counts(im) {
		return nil
	}
	if im == nil || im.Definition.Key != f.def.Key {
		for _, port := range f.def.Ports {
			out = append(out, group{scope: key, port: port.Number})
		}
		return out
	}
	for _, c := range cds.Of(sc, f.asked.snap, p, host) {
		if c.Subset == "" && !c.View.MTLSOnly {
			out = append(out, group{scope: key, view: c.View, port: c.Port.Number})
		}
	}
	return out
}

// counts tells whether proxies with such an import are asked about the host here: where
// several definitions of it offer the address, that is at the one which they use, or
// else at the first.
func (f *follow) counts(im *scope.Import) bool {
	at := f.def.Key
	for _, d := range slices.Backward(f.offering) {
		if d.Key.Hostname == at.Hostname {
			at = d.Key
		}
	}
	if im != nil && slices.ContainsFunc(f.offering, func(d *model.Service) bool { return d.Key == im.Definition.Key }) {
		at = im.Definition.Key
	}
	return at == f.def.Key
}
