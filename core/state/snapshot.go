package state

import (
	"iter"
	"time"

	"github.com/tidwall/btree"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/edsight/edsight/core/model"
)

// Snapshot is the whole state at one moment. It is immutable.
type Snapshot struct {
	// Version counts snapshots from 1; 0 is the empty one before the first.
	Version uint64
	// ConfigVersion is the Version at which anything but endpoints last changed.
	ConfigVersion uint64
	Time          time.Time
	Mesh          *Mesh

	services *btree.Map[string, *ServiceState]
	proxies  *btree.Map[string, *model.Proxy]
	configs  *btree.Map[string, Config]
	strays   *btree.Map[string, *Chunk]
	gateways []Gateway
}

// Config is one Istio object.
type Config struct {
	Key    model.ObjectKey
	Object metav1.Object
}

// Empty returns the snapshot before anything was seen.
func Empty() *Snapshot {
	return &Snapshot{
		Mesh:     DefaultMesh(),
		services: &btree.Map[string, *ServiceState]{}, proxies: &btree.Map[string, *model.Proxy]{},
		configs: &btree.Map[string, Config]{}, strays: &btree.Map[string, *Chunk]{},
	}
}

// Service returns the state of one host in one namespace, or nil.
func (s *Snapshot) Service(key model.ServiceKey) *ServiceState {
	v, _ := s.services.Get(serviceKey(key))
	return v
}

// Services iterates over all services by hostname, then namespace.
func (s *Snapshot) Services() iter.Seq[*ServiceState] { return values(s.services, "") }

// ServiceCount returns the number of services.
func (s *Snapshot) ServiceCount() int { return s.services.Len() }

// ServicesOf iterates over the services of one hostname by namespace.
func (s *Snapshot) ServicesOf(host model.Hostname) iter.Seq[*ServiceState] {
	return values(s.services, string(host)+"\x00")
}

// Proxy returns the proxy with that ID, or nil.
func (s *Snapshot) Proxy(id string) *model.Proxy {
	v, _ := s.proxies.Get(id)
	return v
}

// Proxies iterates over all proxies by ID.
func (s *Snapshot) Proxies() iter.Seq[*model.Proxy] { return values(s.proxies, "") }

// ProxyCount returns the number of proxies.
func (s *Snapshot) ProxyCount() int { return s.proxies.Len() }

// Config returns one Istio object.
func (s *Snapshot) Config(key model.ObjectKey) (Config, bool) { return s.configs.Get(configKey(key)) }

// Configs iterates over the Istio objects of one kind by namespace, name and
// cluster; the kind "" gives all.
func (s *Snapshot) Configs(kind model.Kind) iter.Seq[Config] {
	if kind == "" {
		return values(s.configs, "")
	}
	return values(s.configs, string(kind)+"\x00")
}

// ConfigsIn iterates over the objects of one kind in one namespace.
func (s *Snapshot) ConfigsIn(kind model.Kind, namespace string) iter.Seq[Config] {
	return values(s.configs, string(kind)+"\x00"+namespace+"\x00")
}

// Strays iterates over the slices that belong to no service, one Chunk each.
func (s *Snapshot) Strays() iter.Seq[*Chunk] { return values(s.strays, "") }

// Stray returns the chunk of one such slice.
func (s *Snapshot) Stray(key model.ObjectKey) (*Chunk, bool) { return s.strays.Get(configKey(key)) }

func values[V any](m *btree.Map[string, V], prefix string) iter.Seq[V] {
	return func(yield func(V) bool) {
		m.Ascend(prefix, func(k string, v V) bool {
			return len(k) >= len(prefix) && k[:len(prefix)] == prefix && yield(v)
		})
	}
}

func serviceKey(k model.ServiceKey) string { return string(k.Hostname) + "\x00" + k.Namespace }

func configKey(k model.ObjectKey) string {
	return string(k.Kind) + "\x00" + k.Namespace + "\x00" + k.Name + "\x00" + string(k.Cluster)
}
