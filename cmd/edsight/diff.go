package main

import (
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/edsight/edsight/core/compare"
)

// The exit codes of diff besides 0, as of diff(1).
const (
	exitDiffers = 1
	exitTrouble = 2
)

// diffFlags are the flags of diff.
type diffFlags struct {
	proxy, out, tokenFile string
}

func diffCommand() *cobra.Command {
	var f diffFlags
	cmd := &cobra.Command{
		Use:   "diff HERE THERE",
		Short: "Say in what two states, or two accounts of a proxy's endpoints, differ",
		Long: `Say in what two states, or two accounts of a proxy's endpoints, differ.

Each of HERE and THERE is one of
  an exported snapshot,
  the URL of a running Edsight, whose state is then exported,
  what istiod answers at /debug/edsz?proxyID=… or /debug/config_dump?proxyID=…&include_eds=true,
  what Envoy answers at /config_dump?include_eds or /clusters?format=json,
  or "-" for one of these on standard input.

Two states are compared service by service and proxy by proxy; with --proxy, and
wherever a dump is one of both, the endpoints of one proxy are. Besides a state, a dump
needs --proxy, unless it is Envoy's config_dump with the bootstrap, which alone names
its proxy. Of an endpoint that a state does not have, the reason is given. As for diff(1), the exit status is 0 if
nothing differs, 1 if something does, and 2 in trouble, which -o json prints as
{"error": "..."}.`,
		Example: `  edsight diff yesterday.edsight.gz today.edsight.gz
  kubectl exec web-0 -n shop -c istio-proxy -- pilot-agent request GET 'config_dump?include_eds' |
    edsight diff http://127.0.0.1:8080 - --token-file token --proxy web-0.shop`,
		Args: func(cmd *cobra.Command, args []string) error { return trouble(cobra.ExactArgs(2)(cmd, args)) },
		RunE: func(cmd *cobra.Command, args []string) error {
			differs, err := f.run(cmd, args[0], args[1])
			if err == nil && differs {
				return &exitError{code: exitDiffers}
			}
			return troubleIn(cmd.OutOrStdout(), f.out, err)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.proxy, "proxy", "", `the proxy whose endpoints are compared, "<pod>.<namespace>"`)
	flags.StringVarP(&f.out, "output", "o", "text", `"text" or "json"`)
	flags.StringVar(&f.tokenFile, "token-file", "", "file with the token of a running Edsight")
	cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return trouble(err) })
	return cmd
}

// exitError ends the program with a code; a nil error has nothing to say.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return "exit status " + strconv.Itoa(e.code)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

func trouble(err error) error {
	if err == nil {
		return nil
	}
	return &exitError{code: exitTrouble, err: err}
}

// troubleIn is trouble of a command that was to begin; where JSON is wanted, it is
// printed so.
func troubleIn(w io.Writer, out string, err error) error {
	if err == nil || out != "json" {
		return trouble(err)
	}
	if e := printJSON(w, map[string]string{"error": err.Error()}); e != nil {
		return trouble(errors.Join(err, e))
	}
	return &exitError{code: exitTrouble}
}

func (f *diffFlags) run(cmd *cobra.Command, here, there string) (differs bool, err error) {
	if f.out != "text" && f.out != "json" {
		return false, fmt.Errorf(`-o is "text" or "json", not %q`, f.out)
	}
	if here == stdin && there == stdin {
		return false, errors.New("only one of both can be standard input")
	}
	a, err := f.open(cmd, here)
	if err != nil {
		return false, err
	}
	b, err := f.open(cmd, there)
	if err != nil {
		return false, err
	}
	if f.proxy == "" && a.content != nil && b.content != nil {
		return f.states(cmd.OutOrStdout(), a, b)
	}
	proxy, err := f.whose(a, b)
	if err != nil {
		return false, err
	}
	return f.endpoints(cmd.OutOrStdout(), a, b, proxy)
}

// whose says which proxy's endpoints are compared: the one that is asked for, else
// the one whose dump is given.
func (f *diffFlags) whose(sides ...*operand) (string, error) {
	proxy := f.proxy
	for _, o := range sides {
		switch {
		case o.doc == nil || o.doc.Proxy == "":
		case proxy == "":
			proxy = o.doc.Proxy
		case proxy != o.doc.Proxy:
			return "", fmt.Errorf("%s is the dump of %s, not of %s", o.name, o.doc.Proxy, proxy)
		}
	}
	for _, o := range sides {
		if proxy == "" && o.content != nil {
			return "", errors.New("say with --proxy whose endpoints are compared, as the dump does not name its proxy")
		}
	}
	return proxy, nil
}

// set is what the side says of the proxy.
func (o *operand) set(proxy string) (compare.Set, error) {
	if o.doc != nil {
		return o.doc.Set, nil
	}
	p := o.content.Snapshot.Proxy(proxy)
	if p == nil {
		return compare.Set{}, fmt.Errorf("%s: there is no proxy %s", o.name, proxy)
	}
	return o.side().Set(p), nil
}
