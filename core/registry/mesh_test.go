package registry

import (
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
