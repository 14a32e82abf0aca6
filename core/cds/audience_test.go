package cds_test

import (
	"slices"
	"testing"

	networking "istio.io/api/networking/v1alpha3"
	typev1beta1 "istio.io/api/type/v1beta1"
	"pgregory.net/rapid"

	"github.com/edsight/edsight/core/cds"
	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/scope"
	"github.com/edsight/edsight/core/state"
)

// anyMesh draws services and rules that look at much of a proxy.
func anyMesh(tb testing.TB, t *rapid.T) *state.Snapshot {
	tb.Helper()
	flag := func(name string) bool { return rapid.IntRange(0, 2).Draw(t, name) == 0 }
	s := kube("web", "shop")
	s.NodeLocal = flag("node local")
	if flag("near") {
		s.TrafficDistribution = model.DistributionPreferSameNode
	}
	objects := []any{s, kube("api", "shop")}
	policy := &networking.TrafficPolicy{LoadBalancer: &networking.LoadBalancerSettings{LocalityLbSetting: &networking.LocalityLoadBalancerSetting{}}}
	set := policy.LoadBalancer.LocalityLbSetting
	if flag("outlier") {
		policy.OutlierDetection = &networking.OutlierDetection{}
	}
	if flag("priority") {
		set.FailoverPriority = []string{"version", model.LabelZone, "app=x"}
	}
	if flag("distribute") {
		set.Distribute = []*networking.LocalityLoadBalancerSetting_Distribute{{From: "r1/*", To: map[string]uint32{"r1": 100}}}
	}
	r := rule("*.shop.svc.cluster.local", policy, &networking.Subset{Name: "v1", TrafficPolicy: policy})
	r.Namespace = "client"
	if flag("selector") {
		r.Spec.WorkloadSelector = &typev1beta1.WorkloadSelector{MatchLabels: map[string]string{"app": "a"}}
	}
	if flag("rule") {
		objects = append(objects, r)
	}
	if flag("networks") {
		objects = append(objects, []state.Gateway{{Network: "n2", Addr: "203.0.113.1", Port: 15443}})
	}
	return snapshot(tb, objects...)
}

func anyProxy(t *rapid.T) *model.Proxy {
	pick := func(name string, of ...string) string { return rapid.SampledFrom(of).Draw(t, name) }
	return sidecar(func(p *model.Proxy) {
		p.Locality = model.ParseLocality(pick("locality", "", "r1/z1", "r1/z2"))
		p.Node, p.Network = pick("node", "n1", "n2"), model.NetworkID(pick("network", "", "n1", "n2"))
		p.Labels = model.Labels{"app": pick("app", "a", "b"), "version": pick("version", "v1", "v2")}
		if pick("view", "none", "some") == "some" {
			p.NetworkView = []model.NetworkID{"n1"}
		}
		if pick("type", "sidecar", "router") == "router" {
			router(p)
		}
	})
}

// Proxies of one audience have the same clusters and views from services.
func TestAudiencesHaveEqualClusters(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		snap := anyMesh(t, rt)
		a, b := anyProxy(rt), anyProxy(rt)
		sa, sb := scope.For(snap, a), scope.For(snap, b)
		if cds.NewAudiences(sa).Of(a) != cds.NewAudiences(sb).Of(b) {
			return
		}
		same := slices.EqualFunc(cds.BuildIn(sa, snap, a), cds.BuildIn(sb, snap, b), func(x, y cds.Cluster) bool {
			return x.Name == y.Name && x.Type == y.Type && x.View == y.View
		})
		if !same {
			rt.Fatalf("proxies %+v and %+v are of one audience", a, b)
		}
	})
}
