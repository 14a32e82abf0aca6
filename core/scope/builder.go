package scope

import (
	"cmp"
	"maps"
	"slices"

	networkingv1 "istio.io/client-go/pkg/apis/networking/v1"

	"github.com/edsight/edsight/core/model"
)

// builder collects the imports of one scope.
type builder struct {
	index    *index
	key      Key
	via      model.ObjectKey
	imports  []Import
	at       map[model.Hostname]int
	excluded []Excluded
}

// routerScope takes everything that is visible, or of that what is routed to;
// Sidecars do not apply.
func (b *builder) routerScope() {
	seen, unseen := b.index.visible(b.key.Namespace)
	b.excludeAll(unseen, WhyNotExported)
	for _, e := range seen {
		b.take(e.def, WhyOldest, b.via)
	}
	b.unrivalled()
	if b.index.routed == nil {
		return
	}
	to := b.index.routed.destinations(b.key.Gateways)
	b.imports = slices.DeleteFunc(b.imports, func(i Import) bool {
		if to.has(i.Definition.Key) {
			return false
		}
		b.exclude(i.Definition, WhyNotRouted)
		return true
	})
}

// unrivalled notes which imports have no rival: they are the only
// definitions of their hosts that are seen.
func (b *builder) unrivalled() {
	rivals := map[model.Hostname]bool{}
	for _, e := range b.excluded {
		if e.Why.lost() {
			rivals[e.Definition.Key.Hostname] = true
		}
	}
	for i := range b.imports {
		if im := &b.imports[i]; !rivals[im.Definition.Key.Hostname] {
			im.Why = WhyOnly
		}
	}
}

// sidecarScope takes what each egress listener imports, then the destinations of
// the VirtualServices that it imports.
func (b *builder) sidecarScope(s *networkingv1.Sidecar) {
	seen, unseen := b.index.visible(b.key.Namespace)
	b.excludeAll(unseen, WhyNotExported)
	missed := slices.Repeat([]Why{WhyNotImported}, len(seen))
	for _, l := range egress(s, b.key.Namespace) {
		b.listener(l, seen, missed)
	}
	for i, e := range seen {
		if !missed[i].Used() {
			b.exclude(e.def, missed[i])
		}
	}
}

// listener takes what one egress listener imports. missed says, for each of seen,
// why no listener imports it so far.
func (b *builder) listener(l *listener, seen []*entry, missed []Why) {
	found := make([]offer, 0, len(seen))
	for i, e := range seen {
		d, why := l.match(e.def)
		if d != nil {
			found = append(found, offer{d, e})
		}
		if d != nil || missed[i] == WhyNotImported {
			missed[i] = why
		}
	}
	winners := b.winners(found)
	for _, o := range found {
		if w := winners[o.def.Key.Hostname]; w.namespace == o.def.Key.Namespace {
			b.take(o.def, w.why, b.via)
		} else {
			b.exclude(o.from.def, WhyOtherWon)
		}
	}
	for _, r := range b.index.visibleRoutes(b.key.Namespace) {
		if l.matchesRoute(r) {
			b.takeDestinations(r, l)
		}
	}
}

// offer is a definition with the ports that a listener imports, and what it was
// made from.
type offer struct {
	def  *model.Service
	from *entry
}

type winner struct {
	namespace string
	kube      bool
	why       Why
}

// winners chooses, for each hostname, one namespace: the client's own, else that
// of the first Service, else that of the first definition.
func (b *builder) winners(found []offer) map[model.Hostname]winner {
	own := b.key.Namespace
	out := make(map[model.Hostname]winner, len(found))
	for _, o := range found {
		d := o.def
		next := winner{namespace: d.Key.Namespace, kube: isKube(d), why: WhyOldest}
		old, ok := out[d.Key.Hostname]
		switch {
		case !ok:
			next.why = WhyOnly
			out[d.Key.Hostname] = next
		case next.namespace == own:
			next.why = WhyOwnNamespace
			out[d.Key.Hostname] = next
		case old.namespace == own:
			old.why = WhyOwnNamespace
			out[d.Key.Hostname] = old
		case next.kube && !old.kube:
			next.why = WhyKubernetes
			out[d.Key.Hostname] = next
		case old.kube && !next.kube:
			old.why = WhyKubernetes
			out[d.Key.Hostname] = old
		default:
			old.why = WhyOldest
			out[d.Key.Hostname] = old
		}
	}
	return out
}

