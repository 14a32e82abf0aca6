package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/edsight/edsight/core/archive"
	"github.com/edsight/edsight/core/control"
	"github.com/edsight/edsight/core/journal"
	"github.com/edsight/edsight/core/source/files"
	"github.com/edsight/edsight/core/state"
	"github.com/edsight/edsight/views"
)

// frozen is a core that stands still: an archive that was opened.
type frozen struct {
	content *archive.Content
	journal *journal.Journal
}

func newFrozen(c *archive.Content) *frozen { return &frozen{content: c, journal: c.Journal()} }

// Snapshot implements server.Core.
func (f *frozen) Snapshot() *state.Snapshot { return f.content.Snapshot }

// Journal implements server.Core.
func (f *frozen) Journal() *journal.Journal { return f.journal }

// Status implements server.Core.
func (f *frozen) Status() control.Status {
	return control.Status{Ready: true, Source: f.content.Source}
}

// Run waits for the end.
func (f *frozen) Run(ctx context.Context) error {
	<-ctx.Done()
	return nil
}

// notice says on every page what is shown.
func (f *frozen) notice() string {
	h := f.content.Header
	text := "This is an exported state of " + h.Created.UTC().Format("2006-01-02 15:04:05 UTC") + ": nothing changes here"
	if h.Redacted > 0 {
		text += ", and " + views.Count(h.Redacted, "value that looks like a credential was", "values that look like credentials were") + " left out"
	}
	return text + "."
}

// isArchive tells whether the file is compressed, as archives are.
func isArchive(path string) bool {
	f, _, err := files.Open(path)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }() // it was only read
	var head [2]byte
	_, err = io.ReadFull(f, head[:])
	return err == nil && isCompressed(head[:])
}

func isCompressed(b []byte) bool { return len(b) > 1 && b[0] == 0x1f && b[1] == 0x8b }

// openArchive reads an archive from a file.
func openArchive(path string) (c *archive.Content, err error) {
	f, _, err := files.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if c, err = archive.Read(f, archive.DefaultLimits()); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return c, nil
}
