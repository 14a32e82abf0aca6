package eds_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"google.golang.org/protobuf/encoding/protojson"

	"github.com/edsight/edsight/core/eds"
	"github.com/edsight/edsight/core/model"
)

// expectJSON compares the first endpoint of the message with JSON.
func expectJSON(t *testing.T, a *eds.Assignment, want string) {
	t.Helper()
	text, err := protojson.Marshal(a.Message().GetEndpoints()[0].GetLbEndpoints()[0])
	if err != nil {
		t.Fatal(err)
	}
	var got, expected any
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(want), &expected); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, expected) {
		t.Errorf("got\n  %s\nwant\n  %s", text, want)
	}
}

func TestMessageOfPod(t *testing.T) {
	c := pod("10.0.0.1", labelled(model.LabelCanonicalName, "web", model.LabelCanonicalRevision, "v1"))
	expectJSON(t, eds.Build(service(c), view()), `{
		"endpoint": {"address": {"socketAddress": {"address": "10.0.0.1", "portValue": 8080}}},
		"healthStatus": "HEALTHY", "loadBalancingWeight": 1,
		"metadata": {"filterMetadata": {
			"envoy.transport_socket_match": {"tlsMode": "istio"}, "istio": {"workload": "web;shop;web;v1;Kubernetes"}}}}`)
}

// A port without number is a pipe (fact 9); a unix address is one too.
func TestMessageOfPipe(t *testing.T) {
	for address, path := range map[string]string{"10.0.0.1": "10.0.0.1", "unix:///var/run/x.sock": "/var/run/x.sock"} {
		c := pod(address, tlsMode(""), health(model.HealthUnset), func(e *model.Endpoint) { e.Port = 0 })
		expectJSON(t, eds.Build(service(c), view()), `{
			"endpoint": {"address": {"pipe": {"path": "`+path+`"}}}, "loadBalancingWeight": 1,
			"metadata": {"filterMetadata": {"istio": {"workload": "web;shop;web;;Kubernetes"}}}}`)
	}
}

// A workload that takes HBONE and has no sidecar is reached through the tunnel,
// by proxies that have one.
func TestMessageOfTunnel(t *testing.T) {
	plain := pod("10.0.0.1", tlsMode(""), labelled(model.LabelTunnel, "other,http"))
	expectJSON(t, eds.Build(service(plain), view(func(v *eds.View) { v.HBONE = true })), `{
		"endpoint": {"address": {"envoyInternalAddress": {"serverListenerName": "connect_originate", "endpointId": "10.0.0.1:8080"}}},
		"healthStatus": "HEALTHY", "loadBalancingWeight": 1,
		"metadata": {"filterMetadata": {
			"envoy.filters.listener.original_dst": {"local": "10.0.0.1:8080"},
			"envoy.transport_socket_match": {"tunnel": "http"}, "istio": {"workload": "web;shop;web;;Kubernetes"}}}}`)
	captured := pod("10.0.0.1", tlsMode(""), func(e *model.Endpoint) { e.Workload.Captured = true })
	if a := eds.Build(service(captured), view(func(v *eds.View) { v.HBONE = true })); !a.Localities[0].Endpoints[0].Tunnel {
		t.Error("a workload of the ambient mesh is not tunnelled")
	}
	injected := pod("10.0.0.1", labelled(model.LabelTunnel, "http"))
	for _, hbone := range []bool{true, false} {
		a := eds.Build(service(injected), view(func(v *eds.View) { v.HBONE = hbone }))
		if a.Localities[0].Endpoints[0].Tunnel {
			t.Errorf("an injected workload is tunnelled (HBONE %v)", hbone)
		}
	}
}

// The other addresses of an endpoint follow, but for a tunnel.
func TestMessageOfTwoFamilies(t *testing.T) {
	both := func(e *model.Endpoint) { e.Addresses = []string{"10.0.0.1", "fd00::1"} }
	a := eds.Build(service(pod("10.0.0.1", tlsMode(""), both)), view())
	expectJSON(t, a, `{
		"endpoint": {
			"address": {"socketAddress": {"address": "10.0.0.1", "portValue": 8080}},
			"additionalAddresses": [{"address": {"socketAddress": {"address": "fd00::1", "portValue": 8080}}}]},
		"healthStatus": "HEALTHY", "loadBalancingWeight": 1,
		"metadata": {"filterMetadata": {"istio": {"workload": "web;shop;web;;Kubernetes"}}}}`)
	sameBytes(t, a)
	tunnel := eds.Build(service(pod("10.0.0.1", tlsMode(""), labelled(model.LabelTunnel, "http"), both)), view(func(v *eds.View) { v.HBONE = true }))
	expectJSON(t, tunnel, `{
		"endpoint": {"address": {"envoyInternalAddress": {"serverListenerName": "connect_originate", "endpointId": "10.0.0.1:8080"}}},
		"healthStatus": "HEALTHY", "loadBalancingWeight": 1,
		"metadata": {"filterMetadata": {
			"envoy.filters.listener.original_dst": {"local": "10.0.0.1:8080"},
			"envoy.transport_socket_match": {"tunnel": "http"}, "istio": {"workload": "web;shop;web;;Kubernetes"}}}}`)
	sameBytes(t, tunnel)
}

// The canonical name comes from the first of four places; the revision is left
// out when it is "latest" (fact 12).
func TestWorkloadText(t *testing.T) {
	tests := []struct {
		labels []string
		want   string
	}{
		{nil, "web;shop;web;;Kubernetes"},
		{[]string{"app", "a", "version", "v2"}, "web;shop;a;v2;Kubernetes"},
		{[]string{"app", "a", "app.kubernetes.io/name", "b"}, "web;shop;b;;Kubernetes"},
		{[]string{"app", "a", model.LabelCanonicalName, "c", model.LabelCanonicalRevision, "latest"}, "web;shop;c;;Kubernetes"},
	}
	for _, tt := range tests {
		a := eds.Build(service(pod("10.0.0.1", labelled(tt.labels...))), view())
		if got := a.Localities[0].Endpoints[0].Workload; got != tt.want {
			t.Errorf("labels %v: %q, want %q", tt.labels, got, tt.want)
		}
	}
}

func TestBytesAreTheMessage(t *testing.T) {
	a := eds.Build(world(), view())
	sameBytes(t, a)
	if first, again := a.Bytes(), a.Bytes(); &first[0] != &again[0] {
		t.Error("the bytes are made more than once")
	}
}
