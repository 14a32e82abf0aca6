package replay

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/edsight/edsight/core/control"
	"github.com/edsight/edsight/core/debugz"
	"github.com/edsight/edsight/core/journal"
	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/state"
)

// writer writes the state of one scenario after each step, of later steps only
// the files that differ from what was written before.
type writer struct {
	scenario *Scenario
	core     *control.Controller
	last     map[string][]byte        // by the path below the state's folder
	views    map[string]view          // by proxy
	seen     map[model.ObjectKey]bool // Pods whose proxies were there
	written  uint64                   // version of the state that was written last
}

// state writes the state of the core into dir; step says that it is not the
// initial one.
func (w *writer) state(dir string, step bool) error {
	snap := w.core.Snapshot()
	if err := w.stream(dir, "registryz.json", func(to io.Writer) error {
		return debugz.WriteList(to, debugz.Registry(snap), "  ")
	}); err != nil {
		return err
	}
	if err := w.stream(dir, "endpointShardz.json", func(to io.Writer) error {
		return debugz.WriteObject(to, debugz.EndpointShards(snap), "  ")
	}); err != nil {
		return err
	}
	sent, err := w.proxies(dir, snap)
	if err != nil || !step {
		return err
	}
	return w.push(dir, sent)
}

// push writes the decision of the step's transition and what it sends to whom.
func (w *writer) push(dir string, sent map[string]*sentTo) error {
	body := struct {
		Push    *pushed            `json:"push"`
		Proxies map[string]*sentTo `json:"proxies"`
	}{Proxies: sent}
	if t := w.core.Journal().Get(w.core.Journal().Last()); t != nil && t.Version > w.written {
		body.Push = pushOf(t)
	}
	w.written = w.core.Snapshot().Version
	if err := createDir(dir); err != nil {
		return err
	}
	return writeFile(filepath.Join(dir, "push.json"), body)
}

// pushed is the push of one step; a push that is none is null.
type pushed struct {
	Full     bool     `json:"full"`
	Triggers []string `json:"reasons"`
	Because  string   `json:"because"`
}

func pushOf(t *journal.Transition) *pushed {
	kind := t.Push.Scope.Type
	if kind == state.PushNone {
		return nil
	}
	return &pushed{Full: kind == state.PushFull, Triggers: t.Push.Triggers, Because: t.Push.Because}
}

// stream writes a file unless it is as it was.
func (w *writer) stream(dir, name string, write func(io.Writer) error) error {
	var buf bytes.Buffer
	if err := write(&buf); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	if last, ok := w.last[name]; ok && bytes.Equal(last, buf.Bytes()) {
		return nil
	}
	w.last[name] = buf.Bytes()
	path := filepath.Join(dir, name)
	if err := createDir(filepath.Dir(path)); err != nil {
		return err
	}
	if err := os.WriteFile(path, buf.Bytes(), 0o600); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}

func writeFile(path string, v any) error {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return fmt.Errorf("encode %s: %w", path, err)
	}
	if err := os.WriteFile(path, append(data, '\n'), 0o600); err != nil {
		return fmt.Errorf("write result: %w", err)
	}
	return nil
}
