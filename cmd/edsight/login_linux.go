package main

import (
	"context"
	"debug/buildinfo"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
)

// commandLine is that of a process, and whether it runs the same program as this one,
// whatever the file is called, and also if it was replaced since.
func commandLine(_ context.Context, pid int) (edsight bool, line []string, err error) {
	dir := "/proc/" + strconv.Itoa(pid)
	b, err := os.ReadFile(filepath.Join(dir, "cmdline")) //nolint:gosec // the number of a process
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil, errors.New("it does not run")
	}
	if err != nil {
		return false, nil, err
	}
	line = strings.Split(strings.TrimRight(string(b), "\x00"), "\x00")
	there, err := buildinfo.ReadFile(filepath.Join(dir, "exe"))
	if errors.Is(err, fs.ErrPermission) {
		return false, nil, fmt.Errorf("%q is another user's", line[0])
	}
	own, ok := debug.ReadBuildInfo()
	return err == nil && ok && there.Path == own.Path, line, nil // an error: it is no program in Go
}
