package server

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/edsight/edsight/core/journal"
	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/scope"
	"github.com/edsight/edsight/core/source"
	"github.com/edsight/edsight/core/state"
	"github.com/edsight/edsight/views"
)

// TestFrameIsRow: what comes over the websocket is what the page shows.
func TestFrameIsRow(t *testing.T) {
	v := newVisitor(t)
	tr := v.core.Apply(terminatingWeb1)
	frame, err := v.liveFrame(tr)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(v.html("/"), string(frame)) {
		t.Errorf("the page does not show the row %s", frame)
	}
	for _, want := range []string{"10.1.0.1 healthy → terminating", "10.1.0.2 out", "incremental"} {
		if !strings.Contains(string(frame), want) {
			t.Errorf("the row %s does not say %q", frame, want)
		}
	}
}

// TestFeedPages walks from the newest transition to the oldest, a page at a time,
// and finds each once, and the gap behind them.
func TestFeedPages(t *testing.T) {
	core := newFakeCore()
	core.journal = journal.New(250)
	for i := range 300 {
		core.append(fmt.Sprint(i))
	}
	s := New(core, Options{})
	var seen []uint64
	before := uint64(0)
	for range 10 {
		feed := s.newFeed(feedQuery{before: before, path: "/"})
		for _, r := range feed.Rows {
			seen = append(seen, r.Seq)
		}
		if feed.Older == "" {
			if feed.Gap == nil || feed.Gap.From != 1 || feed.Gap.To != 50 {
				t.Errorf("the gap is %v", feed.Gap)
			}
			break
		}
		before = feed.Rows[len(feed.Rows)-1].Seq
	}
	if len(seen) != 250 || seen[0] != 300 || seen[249] != 51 {
		t.Fatalf("%d transitions are shown", len(seen))
	}
	for i := 1; i < len(seen); i++ {
		if seen[i] != seen[i-1]-1 {
			t.Fatalf("%d follows %d", seen[i], seen[i-1])
		}
	}
}

