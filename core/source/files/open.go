package files

import (
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/edsight/edsight/core/source/manifest"
)

var errIrregular = errors.New("not a regular file")

// Open opens a regular file. Anything else is an error: a pipe may never begin, and a
// device never end.
func Open(path string) (*os.File, os.FileInfo, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, nil, &fs.PathError{Op: "open", Path: path, Err: errIrregular}
	}
	f, err := os.Open(path) //nolint:gosec // the user names the file
	return f, info, err
}

// Read returns the content of a regular file, of one that is too large to be decoded
// its beginning: manifest.MaxBytes and one more.
func Read(path string) ([]byte, os.FileInfo, error) {
	f, info, err := Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close() //nolint:errcheck // nothing was written
	data, err := io.ReadAll(io.LimitReader(f, manifest.MaxBytes+1))
	return data, info, err
}
