package archive

import (
	"encoding/json"

	"github.com/edsight/edsight/core/journal"
	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/source"
	"github.com/edsight/edsight/core/state"
)

// record is one line; exactly one field is set.
type record struct {
	Header     *Header           `json:"header,omitempty"`
	Source     *source.Status    `json:"source,omitempty"`
	Mesh       *meshRecord       `json:"mesh,omitempty"`
	Config     *configRecord     `json:"config,omitempty"`
	Proxy      *model.Proxy      `json:"proxy,omitempty"`
	Service    *serviceRecord    `json:"service,omitempty"`
	Stray      *strayRecord      `json:"stray,omitempty"`
	Transition *transitionRecord `json:"transition,omitempty"`
	End        *endRecord        `json:"end,omitempty"`
}

type meshRecord struct {
	Config   json.RawMessage `json:"config"`
	Networks json.RawMessage `json:"networks"`
	// Settings are the other fields.
	Settings state.Mesh      `json:"settings"`
	Gateways []state.Gateway `json:"gateways,omitempty"`
}

type configRecord struct {
	Key    model.ObjectKey `json:"key"`
	Object json.RawMessage `json:"object"`
}

type serviceRecord struct {
	Key             model.ServiceKey `json:"key"`
	Version         uint64           `json:"version"`
	Definitions     []*model.Service `json:"definitions,omitempty"`
	ServiceAccounts []string         `json:"serviceAccounts,omitempty"`
	Shards          []shardRecord    `json:"shards,omitempty"`
	table
}

type shardRecord struct {
	Provider model.Provider  `json:"provider"`
	Cluster  model.ClusterID `json:"cluster"`
	Chunks   []chunkRecord   `json:"chunks,omitempty"`
	// Candidates are indices in the record's table, as are a chunk's.
	Candidates []int `json:"candidates,omitempty"`
}

type chunkRecord struct {
	Source          model.ObjectKey `json:"source"`
	ResourceVersion string          `json:"resourceVersion,omitempty"`
	Candidates      []int           `json:"candidates,omitempty"`
}

type strayRecord struct {
	Chunk chunkRecord `json:"chunk"`
	table
}

type transitionRecord struct {
	Seq      uint64               `json:"seq"`
	Version  uint64               `json:"version"`
	Causes   []journal.Cause      `json:"causes,omitempty"`
	Push     pushRecord           `json:"push"`
	Times    journal.Times        `json:"times"`
	Services []serviceChange      `json:"services,omitempty"`
	Proxies  []*state.ProxyChange `json:"proxies,omitempty"`
	Configs  []model.ObjectKey    `json:"configs,omitempty"`
	Strays   []model.ObjectKey    `json:"strays,omitempty"`
	Mesh     bool                 `json:"mesh,omitempty"`
	Networks bool                 `json:"networks,omitempty"`
	table
}

type pushRecord struct {
	Type     string             `json:"type"`
	Again    bool               `json:"again,omitempty"`
	Services []model.ServiceKey `json:"services,omitempty"`
	Triggers []string           `json:"triggers,omitempty"`
	Proxies  []string           `json:"proxies,omitempty"`
	Because  string             `json:"because,omitempty"`
}

type serviceChange struct {
	Key        model.ServiceKey `json:"key"`
	Came       bool             `json:"came,omitempty"`
	Went       bool             `json:"went,omitempty"`
	Definition bool             `json:"definition,omitempty"`
	Endpoints  []endpointChange `json:"endpoints,omitempty"`
	Servers    []string         `json:"servers,omitempty"`
}

type endpointChange struct {
	Provider model.Provider  `json:"provider"`
	Cluster  model.ClusterID `json:"cluster"`
	// Before and After are indices in the record's table; absent if there is none.
	Before *int `json:"before,omitempty"`
	After  *int `json:"after,omitempty"`
}

type endRecord struct {
	// Records counts the lines before this one.
	Records  int `json:"records"`
	Redacted int `json:"redacted"`
}

// table holds what several parts of one record share, each thing once.
type table struct {
	Objects    []model.ObjectKey `json:"objects,omitempty"`
	Workloads  []*model.Workload `json:"workloads,omitempty"`
	Candidates []candidateRecord `json:"candidates,omitempty"`
}

type candidateRecord struct {
	// Source and Target are indices of Objects.
	Source   *int            `json:"source,omitempty"`
	Target   *int            `json:"target,omitempty"`
	Address  string          `json:"address,omitempty"`
	PortName string          `json:"portName,omitempty"`
	Port     uint32          `json:"port,omitempty"`
	Reason   string          `json:"reason,omitempty"`
	Endpoint *endpointRecord `json:"endpoint,omitempty"`
}

type endpointRecord struct {
	// Workload is an index of Workloads; Settings are the other fields.
	Workload int            `json:"workload"`
	Settings model.Endpoint `json:"settings"`
}
