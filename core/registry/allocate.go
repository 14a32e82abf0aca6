package registry

import (
	"cmp"
	"net/netip"
	"slices"
	"strings"

	networking "istio.io/api/networking/v1alpha3"
	networkingv1 "istio.io/client-go/pkg/apis/networking/v1"

	"github.com/edsight/edsight/core/model"
)

// The ranges from which hosts without addresses get one.
const (
	allocateV4 = "240.240.0.0/16"
	allocateV6 = "2001:2::/48"
)

// hostOfEntry is one host of one ServiceEntry.
type hostOfEntry struct {
	entry model.ObjectKey
	host  string
}

// allocatable tells whether hosts of the entry get addresses by themselves.
func (w *World) allocatable(e *networkingv1.ServiceEntry) bool {
	return !w.features.NoAllocation && len(e.Spec.GetAddresses()) == 0 && e.Spec.GetResolution() != networking.ServiceEntry_NONE &&
		!strings.EqualFold(e.Labels["networking.istio.io/enable-autoallocate-ip"], "false")
}

// allocated returns the automatic addresses of a host: those in the entry's
// status, else those which an allocator that starts now would give.
func (w *World) allocated(e *networkingv1.ServiceEntry, host string) (v4, v6 string) {
	if !w.allocatable(e) {
		return "", ""
	}
	if v4, v6 = inStatus(e, host); v4 == "" && v6 == "" {
		a := w.allocations[hostOfEntry{entryKey(w.config, e), host}]
		return a[0], a[1]
	}
	return v4, v6
}

// inStatus are the addresses that the entry's status has for a host.
func inStatus(e *networkingv1.ServiceEntry, host string) (v4, v6 string) {
	for _, a := range e.Status.GetAddresses() {
		switch ip, err := netip.ParseAddr(a.GetValue()); {
		case err != nil || a.GetHost() != host: // unreadable, or another host's
		case ip.Is4():
			v4 = ip.String()
		default:
			v6 = ip.String()
		}
	}
	return v4, v6
}

// allocate gives addresses to the hosts that have none in their entry's status,
// the oldest entry first, and has the services compiled whose addresses change.
func (w *World) allocate() {
	var waiting []*networkingv1.ServiceEntry
	used := map[string]bool{}
	for key := range w.hosts.terms {
		e, _ := w.objects[key].(*networkingv1.ServiceEntry)
		if e == nil || key.Cluster != w.config {
			continue // not an entry that the allocator sees
		}
		for _, a := range e.Spec.GetAddresses() {
			used[a] = true
		}
		if !w.allocatable(e) {
			continue // gets no address by itself
		}
		for _, a := range e.Status.GetAddresses() {
			used[a.GetValue()] = true
		}
		waiting = append(waiting, e)
	}
	slices.SortFunc(waiting, func(a, b *networkingv1.ServiceEntry) int {
		return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	next := map[hostOfEntry][2]string{}
	v4, v6 := netip.MustParsePrefix(allocateV4).Addr(), netip.MustParsePrefix(allocateV6).Addr()
	for _, e := range waiting {
		for _, host := range unallocated(e) {
			v4, v6 = free(v4, used), free(v6, used)
			next[hostOfEntry{entryKey(w.config, e), host}] = [2]string{v4.String(), v6.String()}
		}
	}
	for h, a := range next {
		if w.allocations[h] != a {
			w.touchService(model.ServiceKey{Hostname: model.Hostname(h.host), Namespace: h.entry.Namespace})
		}
	}
	w.allocations = next
}

// unallocated are the hosts of an entry without an address in its status. A
// wildcard needs none, unless a waypoint resolves it.
func unallocated(e *networkingv1.ServiceEntry) []string {
	var out []string
	for _, host := range e.Spec.GetHosts() {
		if strings.HasPrefix(host, "*") && e.Spec.GetResolution() != networking.ServiceEntry_DYNAMIC_DNS {
			continue
		}
		if v4, v6 := inStatus(e, host); v4 == "" && v6 == "" && !slices.Contains(out, host) {
			out = append(out, host)
		}
	}
	return out
}

// free returns the first address after a that is not used.
func free(a netip.Addr, used map[string]bool) netip.Addr {
	for a = a.Next(); used[a.String()]; {
		a = a.Next()
	}
	return a
}
