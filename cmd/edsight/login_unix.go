//go:build unix && !linux

package main

import (
	"context"
	"errors"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// commandLine is that of a process, and whether its program is called like this one.
func commandLine(ctx context.Context, pid int) (edsight bool, line []string, err error) {
	b, err := exec.CommandContext(ctx, "ps", "-o", "args=", "-p", strconv.Itoa(pid)).Output()
	if line = strings.Fields(string(b)); err != nil || len(line) == 0 {
		return false, nil, errors.New("it does not run")
	}
	return strings.Contains(filepath.Base(line[0]), "edsight"), line, nil
}
