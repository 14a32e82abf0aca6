package debugz

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/session"
)

func TestSessions(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	list := []session.Session{{
		ID: "a-1.shop-7", Proxy: "a-1.shop", Address: "10.0.0.1:999", ConnectedAt: at,
		Node: session.Node{
			Pod: model.ObjectKey{Cluster: "Kubernetes"}, Type: model.Sidecar, IstioVersion: "1.28.2", EnvoyVersion: "1.36.0",
			Labels: model.Labels{"app": "a"}, Locality: model.Locality{Region: "r", Zone: "z"}, Metadata: json.RawMessage(`{"NAMESPACE":"shop"}`),
		},
		Types: []session.Type{
			{URL: typeCluster, Sent: session.Message{Nonce: "2", Time: at}, Acked: session.Message{Nonce: "1"}, Error: "no"},
			{URL: typeEndpoint, Sent: session.Message{Nonce: "3", Time: at}, Acked: session.Message{Nonce: "3"}},
		},
	}}
	for _, c := range []struct {
		name string
		have any
		want string
	}{
		{"syncz", Syncs(list), `[{"cluster_id":"Kubernetes","proxy":"a-1.shop","proxy_type":"sidecar","proxy_version":"1.36.0","istio_version":"1.28.2",
			"cluster_sent":"2","cluster_acked":"1","endpoint_sent":"3","endpoint_acked":"3","resources":{
			"type.googleapis.com/envoy.config.cluster.v3.Cluster":{"sent":"2","acked":"1","sentTime":"2026-01-02T03:04:05Z","lastError":"no"},
			"type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment":{"sent":"3","acked":"3","sentTime":"2026-01-02T03:04:05Z"}}}]`},
		{"connections", NewConnections(list), `{"totalClients":1,"clients":[{"connectionId":"a-1.shop-7","connectedAt":"2026-01-02T03:04:05Z","address":"10.0.0.1:999"}]}`},
		{
			"adsz", ADS(list, func(string) map[string][]string { return map[string][]string{typeEndpoint: {"x"}} }),
			`{"totalClients":1,"clients":[{"connectionId":"a-1.shop-7","connectedAt":"2026-01-02T03:04:05Z","address":"10.0.0.1:999","labels":{"app":"a"},
			"metadata":{"NAMESPACE":"shop"},"locality":{"region":"r","zone":"z"},"watches":{"type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment":["x"]}}]}`,
		},
		{"nobody", NewConnections(nil), `{"totalClients":0}`},
	} {
		text, err := json.Marshal(c.have)
		if err != nil {
			t.Fatal(err)
		}
		var have, want any
		if json.Unmarshal(text, &have) != nil || json.Unmarshal([]byte(c.want), &want) != nil {
			t.Fatalf("%s: not JSON: %s", c.name, text)
		}
		if d := cmp.Diff(want, have); d != "" {
			t.Errorf("%s (-want +have):\n%s", c.name, d)
		}
	}
}
