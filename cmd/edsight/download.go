package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/edsight/edsight/core/archive"
)

const downloadTimeout = 5 * time.Minute

// download gets the archive of a running Edsight.
func download(ctx context.Context, base, tokenFile string, w io.Writer) error {
	ctx, cancel := context.WithTimeout(ctx, downloadTimeout)
	defer cancel()
	e, err := running(base, tokenFile)
	if err != nil {
		return fmt.Errorf("download snapshot: %w", err)
	}
	resp, err := e.get(ctx, "/api/v1/snapshot", archive.MediaType, nil)
	if err != nil {
		return fmt.Errorf("download snapshot: %w", err)
	}
	defer func() { _ = resp.Body.Close() }() // it was read, or the error is said already
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("download snapshot: %s answers %s", base, resp.Status)
	}
	limit := archive.DefaultLimits().Bytes
	n, err := io.Copy(w, io.LimitReader(resp.Body, limit+1))
	if err != nil {
		return fmt.Errorf("download snapshot: %w", err)
	}
	if n > limit {
		return fmt.Errorf("download snapshot: it is longer than %d MiB", limit>>20)
	}
	return nil
}
