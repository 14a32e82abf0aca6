package compare_test

import (
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edsight/edsight/core/compare"
)

func endpoint(address string, priority uint32) compare.Endpoint {
	return compare.Endpoint{Address: address, Health: "healthy", Priority: priority, Locality: "r1/a", Weight: 1}
}

func setWith(list ...compare.Endpoint) compare.Set {
	return compare.Set{Clusters: map[string][]compare.Endpoint{web: list}}
}

func TestEndpointsOfACluster(t *testing.T) {
	sick, heavy, gone := endpoint("10.0.0.2:80", 0), endpoint("10.0.0.3:80", 0), endpoint("10.0.0.4:80", 1)
	well, light := endpoint("10.0.0.2:80", 1), endpoint("10.0.0.3:80", 0)
	sick.Health, heavy.Weight, heavy.LocalityWeight, light.LocalityWeight = "unhealthy", 3, 80, 20
	got := compare.Sets(setWith(endpoint("10.0.0.1:80", 0), sick, heavy, gone), setWith(endpoint("10.0.0.1:80", 0), well, light, endpoint("10.0.0.5:80", 0)))
	want := web + ": 10.0.0.2:80 unhealthy p0 r1/a w1 -> healthy p1 r1/a w1 [health priority]\n" +
		web + ": 10.0.0.3:80 healthy p0 r1/a w3 -> healthy p0 r1/a w1 [weight]\n" +
		web + ": 10.0.0.4:80 healthy p1 r1/a w1 -> - []\n" +
		web + ": 10.0.0.5:80 - -> healthy p0 r1/a w1 []\n"
	if d := cmp.Diff(want, text(got)); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	if got.Counts != (compare.Counts{OnlyHere: 1, OnlyThere: 1, Changed: 2}) {
		t.Errorf("counted %+v", got.Counts)
	}
}

// TestWeightOfALocality counts if nothing else differs.
func TestWeightOfALocality(t *testing.T) {
	a, b := endpoint("10.0.0.1:80", 0), endpoint("10.0.0.1:80", 0)
	a.LocalityWeight, b.LocalityWeight = 80, 20
	if got := compare.Sets(setWith(a), setWith(b)); got.Changed != 1 || got.Clusters[0].Endpoints[0].Fields[0] != "locality weight" {
		t.Errorf("only the weight of the locality: %s", text(got))
	}
	if got := compare.Sets(setWith(a), setWith(b, endpoint("10.0.0.2:80", 0))); got.Changed != 0 || got.OnlyThere != 1 {
		t.Errorf("with one more endpoint: %s", text(got))
	}
	b.LocalityWeight = 0
	if got := compare.Sets(setWith(a), setWith(b)); !got.Empty() {
		t.Errorf("not said by one side: %s", text(got))
	}
}

