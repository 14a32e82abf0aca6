package demo_test

import (
	"cmp"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	networkingapi "istio.io/api/networking/v1alpha3"
	networkingv1 "istio.io/client-go/pkg/apis/networking/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/source"
	"github.com/edsight/edsight/core/source/demo"
)

// all returns the objects of one type by name.
func all[T source.Object](d *demo.Demo) []T {
	var found []T
	for _, o := range d.All() {
		if t, ok := o.(T); ok {
			found = append(found, t)
		}
	}
	slices.SortFunc(found, func(a, b T) int {
		return cmp.Or(cmp.Compare(a.GetNamespace(), b.GetNamespace()), cmp.Compare(a.GetName(), b.GetName()))
	})
	return found
}

// slicesOf gives "address ready serving terminating" of a Service's endpoints.
func slicesOf(d *demo.Demo, namespace, name string) (found []string, managers []string) {
	for _, s := range all[*discoveryv1.EndpointSlice](d) {
		if s.Namespace != namespace || s.Labels[model.LabelServiceName] != name {
			continue
		}
		managers = append(managers, s.Labels[discoveryv1.LabelManagedBy])
		for _, e := range s.Endpoints {
			found = append(found, line(e.Addresses[0], *e.Conditions.Ready, *e.Conditions.Serving, *e.Conditions.Terminating))
		}
	}
	slices.Sort(found)
	return found, managers
}

func line(address string, ready, serving, terminating bool) string {
	for word, is := range map[string]bool{"+ready": ready, "+serving": serving, "+terminating": terminating} {
		if is {
			address += word
		}
	}
	parts := strings.Split(address, "+")
	slices.Sort(parts[1:])
	return strings.Join(parts, " ")
}

