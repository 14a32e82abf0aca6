package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

func printResult(r *Result) {
	logf("  %s: %d updates x %d clients, lost %d (late %d), p50 %.1f p99 %.1f max %.1f ms, server CPU %.2f s in %.1f s, RSS peak %.0f MB, wrong at end %d, differs %d, noise %.2f cores",
		r.Scenario, r.Updates, r.Clients, r.Lost, r.Late, r.Lat.P50, r.Lat.P99, r.Lat.Max, r.Usage.ServerCPU, r.Usage.Seconds, r.Usage.RSSPeak, r.Wrong, r.Mismatch, r.Usage.NoiseCPU/max(r.Usage.Seconds, .001))
	if r.Wrong > 0 {
		logf("  wrong: %s", r.FirstWrong)
	}
	if r.Mismatch > 0 {
		logf("  differs: %s", r.FirstMis)
	}
}

// table shows the report to a person.
func (rep *Report) table() string {
	var out strings.Builder
	w := &out
	t := rep.Topo
	fmt.Fprintf(w, "\n%s %s: %d services x %d endpoints, %d clients, %s; load average before: %s; others' cores before: %.2f\n", rep.Time, rep.Label, t.Services, t.Endpoints, rep.Clients, rep.Mode, rep.LoadAvg, rep.IdleNoise)
	fmt.Fprintf(w, "%-14s %7s %6s %8s %8s %8s %8s %9s %8s %8s %9s %9s %8s %8s %8s %6s %6s\n", "scenario", "updates", "lost", "p50 ms", "p90", "p99", "max", "lastcl50", "api p50", "srvCPU s", "us/(u*c)", "wall s", "RSSpk MB", "RSSend", "EDSmsg", "wrong", "noise")
	for _, r := range append([]*Result{&rep.Connect}, rep.Results...) {
		fmt.Fprintf(w, "%-14s %7d %6d %8.1f %8.1f %8.1f %8.1f %9.1f %8.1f %8.2f %9.1f %9.1f %8.0f %8.0f %8d %6d %6.2f\n", r.Scenario, r.Updates, r.Lost, r.Lat.P50, r.Lat.P90, r.Lat.P99, r.Lat.Max, r.All.P50, r.APIWrite.P50,
			r.Usage.ServerCPU, r.CPUPerUC, r.Usage.Seconds, r.Usage.RSSPeak, r.Usage.RSSEnd, r.EDSMsgs, r.Wrong, r.Usage.NoiseCPU/max(r.Usage.Seconds, .001))
		for _, n := range slices.Sorted(maps.Keys(r.Extra)) {
			d := r.Extra[n]
			fmt.Fprintf(w, "  %-60s p50 %.1f p90 %.1f p99 %.1f max %.1f ms (n=%d)\n", n, d.P50, d.P90, d.P99, d.Max, d.N)
		}
		for _, n := range slices.Sorted(maps.Keys(r.Pages)) {
			p := r.Pages[n]
			fmt.Fprintf(w, "  page %-45s p50 %.1f max %.1f ms (n=%d), %d bytes %s\n", n, p.Lat.P50, p.Lat.Max, p.Lat.N, p.Bytes, p.Err)
		}
		if r.Failed > 0 {
			fmt.Fprintf(w, "  %d API writes failed\n", r.Failed)
		}
		if r.Wrong > 0 {
			fmt.Fprintf(w, "  WRONG: %s\n", r.FirstWrong)
		}
	}
	fmt.Fprintf(w, "us/(u*c): server CPU per (update, client), for connect and reconnect per client; noise: cores used by processes not named with --pid/--others\n")
	if rep.Lost > 0 || rep.WrongEnd > 0 {
		fmt.Fprintf(w, "FAILED: %d updates lost, %d wrong sets at the end\n", rep.Lost, rep.WrongEnd)
	}
	return out.String()
}
