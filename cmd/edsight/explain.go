package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net"
	"net/url"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/edsight/edsight/core/cds"
	"github.com/edsight/edsight/core/compare"
	"github.com/edsight/edsight/core/explain"
	"github.com/edsight/edsight/core/model"
)

// exitAbsent is the exit code of explain if the proxy lacks the endpoint; see exitTrouble.
const exitAbsent = 1

// explainFlags are the flags of explain.
type explainFlags struct {
	askFlags
	subset, address string
	envoy           string
}

func explainCommand() *cobra.Command {
	var f explainFlags
	cmd := &cobra.Command{
		Use:   "explain PROXY HOST:PORT",
		Short: "Say why a proxy has an endpoint, or not",
		Long: `Say why a proxy has an endpoint, or not.

PROXY is "<pod>.<namespace>", or "<workload>.<namespace>" for all proxies of a
workload: the answer that they share, or each that some of them have. With --address the
question is about that endpoint, without it about whether there is any. The answer is one
sentence, and each step from the slice to the proxy with its evidence. The exit status is
0 if the endpoint is there and no step failed, also not its delivery and what Envoy says
of it; it is 1 if not, and 2 in trouble, which -o json prints as {"error": "..."}.`,
		Example: `  edsight explain web-0.shop cart.shop.svc.cluster.local:80 --address 10.1.4.7 --server http://127.0.0.1:8080 --token-file token
  edsight explain web-0.shop cart.shop.svc.cluster.local:80 --subset v2 --from ./manifests -o json
  kubectl exec web-0 -n shop -c istio-proxy -- pilot-agent request GET 'clusters?format=json' |
    edsight explain web-0.shop cart.shop.svc.cluster.local:80 --from ./manifests --envoy -`,
		Args: func(cmd *cobra.Command, args []string) error { return trouble(cobra.ExactArgs(2)(cmd, args)) },
		RunE: func(cmd *cobra.Command, args []string) error {
			sound, err := f.run(cmd, args[0], args[1])
			if err == nil && !sound {
				return &exitError{code: exitAbsent}
			}
			return troubleIn(cmd.OutOrStdout(), f.out, err)
		},
	}
	cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return trouble(err) })
	flags := cmd.Flags()
	flags.StringVar(&f.subset, "subset", "", "subset of a DestinationRule")
	flags.StringVar(&f.address, "address", "", "the endpoint that is asked about")
	f.add(flags)
	flags.StringVar(&f.envoy, "envoy", "", `file with what the proxy's Envoy says of its clusters, "-" for standard input`)
	return cmd
}

// run asks and prints the answer. It tells whether all is as it should be.
func (f *explainFlags) run(cmd *cobra.Command, proxy, target string) (sound bool, err error) {
	q, err := f.question(proxy, target)
	if err != nil {
		return false, err
	}
	if err := f.check(); err != nil {
		return false, err
	}
	e, err := f.open(cmd.Context(), cmd.ErrOrStderr())
	if err != nil {
		return false, err
	}
	a, err := ask(cmd.Context(), e, q)
	if absent(err) {
		all, err := askWorkload(cmd.Context(), e, q, err)
		if err != nil {
			return false, err
		}
		return f.printAll(cmd.OutOrStdout(), q.Proxy, all)
	}
	if err != nil {
		return false, err
	}
	if err := f.holdAgainst(cmd.InOrStdin(), q, a); err != nil {
		return false, err
	}
	return a.Sound(), f.print(cmd.OutOrStdout(), a)
}

// holdAgainst lays what Envoy says itself beside the answer, if it was asked.
func (f *explainFlags) holdAgainst(in io.Reader, q explain.Question, a *explain.Answer) error {
	if f.envoy == "" {
		return nil
	}
	b, err := readInput(in, f.envoy, compare.MaxDocument)
	if err != nil {
		return err
	}
	doc, err := compare.ParseDocument(b)
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", f.envoy, err)
	case doc.Proxy != "" && doc.Proxy != q.Proxy:
		return fmt.Errorf("%s is of the proxy %s, not of %s", f.envoy, doc.Proxy, q.Proxy)
	}
	r := doc.Report(cds.Name(q.Port, q.Subset, q.Host), cmp.Or(a.Via, q.Address))
	a.Reported(r.Text, len(r.Endpoints) > 0, r.Idle == 0)
	return nil
}

// question reads the arguments.
func (f *explainFlags) question(proxy, target string) (explain.Question, error) {
	host, port, err := net.SplitHostPort(target)
	if err != nil {
		return explain.Question{}, fmt.Errorf("%q is not HOST:PORT", target)
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil || n == 0 {
		return explain.Question{}, fmt.Errorf("%q is not a port from 1 to 65535", port)
	}
	return explain.Question{Proxy: proxy, Host: model.Hostname(host), Port: uint32(n), Subset: f.subset, Address: f.address}, nil
}

// ask asks about one proxy.
func ask(ctx context.Context, e *edsight, q explain.Question) (*explain.Answer, error) {
	query := url.Values{"proxy": {q.Proxy}, "host": {string(q.Host)}, "port": {strconv.FormatUint(uint64(q.Port), 10)}}
	if q.Subset != "" {
		query.Set("subset", q.Subset)
	}
	if q.Address != "" {
		query.Set("address", q.Address)
	}
	a := &explain.Answer{}
	if err := e.read(ctx, "/api/v1/explain", query, a); err != nil {
		return nil, fmt.Errorf("explain: %w", err)
	}
	return a, nil
}

func (f *explainFlags) print(w io.Writer, a *explain.Answer) error {
	if f.out == "json" {
		return printJSON(w, a)
	}
	_, err := io.WriteString(w, printable(answerText(a)))
	return err
}

func answerText(a *explain.Answer) string {
	var b strings.Builder
	b.WriteString(a.Sentence + "\n\n")
	for _, s := range a.Steps {
		fmt.Fprintf(&b, "%s %-14s %s\n", mark(s.Verdict), s.Name, s.Text)
		if s.Verdict != explain.VerdictFailed {
			continue
		}
		for _, e := range s.Evidence {
			fmt.Fprintf(&b, "    %s\n", evidenceLine(e))
		}
	}
	return b.String()
}

func mark(v explain.Verdict) string {
	switch v {
	case explain.VerdictOK:
		return "✓"
	case explain.VerdictFailed:
		return "✗"
	case explain.VerdictSkipped:
	}
	return "–"
}

func evidenceLine(e explain.Evidence) string {
	have := strconv.Quote(e.Have)
	if e.Have == "absent" {
		have = e.Have // which is no value
	}
	line := e.Field + " is " + have
	if e.Want != "" {
		line += ", wanted " + strconv.Quote(e.Want)
	}
	if e.Object.Name != "" {
		line = e.Object.String() + ": " + line
	}
	return line
}

// printable takes out what could steer the terminal: names are written by others.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && !strconv.IsPrint(r) {
			return '?'
		}
		return r
	}, s)
}
