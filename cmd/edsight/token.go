package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/edsight/edsight/core/source/files"
)

// minTokenLength is how short Edsight's own token may be; shorter ones could be guessed.
const minTokenLength = 32

// maxToken bounds what is read of a file with a token.
const maxToken = 1 << 20

// edsightToken reads the token for programs from a file which nobody but its owner can
// read.
func edsightToken(path string) (string, error) {
	token, info, err := readToken(path)
	if err != nil {
		return "", fmt.Errorf("token file: %w", err)
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		return "", fmt.Errorf("token file %s: mode is %04o, must be 0600", path, mode)
	}
	if len(token) < minTokenLength {
		return "", fmt.Errorf("token file %s: the token is shorter than %d characters", path, minTokenLength)
	}
	return token, nil
}

// istiodToken reads the token for istiod. Its errors are read on pages and leave out the
// path.
func istiodToken(path string) (string, error) {
	token, _, err := readToken(path)
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		err = p.Err
	}
	if err != nil {
		return "", fmt.Errorf("--istiod-token-file: %w", err)
	}
	if token == "" || strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "", errors.New("--istiod-token-file: the file holds no token")
	}
	return token, nil
}

func readToken(path string) (string, os.FileInfo, error) {
	f, info, err := files.Open(path)
	if err != nil {
		return "", nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	b, err := readAtMost(f, maxToken)
	return strings.TrimSpace(string(b)), info, err
}
