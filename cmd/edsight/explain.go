package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/edsight/edsight/core/cds"
	"github.com/edsight/edsight/core/compare"
	"github.com/edsight/edsight/core/control"
	"github.com/edsight/edsight/core/explain"
	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/source/files"
)

// exitAbsent is the exit code of explain if the proxy lacks the endpoint; see exitTrouble.
const exitAbsent = 1

// maxAnswer bounds what is read of an answer.
const maxAnswer = 1 << 20

// explainFlags are the flags of explain.
type explainFlags struct {
	subset, address   string
	out               string
	from              string
	server, tokenFile string
	envoy             string
}

func explainCommand() *cobra.Command {
	var f explainFlags
	cmd := &cobra.Command{
		Use:   "explain PROXY HOST:PORT",
		Short: "Say why a proxy has an endpoint, or not",
		Long: `Say why a proxy has an endpoint, or not.

PROXY is "<pod>.<namespace>". With --address the question is about that endpoint,
without it about whether there is any. The answer is one sentence, and each step
from the slice to the proxy with its evidence. The exit status is 0 if the endpoint is
there and no step failed, also not its delivery and what Envoy says of it; it is 1 if
not, and 2 in trouble.`,
		Example: `  edsight explain web-0.shop cart.shop.svc.cluster.local:80 --address 10.1.4.7 --server http://127.0.0.1:8080 --token-file token
  edsight explain web-0.shop cart.shop.svc.cluster.local:80 --subset v2 --from ./manifests -o json
  kubectl exec web-0 -n shop -c istio-proxy -- pilot-agent request GET 'clusters?format=json' |
    edsight explain web-0.shop cart.shop.svc.cluster.local:80 --from ./manifests --envoy -`,
		Args: func(cmd *cobra.Command, args []string) error { return trouble(cobra.ExactArgs(2)(cmd, args)) },
		RunE: func(cmd *cobra.Command, args []string) error {
			a, err := f.run(cmd, args[0], args[1])
			if err == nil && !a.Sound() {
				return &exitError{code: exitAbsent}
			}
			return trouble(err)
		},
	}
	cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return trouble(err) })
	flags := cmd.Flags()
	flags.StringVar(&f.subset, "subset", "", "subset of a DestinationRule")
	flags.StringVar(&f.address, "address", "", "the endpoint that is asked about")
	flags.StringVarP(&f.out, "output", "o", "text", `"text" or "json"`)
	flags.StringVar(&f.from, "from", "", "read manifests from this file or folder, or an exported snapshot")
	flags.StringVar(&f.server, "server", "", "ask the Edsight at this URL")
	flags.StringVar(&f.tokenFile, "token-file", "", "file with the bearer token of --server")
	flags.StringVar(&f.envoy, "envoy", "", `file with what the proxy's Envoy says of its clusters, "-" for standard input`)
	return cmd
}

// run asks and prints the answer.
func (f *explainFlags) run(cmd *cobra.Command, proxy, target string) (*explain.Answer, error) {
	q, err := f.question(proxy, target)
	if err != nil {
		return nil, err
	}
	a, err := f.ask(cmd, q)
	if err != nil {
		return nil, err
	}
	if err := f.holdAgainst(cmd.InOrStdin(), q, a); err != nil {
		return nil, err
	}
	return a, f.print(cmd.OutOrStdout(), a)
}

// holdAgainst lays what Envoy says itself beside the answer, if it was asked.
func (f *explainFlags) holdAgainst(in io.Reader, q explain.Question, a *explain.Answer) error {
	if f.envoy == "" {
		return nil
	}
	if f.envoy != stdin {
		file, err := os.Open(f.envoy)
		if err != nil {
			return err
		}
		defer func() { _ = file.Close() }() // it was only read
		in = file
	}
	b, err := readAtMost(in, compare.MaxDocument)
	if err != nil {
		return fmt.Errorf("%s: %w", f.envoy, err)
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
	if (f.server == "") == (f.from == "") {
		return explain.Question{}, errors.New("say either with --server or with --from what is asked")
	}
	if f.out != "text" && f.out != "json" {
		return explain.Question{}, fmt.Errorf(`-o is "text" or "json", not %q`, f.out)
	}
	return explain.Question{Proxy: proxy, Host: model.Hostname(host), Port: uint32(n), Subset: f.subset, Address: f.address}, nil
}

func (f *explainFlags) ask(cmd *cobra.Command, q explain.Question) (*explain.Answer, error) {
	if f.server != "" {
		return f.askServer(cmd, q)
	}
	if isArchive(f.from) {
		c, err := openArchive(f.from)
		if err != nil {
			return nil, err
		}
		return explain.New(explain.Options{Journal: c.Journal()}).Explain(c.Snapshot, q, nil), nil
	}
	src := files.New(f.from, files.Options{Logger: slog.New(slog.NewTextHandler(cmd.ErrOrStderr(), nil))})
	core := control.New(control.Options{Source: src})
	if err := settle(cmd.Context(), core, src); err != nil {
		return nil, err
	}
	e := explain.New(explain.Options{Objects: src, Journal: core.Journal()})
	return e.Explain(core.Snapshot(), q, nil), nil
}

func (f *explainFlags) askServer(cmd *cobra.Command, q explain.Question) (*explain.Answer, error) {
	query := url.Values{"proxy": {q.Proxy}, "host": {string(q.Host)}, "port": {strconv.FormatUint(uint64(q.Port), 10)}}
	if q.Subset != "" {
		query.Set("subset", q.Subset)
	}
	if q.Address != "" {
		query.Set("address", q.Address)
	}
	resp, err := fetch(cmd.Context(), request{base: f.server, path: "explain", accept: "application/json", tokenFile: f.tokenFile, query: query})
	if err != nil {
		return nil, fmt.Errorf("explain: %w", err)
	}
	var body struct {
		explain.Answer
		Error string `json:"error"`
	}
	err = errors.Join(json.NewDecoder(io.LimitReader(resp.Body, maxAnswer)).Decode(&body), resp.Body.Close())
	switch {
	case body.Error != "":
		return nil, fmt.Errorf("explain: %s answers %s: %s", f.server, resp.Status, body.Error)
	case resp.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("explain: %s answers %s", f.server, resp.Status)
	case err != nil:
		return nil, fmt.Errorf("explain: read the answer of %s: %w", f.server, err)
	}
	return &body.Answer, nil
}

func (f *explainFlags) print(w io.Writer, a *explain.Answer) error {
	if f.out == "json" {
		return printJSON(w, a)
	}
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
	_, err := io.WriteString(w, printable(b.String()))
	return err
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
