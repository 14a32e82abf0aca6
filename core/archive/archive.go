package archive

import (
	"time"

	"github.com/edsight/edsight/core/journal"
	"github.com/edsight/edsight/core/source"
	"github.com/edsight/edsight/core/state"
)

// Extension is what names of archive files end with.
const Extension = ".edsight.gz"

// MediaType is the content type of an archive.
const MediaType = "application/vnd.edsight.archive+gzip"

// formatNumber counts changes of the format that older readers cannot read.
const formatNumber = 1

// formatName marks the first line of every archive.
const formatName = "edsight-archive"

// Content is what an archive holds.
type Content struct {
	Header   Header
	Snapshot *state.Snapshot
	// Transitions in the order of the journal. Read gives them without the
	// snapshots before and after, and their service changes with states that hold
	// nothing but the key. Their sequence numbers follow each other.
	Transitions []*journal.Transition
	Source      source.Status
}

// Journal holds the transitions. As no other snapshot is known, that of the archive
// stands before and after each of them.
func (c *Content) Journal() *journal.Journal {
	list := make([]*journal.Transition, len(c.Transitions))
	for i, t := range c.Transitions {
		with := *t
		with.Prev, with.Next = c.Snapshot, c.Snapshot
		list[i] = &with
	}
	return journal.Restore(list)
}

// Header says what an archive is. Write fills Format and Number itself.
type Header struct {
	Format string `json:"format"`
	Number int    `json:"number"`
	// Program is the version of Edsight that wrote the archive.
	Program string    `json:"program,omitempty"`
	Created time.Time `json:"created"`
	// Unredacted tells that credentials were not looked for.
	Unredacted bool `json:"unredacted,omitempty"`
	// Version, ConfigVersion and Time are the snapshot's.
	Version       uint64    `json:"version"`
	ConfigVersion uint64    `json:"configVersion"`
	Time          time.Time `json:"time,omitzero"`
	// Redacted counts the values that gave way. It is known at the end only:
	// Read fills it in.
	Redacted int `json:"-"`
}