func (b *builder) takeDestinations(r *route, l *listener) {
	to := r.from(b.key.Namespace)
	for _, host := range slices.Sorted(maps.Keys(to)) {
		e := b.index.pick(host, b.key.Namespace)
		if e == nil {
			continue
		}
		if d := l.destination(e.def, to[host]); d != nil {
			b.take(d, WhyRoute, r.key)
		}
	}
}

// take adds a definition. Of several for one hostname a Service is kept before
// ServiceEntries, and else the first, into which the ports of like definitions
// are merged.
func (b *builder) take(d *model.Service, why Why, via model.ObjectKey) {
	i, ok := b.at[d.Key.Hostname]
	if !ok {
		b.at[d.Key.Hostname] = len(b.imports)
		b.imports = append(b.imports, Import{Definition: d, Why: why, Via: via})
		return
	}
	have := b.imports[i].Definition
	switch {
	case have == d:
	case isKube(have) && !isKube(d):
		b.exclude(d, WhyKubernetesWon)
	case isKube(d) && !isKube(have):
		b.exclude(have, WhyKubernetesWon)
		b.imports[i].Definition = d
		b.imports[i].Why = WhyKubernetes
	case slices.Equal(have.Ports, d.Ports):
		b.exclude(d, WhyOlderWon)
	case !mergeable(have, d):
		b.exclude(d, WhyOlderWon)
	default:
		b.imports[i].Definition = mergePorts(have, d)
		b.exclude(d, WhyMerged)
	}
}

func mergeable(a, b *model.Service) bool {
	return a.Key == b.Key && a.Resolution == b.Resolution && a.Provider == b.Provider &&
		maps.Equal(a.Labels, b.Labels) && maps.Equal(a.Selector, b.Selector) && slices.Equal(a.ExportTo, b.ExportTo)
}

func mergePorts(into, from *model.Service) *model.Service {
	m := *into
	m.Ports = slices.Clone(into.Ports)
	for _, p := range from.Ports {
		if _, ok := m.Port(p.Number); !ok {
			m.Ports = append(m.Ports, p)
		}
	}
	return &m
}

func (b *builder) exclude(d *model.Service, why Why) {
	b.excluded = append(b.excluded, Excluded{Definition: d, Why: why})
}

func (b *builder) excludeAll(list []*entry, why Why) {
	for _, e := range list {
		b.exclude(e.def, why)
	}
}

// result sorts what was collected. A definition that is in use in the end, or
// part of one, is not among the excluded, and none is there twice.
func (b *builder) result() ([]Import, []Excluded) {
	for i := range b.imports {
		im := &b.imports[i]
		im.rules = b.index.rules.find(b.key.Namespace, im.Definition.Key)
		im.ClusterLocal = b.index.byHost[im.Definition.Key.Hostname][0].local
	}
	slices.SortFunc(b.imports, func(x, y Import) int { return x.Definition.Key.Compare(y.Definition.Key) })
	if len(b.excluded) == 0 {
		return b.imports, nil
	}
	used := map[definitionID]*model.Service{}
	byHost := map[model.Hostname]*model.Service{}
	for _, im := range b.imports {
		used[idOf(im.Definition)] = im.Definition
		byHost[im.Definition.Key.Hostname] = im.Definition
	}
	slices.SortStableFunc(b.excluded, func(x, y Excluded) int {
		return cmp.Or(x.Definition.Key.Compare(y.Definition.Key), x.Definition.Object.Compare(y.Definition.Object), cmp.Compare(y.Why, x.Why))
	})
	var out []Excluded
	for _, e := range b.excluded {
		id := idOf(e.Definition)
		if used[id] != nil || (len(out) > 0 && idOf(out[len(out)-1].Definition) == id) {
			continue
		}
		if e.Why.lost() {
			e.By = byHost[e.Definition.Key.Hostname]
		}
		out = append(out, e)
	}
	return b.imports, out
}

// definitionID tells definitions apart, of which those in scope may have other
// ports than the registry says.
// A ServiceEntry with several addresses has one definition for each, which count
// as one here.
type definitionID struct {
	key    model.ServiceKey
	object model.ObjectKey
}

func idOf(d *model.Service) definitionID { return definitionID{d.Key, d.Object} }
