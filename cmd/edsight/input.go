package main

import (
	"fmt"
	"io"

	"github.com/edsight/edsight/core/source/files"
)

// stdin is the name of standard input.
const stdin = "-"

// readInput reads a file, or standard input if that is the name.
func readInput(in io.Reader, name string, limit int64) ([]byte, error) {
	said := name
	if name == stdin {
		said = "standard input"
	} else {
		f, _, err := files.Open(name)
		if err != nil {
			return nil, err
		}
		defer func() { _ = f.Close() }() // it was only read
		in = f
	}
	b, err := readAtMost(in, limit)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", said, err)
	}
	return b, nil
}

// readAtMost reads all there is; more than the limit is an error.
func readAtMost(r io.Reader, limit int64) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err == nil && int64(len(b)) > limit {
		err = fmt.Errorf("it is longer than %d MiB", limit>>20)
	}
	return b, err
}
