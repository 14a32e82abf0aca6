package views

import (
	"strings"
	"time"

	"github.com/edsight/edsight/core/model"
)

// Row is one transition in the feed.
type Row struct {
	Seq     uint64    `json:"seq"`
	Version uint64    `json:"version"`
	Time    time.Time `json:"time"`
	// Seen is when its first cause was seen.
	Seen time.Time `json:"seen"`
	// Services are the first few that changed; MoreServices counts the others.
	Services     []ServiceRef `json:"services"`
	MoreServices int          `json:"moreServices,omitempty"`
	// Cause is the object that tells most; Causes counts all changes.
	Cause  model.ObjectKey `json:"cause,omitzero"`
	Causes int             `json:"causes"`
	Actor  string          `json:"actor,omitempty"`
	// Added, Removed, Changed and Waiting count endpoints.
	Added   int `json:"added"`
	Removed int `json:"removed"`
	Changed int `json:"changed"`
	Waiting int `json:"waiting"`
	// Definition tells that services themselves changed.
	Definition bool `json:"definition,omitempty"`
	// Push is the type of push, with the reason in words.
	Push    string `json:"push"`
	Because string `json:"because"`
	// Proxies is the number of proxies that the push concerns.
	Proxies int `json:"proxies"`
	// Delivery is nil if the push concerned no connected proxy.
	Delivery *Delivery `json:"delivery,omitempty"`
	// TotalMS is the time from the first cause to the published state.
	TotalMS float64 `json:"totalMs"`
	// Notes say what happened to the first few endpoints.
	Notes     []string `json:"notes,omitempty"`
	MoreNotes int      `json:"moreNotes,omitempty"`
}

// Gap says which transitions can no longer be shown.
type Gap struct {
	From uint64 `json:"from"`
	To   uint64 `json:"to"`
	// Restarted tells that the numbers began anew.
	Restarted bool `json:"restarted,omitempty"`
}

// next is the number with which the feed goes on behind the gap.
func (g Gap) next() uint64 {
	if g.Restarted {
		return 1
	}
	return g.To + 1
}

// Filter is what the feed is restricted to.
type Filter struct {
	Namespace string `json:"namespace,omitempty"`
	Service   string `json:"service,omitempty"`
	Proxy     string `json:"proxy,omitempty"`
	Address   string `json:"address,omitempty"`
	Push      string `json:"push,omitempty"`
}

// Active tells whether the filter leaves anything out.
func (f Filter) Active() bool { return f != Filter{} }

// Feed is a list of transitions, the newest first.
type Feed struct {
	Filter Filter `json:"filter"`
	Rows   []Row  `json:"transitions"`
	// Gap lies behind the last row.
	Gap *Gap `json:"gap,omitempty"`
	// Newer and Older are URLs of the pages beside this one, "" at the end.
	Newer string `json:"newer,omitempty"`
	Older string `json:"older,omitempty"`
}

// Station is one place on the way from a slice to the proxies.
type Station struct {
	Name string `json:"name"`
	// Value is what there is to say in one number, Detail what it counts.
	Value  string `json:"value"`
	Detail string `json:"detail"`
	// Rate is per second over the last minute.
	Rate float64 `json:"rate"`
	// P50MS is the median time since the event; it is only there if Timed.
	P50MS float64 `json:"p50Ms"`
	Timed bool    `json:"timed"`
	// Modelled tells that it is what would be sent; no proxy is connected.
	Modelled bool `json:"modelled,omitempty"`
	// Spark counts what passed in each of the last 60 seconds, oldest first.
	Spark []int `json:"spark"`
}

// Live is the first page.
type Live struct {
	State    State     `json:"state"`
	Stations []Station `json:"stations"`
	Troubles Troubles  `json:"sourceProblems"`
	// Wrong is what is wrong in the state that the page began with.
	Wrong      Wrong    `json:"-"`
	Feed       Feed     `json:"feed"`
	Namespaces []string `json:"-"`
	// Following tells that new rows may be put on top.
	Following bool `json:"-"`
}

func joinNotes(notes []string) string { return strings.Join(notes, " · ") }
