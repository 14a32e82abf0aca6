package compare_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"testing"

	"github.com/edsight/edsight/core/archive"
	"github.com/edsight/edsight/core/compare"
	"github.com/edsight/edsight/core/explain"
	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/registry"
	"github.com/edsight/edsight/core/scope"
)

// lines of an archive of the shop.
func archiveLines(tb testing.TB) string {
	tb.Helper()
	var b bytes.Buffer
	if err := archive.Write(&b, &archive.Content{Snapshot: newShop(tb).Snapshot()}); err != nil {
		tb.Fatal(err)
	}
	r, err := gzip.NewReader(&b)
	if err != nil {
		tb.Fatal(err)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		tb.Fatal(err)
	}
	return string(text)
}

// FuzzOpenedArchive does with any archive what is done with one that was opened: it
// is compared, proxy by proxy, and asked why.
func FuzzOpenedArchive(f *testing.F) {
	f.Add(archiveLines(f))
	shop := sideOf(newShop(f))
	limits := archive.Limits{Bytes: 1 << 20, Line: 1 << 18, Depth: 32, Values: 1 << 14, Ratio: 1000}
	f.Fuzz(func(t *testing.T, lines string) {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		if _, err := io.WriteString(w, lines); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		c, err := archive.Read(&b, limits)
		if err != nil {
			return
		}
		side := compare.Side{Snap: c.Snapshot, Scopes: &scope.Cache{}}
		changed := map[model.ServiceKey]bool{}
		for _, s := range registry.Between(side.Snap, shop.Snap).Services {
			changed[s.Key] = true
		}
		e := explain.New(explain.Options{Journal: c.Journal(), Scopes: side.Scopes})
		for p := range compare.Proxies(side, shop, changed) {
			if p.Here == nil || p.There == nil {
				continue
			}
			d := compare.Sets(side.Set(p.Here), shop.Set(p.There))
			d.Explain(20, func(t compare.Target, address string) compare.Reason {
				a := e.Explain(side.Snap, explain.Question{Proxy: p.ID, Host: t.Host, Port: t.Port, Subset: t.Subset, Address: address}, nil)
				return compare.Reason{Text: a.Short(), Kind: string(a.Cause)}
			}, nil)
		}
	})
}
