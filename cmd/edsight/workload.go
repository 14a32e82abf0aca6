package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/edsight/edsight/core/explain"
	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/views"
)

// answered is what one proxy of a workload is told.
type answered struct {
	Proxy string `json:"proxy"`
	*explain.Answer
}

// absent tells whether what is asked about is not there.
func absent(err error) bool {
	e, ok := errors.AsType[*answerError](err)
	return ok && e.code == http.StatusNotFound
}

// askWorkload asks about each proxy of the workload that the question names in place of
// a proxy.
func askWorkload(ctx context.Context, e *edsight, q explain.Question) ([]answered, error) {
	ids, err := proxiesOf(ctx, e, q.Proxy)
	if err != nil {
		return nil, fmt.Errorf("list proxies: %w", err)
	}
	all := make([]answered, len(ids))
	for i, id := range ids {
		q.Proxy = id
		a, err := ask(ctx, e, q)
		if err != nil {
			return nil, err
		}
		all[i] = answered{id, a}
	}
	return all, nil
}

// listed is what is read of a proxy in the list of all.
type listed struct {
	ID        string       `json:"id"`
	Namespace string       `json:"namespace"`
	Labels    model.Labels `json:"labels"`
}

// proxiesOf lists the proxies of "<workload>.<namespace>".
func proxiesOf(ctx context.Context, e *edsight, workload string) ([]string, error) {
	var ids []string
	for offset, total := 0, 1; offset < total; {
		var page struct {
			Total int      `json:"total"`
			Items []listed `json:"items"`
		}
		query := url.Values{"limit": {"1000"}, "offset": {strconv.Itoa(offset)}}
		if err := e.read(ctx, "/api/v1/proxies", query, &page); err != nil {
			return nil, err
		}
		for _, p := range page.Items {
			if slices.Contains(p.workloads(), workload) {
				ids = append(ids, p.ID)
			}
		}
		if len(page.Items) == 0 {
			break
		}
		offset, total = offset+len(page.Items), page.Total
	}
	return ids, nil
}

// workloads are the names under which the proxy's workload is known: those of its labels,
// and the Pod's without what a controller adds, one part or two.
func (p *listed) workloads() []string {
	names := []string{p.Labels["app"], p.Labels["app.kubernetes.io/name"], p.Labels["service.istio.io/canonical-name"]}
	pod := strings.TrimSuffix(p.ID, "."+p.Namespace)
	for range 2 {
		pod = pod[:max(strings.LastIndexByte(pod, '-'), 0)]
		names = append(names, pod)
	}
	for i := range names {
		names[i] += "." + p.Namespace
	}
	return names
}

// printAll prints the answer that all proxies of a workload share, or each that some of
// them have, and tells whether all is as it should be.
func (f *explainFlags) printAll(w io.Writer, workload string, all []answered) (sound bool, err error) {
	if f.envoy != "" {
		return false, fmt.Errorf("--envoy is about one proxy; %s has %s", workload, few(all))
	}
	sound = !slices.ContainsFunc(all, func(a answered) bool { return !a.Sound() })
	if f.out == "json" {
		return sound, printJSON(w, all)
	}
	_, err = io.WriteString(w, printable(allText(workload, all)))
	return sound, err
}

func allText(workload string, all []answered) string {
	groups := map[string][]answered{}
	var sentences []string // in the order of the proxies
	for _, a := range all {
		s := strings.ReplaceAll(a.Sentence, a.Proxy, workload)
		if groups[s] == nil {
			sentences = append(sentences, s)
		}
		groups[s] = append(groups[s], a)
	}
	if len(sentences) == 1 {
		return fmt.Sprintf("%s of %s, with the same answer; this is that of %s:\n\n%s",
			views.Count(len(all), "proxy", "proxies"), workload, all[0].Proxy, answerText(all[0].Answer))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d proxies of %s, with different answers; ask about one of them to see the steps.\n", len(all), workload)
	for _, s := range sentences {
		fmt.Fprintf(&b, "\n%s: %s\n", few(groups[s]), s)
	}
	return b.String()
}

// few names the first proxies and counts the others.
func few(all []answered) string {
	const most = 3
	var names []string
	for _, a := range all[:min(most, len(all))] {
		names = append(names, a.Proxy)
	}
	text := strings.Join(names, ", ")
	if n := len(all) - most; n > 0 {
		text += fmt.Sprintf(" and %d more", n)
	}
	return text
}
