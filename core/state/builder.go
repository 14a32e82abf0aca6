package state

import (
	"time"

	"github.com/edsight/edsight/core/model"
)

// Builder makes the next Snapshot. It belongs to the one writer; a Builder is
// used for one Snapshot and the next is made from that.
type Builder struct{ next *Snapshot }

// NewBuilder starts from prev, which stays as it is. Only the goroutine that
// made prev may call it.
func NewBuilder(prev *Snapshot) *Builder {
	return &Builder{next: &Snapshot{
		Version: prev.Version + 1, ConfigVersion: prev.ConfigVersion, Mesh: prev.Mesh,
		services: prev.services.Copy(), proxies: prev.proxies.Copy(),
		configs: prev.configs.Copy(), strays: prev.strays.Copy(), gateways: prev.gateways,
	}}
}

// Version returns the version of the snapshot under construction.
func (b *Builder) Version() uint64 { return b.next.Version }

// Current gives read access to the snapshot under construction. It must not be
// kept.
func (b *Builder) Current() *Snapshot { return b.next }

// SetService stores the state of a service; nil removes it.
func (b *Builder) SetService(key model.ServiceKey, s *ServiceState) {
	if s == nil {
		b.next.services.Delete(serviceKey(key))
		return
	}
	b.next.services.Set(serviceKey(key), s)
}

// SetProxy stores a proxy; nil removes it.
func (b *Builder) SetProxy(id string, p *model.Proxy) {
	if p == nil {
		b.next.proxies.Delete(id)
		return
	}
	b.next.proxies.Set(id, p)
}

// SetConfig stores an Istio object; a nil Object removes it.
func (b *Builder) SetConfig(c Config) {
	if c.Object == nil {
		b.next.configs.Delete(configKey(c.Key))
		return
	}
	b.next.configs.Set(configKey(c.Key), c)
}

// SetStray stores the chunk of a slice without a service; nil removes it.
func (b *Builder) SetStray(key model.ObjectKey, c *Chunk) {
	if c == nil {
		b.next.strays.Delete(configKey(key))
		return
	}
	b.next.strays.Set(configKey(key), c)
}

// SetMesh replaces the mesh configuration.
func (b *Builder) SetMesh(m *Mesh) { b.next.Mesh = m }

// TouchConfig records that something other than endpoints changed.
func (b *Builder) TouchConfig() { b.next.ConfigVersion = b.next.Version }

// Snapshot finishes the construction. The Builder must not be used afterwards.
func (b *Builder) Snapshot(now time.Time) *Snapshot {
	s := b.next
	s.Time = now
	b.next = nil
	return s
}
