package server

import (
	"cmp"
	"slices"
	"strings"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/state"
)

// shownEndpoints is how many endpoints the page of a slice shows.
const shownEndpoints = 100

// inOrder puts what names an object at the beginning of its YAML, and what is long to
// the end.
func inOrder(text string) string {
	ranks := map[string]int{"apiVersion": -3, "kind": -2, "metadata": -1, "endpoints": 1, "status": 2}
	fields := blocks(text, func(line string) bool { return !strings.ContainsAny(line[:1], " -") })
	rank := func(field string) int {
		name, _, _ := strings.Cut(field, ":")
		return ranks[name]
	}
	slices.SortStableFunc(fields, func(a, b string) int { return cmp.Compare(rank(a), rank(b)) })
	return strings.Join(fields, "")
}

// blocks cuts a text before each line with which a block begins.
func blocks(text string, begins func(line string) bool) []string {
	var out []string
	start, at := 0, 0
	for line := range strings.Lines(text) {
		if at > start && begins(line) {
			out, start = append(out, text[start:at]), at
		}
		at += len(line)
	}
	return append(out, text[start:])
}

// shortSlice keeps of a slice's YAML, which is in order, no more endpoints than a page
// shows: first those that are not ready or have an address that is held back. It says
// how many there are, 0 if all are kept.
func shortSlice(text string, snap *state.Snapshot, slice model.ObjectKey) (short string, of int) {
	const field = "\nendpoints:\n"
	head, list, found := strings.Cut(text, field)
	endpoints := blocks(list, func(line string) bool { return strings.HasPrefix(line, "- ") })
	if !found || len(endpoints) <= shownEndpoints {
		return text, 0
	}
	held := heldBack(snap, slice)
	rank := func(endpoint string) int {
		for line := range strings.Lines(endpoint) {
			if line = strings.TrimSpace(line); line == "ready: false" || held[strings.TrimPrefix(line, "- ")] {
				return 0
			}
		}
		return 1
	}
	slices.SortStableFunc(endpoints, func(a, b string) int { return cmp.Compare(rank(a), rank(b)) })
	return head + field + strings.Join(endpoints[:shownEndpoints], ""), len(endpoints)
}

// heldBack are the addresses of a slice that are no endpoints.
func heldBack(snap *state.Snapshot, slice model.ObjectKey) map[string]bool {
	held := map[string]bool{}
	for svc := range snap.Services() {
		for _, c := range svc.Candidates() {
			if c.Endpoint == nil && *c.Source == slice {
				held[c.Address] = true
			}
		}
	}
	return held
}
