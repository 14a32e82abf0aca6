package server

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/edsight/edsight/core/archive"
	"github.com/edsight/edsight/core/journal"
)

//go:embed openapi.yaml
var openAPI string

const apiPrefix = "/api/v1/"

// The numbers of elements of one answer.
const (
	defaultLimit = 100
	maxLimit     = 1000
)

// apiRoutes are Edsight's own JSON, which openapi.yaml describes.
func (s *Server) apiRoutes() []route {
	row := func(name, help string, h handler) route {
		return route{method: http.MethodGet, pattern: apiPrefix + name, help: help, handle: h}
	}
	list := []route{
		row("", "the list of all these", s.value(s.apiIndex)),
		row("clusters", "clusters that are watched, and networks with their gateways", s.value(s.apiClusters)),
		row("config", "Istio objects, mesh configuration and problems", s.stream(s.apiConfig)),
		row("openapi.yaml", "the description of this API", s.handleOpenAPI),
		row("proxies", "proxies; limit= and offset= page", s.value(s.apiProxies)),
		row("proxies/{id}", "one proxy with its clusters", s.stream(s.apiProxy)),
		row("services", "services; namespace= and q= filter, limit= and offset= page", s.value(s.apiServices)),
		row("services/{ns}/{host}", "one service with all its candidates", s.stream(s.apiService)),
		row("slices", "what is wrong with EndpointSlices; kind=, namespace= and q= filter, limit= and offset= page", s.value(s.apiSlices)),
		row("snapshot", "the whole state as an archive, redacted", s.handleSnapshot),
		row("status", "how far the core is", s.value(s.apiStatus)),
		row("transitions", "transitions from since= on, at most limit=; the filters of the live feed", s.handleTransitions),
		row("transitions/{seq}", "one transition, whole", s.stream(s.apiTransition)),
	}
	for i := range list {
		switch list[i].pattern {
		case apiPrefix + "services/{ns}/{host}", apiPrefix + "proxies/{id}":
			list[i].namespaced = true
		}
	}
	return list
}

// apiRow is a route of the API in its list.
type apiRow struct {
	Method string `json:"method"`
	Path   string `json:"path"`
	Help   string `json:"help"`
}

func (s *Server) apiIndex(*http.Request) (any, error) {
	var list []apiRow
	for _, rt := range s.routes() {
		if strings.HasPrefix(rt.pattern, apiPrefix) {
			list = append(list, apiRow{Method: rt.method, Path: rt.pattern, Help: rt.help})
		}
	}
	slices.SortFunc(list, func(a, b apiRow) int { return strings.Compare(a.Path, b.Path) })
	return list, nil
}

func (s *Server) handleOpenAPI(w http.ResponseWriter, _ *http.Request) error {
	w.Header().Set("Content-Type", "application/yaml")
	w.Header().Set("Cache-Control", "no-store")
	_, err := io.WriteString(w, openAPI)
	return err
}

// handleSnapshot writes an archive as it is made.
func (s *Server) handleSnapshot(w http.ResponseWriter, r *http.Request) error {
	leave, err := s.enterLarge(w)
	if err != nil {
		return err
	}
	defer leave()
	snap, now := s.core.Snapshot(), s.now()
	w.Header().Set("Content-Type", archive.MediaType)
	w.Header().Set("Content-Disposition", fmt.Sprintf("attachment; filename=%q",
		fmt.Sprintf("edsight-%s-%d%s", now.UTC().Format("20060102T150405Z"), snap.Version, archive.Extension)))
	w.Header().Set("Cache-Control", "no-store")
	err = archive.Write(w, &archive.Content{
		Header: archive.Header{Program: s.opts.Version, Created: now}, Snapshot: snap,
		Transitions: s.core.Journal().Since(0, maxArchived).Transitions, Source: s.core.Status().Source,
	})
	if err != nil {
		s.breakOff(w, r, err)
	}
	return nil
}

// maxArchived bounds the transitions of an archive; a journal holds fewer.
const maxArchived = 1 << 20

// statusJSON is how far the core is.
type statusJSON struct {
	Version       string    `json:"version"`
	Started       time.Time `json:"started"`
	Ready         bool      `json:"ready"`
	Waiting       int       `json:"waiting"`
	Snapshot      uint64    `json:"snapshot"`
	SnapshotTime  time.Time `json:"snapshotTime,omitzero"`
	ConfigVersion uint64    `json:"configVersion"`
	Services      int       `json:"services"`
	Proxies       int       `json:"proxies"`
	LastSeq       uint64    `json:"lastSeq"`
	LiveReaders   int       `json:"liveReaders"`
	Source        any       `json:"source"`
}

func (s *Server) apiStatus(*http.Request) (any, error) {
	st, snap := s.core.Status(), s.core.Snapshot()
	return statusJSON{
		Version: s.opts.Version, Started: s.started, Ready: st.Ready, Waiting: st.Waiting,
		Snapshot: snap.Version, SnapshotTime: snap.Time, ConfigVersion: snap.ConfigVersion,
		Services: snap.ServiceCount(), Proxies: snap.ProxyCount(), LastSeq: s.core.Journal().Last(),
		LiveReaders: s.live.readers(), Source: st.Source,
	}, nil
}

// handleTransitions answers with the frames that live readers get.
func (s *Server) handleTransitions(w http.ResponseWriter, r *http.Request) error {
	from, err := s.sinceOf(r, 0)
	if err != nil {
		return err
	}
	limit, err := intOf(r, "limit", defaultLimit, maxLimit)
	if err != nil {
		return err
	}
	f, err := newFilter(r.URL.Query())
	if err != nil {
		return err
	}
	b := s.core.Journal().Since(from, limit)
	body := struct {
		Transitions []json.RawMessage `json:"transitions"`
		Next        uint64            `json:"next"`
		Gap         *journal.Gap      `json:"gap,omitempty"`
	}{Transitions: []json.RawMessage{}, Next: b.Next, Gap: b.Gap}
	for _, t := range b.Transitions {
		if !f.wants(t, s.concerns) {
			continue
		}
		text, err := s.live.transitions.get(t)
		if err != nil {
			return err
		}
		body.Transitions = append(body.Transitions, text)
	}
	return s.writeJSON(w, r, http.StatusOK, body)
}

func (s *Server) apiTransition(r *http.Request) (piecewise, error) {
	seq, err := strconv.ParseUint(param(r, "seq"), 10, 64)
	if err != nil {
		return nil, badRequest("a transition is named by its sequence number, not %q", param(r, "seq"))
	}
	t := s.core.Journal().Get(seq)
	if t == nil {
		return nil, notFound("no transition %d (any more)", seq)
	}
	return func(w io.Writer, indent string) error { return encodeTo(w, newTransition(t, true), indent) }, nil
}

// intOf reads a number of the query between 0 and most.
func intOf(r *http.Request, name string, absent, most int) (int, error) {
	text := r.URL.Query().Get(name)
	if text == "" {
		return absent, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return 0, badRequest("%s is a number from 0 on, not %q", name, text)
	}
	return min(n, most), nil
}