// TestOneAddressSeveralTimes is about gateways, which stand for the endpoints of
// each locality.
func TestOneAddressSeveralTimes(t *testing.T) {
	at := func(locality string) compare.Endpoint {
		e := endpoint("203.0.113.1:15443", 0)
		e.Locality = locality
		return e
	}
	got := compare.Sets(setWith(at("r1/a"), at("r1/b"), at("r2/c")), setWith(at("r1/b"), at("r2/d")))
	want := web + ": 203.0.113.1:15443 healthy p0 r1/a w1 -> healthy p0 r2/d w1 [locality]\n" +
		web + ": 203.0.113.1:15443 healthy p0 r2/c w1 -> - []\n"
	if d := cmp.Diff(want, text(got)); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

func TestClustersOnOneSide(t *testing.T) {
	list := func(names ...string) map[string][]compare.Endpoint {
		m := map[string][]compare.Endpoint{}
		for _, n := range names {
			m[n] = nil
		}
		return m
	}
	here := compare.Set{Whole: true, Clusters: list("outbound|1||a", "outbound|1||b"), Elsewhere: map[string]bool{"outbound|1||dns": true, "outbound|1||dns-too": true}}
	there := compare.Set{Whole: true, Clusters: list("outbound|1||b", "outbound|1||c", "outbound|1||dns-too")}
	got := compare.Sets(here, there)
	want := "outbound|1||a here=true there=false\noutbound|1||c here=false there=true\noutbound|1||dns here=true there=false\n"
	if d := cmp.Diff(want, text(got)); d != "" || got.Same != 1 || got.Unchecked != 1 {
		t.Errorf("%d same, %d unchecked (-want +got)\n%s", got.Same, got.Unchecked, d)
	}
	there.Whole = false
	if got := compare.Sets(here, there); len(got.Clusters) != 2 || got.Unchecked != 2 {
		t.Errorf("a list of EDS alone must not miss a DNS cluster: %s", text(got))
	}
}

// TestManyOfOneAddress must not take the square of what a hostile document has.
func TestManyOfOneAddress(t *testing.T) {
	var here, there []compare.Endpoint
	for i := range 200_000 {
		a, b := endpoint("10.0.0.1:80", 0), endpoint("10.0.0.1:80", 1)
		a.Weight, b.Weight = uint32(i), uint32(i)
		here, there = append(here, a), append(there, b)
	}
	if got := compare.Sets(setWith(here...), setWith(there...)); got.Changed != len(here) {
		t.Errorf("%d changed, want %d", got.Changed, len(here))
	}
}

// TestDifferencesAreWhole holds for any two sides: what differs, taken from one side,
// gives the other.
func TestDifferencesAreWhole(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	random := func() compare.Set {
		s := compare.Set{Clusters: map[string][]compare.Endpoint{}, Whole: true}
		for c := range r.IntN(4) {
			name := "outbound|80||" + strconv.Itoa(c)
			s.Clusters[name] = nil
			for i := range 6 {
				if r.IntN(2) == 0 {
					e := endpoint("10.0.0."+strconv.Itoa(i)+":80", uint32(r.IntN(2)))
					e.Weight = uint32(r.IntN(2) + 1)
					s.Clusters[name] = append(s.Clusters[name], e)
				}
			}
		}
		return s
	}
	for range 2000 {
		here, there := random(), random()
		d := compare.Sets(here, there)
		if got := patch(here, d); !cmp.Equal(got, there.Clusters) {
			t.Fatalf("here %v\nthere %v\ndifference\n%s", here.Clusters, there.Clusters, text(d))
		}
		back := compare.Sets(there, here)
		if back.OnlyHere != d.OnlyThere || back.OnlyThere != d.OnlyHere || back.Changed != d.Changed || back.Same != d.Same {
			t.Fatalf("the other way round: %+v, %+v", d, back)
		}
		if same := compare.Sets(here, here); !same.Empty() || same.Same != len(here.Clusters) {
			t.Fatalf("a side differs from itself: %s", text(same))
		}
	}
}

// patch applies a difference.
func patch(s compare.Set, d *compare.Difference) map[string][]compare.Endpoint {
	out := map[string][]compare.Endpoint{}
	for name, list := range s.Clusters {
		out[name] = append([]compare.Endpoint(nil), list...)
	}
	for _, c := range d.Clusters {
		if !c.There {
			delete(out, c.Name)
			continue
		}
		var list []compare.Endpoint
		differs := map[string]*compare.Pair{}
		for i := range c.Endpoints {
			differs[c.Endpoints[i].Address] = &c.Endpoints[i]
		}
		for i := range 6 {
			address := "10.0.0." + strconv.Itoa(i) + ":80"
			if p := differs[address]; p != nil {
				if p.There != nil {
					list = append(list, *p.There)
				}
				continue
			}
			for _, e := range out[c.Name] {
				if e.Address == address {
					list = append(list, e)
				}
			}
		}
		out[c.Name] = list
	}
	return out
}
