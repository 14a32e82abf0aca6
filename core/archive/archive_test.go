package archive

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	meshconfig "istio.io/api/mesh/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/source"
	"github.com/edsight/edsight/core/state"
)

var update = flag.Bool("update", false, "write the golden archive anew")

func write(t *testing.T, c *Content) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, c); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func read(t *testing.T, b []byte) *Content {
	t.Helper()
	c, err := Read(bytes.NewReader(b), DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// asJSON makes contents comparable: everything that an archive carries, through
// the public methods of the snapshot.
func asJSON(t *testing.T, c *Content) string {
	t.Helper()
	out, err := json.MarshalIndent(map[string]any{
		"version": c.Snapshot.Version, "configVersion": c.Snapshot.ConfigVersion, "time": c.Snapshot.Time,
		"mesh": c.Snapshot.Mesh, "gateways": c.Snapshot.Gateways(),
		"services": slices.Collect(c.Snapshot.Services()), "proxies": slices.Collect(c.Snapshot.Proxies()),
		"configs": slices.Collect(c.Snapshot.Configs("")), "strays": slices.Collect(c.Snapshot.Strays()),
		"transitions": c.Transitions, "source": c.Source,
	}, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func TestRoundTripKeepsEverything(t *testing.T) {
	c := sample(t)
	got := read(t, write(t, c))
	if want, got := asJSON(t, c), asJSON(t, got); want != got {
		t.Errorf("differs:\n%s", firstDifference(want, got))
	}
	if got.Header.Program != "v1.2.3" || !got.Header.Created.Equal(epoch) || got.Header.Unredacted {
		t.Errorf("header is %+v", got.Header)
	}
}

func firstDifference(want, got string) string {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range min(len(w), len(g)) {
		if w[i] != g[i] {
			return "want " + w[i] + "\ngot  " + g[i]
		}
	}
	return "one is longer"
}

func TestSharedValuesStayShared(t *testing.T) {
	got := read(t, write(t, sample(t)))
	s := got.Snapshot.Service(model.ServiceKey{Hostname: "web.shop.svc.cluster.local", Namespace: "shop"})
	shard := s.Shards[0]
	if shard.Candidates[0] != shard.Chunks[0].Candidates[0] {
		t.Error("a chunk's candidate is not the shard's")
	}
	if shard.Candidates[0].Endpoint.Workload != shard.Candidates[2].Endpoint.Workload {
		t.Error("two endpoints of one workload have two workloads")
	}
	if shard.Endpoints != 2 {
		t.Errorf("%d endpoints counted, want 2", shard.Endpoints)
	}
}

func TestSameContentSameBytes(t *testing.T) {
	first := write(t, sample(t))
	for range 20 {
		if !bytes.Equal(first, write(t, sample(t))) {
			t.Fatal("two archives of one content differ")
		}
	}
	if again := read(t, first); !bytes.Equal(first, write(t, again)) {
		t.Error("an archive that was read writes other bytes")
	}
}

// TestGolden reads an archive that an earlier build wrote. It is written anew
// only when the format's number changes.
func TestGolden(t *testing.T) {
	file := filepath.Join("testdata", "golden"+Extension)
	if *update {
		if err := os.WriteFile(file, write(t, sample(t)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	c := read(t, b)
	s := c.Snapshot.Service(model.ServiceKey{Hostname: "web.shop.svc.cluster.local", Namespace: "shop"})
	got := fmt.Sprintln(
		c.Snapshot.Version, s.CandidateCount(), s.EndpointCount(), s.Shards[0].Candidates[1].Reason,
		s.Shards[0].Candidates[0].Endpoint.Workload.Labels, c.Snapshot.ProxyCount(), c.Snapshot.Mesh.RootNamespace,
		len(c.Snapshot.Gateways()), c.Transitions[0].Seq, c.Transitions[0].Diff.Services[0].Endpoints[0].Kind(),
	)
	if want := "48213 4 2 pod-not-seen map[app:web] 1 mesh-system 1 12 removed\n"; got != want {
		t.Errorf("got  %swant %s", got, want)
	}
}

func secrets() *Content {
	const token = "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJ4In0.c2lnbmF0dXJl"
	b := state.NewBuilder(state.Empty())
	b.SetConfig(entry("shop", "api", map[string]string{
		lastApplied: `{"spec":{"x":"s3cret-1"}}`, "example.org/api-key": "s3cret-2",
		"note": "see " + token + " there", "credentialName": "kept-1",
	}))
	b.SetProxy("a.shop", &model.Proxy{ID: "a.shop", Labels: model.Labels{"password": "s3cret-3", "app": "kept-2"}})
	key := model.ServiceKey{Hostname: "web", Namespace: "shop"}
	w := &model.Workload{Labels: model.Labels{"auth_token": "s3cret-4"}, ServiceAccount: "spiffe://cluster.local/ns/shop/sa/kept-3"}
	cand := &model.Candidate{Source: &model.ObjectKey{Kind: model.KindEndpointSlice, Name: "web-1"}, Endpoint: &model.Endpoint{Workload: w, Addresses: []string{"10.0.0.1"}}}
	b.SetService(key, &state.ServiceState{
		Key: key,
		Definitions: []*model.Service{{
			Key: key, Labels: model.Labels{"secret": "s3cret-5"},
			PerCluster: map[model.ClusterID]*model.Service{"a": {Key: key, Selector: model.Labels{"cookie": "s3cret-9"}}},
		}},
		Shards: []*state.Shard{{Candidates: []*model.Candidate{cand}, Endpoints: 1}},
	})
	mesh := state.DefaultMesh()
	mesh.Config.ExtensionProviders = []*meshconfig.MeshConfig_ExtensionProvider{{
		Name: "kept-4",
		Provider: &meshconfig.MeshConfig_ExtensionProvider_EnvoyExtAuthzHttp{
			EnvoyExtAuthzHttp: &meshconfig.MeshConfig_ExtensionProvider_EnvoyExternalAuthorizationHttpProvider{
				IncludeAdditionalHeadersInCheck: map[string]string{"Authorization": "Basic s3cret-6"},
			},
		},
	}}
	b.SetMesh(mesh)
	return &Content{
		Snapshot: b.Snapshot(epoch),
		Source: source.Status{
			Problems: []source.Problem{{Message: "get https://me:s3cret-7@host/: bearer s3cret-8aaaaaaaaaaaa"}},
			Mended:   []source.Problem{{Message: "invalid value " + token}},
		},
	}
}

func TestRedaction(t *testing.T) {
	c := secrets()
	before := asJSON(t, c)
	got := read(t, write(t, c))
	text := asJSON(t, got)
	for _, s := range []string{"s3cret", "eyJ"} {
		if i := strings.Index(text, s); i >= 0 {
			t.Errorf("a credential got through: %s", text[max(i-80, 0):min(i+40, len(text))])
		}
	}
	for _, s := range []string{"kept-1", "kept-2", "kept-3", "kept-4", "10.0.0.1"} {
		if !strings.Contains(text, s) {
			t.Errorf("%s is gone", s)
		}
	}
	if got.Header.Unredacted || got.Header.Redacted != 11 {
		t.Errorf("header says %+v, want 11 values redacted", got.Header)
	}
	if asJSON(t, c) != before {
		t.Error("writing changed the content")
	}
	c.Header.Unredacted = true
	whole := read(t, write(t, c))
	if !whole.Header.Unredacted || whole.Header.Redacted != 0 || asJSON(t, whole) != before {
		t.Error("an unredacted archive is not whole, or does not say so")
	}
}

func TestRedactionLeavesManagedFieldsOut(t *testing.T) {
	c := entry("shop", "api", nil)
	c.Object.SetManagedFields([]metav1.ManagedFieldsEntry{{Manager: "kubectl"}})
	b := state.NewBuilder(state.Empty())
	b.SetConfig(c)
	got, _ := read(t, write(t, &Content{Snapshot: b.Snapshot(epoch)})).Snapshot.Config(c.Key)
	if n := len(got.Object.GetManagedFields()); n != 0 {
		t.Errorf("%d managed fields", n)
	}
}
