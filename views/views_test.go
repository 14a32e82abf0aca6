package views

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/a-h/templ"
	"golang.org/x/net/html"

	"github.com/edsight/edsight/core/model"
)

// element is what a test sees of a rendered page: the elements by data-testid.
type element struct {
	text  string
	attrs map[string]string
}

// elements parses HTML as browsers do. Elements without an id of their own for
// tests are left out, but counted by name.
func elements(tb testing.TB, c templ.Component, context string) (byID map[string][]element, names map[string]int) {
	tb.Helper()
	var b bytes.Buffer
	if err := c.Render(tb.Context(), &b); err != nil {
		tb.Fatal(err)
	}
	root, err := html.Parse(strings.NewReader(context + b.String()))
	if err != nil {
		tb.Fatal(err)
	}
	byID, names = map[string][]element{}, map[string]int{}
	for n := range root.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		names[n.Data]++
		e := element{attrs: map[string]string{}}
		for _, a := range n.Attr {
			e.attrs[a.Key] = a.Val
		}
		if id, ok := e.attrs["data-testid"]; ok {
			e.text = textOf(n)
			byID[id] = append(byID[id], e)
		}
	}
	return byID, names
}

// textOf is the text of an element, its blocks and cells apart.
func textOf(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		switch {
		case d.Type == html.TextNode:
			b.WriteString(d.Data)
		case slices.Contains([]string{"td", "th", "p", "li", "small", "svg"}, d.Data):
			b.WriteString(" ")
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

const inTable = "<table><tbody>"

func TestFeedRow(t *testing.T) {
	at := time.Date(2026, 1, 2, 14, 3, 22, 118e6, time.UTC)
	row := Row{
		Seq: 7, Version: 12345, Time: at, Services: []ServiceRef{{"cart.shop.svc.cluster.local", "shop"}}, MoreServices: 2,
		Cause: model.ObjectKey{Kind: model.KindEndpointSlice, Namespace: "shop", Name: "cart-7x2kq"}, Causes: 3,
		Added: 1, Removed: 1, Push: "incremental", Because: "endpoints changed", Proxies: 212, TotalMS: 4.21, Notes: []string{"10.1.4.7 in", "10.1.9.3 out"},
	}
	byID, _ := elements(t, FeedRow(row), inTable)
	want := "14:03:22.118 shop/cart and 2 others EndpointSlice shop/cart-7x2kq of 3 +1 −1 ~0 ◇ incremental 212 4.2 ms 10.1.4.7 in · 10.1.9.3 out"
	if got := byID["transition"][0]; got.text != want || got.attrs["data-seq"] != "7" || got.attrs["data-version"] != "12,345" {
		t.Errorf("the row is %+v, not %q", got, want)
	}
	row.Push, row.Definition = "none", true
	byID, _ = elements(t, FeedRow(row), inTable)
	if got := byID["transition"][0].text; !strings.HasSuffix(got, "service +1 −1 ~0 – none – 4.2 ms endpoints changed") {
		t.Errorf("without a push the row is %q", got)
	}
}

func TestStations(t *testing.T) {
	byID, names := elements(t, Stations([]Station{
		{Name: "slices", Value: "32", Detail: "slice changes", Rate: 3.2, P50MS: 0.4, Timed: true, Spark: []int{0, 2, 1}},
		{Name: "acked", Value: "4 of 5", Detail: "proxies", Modelled: true},
	}), "")
	if got := byID["station-slices"][0].text; got != "slices 32 slice changes 3.2/s p50 +0.4 ms" {
		t.Errorf("the station says %q", got)
	}
	if got := byID["station-acked"][0].text; got != "acked modelled 4 of 5 proxies 0/s" {
		t.Errorf("the modelled station says %q", got)
	}
	if names["svg"] != 2 || names["path"] != 2 {
		t.Errorf("the charts are %v", names)
	}
	if got := sparkPath([]int{0, 2, 1}); got != "M1 16v-16h.8v16zM2 16v-8h.8v8z" {
		t.Errorf("the chart is %s", got)
	}
}

func TestCandidateRow(t *testing.T) {
	columns := []ViewColumn{{Name: "sidecars a"}, {Name: "sidecars b"}}
	x := Candidate{
		Address: "10.0.0.1:80", PortName: "http", Admitted: true, Health: "terminating", PortKnown: true,
		Verdicts: []Verdict{{Sent: true, Priority: 1, Weight: 3}, {Reason: model.ReasonTerminating}},
	}
	byID, _ := elements(t, candidateRow(x, columns), inTable)
	if got := byID["candidate"][0].text; got != "10.0.0.1:80 http ✓ bare address ◐ terminating ● p1 w3 ○ terminating" {
		t.Errorf("the row is %q", got)
	}
	x.Admitted, x.Reason, x.Why, x.Remedy, x.Verdicts = false, model.ReasonPodGone, "the Pod is gone", "wait", nil
	byID, _ = elements(t, candidateRow(x, nil), inTable)
	if got := byID["why-pod-gone"][0].text; got != "○ the Pod is gone → wait" {
		t.Errorf("the reason is %q", got)
	}
}

func TestPager(t *testing.T) {
	byID, _ := elements(t, pager(Page{First: 101, Last: 200, Total: 2345, Prev: "/x", Next: "/x?page=3"}, "pages"), "")
	if got := byID["pager"][0].text; got != "← previous 101–200 of 2,345 next →" {
		t.Errorf("the pager says %q", got)
	}
	if got := byID["next"][0].attrs["href"]; got != "/x?page=3" {
		t.Errorf("next leads to %s", got)
	}
	if byID, _ := elements(t, pager(Page{First: 1, Last: 5, Total: 5}, "pages"), ""); len(byID) != 0 {
		t.Errorf("one page has a pager: %v", byID)
	}
}

func TestWords(t *testing.T) {
	now := time.Unix(1700000000, 0)
	for got, want := range map[string]string{
		Number(0): "0", Number(999): "999", Number(1000): "1,000", Number(uint64(1234567)): "1,234,567", Number(-1234): "-1,234",
		Count(1, "proxy", "proxies"): "1 proxy", Count(2000, "proxy", "proxies"): "2,000 proxies",
		Millis(0): "0 ms", Millis(0.057): "57 µs", Millis(4.24): "4.2 ms", Millis(412.4): "412 ms", Millis(2500): "2.5 s", Millis(90000): "1.5 min",
		Rate(3): "3/s", Rate(0.25): "0.2/s", Rate(12.6): "13/s", Rate(1.0 / 60): "1/min",
		Age(time.Time{}, now): "never", Age(now.Add(time.Hour), now): "just now", Age(now.Add(-59*time.Second), now): "59 s ago",
		Age(now.Add(-3*time.Hour), now): "3 h ago", Age(now.Add(-72*time.Hour), now): "3 d ago",
	} {
		if got != want {
			t.Errorf("%q, not %q", got, want)
		}
	}
}

func TestLinks(t *testing.T) {
	for got, want := range map[string]string{
		ServiceURL(model.ServiceKey{Hostname: "*.a/b", Namespace: "x y"}): "/services/x%20y/%2A.a%2Fb",
		ProxyURL("web.json"):                 "/proxies/web%2Ejson",
		ProxyURL("a/b.c?"):                   "/proxies/a%2Fb.c%3F",
		ClusterURL("p.ns", "outbound|80||a"): "/proxies/p.ns?cluster=outbound%7C80%7C%7Ca",
		ObjectURL(model.ObjectKey{Kind: model.KindPod, Namespace: "n", Name: "p"}):                "/config/Pod/n/p",
		ObjectURL(model.ObjectKey{Kind: model.KindEndpointSlice, Namespace: "n", Name: "web-x1"}): "/config/EndpointSlice/n/web-x1",
		ObjectURL(model.ObjectKey{Kind: model.KindNode, Name: "n"}):                               "",
	} {
		if got != want {
			t.Errorf("%s, not %s", got, want)
		}
	}
}

// FuzzFeedRow: whatever the names are, the row is one row, and they are its text.
func FuzzFeedRow(f *testing.F) {
	f.Add("web.shop", "shop", "note")
	f.Add(`"><script>alert(1)</script>`, "</td></tr><img src=x>", "javascript:alert(1)")
	f.Fuzz(func(t *testing.T, host, ns, note string) {
		row := Row{
			Services: []ServiceRef{{model.Hostname(host), ns}}, Notes: []string{note}, Because: note, Push: note,
			Cause: model.ObjectKey{Kind: model.Kind(note), Namespace: ns, Name: host},
		}
		_, names := elements(t, FeedRow(row), inTable)
		if names["tr"] != 1 || names["script"]+names["img"]+names["iframe"]+names["style"] != 0 || names["td"] != 7 {
			t.Errorf("the row has %v", names)
		}
	})
}

// TestRuns puts only steps together that are not reached one after the other, and loses
// none.
func TestRuns(t *testing.T) {
	steps := []ExplainStep{
		{Name: "source", Verdict: "ok", Text: "a"},
		{Name: "subset", Verdict: "skipped", Text: "not asked"},
		{Name: "port name", Verdict: "failed", Text: "b", Remedy: "c"},
		{Name: "health", Verdict: "skipped", Text: "not reached"},
		{Name: "network", Verdict: "skipped", Text: "not reached"},
		{Name: "locality", Verdict: "skipped", Text: "not reached"},
		{Name: "envoy", Verdict: "skipped", Text: "not asked"},
	}
	var got []string
	for _, run := range runs(steps) {
		got = append(got, namesOf(run))
	}
	want := []string{"source", "subset", "port name", "health, network, locality", "envoy"}
	if !slices.Equal(got, want) {
		t.Errorf("the runs are %q, not %q", got, want)
	}
}
