package views

import (
	"time"

	"github.com/edsight/edsight/core/model"
)

// Clusters is the clusters that are watched, and the networks of the mesh.
type Clusters struct {
	State    State        `json:"state"`
	Clusters []ClusterSum `json:"clusters"`
	Networks []NetworkSum `json:"networks"`
}

// ClusterSum is one cluster: how it is watched, and what comes from it.
type ClusterSum struct {
	ID        model.ClusterID `json:"id"`
	Sync      string          `json:"syncStatus"`
	Connected bool            `json:"connected"`
	LastEvent time.Time       `json:"lastEvent,omitzero"`
	// Secret has the kubeconfig, "" for the cluster that Edsight was pointed to.
	Secret string `json:"secret,omitempty"`
	// CredentialsSince is since when the present ones are in use, zero if that is
	// not known.
	CredentialsSince time.Time `json:"credentialsSince,omitzero"`
	Error            string    `json:"error,omitempty"`
	// Watched is false for a cluster that objects name and that is not watched.
	Watched   bool              `json:"watched"`
	Services  int               `json:"services"`
	Slices    int               `json:"slices"`
	Endpoints int               `json:"endpoints"`
	Proxies   int               `json:"proxies"`
	Networks  []model.NetworkID `json:"networks"`
}

// NetworkSum is one network, and how others reach it.
type NetworkSum struct {
	// ID is "" for what says no network.
	ID        model.NetworkID   `json:"id"`
	Clusters  []model.ClusterID `json:"clusters"`
	Endpoints int               `json:"endpoints"`
	Proxies   int               `json:"proxies"`
	Gateways  []NetworkGateway  `json:"gateways"`
	// Note says who reaches it, "" if that is plain. Lacks tells that it has no gateway
	// where others have networks of their own.
	Note  string `json:"note,omitempty"`
	Lacks bool   `json:"lacksGateway,omitempty"`
}

// NetworkGateway is an address by which a network is reached.
type NetworkGateway struct {
	Address string `json:"address"`
	// From is the cluster of its Service, "" if meshNetworks names it.
	From model.ClusterID `json:"from,omitempty"`
	// Name tells that the address is a name, which only proxies that look names up
	// can use.
	Name bool `json:"name,omitempty"`
}
