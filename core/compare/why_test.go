package compare_test

import (
	"testing"

	"github.com/edsight/edsight/core/compare"
)

// TestReasonsOfAKindAreGivenOnce holds that of each cluster and side the first reason
// of a kind is given in full, and that a reason without kind always is.
func TestReasonsOfAKindAreGivenOnce(t *testing.T) {
	of := func(addresses ...string) compare.Set {
		s := compare.Set{Clusters: map[string][]compare.Endpoint{}, Whole: true}
		for _, cluster := range []string{"outbound|80||a", "outbound|80||b"} {
			for _, a := range addresses {
				s.Clusters[cluster] = append(s.Clusters[cluster], compare.Endpoint{Address: a + ":8080", Health: "healthy"})
			}
		}
		return s
	}
	d := compare.Sets(of("10.0.0.1", "10.0.0.2", "10.0.0.3"), of("10.0.0.4", "10.0.0.5", "10.0.0.6", "10.0.0.7"))
	kinds := map[string]string{"10.0.0.3": "other", "10.0.0.6": "", "10.0.0.7": ""}
	ask := func(_ compare.Target, address string) compare.Reason {
		kind, ok := kinds[address]
		if !ok {
			kind = "same"
		}
		return compare.Reason{Text: "because of " + address, Kind: kind}
	}
	d.Explain(100, ask, ask)
	want := []string{
		"because of 10.0.0.1", "As for 10.0.0.1:8080.", "because of 10.0.0.3",
		"because of 10.0.0.4", "As for 10.0.0.4:8080.", "because of 10.0.0.6", "because of 10.0.0.7",
	}
	for _, c := range d.Clusters {
		for i, p := range c.Endpoints {
			if p.Why != want[i] {
				t.Errorf("%s %s: %q, want %q", c.Name, p.Address, p.Why, want[i])
			}
		}
	}
}
