package cds_test

import (
	"testing"

	networking "istio.io/api/networking/v1alpha3"

	"github.com/edsight/edsight/core/cds"
	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/scope"
)

// Libraries of gRPC have no original destination: they get the endpoints of a headless
// service, and of one whose rule lets connections through.
func TestGRPCHasEndpoints(t *testing.T) {
	headless := kube("db", "shop")
	headless.Resolution = model.Passthrough
	through := rule("web.shop.svc.cluster.local", &networking.TrafficPolicy{LoadBalancer: &networking.LoadBalancerSettings{
		LbPolicy: &networking.LoadBalancerSettings_Simple{Simple: networking.LoadBalancerSettings_PASSTHROUGH},
	}})
	snap := snapshot(t, with{headless, []*model.Endpoint{endpoint("10.1.0.1", 8080, "")}}, kube("web", "shop"), through)
	envoy, grpc := sidecar(), sidecar(func(p *model.Proxy) { p.GRPC = true })
	expectClusters(t, cds.Build(snap, envoy), "outbound|80||db.shop=ORIGINAL_DST outbound|80||web.shop=ORIGINAL_DST")
	clusters := cds.Build(snap, grpc)
	expectClusters(t, clusters, "outbound|80||db.shop=EDS outbound|80||web.shop=EDS")
	a := find(t, clusters, cds.Name(80, "", headless.Key.Hostname)).Assignment()
	if a == nil || len(a.Localities) != 1 || a.Localities[0].Endpoints[0].Address != "10.1.0.1" {
		t.Errorf("the endpoints are %+v", a.Localities)
	}
	audiences := cds.NewAudiences(scope.For(snap, envoy))
	if audiences.Of(envoy) == audiences.Of(grpc) {
		t.Error("an Envoy and a library of gRPC are of one audience")
	}
}