func podReady(p *corev1.Pod) bool {
	return slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

func TestSlicesFollowPods(t *testing.T) {
	for _, length := range []time.Duration{time.Millisecond, time.Minute, 10 * time.Minute} {
		for rested := false; !rested; length += 200 * time.Millisecond {
			play(t, demo.Options{Seed: 3}, length, func(t *testing.T, d *demo.Demo, events []event) {
				t.Helper()
				// The controller may not have seen what has only just happened.
				rested = len(events) == 0 || events[len(events)-1].after < length-150*time.Millisecond
				if rested {
					slicesEqualPods(t, d)
				}
			})
		}
	}
}

// slicesEqualPods checks that every Service's slices say what its Pods say.
func slicesEqualPods(t *testing.T, d *demo.Demo) {
	t.Helper()
	for _, s := range all[*corev1.Service](d) {
		selector, manager := s.Spec.Selector, "endpointslice-controller.k8s.io"
		if s.Name == "billing" {
			selector, manager = map[string]string{"app": "billing"}, "operator.shop.example"
		}
		var want []string
		for _, p := range all[*corev1.Pod](d) {
			if p.Namespace == s.Namespace && p.Status.PodIP != "" && labels.SelectorFromSet(selector).Matches(labels.Set(p.Labels)) {
				gone := p.DeletionTimestamp != nil
				want = append(want, line(p.Status.PodIP, podReady(p) && !gone, podReady(p), gone))
			}
		}
		slices.Sort(want)
		got, managers := slicesOf(d, s.Namespace, s.Name)
		if diff := gocmp.Diff(want, got); diff != "" {
			t.Errorf("slices of %s (-pods +slices):\n%s", s.Name, diff)
		}
		if !slices.Equal(managers, []string{manager}) {
			t.Errorf("slices of %s are managed by %q", s.Name, managers)
		}
	}
}

func TestShopIsComplete(t *testing.T) {
	d, err := demo.New(demo.Options{})
	if err != nil {
		t.Fatal(err)
	}
	kinds, zones, spread := map[model.Kind]int{}, map[string]int{}, map[string]int{}
	for k := range d.All() {
		kinds[k.Kind]++
	}
	for _, n := range all[*corev1.Node](d) {
		zones[n.Labels[model.LabelRegion]+"/"+n.Labels[model.LabelZone]]++
	}
	for _, p := range all[*corev1.Pod](d) {
		spread[p.Spec.NodeName]++
		injected(t, p)
	}
	wantKinds := map[model.Kind]int{
		"Namespace": 4, "Node": 6, "ConfigMap": 1, "Service": 12, "EndpointSlice": 12, "Pod": 30,
		"DestinationRule": 2, "VirtualService": 2, "Gateway": 1, "Sidecar": 1, "ServiceEntry": 3, "PeerAuthentication": 1,
	}
	if diff := gocmp.Diff(wantKinds, kinds); diff != "" {
		t.Errorf("kinds (-want +got):\n%s", diff)
	}
	if diff := gocmp.Diff(map[string]int{"eu-west-1/eu-west-1a": 2, "eu-west-1/eu-west-1b": 2, "us-east-1/us-east-1a": 2}, zones); diff != "" {
		t.Errorf("zones (-want +got):\n%s", diff)
	}
	for node, n := range spread {
		if n < 3 || n > 8 {
			t.Errorf("%d pods on %s", n, node)
		}
	}
	st := d.Status()
	if len(st.Clusters) != 1 || st.Clusters[0].ID != "Kubernetes" || st.Name != "demo mesh" {
		t.Errorf("status %+v", st)
	}
}

// injected checks that a Pod looks as injection and a kubelet leave it.
func injected(t *testing.T, p *corev1.Pod) {
	t.Helper()
	names := map[string]bool{}
	for _, c := range p.Spec.Containers {
		names[c.Name] = true
	}
	gateway := p.Labels["istio"] == "ingressgateway"
	if !names["istio-proxy"] || names["app"] == gateway || len(p.Status.ContainerStatuses) != len(p.Spec.Containers) {
		t.Errorf("%s has containers %v", p.Name, names)
	}
	if (p.Labels[model.LabelTLSMode] == "istio") == gateway || p.Labels[model.LabelCanonicalName] == "" || p.Spec.ServiceAccountName == "" {
		t.Errorf("%s has labels %v", p.Name, p.Labels)
	}
	if len(p.OwnerReferences) != 1 || p.UID == "" || p.Status.PodIP == "" || !podReady(p) || p.Spec.NodeName == "" || p.Status.Phase != corev1.PodRunning {
		t.Errorf("%s is %+v", p.Name, p.Status)
	}
	owner := p.OwnerReferences[0]
	if owner.Kind == "ReplicaSet" && (p.GenerateName != owner.Name+"-" || !strings.HasPrefix(p.Name, p.GenerateName) || !strings.HasSuffix(owner.Name, p.Labels["pod-template-hash"])) {
		t.Errorf("%s is owned by %s", p.Name, owner.Name)
	}
}

func TestBrokenStaysBroken(t *testing.T) {
	for _, length := range []time.Duration{0, 15 * time.Minute} {
		play(t, demo.Options{Seed: 5}, length+time.Millisecond, func(t *testing.T, d *demo.Demo, _ []event) {
			t.Helper()
			for _, s := range all[*discoveryv1.EndpointSlice](d) {
				if s.Labels[model.LabelServiceName] == "billing" && *s.Ports[0].Name != "http" {
					t.Errorf("billing's slice has port %s", *s.Ports[0].Name)
				}
			}
			hotfix := 0
			for _, p := range all[*corev1.Pod](d) {
				if p.Labels["version"] == "v2-hotfix" && p.Labels["app"] == "catalog" {
					hotfix++
				}
			}
			if hotfix != 1 {
				t.Errorf("%d pods of catalog are in no subset", hotfix)
			}
			if got, _ := slicesOf(d, "shop", "reviews"); len(got) != 0 {
				t.Errorf("reviews has endpoints %q", got)
			}
			for _, se := range all[*networkingv1.ServiceEntry](d) {
				none := se.Spec.GetResolution() == networkingapi.ServiceEntry_NONE && len(se.Spec.GetWorkloadSelector().GetLabels()) > 0
				if (se.Name == "stock") != none {
					t.Errorf("%s: %v", se.Name, &se.Spec)
				}
			}
		})
	}
}

// TestEverySceneIsPlayed looks for the mark of each kind of scene.
func TestEverySceneIsPlayed(t *testing.T) {
	play(t, demo.Options{Seed: 2}, 6*time.Minute, func(t *testing.T, _ *demo.Demo, events []event) {
		t.Helper()
		seen := map[string]bool{}
		for _, e := range events {
			app, _, _ := strings.Cut(e.Key.Name, "-")
			switch {
			case e.Key.Kind == model.KindPod && e.Op == source.OpDelete:
				seen["gone "+app] = true
			case e.Key.Kind == model.KindPod && strings.Contains(e.text, "CrashLoopBackOff"):
				seen["crash "+app] = true
			case e.Key.Kind == model.KindNode && strings.Contains(e.text, `"status":"Unknown"`):
				seen["zone away"] = true
			case e.Key.Kind == model.KindEndpointSlice && app == "email" && strings.Contains(e.text, `"endpoints":[]`):
				seen["email at zero"] = true
			case e.Key.Kind == model.KindVirtualService:
				seen["traffic shifted"] = true
			}
		}
		for _, want := range []string{
			"gone cart", "gone checkout", "gone frontend", "gone email", "gone payment",
			"crash recommendation", "zone away", "email at zero", "traffic shifted",
		} {
			if !seen[want] {
				t.Errorf("not seen: %s", want)
			}
		}
	})
}
