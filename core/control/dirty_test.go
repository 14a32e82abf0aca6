package control_test

import (
	"slices"
	"testing"
	"time"

	"github.com/edsight/edsight/core/control"
	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/registry"
	"github.com/edsight/edsight/core/source"
	"github.com/edsight/edsight/core/source/memory"
)

// Changes of one object are one cause. What concerns its proxy is none of its
// operations, and no version of it.
func TestMergedCauses(t *testing.T) {
	pod := model.ObjectKey{Cluster: "Kubernetes", Kind: model.KindPod, Namespace: "shop", Name: "client-0"}
	proxy := registry.Pinned{Pod: pod, Proxy: &model.Proxy{ID: "client-0.shop", Type: model.Sidecar, Namespace: "shop", Cluster: "Kubernetes"}}
	at := func(second int) time.Time { return time.Unix(int64(second), 0) }
	change := func(op source.Op, version string, second int) func(*control.Controller) {
		return func(c *control.Controller) {
			c.Dirty(source.Cause{Key: pod, Op: op, ResourceVersion: version, Seen: at(second)})
		}
	}
	connect := func(c *control.Controller) { c.Connect(proxy) }
	disconnect := func(c *control.Controller) { c.Disconnect(pod) }
	for name, test := range map[string]struct {
		events   []func(*control.Controller)
		op       source.Op
		seen     int
		versions []string
	}{
		"connect after update":       {[]func(*control.Controller){change(source.OpUpdate, "7", 1), connect}, source.OpUpdate, 1, []string{"7"}},
		"update after connect":       {[]func(*control.Controller){connect, change(source.OpUpdate, "7", 1)}, source.OpUpdate, 9, []string{"7"}},
		"disconnect after connect":   {[]func(*control.Controller){connect, disconnect}, source.OpDisconnect, 9, nil},
		"delete after add":           {[]func(*control.Controller){change(source.OpAdd, "7", 1), change(source.OpDelete, "8", 2)}, source.OpDelete, 1, []string{"7", "8"}},
		"without versions":           {[]func(*control.Controller){change(source.OpAdd, "", 1), change(source.OpUpdate, "", 2)}, source.OpUpdate, 1, nil},
		"disconnect between changes": {[]func(*control.Controller){change(source.OpAdd, "7", 1), disconnect, change(source.OpUpdate, "8", 3)}, source.OpUpdate, 1, []string{"7", "8"}},
	} {
		t.Run(name, func(t *testing.T) {
			store := memory.New("test", time.Now)
			c := control.New(control.Options{Source: store, Now: func() time.Time { return at(9) }})
			store.Attach(c)
			c.Flush()
			for _, e := range test.events {
				e(c)
			}
			causes := c.Flush().Causes
			if len(causes) != 1 || causes[0].Op != test.op || causes[0].Merged != len(test.events) ||
				!causes[0].Seen.Equal(at(test.seen)) || !slices.Equal(causes[0].ResourceVersions, test.versions) {
				t.Errorf("the causes are %+v", causes)
			}
		})
	}
}
