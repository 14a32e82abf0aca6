package views

import (
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/edsight/edsight/core/model"
)

// Explain is a question and its answer.
type Explain struct {
	State   State  `json:"state"`
	Proxy   string `json:"proxy"`
	Host    string `json:"host"`
	Port    string `json:"port"`
	Subset  string `json:"subset,omitempty"`
	Address string `json:"address,omitempty"`
	// Problem says what is wrong with the question.
	Problem string `json:"problem,omitempty"`
	// Answered tells that the rest is there.
	Answered bool          `json:"answered"`
	Present  bool          `json:"present"`
	Cause    string        `json:"cause,omitempty"`
	Sentence string        `json:"sentence,omitempty"`
	Steps    []ExplainStep `json:"steps"`
	Links    []Link        `json:"links,omitempty"`
	// Trace is the answer to a question about an address alone.
	Trace *Trace `json:"trace,omitempty"`
}

// ExplainStep is one station between the slice and the proxy.
type ExplainStep struct {
	Name string `json:"name"`
	// Verdict is ok, failed or skipped.
	Verdict  string     `json:"verdict"`
	Text     string     `json:"text"`
	Since    time.Time  `json:"since,omitzero"`
	AtLeast  bool       `json:"atLeast,omitempty"`
	Remedy   string     `json:"remedy,omitempty"`
	Evidence []Evidence `json:"evidence"`
	// Open tells that the evidence is shown at once.
	Open bool `json:"-"`
}

// Evidence is a field as it is, and as it would have to be.
type Evidence struct {
	Object model.ObjectKey `json:"object,omitzero"`
	Field  string          `json:"field"`
	Want   string          `json:"want,omitempty"`
	Have   string          `json:"have"`
}

// Trace is everything that is known of an address.
type Trace struct {
	Address string `json:"address"`
	// Sentence says how it stands, and Well that nothing is the matter.
	Sentence string            `json:"sentence"`
	Well     bool              `json:"well"`
	Objects  []model.ObjectKey `json:"objects"`
	Proxies  []string          `json:"proxies"`
	Offers   []Offer           `json:"offers"`
	// MoreOffers is the number of those that Offers leaves out.
	MoreOffers int      `json:"moreOffers,omitempty"`
	Holders    []Holder `json:"holders"`
	// Unlisted is the number of answers that Holders leave out.
	Unlisted int `json:"unlisted,omitempty"`
}

// Offer is an object that lists the address for a service.
type Offer struct {
	Service  ServiceRef       `json:"service"`
	Source   model.ObjectKey  `json:"source"`
	Target   *model.ObjectKey `json:"target,omitempty"`
	Port     string           `json:"port"`
	Admitted bool             `json:"admitted"`
	Health   string           `json:"health,omitempty"`
	Why      string           `json:"why,omitempty"`
	// InSubsets are the subsets of the service, with whether it is in each.
	InSubsets []InSubset `json:"subsets,omitempty"`
}

// InSubset tells whether an endpoint is in a subset.
type InSubset struct {
	Name string          `json:"name"`
	Rule model.ObjectKey `json:"rule"`
	Has  bool            `json:"has"`
}

// Holder is a group of proxies with one answer.
type Holder struct {
	Proxies []string `json:"proxies"`
	Count   int      `json:"count"`
	Host    string   `json:"host"`
	Port    uint32   `json:"port"`
	Present bool     `json:"present"`
	Why     string   `json:"why"`
	Cause   string   `json:"cause"`
	Href    string   `json:"href"`
}

// Search are the hits of a search.
type Search struct {
	State State  `json:"state"`
	Query string `json:"query"`
	Hits  []Hits `json:"hits"`
	// Gone says when that went which is not there any more, and Then leads there.
	Gone string `json:"gone,omitempty"`
	Then []Link `json:"then,omitempty"`
}

// Hits are those of one kind. What is only explained is not counted.
type Hits struct {
	Kind  string `json:"kind"`
	Total int    `json:"total"`
	Links []Link `json:"links"`
}

// Waiting is the waiting room.
type Waiting struct {
	State   State        `json:"state"`
	Rows    []WaitingRow `json:"rows"`
	Page    Page         `json:"page"`
	Orphans []WaitingRow `json:"orphans"`
}

// WaitingRow is a candidate that waits, or an orphan.
type WaitingRow struct {
	Service  ServiceRef       `json:"service"`
	Address  string           `json:"address"`
	PortName string           `json:"portName,omitempty"`
	Source   model.ObjectKey  `json:"source"`
	Target   *model.ObjectKey `json:"target,omitempty"`
	Why      string           `json:"why"`
	Remedy   string           `json:"remedy,omitempty"`
	// Since is zero if it is longer than the journal remembers; AtLeast tells that it
	// may be longer.
	Since   time.Time `json:"since,omitzero"`
	AtLeast bool      `json:"atLeast,omitempty"`
}

// ExplainURL is the page that explains one endpoint of one proxy.
func ExplainURL(proxy, host string, port uint32, subset, address string) string {
	q := url.Values{"proxy": {proxy}, "host": {host}, "port": {itoa(port)}}
	if subset != "" {
		q.Set("subset", subset)
	}
	if address != "" {
		q.Set("address", address)
	}
	return "/explain?" + q.Encode()
}

// ExplainClusterURL is the same for a cluster by its name,
// "outbound|port|subset|host"; for another cluster it is what is known of the
// address.
func ExplainClusterURL(proxy, cluster, address string) string {
	part := strings.SplitN(cluster, "|", 4)
	if len(part) != 4 {
		return TraceURL(address)
	}
	port, err := strconv.ParseUint(part[1], 10, 32)
	if err != nil {
		return TraceURL(address)
	}
	return ExplainURL(proxy, part[3], uint32(port), part[2], address)
}

// TraceURL is the page with everything about an address.
func TraceURL(address string) string { return "/explain?address=" + url.QueryEscape(address) }

// runs puts steps together that follow one another and say the same of nothing.
func runs(steps []ExplainStep) [][]ExplainStep {
	var out [][]ExplainStep
	for i, s := range steps {
		last := len(out) - 1
		if i > 0 && s.Verdict == "skipped" && s.plain() && out[last][0].Text == s.Text {
			out[last] = append(out[last], s)
		} else {
			out = append(out, steps[i:i+1:i+1])
		}
	}
	return out
}

// plain tells that a step has nothing to open.
func (s *ExplainStep) plain() bool { return len(s.Evidence) == 0 && s.Remedy == "" }

// namesOf are the names of steps, in their order.
func namesOf(steps []ExplainStep) string {
	names := make([]string, 0, len(steps))
	for i := range steps {
		names = append(names, steps[i].Name)
	}
	return strings.Join(names, ", ")
}

func verdictMark(v string) string {
	switch v {
	case "ok":
		return "✓"
	case "failed":
		return "✗"
	default:
		return "–"
	}
}

func verdictClass(v string) string {
	switch v {
	case "ok":
		return "good"
	case "failed":
		return "bad"
	default:
		return "muted"
	}
}
