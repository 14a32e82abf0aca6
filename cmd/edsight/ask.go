package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/spf13/pflag"

	"github.com/edsight/edsight/views"
)

// maxAnswer bounds what is read of an answer.
const maxAnswer = 32 << 20

// askFlags say who is asked.
type askFlags struct {
	server, tokenFile, from, out string
	mesh                         meshFlags
}

func (f *askFlags) add(flags *pflag.FlagSet) {
	flags.StringVarP(&f.out, "output", "o", "text", `"text" or "json"`)
	flags.StringVar(&f.from, "from", "", "read manifests from this file or folder, or an exported snapshot")
	flags.StringVar(&f.server, "server", "", "ask the Edsight at this URL")
	flags.StringVar(&f.tokenFile, "token-file", "", "file with the bearer token of --server")
	f.mesh.add(flags)
}

func (f *askFlags) check() error {
	if (f.server == "") == (f.from == "") {
		return errors.New("say either with --server or with --from what is asked")
	}
	if f.server != "" && f.mesh.given() {
		return errors.New("--root-namespace and --istiod-env are for --from; the Edsight of --server has its own")
	}
	if f.out != "text" && f.out != "json" {
		return fmt.Errorf(`-o is "text" or "json", not %q`, f.out)
	}
	return nil
}

// open returns the Edsight that answers.
func (f *askFlags) open(ctx context.Context, log io.Writer) (*edsight, error) {
	if f.server != "" {
		return running(f.server, f.tokenFile)
	}
	return within(ctx, f.from, &f.mesh, log)
}

// edsight is one that can be asked: it runs elsewhere, or within this program.
type edsight struct {
	// name stands in errors.
	name   string
	base   *url.URL
	token  string
	client *http.Client
}

// running is the Edsight at a URL.
func running(base, tokenFile string) (*edsight, error) {
	u, err := parseURL(base, "http://127.0.0.1:8080")
	if err != nil {
		return nil, fmt.Errorf("--server: %w", err)
	}
	// A redirect is an answer like any other that is not the one wanted: the token
	// goes nowhere else.
	e := &edsight{name: base, base: u, client: &http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	if tokenFile == "" {
		return e, nil
	}
	if err := checkClear(u); err != nil {
		return nil, err
	}
	if e.token, err = edsightToken(tokenFile); err != nil {
		return nil, err
	}
	return e, nil
}

// get asks for what is at a path. The caller closes the body.
func (e *edsight) get(ctx context.Context, path, accept string, query url.Values) (*http.Response, error) {
	u := e.base.JoinPath(path)
	u.RawQuery = query.Encode()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), http.NoBody)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", accept)
	if e.token != "" {
		req.Header.Set("Authorization", "Bearer "+e.token)
	}
	resp, err := e.client.Do(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode == http.StatusUnauthorized || resp.StatusCode == http.StatusForbidden {
		remedy := "give its token with --token-file"
		if e.token != "" {
			remedy = "start it with the same --token-file, or give the token that it has"
		}
		return nil, errors.Join(fmt.Errorf("%s answers %s; %s", e.name, resp.Status, remedy), resp.Body.Close())
	}
	return resp, nil
}

// answerError is an answer that says why there is none.
type answerError struct {
	name, status string
	code         int
	Message      string       `json:"error"`
	Next         []views.Link `json:"next"`
}

func (e *answerError) Error() string {
	if e.Message == "" {
		return e.name + " answers " + e.status
	}
	lines := []string{e.name + ": " + e.Message}
	for _, l := range e.Next {
		lines = append(lines, "  "+l.Text+" "+l.Href)
	}
	return printable(strings.Join(lines, "\n"))
}

// read asks for JSON and decodes it.
func (e *edsight) read(ctx context.Context, path string, query url.Values, into any) (err error) {
	resp, err := e.get(ctx, path, "application/json", query)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, resp.Body.Close()) }()
	body := json.NewDecoder(io.LimitReader(resp.Body, maxAnswer))
	if resp.StatusCode != http.StatusOK {
		refusal := &answerError{name: e.name, status: resp.Status, code: resp.StatusCode}
		_ = body.Decode(refusal) // else the status says it
		return refusal
	}
	if err := body.Decode(into); err != nil {
		return fmt.Errorf("read the answer of %s: %w", e.name, err)
	}
	return nil
}
