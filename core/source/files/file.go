package files

import (
	"os"
	"slices"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/source"
	"github.com/edsight/edsight/core/source/manifest"
)

// file is a file as it was last read.
type file struct {
	info      os.FileInfo
	documents []manifest.Document // one per object
	problems  []source.Problem
	failed    bool // it could not be read the last time
}

// changed tells whether the file has to be read again.
func (f *file) changed(now os.FileInfo) bool {
	return f == nil || f.failed || !os.SameFile(f.info, now) || f.info.Size() != now.Size() || !f.info.ModTime().Equal(now.ModTime())
}

// readFile reads what is now in the file at path. Before is what was in it, from
// which broken objects are taken over; it may be nil.
func readFile(path string, cluster model.ClusterID, before *file) *file {
	next := &file{}
	if before != nil {
		next.documents = before.documents
	}
	data, info, err := Read(path)
	next.info = info
	if err != nil {
		next.failed = true
		next.problems = []source.Problem{{Where: path, Message: "the file cannot be read: " + err.Error() + "; its objects stay as they were"}}
		return next
	}
	now := manifest.DecodeFile(path, data, cluster)
	good := present(now.Documents)
	next.documents = keepBroken(good, next.documents, now.Broken)
	next.problems = sayKept(now.Problems, next.documents[len(good):])
	return next
}

// sayKept adds to the problems which of them leave an earlier version in use.
func sayKept(problems []source.Problem, kept []manifest.Document) []source.Problem {
	for i := range problems {
		p := &problems[i]
		switch {
		case slices.ContainsFunc(kept, func(d manifest.Document) bool { return d.Key == p.Object }):
			p.Message += "; its last good version stays in use"
		case p.Object == model.ObjectKey{} && len(kept) > 0:
			p.Message += "; objects that are missing now stay as they were"
		}
	}
	return problems
}

// present applies the documents in order and returns the objects that are left.
func present(documents []manifest.Document) []manifest.Document {
	at := map[model.ObjectKey]int{}
	for i, d := range documents {
		if at[d.Key] = i; d.Op == source.OpDelete {
			delete(at, d.Key)
		}
	}
	var left []manifest.Document
	for i, d := range documents {
		if j, ok := at[d.Key]; ok && i == j {
			left = append(left, d)
		}
	}
	return left
}

// keepBroken adds the earlier versions of objects whose documents are broken. A
// broken document without a name may be any object that is missing now.
func keepBroken(now, before []manifest.Document, broken []model.ObjectKey) []manifest.Document {
	if len(broken) == 0 {
		return now
	}
	has := map[model.ObjectKey]bool{}
	for _, d := range now {
		has[d.Key] = true
	}
	unnamed := slices.Contains(broken, model.ObjectKey{})
	for _, d := range before {
		if !has[d.Key] && (unnamed || slices.Contains(broken, d.Key)) {
			now = append(now, d)
		}
	}
	return now
}
