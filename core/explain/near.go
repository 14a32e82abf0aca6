package explain

import (
	"slices"
	"strings"

	"github.com/edsight/edsight/core/model"
)

// clusterSet ends the hosts that ServiceImports make.
const clusterSet = "clusterset.local"

// similarHosts name hosts that come close, and tell whether the one must be meant: the
// whole name of a short one, the Service of a Pod's name or of an address. Others are of
// the same name in other namespaces, a wildcard that covers it, or differ in few letters.
func (x *inquiry) similarHosts() (near []string, sure bool) {
	if meant := x.meantHost(); meant != nil {
		return []string{string(meant.Key.Hostname) + " (" + x.name(meant.Object) + ")"}, true
	}
	_, name, whole := x.kubeHost()
	if !whole {
		name = string(x.q.Host)
	}
	sure = !whole
	var typos []string
	for svc := range x.snap.Services() {
		h, d := string(svc.Key.Hostname), svc.Definition()
		if d == nil || !x.allowed(svc.Key.Namespace) || svc.Key.Hostname == x.q.Host {
			continue // no definition, or not to be seen
		}
		if wildcard, is := strings.CutPrefix(h, "*."); is && strings.HasSuffix(string(x.q.Host), "."+wildcard) {
			return []string{h + " of " + x.name(d.Object) + ", whose cluster has the wildcard as its name"}, false
		}
		switch {
		case strings.HasPrefix(h, name+"."):
			near = append(near, h+" ("+x.name(d.Object)+")")
			sure = sure && len(near) == 1 && strings.HasSuffix(h, ".svc."+x.snap.Mesh.DomainSuffix)
		case len(typos) == 0 && similar(h, string(x.q.Host)):
			typos = append(typos, h+" ("+x.name(d.Object)+")")
		}
	}
	if len(near) == 0 {
		return typos, false
	}
	return near, sure
}

// notImportedToSet is about a host for the set of clusters, which a ServiceImport makes.
func (x *inquiry) notImportedToSet() (finding, bool) {
	rest, ok := strings.CutSuffix(string(x.q.Host), ".svc."+clusterSet)
	name, namespace, whole := strings.Cut(rest, ".")
	if !ok || !whole {
		return finding{}, false
	}
	f := finding{cause: NoService, step: StepService, remedy: "ask for " + rest + ".svc." + x.snap.Mesh.DomainSuffix}
	if !x.snap.Mesh.Features.ServiceImports {
		f.why = "hosts under " + clusterSet + " are there only where istiod has ENABLE_MCS_HOST on"
		f.remedy += ", or switch ENABLE_MCS_HOST on"
		return f, true
	}
	f.why = "the host " + string(x.q.Host) + " is there only if a ServiceImport " + namespace + "/" + name + " with addresses (spec.ips) is, and the Service of that name"
	f.remedy = "export the Service by a ServiceExport " + namespace + "/" + name + ", so that the controller of the set imports it, or " + f.remedy
	for c := range x.snap.Configs(model.KindServiceImport) {
		if c.Key.Namespace == namespace && c.Key.Name == name && x.allowed(namespace) {
			f.object = c.Key
			return f.with(Evidence{Object: c.Key, Field: "spec.ips", Want: "addresses"}), true
		}
	}
	f.why += "; there is no such ServiceImport"
	return f, true
}

// meantHost is the Service that a name means in the proxy's namespace, that of a Pod's own
// name (<pod>.<service>.<namespace>.svc...), or the one with the address; nil if none is.
func (x *inquiry) meantHost() *model.Service {
	host, suffix := string(x.q.Host), ".svc."+x.snap.Mesh.DomainSuffix
	if model.IsIP(host) {
		return x.serviceAt(host)
	}
	whole := host + "." + x.proxy.Namespace + suffix
	if _, service, ok := strings.Cut(host, "."); ok && strings.HasSuffix(host, suffix) {
		whole = service
	}
	for svc := range x.snap.ServicesOf(model.Hostname(whole)) {
		if d := svc.Definition(); d != nil && x.allowed(svc.Key.Namespace) {
			return d
		}
	}
	return nil
}

// serviceAt is the first Service with the address, nil if none has it.
func (x *inquiry) serviceAt(address string) *model.Service {
	same := func(vip string) bool { return model.SameAddress(vip, address) }
	for svc := range x.snap.Services() {
		d := svc.Definition()
		if d == nil || !x.allowed(svc.Key.Namespace) {
			continue // no definition, or not to be seen
		}
		if same(d.DefaultAddress) || slices.ContainsFunc(d.VIPs[x.proxy.Cluster], same) {
			return d
		}
	}
	return nil
}
