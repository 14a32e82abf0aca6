package views

import (
	"strings"
	"testing"
)

// TestProxyDiffsInGroups lists proxies of which the same is said once, with all their
// names.
func TestProxyDiffsInGroups(t *testing.T) {
	m := SnapshotDiff{Proxies: []ProxyDiff{
		{ID: "a", Op: "changed", Clusters: 3, Added: 5},
		{ID: "b", Op: "came", Href: "/proxies/b"},
		{ID: "c", Op: "changed", Clusters: 3, Added: 5},
		{ID: "d", Op: "changed", Clusters: 3, Added: 4},
	}}
	byID, names := elements(t, proxyDiffs(m), "")
	var rows []string
	for _, e := range byID["proxy-diff"] {
		rows = append(rows, strings.Join(strings.Fields(e.text), " "))
	}
	if want := "a and 1 other proxy in the same way c ~ changed 3 +5 −0 ~0|b + came|d ~ changed 3 +4 −0 ~0"; strings.Join(rows, "|") != want || names["a"] != 1 {
		t.Errorf("the rows are %q, not %q", rows, want)
	}
}
