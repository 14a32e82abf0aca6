package eds_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/edsight/edsight/core/eds"
	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/state"
)

const home = model.ClusterID("Kubernetes")

var webKey = model.ServiceKey{Hostname: "web.shop.svc.cluster.local", Namespace: "shop"}

// view is that of a client without peculiarities.
func view(change ...func(*eds.View)) eds.View {
	v := eds.View{Cluster: "outbound|80||" + string(webKey.Hostname), Service: webKey, PortName: "http", Port: 80}
	for _, c := range change {
		c(&v)
	}
	return v
}

// pod is an admitted candidate: a healthy, injected Pod with one port.
func pod(address string, change ...func(*model.Endpoint)) *model.Candidate {
	name := "pod-" + address
	e := &model.Endpoint{
		Workload: &model.Workload{
			Object: model.ObjectKey{Cluster: home, Kind: model.KindPod, Namespace: "shop", Name: name},
			Name:   "web", Namespace: "shop", Cluster: home, TLSMode: "istio", Labels: model.Labels{"app": "web"},
		},
		Addresses: []string{address}, PortName: "http", Port: 8080, Health: model.Healthy,
	}
	for _, c := range change {
		c(e)
	}
	return &model.Candidate{Address: address, PortName: e.PortName, Port: e.Port, Endpoint: e}
}

func in(locality string) func(*model.Endpoint) {
	return func(e *model.Endpoint) {
		e.Workload.Locality, e.Workload.LocalityLabel = model.ParseLocality(locality), locality
	}
}

func onNetwork(n model.NetworkID) func(*model.Endpoint) {
	return func(e *model.Endpoint) { e.Workload.Network = n }
}

func inCluster(c model.ClusterID) func(*model.Endpoint) {
	return func(e *model.Endpoint) { e.Workload.Cluster = c }
}

func labelled(kv ...string) func(*model.Endpoint) {
	return func(e *model.Endpoint) {
		l := model.Labels{}
		for i := 0; i < len(kv); i += 2 {
			l[kv[i]] = kv[i+1]
		}
		e.Workload.Labels = l
	}
}

func health(h model.HealthStatus) func(*model.Endpoint) {
	return func(e *model.Endpoint) { e.Health = h }
}

func tlsMode(m string) func(*model.Endpoint) {
	return func(e *model.Endpoint) { e.Workload.TLSMode = m }
}

// service puts candidates into shards by the cluster of their workloads.
func service(candidates ...*model.Candidate) *state.ServiceState {
	s := &state.ServiceState{Key: webKey}
	for _, c := range candidates {
		k := model.ShardKey{Provider: model.ProviderKubernetes, Cluster: home}
		if c.Endpoint != nil && c.Endpoint.Workload != nil && c.Endpoint.Workload.Cluster != "" {
			k.Cluster = c.Endpoint.Workload.Cluster
		}
		i := slices.IndexFunc(s.Shards, func(sh *state.Shard) bool { return sh.Key == k })
		if i < 0 {
			s.Shards = append(s.Shards, &state.Shard{Key: k})
			i = len(s.Shards) - 1
		}
		s.Shards[i].Candidates = append(s.Shards[i].Candidates, c)
		if c.Endpoint != nil {
			s.Shards[i].Endpoints++
		}
	}
	return s
}

// sent writes an assignment in short: per locality its name, priority, weight
// and endpoints with their weights.
func sent(a *eds.Assignment) string {
	var out []string
	for _, l := range a.Localities {
		var eps []string
		for _, e := range l.Endpoints {
			eps = append(eps, fmt.Sprintf("%s*%d", e.Address, e.Weight))
		}
		out = append(out, fmt.Sprintf("%s p%d w%d [%s]", l.Locality, l.Priority, l.Weight, strings.Join(eps, " ")))
	}
	return strings.Join(out, "; ")
}

func expectSent(t *testing.T, a *eds.Assignment, want string) {
	t.Helper()
	if got := sent(a); got != want {
		t.Errorf("sent\n  %s\nwant\n  %s", got, want)
	}
}

func expectReasons(t *testing.T, a *eds.Assignment, want ...model.Reason) {
	t.Helper()
	if !slices.Equal(a.Reasons, want) {
		t.Errorf("reasons %v, want %v", a.Reasons, want)
	}
}
