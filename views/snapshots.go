package views

import (
	"net/url"
	"time"
)

// Snapshots is where a snapshot is exported, and opened.
type Snapshots struct {
	State     State `json:"state"`
	Services  int   `json:"services"`
	Endpoints int   `json:"endpoints"`
	Held      int   `json:"held"`
	Proxies   int   `json:"proxies"`
	Configs   int   `json:"configs"`
	Steps     int   `json:"steps"`
	// Export is the URL of the file.
	Export string `json:"export"`
	// Curl is the command that fetches it, without any secret.
	Curl string `json:"curl"`
	// Opened are the snapshots that can be compared, Room is how many there may be.
	Opened []SnapshotRef `json:"opened"`
	Room   int           `json:"room"`
}

// SnapshotRef is an opened snapshot, or the present state if it has no Key.
type SnapshotRef struct {
	Key string `json:"key,omitempty"`
	// Name is that of the file.
	Name     string    `json:"name"`
	Version  uint64    `json:"version"`
	Created  time.Time `json:"created,omitzero"`
	Services int       `json:"services"`
	Proxies  int       `json:"proxies"`
	// Redacted counts what was left out of it.
	Redacted int       `json:"redacted,omitempty"`
	OpenedAt time.Time `json:"openedAt,omitzero"`
	OpenedBy string    `json:"openedBy,omitempty"`
}

// SnapshotDiff is in what a state differs from an opened snapshot.
type SnapshotDiff struct {
	State  State       `json:"state"`
	Before SnapshotRef `json:"before"`
	After  SnapshotRef `json:"after"`
	Same   bool        `json:"same"`
	// Verdict says it in one sentence.
	Verdict      string          `json:"verdict"`
	Services     []ServiceChange `json:"services"`
	MoreServices int             `json:"moreServices,omitempty"`
	Others       []OtherChange   `json:"others,omitempty"`
	Proxies      []ProxyDiff     `json:"proxies"`
	Page         Page            `json:"page"`
	// Opened are the snapshots to compare with.
	Opened []SnapshotRef `json:"-"`
}

// ProxyDiff is how much the view of a proxy differs.
type ProxyDiff struct {
	ID string `json:"id"`
	// Op is "came", "went" or "changed".
	Op       string `json:"op"`
	Clusters int    `json:"clusters"`
	Added    int    `json:"added"`
	Removed  int    `json:"removed"`
	Changed  int    `json:"changed"`
	// Href is the page that compares the proxy, or that of one that came, "" if there
	// is none.
	Href string `json:"href,omitempty"`
}

// proxyGroups are the proxies of the page, those together of which the same is said.
func (m *SnapshotDiff) proxyGroups() [][]ProxyDiff {
	type said struct {
		op                                string
		clusters, added, removed, changed int
	}
	var groups [][]ProxyDiff
	at := map[said]int{}
	for _, p := range m.Proxies {
		key := said{p.Op, p.Clusters, p.Added, p.Removed, p.Changed}
		i, ok := at[key]
		if !ok {
			i = len(groups)
			at[key], groups = i, append(groups, nil)
		}
		groups[i] = append(groups[i], p)
	}
	return groups
}

// SnapshotURL compares an opened snapshot with the present state, or with another
// one.
func SnapshotURL(key, with string) string {
	u := "/snapshots/" + url.PathEscape(key)
	if with != "" {
		u += "?with=" + url.QueryEscape(with)
	}
	return u
}
