package control

import (
	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/registry"
	"github.com/edsight/edsight/core/source"
)

// Connect makes the proxy of a stream known, by its Pod if there is one. The
// channel is closed when a snapshot which has it is published.
func (c *Controller) Connect(p registry.Pinned) <-chan struct{} {
	return c.dirty.addPin(source.Cause{Key: p.Pod, Op: source.OpConnect, Seen: c.now()}, &p)
}

// Disconnect forgets what is known of a proxy besides its Pod.
func (c *Controller) Disconnect(pod model.ObjectKey) {
	c.dirty.addPin(source.Cause{Key: pod, Op: source.OpDisconnect, Seen: c.now()}, nil)
}

// Push has everything looked at again that proxies have, as if the configuration
// had changed.
func (c *Controller) Push() { c.dirty.addPush() }

func (c *Controller) pin(key model.ObjectKey, p pin) {
	if p.proxy == nil {
		c.world.Unpin(key)
		return
	}
	c.world.Pin(*p.proxy)
}
