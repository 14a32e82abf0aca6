package state

import (
	meshconfig "istio.io/api/mesh/v1alpha1"
)

// Mesh is the mesh configuration in force: the defaults, with the ConfigMap
// "istio" of the root namespace laid over them.
type Mesh struct {
	Config   *meshconfig.MeshConfig
	Networks *meshconfig.MeshNetworks
	// RootNamespace is where mesh-wide objects live.
	RootNamespace string
	// SystemNamespace is where the ConfigMap lives; its label is the network of the
	// cluster.
	SystemNamespace string
	// DomainSuffix of Kubernetes services, "cluster.local".
	DomainSuffix string
	// Features are the flags that istiod would be started with.
	Features Features
}

// DefaultMesh is the configuration without any ConfigMap.
func DefaultMesh() *Mesh {
	return &Mesh{
		Config:        &meshconfig.MeshConfig{RootNamespace: "istio-system", TrustDomain: "cluster.local"},
		Networks:      &meshconfig.MeshNetworks{},
		RootNamespace: "istio-system", SystemNamespace: "istio-system", DomainSuffix: "cluster.local",
	}
}
