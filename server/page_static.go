package server

import (
	"bytes"
	"io/fs"
	"net/http"
	"time"

	"github.com/edsight/edsight/core/scope"
	"github.com/edsight/edsight/static"
)

// pages is what the pages keep between requests.
type pages struct {
	audience audience
	stations stationsFrames
}

func newPages(scopes *scope.Cache) *pages {
	return &pages{audience: audience{scopes: scopes}}
}

// staticFile gives a file of the dashboard. Its version is in its path, so that
// a browser keeps it as long as it likes.
func (s *Server) staticFile(w http.ResponseWriter, r *http.Request) error {
	name := param(r, "file")
	text, err := fs.ReadFile(static.FS(), name)
	if err != nil {
		return notFound("no file %s", name)
	}
	if "/static/"+param(r, "version") == s.assets {
		w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(text))
	return nil
}
