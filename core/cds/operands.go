package cds

import (
	networking "istio.io/api/networking/v1alpha3"

	"github.com/edsight/edsight/core/eds"
	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/scope"
	"github.com/edsight/edsight/core/state"
)

// LocalityOrigin says whose locality load balancing setting is in force.
type LocalityOrigin uint8

// The origins: the mesh's, that of the cluster's Rule, or what the service's
// traffic distribution stands for.
const (
	LocalityOfMesh LocalityOrigin = iota
	LocalityOfRule
	LocalityOfService
)

// LocalitySetting returns the locality load balancing setting that the cluster is
// built with, nil if there is none, and whose it is.
func (c *Cluster) LocalitySetting(mesh *state.Mesh) (*networking.LocalityLoadBalancerSetting, LocalityOrigin) {
	if s := c.policy.loadBalancer.GetLocalityLbSetting(); s != nil {
		return s, LocalityOfRule
	}
	if near := nearness(c.Definition.TrafficDistribution); near != nil {
		return near, LocalityOfService
	}
	return mesh.Config.GetLocalityLbSetting(), LocalityOfMesh
}

// DisablingPeer names the PeerAuthentication that turns mTLS off for an endpoint of the
// cluster, false if none does.
func (c *Cluster) DisablingPeer(sc *scope.Scope, e *model.Endpoint) (model.ObjectKey, bool) {
	if c.View.TLS != eds.TLSAuto {
		return model.ObjectKey{}, false
	}
	return sc.DisablingPeer(workloadNamespace(c.Definition), e)
}

// TLSMode returns the TLS mode that the Rule sets for the cluster, "" if none.
func (c *Cluster) TLSMode() string {
	if c.policy.tls == nil {
		return ""
	}
	return c.policy.tls.GetMode().String()
}