// TestFeedByPush shows what was pushed, or what was not.
func TestFeedByPush(t *testing.T) {
	v := newVisitor(t)
	v.core.Apply(terminatingWeb1)
	v.core.Apply(strings.Replace(terminatingWeb1, "serving: true, ", "", 1))
	for push, want := range map[string][]string{"": {"none", "incremental", "full"}, "any": {"incremental", "full"}, "none": {"none"}} {
		var m views.Live
		if err := json.Unmarshal([]byte(v.get("/?push="+push, "application/json").body), &m); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, r := range m.Feed.Rows {
			if !slices.Contains(got, r.Push) {
				got = append(got, r.Push)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("push=%s shows %v, not %v", push, got, want)
		}
	}
}

// TestGapFrame says what is missing, and what the feed goes on with.
func TestGapFrame(t *testing.T) {
	s := New(newFakeCore(), Options{})
	for want, g := range map[string]journal.Gap{
		"40 transitions (11 to 50)": {From: 11, To: 50},
		"1 transition (7 to 7)":     {From: 7, To: 7},
		"started anew":              {From: 90, To: 3},
	} {
		text, err := s.gapFrame(&g)
		if err != nil || !strings.Contains(string(text), want) {
			t.Errorf("gap %v is %s, %v", g, text, err)
		}
	}
}

// TestStations counts what passed in the last minute, and no more.
func TestStations(t *testing.T) {
	now := time.Unix(1700000000, 0)
	core := newFakeCore()
	core.journal = journal.New(100)
	s := New(core, Options{Now: func() time.Time { return now }})
	for _, age := range []time.Duration{2 * time.Minute, 59500 * time.Millisecond, time.Second, 0} {
		seen := now.Add(-age)
		tr := &journal.Transition{
			Version: 1, Prev: state.Empty(), Next: core.snap, Diff: &state.Diff{},
			Causes: []journal.Cause{{Cause: source.Cause{Key: model.ObjectKey{Kind: model.KindEndpointSlice, Name: "a"}}, Merged: 2}},
			Push:   journal.Push{Scope: state.FullScope()},
			Times:  journal.Times{Seen: seen.Add(-4 * time.Millisecond), Drained: seen, Compiled: seen, Published: seen},
		}
		core.journal.Append(tr)
	}
	list := s.stations(core.snap)
	slices, push, sent := list[0], list[3], list[4]
	if slices.Value != "6" || slices.Spark[0] != 2 || slices.Spark[58] != 2 || slices.Spark[59] != 2 {
		t.Errorf("slices are %+v", slices)
	}
	if push.Value != "3" || !push.Timed || push.P50MS != 4 {
		t.Errorf("push is %+v", push)
	}
	if !sent.Modelled || sent.Value != "2 of 2" {
		t.Errorf("sent is %+v", sent)
	}
}

// TestAudience follows proxies as they come and go and Sidecars as they change,
// and counts at each step what counting anew counts.
func TestAudience(t *testing.T) {
	v := newVisitor(t)
	pod := func(ns string, i int) string {
		return strings.NewReplacer("web-1", fmt.Sprintf("web-1%d", i), "namespace: shop", "namespace: "+ns, "10.1.0.1", fmt.Sprintf("10.1.7.%d", i)).Replace(podShop)
	}
	const sidecar = "apiVersion: networking.istio.io/v1\nkind: Sidecar\nmetadata: {name: default, namespace: ops}\nspec: {egress: [{hosts: [\"./*\"]}]}\n"
	check := func(step string, want int) {
		t.Helper()
		flip := strings.Replace(terminatingWeb1, "10.1.0.1]", fmt.Sprintf("10.1.0.%d]", 20+len(step)), 1)
		tr := v.core.Apply(strings.Replace(flip, "ready: false", "ready: true", 1))
		if tr.Push.Scope.Type != state.PushIncremental {
			t.Fatalf("%s: the push is %s", step, tr.Push.Scope.Type)
		}
		fresh := audience{scopes: &scope.Cache{}}
		got, anew := v.pages.audience.count(v.core.Journal(), tr), fresh.count(v.core.Journal(), tr)
		if got != want || anew != want {
			t.Errorf("%s: %d proxies, counted anew %d, not %d", step, got, anew, want)
		}
		if listed := len(fresh.concerned(tr.Next, tr.Push.Scope, 1000)); listed != want {
			t.Errorf("%s: %d proxies are listed, not %d", step, listed, want)
		}
	}
	check("one", 1)
	v.core.Apply(pod("shop", 1) + "---" + pod("ops", 2) + "---" + pod("ops", 3))
	check("three more", 4)
	v.core.Apply(sidecar)
	check("ops cannot see it", 2)
	v.core.Apply(strings.Replace(pod("shop", 1), "apiVersion", "$op: delete\napiVersion", 1))
	check("one of shop went away", 1)
	v.core.Apply(strings.Replace(sidecar, "./*", "*/*", 1))
	check("ops can see it, after all", 3)
}

// TestHostileNames: whatever a name holds, the page shows it as text.
func TestHostileNames(t *testing.T) {
	const evil = `"><script>alert(1)</script><img src=x onerror=alert(1)>'`
	core := newFakeCore()
	b := state.NewBuilder(core.snap)
	key := model.ServiceKey{Hostname: evil, Namespace: evil}
	object := model.ObjectKey{Kind: model.KindEndpointSlice, Namespace: evil, Name: evil, Cluster: evil}
	x := &model.Candidate{Source: &object, Target: &object, Address: evil, PortName: evil, Port: 1, Reason: model.ReasonPodNotSeen}
	sh := &state.Shard{Key: model.ShardKey{Provider: evil, Cluster: evil}, Candidates: []*model.Candidate{x}}
	sh.Chunks = []*state.Chunk{{Source: object, ResourceVersion: evil, Candidates: sh.Candidates}}
	svc := &state.ServiceState{Key: key, Shards: []*state.Shard{sh}, Definitions: []*model.Service{{
		Key: key, Object: object, Type: evil, Labels: model.Labels{evil: evil}, ExportTo: []string{evil},
		Ports: []model.Port{{Name: evil, Protocol: evil, TargetPortName: evil}},
	}}}
	b.SetService(key, svc)
	b.SetProxy(evil, &model.Proxy{ID: evil, Namespace: evil, Node: evil, IPs: []string{evil}, Labels: model.Labels{evil: evil}, Pod: object})
	core.snap = b.Snapshot(time.Unix(1700000000, 0))
	diff := &state.Diff{Services: []state.ServiceChange{{Key: key, Next: svc, Endpoints: []state.EndpointChange{{After: x}}}}, Strays: []model.ObjectKey{object}}
	core.journal.Append(&journal.Transition{
		Version: core.snap.Version, Prev: state.Empty(), Next: core.snap, Diff: diff,
		Push: journal.Push{Because: evil, Triggers: []string{evil}}, Causes: []journal.Cause{{Cause: source.Cause{Key: object, Actor: evil, ResourceVersion: evil}}},
	})
	core.status.Source.Problems = []source.Problem{{Object: object, Where: evil, Field: evil, Message: evil}}
	core.status.Source.Name = evil
	v := &visitor{newTestServer(t, core, Options{Token: testToken, Banner: evil}), t, nil}
	for _, path := range []string{"/", "/transitions/2", "/services", views.ServiceURL(key), "/proxies", views.ProxyURL(evil), "/pushes", "/slices", "/clusters", "/config", "/snapshots"} {
		page := v.html(path)
		if strings.Contains(page, "<script>") || strings.Contains(page, "<img") {
			t.Errorf("%s has a name as markup", path)
		}
		if !strings.Contains(page, "&lt;script&gt;") {
			t.Errorf("%s does not show the name", path)
		}
		if twin := v.get(path, "application/json"); !json.Valid([]byte(twin.body)) || strings.Contains(twin.body, "<script>") {
			t.Errorf("%s: the twin is %.200s", path, twin.body)
		}
	}
}
