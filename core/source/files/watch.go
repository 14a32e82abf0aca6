package files

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/fsnotify/fsnotify"
)

// watcher watches directories, as files are replaced rather than written. A nil one
// watches nothing.
type watcher struct {
	*fsnotify.Watcher
	root   string
	parent string // the directory of root, "" if root is the top
	inside map[string]bool
}

func newWatcher(root string) (*watcher, error) {
	fw, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, fmt.Errorf("watch %s: %w", root, err)
	}
	abs, err := filepath.Abs(root)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("watch %s: %w", root, err), fw.Close())
	}
	w := &watcher{Watcher: fw, root: abs, parent: filepath.Dir(abs), inside: map[string]bool{}}
	// Root itself may be replaced.
	if err := fw.Add(w.parent); err != nil {
		return nil, errors.Join(fmt.Errorf("watch %s: %w", w.parent, err), fw.Close())
	}
	return w, nil
}

// dir watches a directory of manifests.
func (w *watcher) dir(path string) error {
	if w == nil {
		return nil
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return fmt.Errorf("watch %s: %w", path, err)
	}
	w.inside[abs] = true
	if err := w.Add(abs); err != nil {
		return fmt.Errorf("watch %s: %w", path, err)
	}
	return nil
}

// file watches the place to which a symbolic link leads; that of the file itself
// is watched already.
func (w *watcher) file(path string) error {
	target, err := filepath.EvalSymlinks(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil // reading it will fail and say so
	case err != nil:
		return fmt.Errorf("watch %s: %w", path, err)
	}
	return w.dir(filepath.Dir(target))
}

// concerns tells whether the event may be about a manifest: it happened in a
// directory of manifests, or to root.
func (w *watcher) concerns(e fsnotify.Event) bool {
	return e.Name == w.root || w.inside[filepath.Dir(e.Name)]
}
