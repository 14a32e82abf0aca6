package files

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/source"
)

// scan looks at every file, reads those that have changed, and puts what they
// hold into the store.
func (f *Files) scan(w *watcher) error {
	found, err := list(f.root, w)
	if err != nil {
		return err
	}
	next := make(map[string]*file, len(found.clusters))
	for path, before := range f.read {
		if slices.ContainsFunc(found.blocked, func(dir string) bool { return strings.HasPrefix(path, dir+string(filepath.Separator)) }) {
			next[path] = before
		}
	}
	for path, cluster := range found.clusters {
		before := f.read[path]
		info, err := os.Stat(path)
		if err == nil && !before.changed(info) {
			next[path] = before
			continue
		}
		next[path] = readFile(path, cluster, before)
	}
	f.read = next
	objects, where, problems := f.merge()
	f.report(append(found.problems, problems...))
	f.mu.Lock()
	f.where = where
	f.mu.Unlock()
	f.apply(objects)
	return nil
}

// merge returns what all files together hold, where each object is, and their
// problems.
func (f *Files) merge() (objects map[model.ObjectKey]source.Object, where map[model.ObjectKey]string, problems []source.Problem) {
	objects, where = map[model.ObjectKey]source.Object{}, map[model.ObjectKey]string{}
	for _, path := range slices.Sorted(maps.Keys(f.read)) {
		problems = append(problems, f.read[path].problems...)
		for _, d := range f.read[path].documents {
			at := fmt.Sprintf("%s:%d", path, d.Line)
			if before, again := where[d.Key]; again {
				problems = append(problems, source.Problem{Object: d.Key, Where: before, Message: "the object is also at " + at + ", which counts"})
			}
			objects[d.Key], where[d.Key] = d.Object, at
		}
	}
	return objects, where, problems
}

// apply makes the store hold these objects.
func (f *Files) apply(objects map[model.ObjectKey]source.Object) {
	var gone []model.ObjectKey
	for key := range f.store.All() {
		if _, ok := objects[key]; !ok {
			gone = append(gone, key)
		}
	}
	slices.SortFunc(gone, model.ObjectKey.Compare)
	for _, key := range gone {
		f.store.Delete(key)
	}
	for _, key := range slices.SortedFunc(maps.Keys(objects), model.ObjectKey.Compare) {
		if o := objects[key]; !equal(f.store.Get(key), o) {
			f.store.Put(key, o)
		}
	}
}

// equal tells whether two objects say the same.
func equal(a, b source.Object) bool {
	if a == nil || a == b {
		return a == b
	}
	left, leftErr := json.Marshal(a)
	right, rightErr := json.Marshal(b)
	return leftErr == nil && rightErr == nil && bytes.Equal(left, right)
}

// listing is what was found below the root.
type listing struct {
	clusters map[string]model.ClusterID // of the objects in each manifest file
	blocked  []string                   // directories that cannot be read
	problems []source.Problem
}

// List finds the manifest files at root as a source of files does, each with the cluster
// of its objects. The problems are of what could not be looked at.
func List(root string) (map[string]model.ClusterID, []source.Problem, error) {
	l, err := list(root, nil)
	if err != nil {
		return nil, nil, err
	}
	return l.clusters, l.problems, nil
}

// list finds the manifest files, and watches the directories on the way.
func list(root string, w *watcher) (*listing, error) {
	l := &listing{clusters: map[string]model.ClusterID{}}
	info, err := os.Stat(root)
	if err != nil {
		return nil, fmt.Errorf("read manifests: %w", err)
	}
	if !info.IsDir() {
		l.clusters[root] = ConfigCluster
		return l, w.file(root)
	}
	root = filepath.Clean(root)
	// The slash makes WalkDir enter a root that is a symbolic link.
	err = filepath.WalkDir(root+string(filepath.Separator), func(path string, e fs.DirEntry, err error) error {
		path = filepath.Clean(path)
		switch {
		case path != root && strings.HasPrefix(filepath.Base(path), "."):
			if e.IsDir() {
				return filepath.SkipDir
			}
			return nil
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			l.blocked = append(l.blocked, path)
		case err != nil:
		case e.IsDir():
			err = w.dir(path)
		case IsManifest(path):
			l.clusters[path] = clusterOf(root, path)
			if e.Type()&fs.ModeSymlink != 0 {
				err = w.file(path)
			}
		case e.Type()&fs.ModeSymlink != 0:
			err = linkToDirectory(path)
		}
		if err != nil {
			l.problems = append(l.problems, source.Problem{Where: path, Message: err.Error()})
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read manifests: %w", err)
	}
	return l, nil
}

// linkToDirectory is an error if the link leads to a directory, which is not
// entered as it may lead in a circle.
func linkToDirectory(path string) error {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return errors.New("a symbolic link to a directory is not followed")
	}
	return nil
}

// IsManifest tells whether a file with that name is read.
func IsManifest(path string) bool {
	switch filepath.Ext(path) {
	case ".yaml", ".yml", ".json":
		return true
	}
	return false
}

// clusterOf is the cluster of the objects in a file below root: <id> for clusters/<id>/….
func clusterOf(root, path string) model.ClusterID {
	rel, err := filepath.Rel(root, path)
	if err != nil {
		return ConfigCluster
	}
	parts := strings.Split(filepath.ToSlash(rel), "/")
	if len(parts) > 2 && parts[0] == "clusters" {
		return model.ClusterID(parts[1])
	}
	return ConfigCluster
}
