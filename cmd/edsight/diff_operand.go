package main

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/edsight/edsight/core/archive"
	"github.com/edsight/edsight/core/compare"
	"github.com/edsight/edsight/core/explain"
	"github.com/edsight/edsight/core/scope"
)

// operand is one side of diff: a state or a dump.
type operand struct {
	name    string
	content *archive.Content
	doc     *compare.Document
	scopes  scope.Cache
}

// open reads what an argument names.
func (f *diffFlags) open(cmd *cobra.Command, name string) (*operand, error) {
	o := &operand{name: name}
	b, err := f.read(cmd, name)
	if err != nil {
		return nil, err
	}
	if isCompressed(b) {
		o.content, err = archive.Read(bytes.NewReader(b), archive.DefaultLimits())
	} else {
		o.doc, err = compare.ParseDocument(b)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return o, nil
}

func (f *diffFlags) read(cmd *cobra.Command, name string) ([]byte, error) {
	if strings.HasPrefix(name, "http://") || strings.HasPrefix(name, "https://") {
		var b bytes.Buffer
		err := download(cmd.Context(), name, f.tokenFile, &b)
		return b.Bytes(), err
	}
	return readInput(cmd.InOrStdin(), name, archive.DefaultLimits().Bytes)
}

func (o *operand) side() compare.Side {
	return compare.Side{Snap: o.content.Snapshot, Scopes: &o.scopes}
}

// ask explains why a state does not have an endpoint; dumps cannot tell.
func (o *operand) ask(proxy string) compare.Ask {
	if o.content == nil {
		return nil
	}
	e := explain.New(explain.Options{Journal: o.content.Journal(), Scopes: &o.scopes})
	return func(t compare.Target, address string) compare.Reason {
		q := explain.Question{Proxy: proxy, Host: t.Host, Port: t.Port, Subset: t.Subset, Passthrough: t.Passthrough, Address: address}
		a := e.Explain(o.content.Snapshot, q, nil)
		return compare.Reason{Text: a.Short(), Kind: string(a.Cause) + " " + a.Object}
	}
}
