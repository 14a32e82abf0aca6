package views

import (
	"net/url"
	"strings"

	"github.com/edsight/edsight/core/model"
)

// ServiceURL is the page of a service. One whose host is "" has none, and is found
// among the services of its namespace.
func ServiceURL(key model.ServiceKey) string {
	if key.Hostname == "" {
		return ServicesURL(key.Namespace)
	}
	return "/services/" + url.PathEscape(key.Namespace) + "/" + lastPart(string(key.Hostname))
}

// ProxyURL is the page of a proxy.
func ProxyURL(id string) string { return "/proxies/" + lastPart(id) }

// ExcludedURL is the page of a proxy with the definitions that it does not use.
func ExcludedURL(id string) string { return ProxyURL(id) + "?show=excluded" }

// ServicesURL lists the services of a namespace.
func ServicesURL(namespace string) string {
	return "/services?namespace=" + url.QueryEscape(namespace)
}

// lastPart escapes the end of a path. A name that ends like the JSON twin of a
// page must not be taken for one.
func lastPart(name string) string {
	escaped := url.PathEscape(name)
	if start, ok := strings.CutSuffix(escaped, ".json"); ok {
		return start + "%2Ejson"
	}
	return escaped
}

// ClusterURL is the page of a proxy with one of its clusters opened.
func ClusterURL(id, cluster string) string {
	return ProxyURL(id) + "?cluster=" + url.QueryEscape(cluster)
}

// TransitionURL is the page of a transition.
func TransitionURL(seq uint64) string { return "/transitions/" + itoa(seq) }

// ConfigURL is the page of an object.
func ConfigURL(key model.ObjectKey) string {
	u := "/config/" + url.PathEscape(string(key.Kind)) + "/" + url.PathEscape(key.Namespace) + "/" + lastPart(key.Name)
	if key.Cluster != "" {
		u += "?cluster=" + url.QueryEscape(string(key.Cluster))
	}
	return u
}

// AuditURL lists what is wrong with a slice, or with the slices of a Service.
func AuditURL(key model.ObjectKey) string {
	return "/slices?q=" + url.QueryEscape(key.Namespace+"/"+key.Name)
}

// FeedURL is the live feed of one address.
func FeedURL(address string) string { return "/?address=" + url.QueryEscape(address) }

// HasPage tells whether objects of the kind have a page: those that are in a
// namespace, and hold no more than what may be seen.
func HasPage(kind model.Kind) bool {
	switch kind {
	case model.KindService, model.KindEndpointSlice, model.KindEndpoints, model.KindPod, model.KindServiceExport, model.KindServiceImport:
		return true
	case model.KindNode, model.KindNamespace, model.KindConfigMap:
		return false
	case model.KindServiceEntry, model.KindWorkloadEntry, model.KindWorkloadGroup, model.KindSidecar, model.KindDestinationRule,
		model.KindVirtualService, model.KindGateway, model.KindAuthorizationPolicy, model.KindPeerAuthentication:
		return true
	}
	return false
}

// ObjectURL is where one reads more of the object, "" if there is no such page.
func ObjectURL(key model.ObjectKey) string {
	switch {
	case HasPage(key.Kind) && key.Namespace != "" && key.Name != "":
		return ConfigURL(key)
	case key.Kind == model.KindNamespace:
		return ServicesURL(key.Name)
	case key.Kind == model.KindConfigMap:
		return "/config#mesh"
	default:
		return ""
	}
}

// noName stands for a name that is "".
const noName = "(empty)"

// shortHost is the host without the suffix of its own namespace in the cluster,
// which the namespace beside it says already.
func shortHost(key model.ServiceKey) string {
	if key.Hostname == "" {
		return noName
	}
	host, _, ok := strings.Cut(string(key.Hostname), "."+key.Namespace+".svc.")
	if !ok || host == "" {
		return string(key.Hostname)
	}
	return host
}

// feedOf is the feed of one service.
func feedOf(r ServiceRef) string {
	return "/?namespace=" + url.QueryEscape(r.Namespace) + "&service=" + url.QueryEscape(string(r.Host))
}

// deliveryID is the element that says how far a transition got.
func deliveryID(seq uint64) string { return "delivery-" + itoa(seq) }

// feedOfProxy is the feed of what concerns one proxy.
func feedOfProxy(id string) string { return "/?proxy=" + url.QueryEscape(id) }
