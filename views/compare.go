package views

import (
	"net/url"
	"slices"
	"strings"
)

// Compare is one proxy held against something else.
type Compare struct {
	State State  `json:"state"`
	Proxy string `json:"proxy"`
	// With, At and Snapshot are what it is held against: another proxy, the moment
	// after a transition, an opened snapshot; Istiod that istiod was asked.
	With     string `json:"with,omitempty"`
	At       string `json:"at,omitempty"`
	Snapshot string `json:"snapshot,omitempty"`
	Istiod   bool   `json:"istiod,omitempty"`
	// Problem says why there is no answer.
	Problem string `json:"problem,omitempty"`
	// Answered tells that the rest is there.
	Answered bool `json:"answered"`
	// Unnamed tells that what was sent does not say whose it is.
	Unnamed bool `json:"unnamed,omitempty"`
	// Here and There name both sides.
	Here  string `json:"here,omitempty"`
	There string `json:"there,omitempty"`
	// Verdict says it in one sentence.
	Verdict   string `json:"verdict,omitempty"`
	Same      bool   `json:"same"`
	Equal     int    `json:"equalClusters"`
	Unchecked int    `json:"uncheckedClusters,omitempty"`
	OnlyHere  int    `json:"onlyHere"`
	OnlyThere int    `json:"onlyThere"`
	Changed   int    `json:"changed"`
	// Clusters are those that differ, at most as many as fit on a page.
	Clusters []CompareCluster `json:"clusters"`
	More     int              `json:"moreClusters,omitempty"`
	// The rest is for asking.
	First   uint64   `json:"-"` // of the transitions that are kept, Last the newest
	Last    uint64   `json:"-"`
	Opened  []Choice `json:"-"`
	Asks    bool     `json:"-"` // istiod can be asked
	Command string   `json:"-"` // gives Envoy's own dump
	Curl    string   `json:"-"` // sends it
}

// Choice is an entry of a list to choose from.
type Choice struct{ Value, Text string }

// CompareCluster is a cluster that differs.
type CompareCluster struct {
	Name string `json:"name"`
	// Here and There tell which sides have it.
	Here  bool `json:"here"`
	There bool `json:"there"`
	// Why says why a side does not have it, Explain is the page that shows it.
	Why       string        `json:"why,omitempty"`
	Explain   string        `json:"explain,omitempty"`
	Endpoints []ComparePair `json:"endpoints"`
	More      int           `json:"moreEndpoints,omitempty"`
}

// ComparePair is an endpoint on both sides; nil where it is not.
type ComparePair struct {
	Address string           `json:"address"`
	Here    *CompareEndpoint `json:"here,omitempty"`
	There   *CompareEndpoint `json:"there,omitempty"`
	// Fields are those that differ.
	Fields []string `json:"fields,omitempty"`
	Why    string   `json:"why,omitempty"`
	// Explain is the page that shows why, Transition the last one that changed the
	// endpoint, 0 if it is not kept.
	Explain    string `json:"explain,omitempty"`
	Transition uint64 `json:"transition,omitempty"`
}

// CompareEndpoint is an endpoint as one side has it.
type CompareEndpoint struct {
	Health   string `json:"health"`
	Priority uint32 `json:"priority"`
	Locality string `json:"locality,omitempty"`
	Weight   uint32 `json:"weight"`
	// LocalityWeight is that of the whole locality, 0 if it is not said.
	LocalityWeight uint32 `json:"localityWeight,omitempty"`
}

// CompareURL is the page that compares a proxy.
func CompareURL(id string) string {
	return "/proxies/" + url.PathEscape(id) + "/compare"
}

// CompareSnapshotURL compares a proxy with what it was in an opened snapshot.
func CompareSnapshotURL(id, key string) string {
	return CompareURL(id) + "?snapshot=" + url.QueryEscape(key)
}

// only says on which side alone something is. A side is a moment or a party.
func only(side string) string {
	for _, moment := range []string{"now", "after ", "in "} {
		if strings.HasPrefix(side, moment) {
			return "only " + side
		}
	}
	return "only in " + side
}

// differs tells whether the field is among those that differ.
func (p ComparePair) differs(field string) bool { return slices.Contains(p.Fields, field) }

// details are the priority, weight and place of an endpoint, each marked if it
// differs.
func (p ComparePair) details(e *CompareEndpoint) []detail {
	list := []detail{
		{"p" + itoa(e.Priority), p.differs("priority")},
		{"w" + itoa(e.Weight), p.differs("weight")},
		{orDefault(e.Locality, "no locality"), p.differs("locality")},
	}
	if p.differs("locality weight") {
		list = append(list, detail{"locality weight " + itoa(e.LocalityWeight), true})
	}
	return list
}

type detail struct {
	text    string
	differs bool
}
