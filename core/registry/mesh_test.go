package registry

import (
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// TestMeshDurations reads durations as istiod does, who takes "1m0s".
func TestMeshDurations(t *testing.T) {
	read := func(mesh string) *corev1.ConfigMap { return &corev1.ConfigMap{Data: map[string]string{"mesh": mesh}} }
	const text = "{connectTimeout: 1m, tcpKeepalive: {time: 2h0m5s}, defaultConfig: {parentShutdownDuration: 1m0s}, somethingNew: 1, trustDomain: example.org}"
	if p := MeshProblems(read(text)); len(p) > 0 {
		t.Error(p)
	}
	m := meshOf(read(text), "istio-system", nil).Config
	if m.GetConnectTimeout().AsDuration() != time.Minute || m.GetTcpKeepalive().GetTime().AsDuration() != 2*time.Hour+5*time.Second || m.GetTrustDomain() != "example.org" {
		t.Errorf("have %v", m)
	}
	if p := MeshProblems(read("connectTimeout: soon")); p["mesh"] == nil {
		t.Error("what is no duration is taken")
	}
}

// TestUnknownMeshFields are found wherever they are, and nothing that istiod reads is
// among them.
func TestUnknownMeshFields(t *testing.T) {
	cm := &corev1.ConfigMap{Data: map[string]string{
		"mesh": `
trustDomain: a
trust_domain_aliases: [b]
discoverySelector: []
connectTimeout: 1m
enableAutoMtls: true
defaultConfig: {proxyMetadata: {anything: x}, tracing: {sampling: 1, zipkins: {}}}
extensionProviders: [{name: a}, {name: b, envoyExtAuthzGrpc: {service: a, prot: 1}}]
`,
		"meshNetworks": "networks: {net1: {endpoints: [{fromCIDR: 10.0.0.0/8}], gateways: [{address: x, port: 1}]}}",
	}}
	want := []string{
		"mesh.defaultConfig.tracing.zipkins", "mesh.discoverySelector", "mesh.extensionProviders[1].envoyExtAuthzGrpc.prot",
		"meshNetworks.networks.net1.endpoints[0].fromCIDR",
	}
	if got := UnknownMeshFields(cm); !slices.Equal(got, want) {
		t.Errorf("unknown are %q, want %q", got, want)
	}
	for _, text := range []string{"", "[", "1", "null", "trustDomain: {a: b}", "defaultConfig: []", "connectTimeout: {a: b}"} {
		if got := UnknownMeshFields(&corev1.ConfigMap{Data: map[string]string{"mesh": text}}); len(got) > 0 {
			t.Errorf("%q has unknown fields %q", text, got)
		}
	}
}
