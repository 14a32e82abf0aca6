package main

import (
	"context"
	"fmt"
	"sort"
	"strconv"
	"sync"
	"time"

	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// world is the whole picture: services 0..S-1, then the rollout service, then those of fullpush.
type world struct {
	t        Topo
	k        *kube
	svcs     []*service
	nPerm    int              // services which always exist: S + rollout
	names    map[string]int32 // EDS cluster name -> index
	subsets  map[string]int32 // subset cluster name (fullpush) -> index of the service
	next     uint32           // next marker number
	nextMu   sync.Mutex
	nextRoll uint32 // serial number of the next rollout pod
	gen      string
}

func (w *world) marker() uint32 {
	w.nextMu.Lock()
	defer w.nextMu.Unlock()
	w.next++
	return w.next
}

func (t Topo) canonical(i int) []*slice {
	var out []*slice
	for a := 0; a < t.Endpoints; a += chunk {
		s := &slice{name: fmt.Sprintf("%s-%d", t.svc(i), a/chunk)}
		for j := a; j < t.Endpoints && j < a+chunk; j++ {
			k := i*t.Endpoints + j
			s.eps = append(s.eps, ep{ip: t.podIP(i, j), pod: t.pod(i, j), node: t.node(k), zone: t.zone(k), ready: true})
		}
		out = append(out, s)
	}
	return out
}

func (t Topo) rolloutCanonical() []*slice {
	var out []*slice
	for a := 0; a < t.Rollout; a += chunk {
		s := &slice{name: fmt.Sprintf("rollout-%d", a/chunk)}
		for j := a; j < t.Rollout && j < a+chunk; j++ {
			s.eps = append(s.eps, rolloutEp(t, uint32(j)))
		}
		out = append(out, s)
	}
	return out
}

func rolloutEp(t Topo, serial uint32) ep {
	k := int(serial)
	return ep{ip: rolloutBase + 1 + serial, pod: fmt.Sprintf("rollout-%d", serial), node: t.node(k), zone: t.zone(k), ready: true}
}

// readWorld lists the slices and builds the picture from what is there, so that a run may follow a broken-off one.
func readWorld(ctx context.Context, k *kube, fullpush int) (*world, error) {
	t, err := loadTopo(ctx, k)
	if err != nil {
		return nil, err
	}
	w := &world{t: t, k: k, names: map[string]int32{}, subsets: map[string]int32{}, gen: strconv.FormatInt(time.Now().Unix()%1000000, 36)}
	add := func(name, ns string) *service {
		s := &service{idx: len(w.svcs), name: name, ns: ns}
		w.names[clusterName(name, ns, "")] = int32(s.idx)
		w.svcs = append(w.svcs, s)
		return s
	}
	byName := map[string]*service{}
	for i := range t.Services {
		s := add(t.svc(i), t.ns(i))
		s.slices = t.canonical(i)
		byName[s.ns+"/"+s.name] = s
	}
	roll := add("rollout", metaNS)
	byName[metaNS+"/rollout"] = roll
	w.nPerm = len(w.svcs)
	for i := range fullpush {
		s := add(fmt.Sprintf("fp-%s-%d", w.gen, i), t.ns(i))
		w.subsets[clusterName(s.name, s.ns, "v1")] = int32(s.idx)
	}

	if err := w.readSlices(ctx, roll, byName); err != nil {
		return nil, err
	}
	sort.Slice(roll.slices, func(a, b int) bool { return roll.slices[a].name < roll.slices[b].name })
	for _, s := range w.svcs {
		s.want = s.hash()
	}
	return w, nil
}

// readSlices takes over what the slices of the API server say.
func (w *world) readSlices(ctx context.Context, roll *service, byName map[string]*service) error {
	for cont := ""; ; {
		l, err := w.k.DiscoveryV1().EndpointSlices("").List(ctx, metav1.ListOptions{LabelSelector: managedKey + "=" + managedBy, Limit: 2000, Continue: cont})
		if err != nil {
			return err
		}
		for i := range l.Items {
			es := &l.Items[i]
			switch s := byName[es.Namespace+"/"+es.Labels[discoveryv1.LabelServiceName]]; s {
			case nil:
			case roll:
				w.readRollout(roll, es)
			default:
				w.readSlice(s, es)
			}
		}
		if cont = l.Continue; cont == "" {
			return nil
		}
	}
}

// seen notes a marker; false for any other endpoint.
func (w *world) seen(sl *slice, ip uint32) bool {
	if !isMarker(ip) {
		return false
	}
	sl.marker = ip
	w.next = max(w.next, ip-markerBase)
	return true
}

func (w *world) readRollout(roll *service, es *discoveryv1.EndpointSlice) {
	sl := &slice{name: es.Name}
	for _, e := range es.Endpoints {
		ip, _ := parseIP4([]byte(e.Addresses[0]))
		if w.seen(sl, ip) {
			continue
		}
		serial := ip - rolloutBase - 1
		w.nextRoll = max(w.nextRoll, serial+1)
		sl.eps = append(sl.eps, rolloutEp(w.t, serial))
	}
	roll.slices = append(roll.slices, sl)
}

func (w *world) readSlice(s *service, es *discoveryv1.EndpointSlice) {
	for _, sl := range s.slices {
		if sl.name != es.Name {
			continue
		}
		have := map[uint32]bool{}
		for _, e := range es.Endpoints {
			ip, _ := parseIP4([]byte(e.Addresses[0]))
			if !w.seen(sl, ip) {
				have[ip] = e.Conditions.Ready == nil || *e.Conditions.Ready
			}
		}
		for j := range sl.eps {
			r, ok := have[sl.eps[j].ip]
			sl.eps[j].absent, sl.eps[j].ready = !ok, r || !ok
		}
	}
}

// change applies mutate to the picture of one slice, gives it a new marker, and writes it to the API server.
// The update is registered before the write, so that a client may receive it before the write returns.
func (w *world) change(ctx context.Context, s *service, si, clients int, mutate func(*slice)) *update {
	s.wmu.Lock()
	defer s.wmu.Unlock()
	sl := s.slices[si]
	mutate(sl)
	id := w.marker()
	sl.marker = markerBase + id
	u := &update{id: id, hash: s.hash(), lat: make([]int64, clients), left: clients}
	obj := sl.build(s.name, s.ns)
	s.mu.Lock()
	u.sent = time.Now()
	s.ups = append(s.ups, u)
	s.want = u.hash
	s.mu.Unlock()
	_, err := w.k.DiscoveryV1().EndpointSlices(s.ns).Update(ctx, obj, metav1.UpdateOptions{})
	s.mu.Lock()
	u.acked = time.Now()
	if err != nil {
		u.failed = true
	}
	s.mu.Unlock()
	if err != nil {
		logf("update of %s/%s failed: %v", s.ns, sl.name, err)
	}
	return u
}

func (w *world) patchLabel(ctx context.Context, ns, pod, key, val string) error {
	_, err := w.k.CoreV1().Pods(ns).Patch(ctx, pod, types.StrategicMergePatchType,
		[]byte(`{"metadata":{"labels":{"`+key+`":"`+val+`"}}}`), metav1.PatchOptions{})
	return err
}
