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
// a proxy. If there is none, the error gone is returned, with the Pods that there are of
// the workload of the one which was named.
func askWorkload(ctx context.Context, e *edsight, q explain.Question, gone error) ([]answered, error) {
	ids, near, err := proxiesOf(ctx, e, q.Proxy)
	if err != nil {
		return nil, fmt.Errorf("list proxies: %w", err)
	}
	var all []answered
	for _, id := range ids {
		q.Proxy = id
		a, err := ask(ctx, e, q)
		if absent(err) {
			continue // it went meanwhile
		}
		if err != nil {
			return nil, err
		}
		all = append(all, answered{id, a})
	}
	near = slices.DeleteFunc(near, func(id string) bool { return strings.Contains(gone.Error(), id) })
	switch {
	case len(all) > 0:
		return all, nil
	case len(near) > 0:
		return nil, fmt.Errorf("%w\n  There is now %s", gone, printable(few(near)))
	}
	return nil, gone
}

// listed is what is read of a proxy in the list of all.
type listed struct {
	ID        string       `json:"id"`
	Namespace string       `json:"namespace"`
	Labels    model.Labels `json:"labels"`
}

// proxiesOf lists the proxies of "<workload>.<namespace>", and those that are near: of
// the workload of a Pod with that ID.
func proxiesOf(ctx context.Context, e *edsight, workload string) (ids, near []string, err error) {
	pod, namespace := workload, ""
	if i := strings.LastIndexByte(workload, '.'); i > 0 {
		pod, namespace = workload[:i], workload[i+1:]
	}
	set, deployment := controllers(pod)
	for offset, total := 0, 1; offset < total; {
		var page struct {
			Total int      `json:"total"`
			Items []listed `json:"items"`
		}
		query := url.Values{"limit": {"1000"}, "offset": {strconv.Itoa(offset)}}
		if err := e.read(ctx, "/api/v1/proxies", query, &page); err != nil {
			return nil, nil, err
		}
		for _, p := range page.Items {
			s, d := controllers(p.pod())
			switch {
			case p.Namespace != namespace:
			case slices.Contains(p.workloads(), pod):
				ids = append(ids, p.ID)
			case set != "" && s == set, deployment != "" && d == deployment:
				near = append(near, p.ID)
			}
		}
		if len(page.Items) == 0 {
			break
		}
		offset, total = offset+len(page.Items), page.Total
	}
	return ids, near, nil
}

func (p *listed) pod() string { return strings.TrimSuffix(p.ID, "."+p.Namespace) }

// workloads are the names under which the proxy's workload is known: those of its labels,
// and of the controllers that named the Pod.
func (p *listed) workloads() []string {
	set, deployment := controllers(p.pod())
	return []string{p.Labels["app"], p.Labels["app.kubernetes.io/name"], p.Labels["service.istio.io/canonical-name"], set, deployment}
}

// controllers are the names of those that can have named the Pod: a set, which adds one
// part, and a Deployment, whose set has one more; "" if the name is too short.
func controllers(pod string) (set, deployment string) {
	set = pod[:max(strings.LastIndexByte(pod, '-'), 0)]
	return set, set[:max(strings.LastIndexByte(set, '-'), 0)]
}

// printAll prints the answer that all proxies of a workload share, or each that some of
// them have, and tells whether all is as it should be.
func (f *explainFlags) printAll(w io.Writer, workload string, all []answered) (sound bool, err error) {
	if f.envoy != "" {
		return false, fmt.Errorf("--envoy is about one proxy; %s has %s", workload, few(names(all)))
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
		fmt.Fprintf(&b, "\n%s: %s\n", few(names(groups[s])), s)
	}
	return b.String()
}

func names(all []answered) []string {
	return lines(all, func(a *answered) string { return a.Proxy })
}

// few names the first and counts the others.
func few(names []string) string {
	const most = 3
	text := strings.Join(names[:min(most, len(names))], ", ")
	if n := len(names) - most; n > 0 {
		text += fmt.Sprintf(" and %d more", n)
	}
	return text
}
