package explain

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/edsight/edsight/core/model"
)

// name is how an object is called in a sentence. One that the asker may not see
// is only said to exist.
func (x *inquiry) name(key model.ObjectKey) string {
	switch {
	case key.Name == "":
		return "nothing"
	case !x.mayName(key):
		return article(key.Kind) + " " + string(key.Kind) + " which you may not see"
	}
	text := string(key.Kind) + " " + key.Name
	if key.Namespace != "" {
		text = string(key.Kind) + " " + key.Namespace + "/" + key.Name
	}
	if x.proxy != nil && key.Cluster != "" && key.Cluster != x.proxy.Cluster {
		text += " of cluster " + string(key.Cluster)
	}
	return text
}

// nameIn is name with the cluster, also if it is the proxy's own.
func (x *inquiry) nameIn(key model.ObjectKey) string {
	text, in := x.name(key), " of cluster "+string(key.Cluster)
	if strings.HasSuffix(text, in) {
		return text
	}
	return text + in
}

func article(k model.Kind) string {
	if strings.ContainsAny(string(k[:min(len(k), 1)]), "AEIO") {
		return "an"
	}
	return "a"
}

// mayName tells whether the asker may read an object's name: those of namespaces
// that it may see, and what its proxy uses anyway.
func (x *inquiry) mayName(key model.ObjectKey) bool {
	if key.Namespace == "" {
		return key.Kind != model.KindNamespace || x.allowed(key.Name)
	}
	return x.allowed(key.Namespace) || x.uses(key)
}

// uses tells whether the proxy's own configuration is made of the object: what
// defines its service, its Sidecar, its rules, and the mesh configuration.
func (x *inquiry) uses(key model.ObjectKey) bool {
	if x.isSidecar(key) {
		return true
	}
	if key.Kind == model.KindConfigMap {
		return true
	}
	if x.imp == nil {
		return false
	}
	return key == x.imp.Definition.Object || key == x.imp.Via || (x.rule != nil && slices.Contains(x.rule.From, key))
}

// isSidecar tells whether the object is the Sidecar that applies to the proxy.
func (x *inquiry) isSidecar(key model.ObjectKey) bool {
	if x.scope == nil {
		return false
	}
	s := x.scope.Key.Sidecar
	return key.Kind == model.KindSidecar && key.Name == s.Name && key.Namespace == s.Namespace
}

// names joins objects in words.
func (x *inquiry) names(keys []model.ObjectKey) string {
	parts := make([]string, 0, len(keys))
	for _, k := range keys {
		parts = append(parts, x.name(k))
	}
	return and(parts)
}

// and joins parts in words; of many it says how many there are.
func and(parts []string) string {
	const most = 6
	if len(parts) > most {
		return strings.Join(parts[:most], ", ") + " and " + strconv.Itoa(len(parts)-most) + " more"
	}
	if len(parts) < 2 {
		return strings.Join(parts, "")
	}
	return strings.Join(parts[:len(parts)-1], ", ") + " and " + parts[len(parts)-1]
}

// labelText gives labels as "a=b, c=d".
func labelText(l map[string]string) string {
	if len(l) == 0 {
		return "no labels"
	}
	parts := make([]string, 0, len(l))
	for _, k := range slices.Sorted(maps.Keys(l)) {
		parts = append(parts, k+"="+l[k])
	}
	return strings.Join(parts, ", ")
}

// portsText lists ports as "http 80, grpc 9000".
func portsText(ports []model.Port) string {
	if len(ports) == 0 {
		return "no port"
	}
	parts := make([]string, 0, len(ports))
	for _, p := range ports {
		parts = append(parts, strings.TrimSpace(p.Name+" "+number(p.Number)))
	}
	return strings.Join(parts, ", ")
}

func portName(name string) string {
	if name == "" {
		return `"" (no name)`
	}
	return strconv.Quote(name)
}

func localityText(l model.Locality) string {
	if s := l.String(); s != "" {
		return s
	}
	return "no locality"
}

func networkText(n model.NetworkID) string {
	if n == "" {
		return "no network"
	}
	return "network " + string(n)
}

// clock is a moment, with its day: nobody knows how long ago it is when they read it.
func clock(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") }

func number(n uint32) string { return strconv.FormatUint(uint64(n), 10) }

// addressText is an address with its port, or alone.
func addressText(address string, port uint32) string {
	switch {
	case address == "":
		return "an empty address"
	case port == 0:
		return address
	case model.IsIPv6(address):
		return "[" + address + "]:" + number(port)
	}
	return address + ":" + number(port)
}

// target is what was asked about, "host:80" or "host:80, subset v1".
func (x *inquiry) target() string {
	t := string(x.q.Host) + ":" + number(x.q.Port)
	if x.q.Subset != "" {
		t += ", subset " + x.q.Subset
	}
	return t
}

// upperFirst makes a clause the start of a sentence. A name at its start stays as it
// is.
func upperFirst(s string) string {
	if first, _, _ := strings.Cut(s, " "); first == "" || strings.ContainsAny(first, "./:") {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// similar tells whether two names differ in few letters: one is got from the other
// by at most two changes, additions or removals.
func similar(a, b string) bool {
	const most = 2
	if len(a)-len(b) > most || len(b)-len(a) > most {
		return false
	}
	prev := make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := range len(a) {
		next := make([]int, len(b)+1)
		next[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			next[j+1] = min(prev[j]+cost, prev[j+1]+1, next[j]+1)
		}
		prev = next
	}
	return prev[len(b)] <= most && max(len(a), len(b)) > most
}

// verb is the one that goes with n subjects.
func verb(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}
