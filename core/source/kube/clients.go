package kube

import (
	"fmt"

	istio "istio.io/client-go/pkg/clientset/versioned"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/edsight/edsight/core/model"
)

// clients are those of one API server.
type clients struct {
	host    string
	core    kubernetes.Interface
	istio   istio.Interface
	dynamic dynamic.Interface
}

// connect makes the clients of a connection. Nothing is sent yet.
func connect(cfg *rest.Config, id model.ClusterID) (*clients, error) {
	cfg = rest.CopyConfig(cfg)
	cfg.QPS = -1 // a handful of watches; the API server's own flow control suffices
	cfg.Timeout = 0
	if cfg.UserAgent == "" {
		cfg.UserAgent = "edsight"
	}
	proto := rest.CopyConfig(cfg)
	proto.ContentType = "application/vnd.kubernetes.protobuf"
	proto.AcceptContentTypes = "application/vnd.kubernetes.protobuf,application/json"
	c := &clients{host: cfg.Host}
	var err error
	if c.core, err = kubernetes.NewForConfig(proto); err != nil {
		return nil, fmt.Errorf("cluster %s: %w", id, err)
	}
	if c.istio, err = istio.NewForConfig(cfg); err != nil {
		return nil, fmt.Errorf("cluster %s: %w", id, err)
	}
	if c.dynamic, err = dynamic.NewForConfig(cfg); err != nil {
		return nil, fmt.Errorf("cluster %s: %w", id, err)
	}
	return c, nil
}
