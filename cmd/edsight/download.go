package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/edsight/edsight/core/archive"
	"github.com/edsight/edsight/server"
)

const downloadTimeout = 5 * time.Minute

// download gets the archive of a running Edsight.
func download(ctx context.Context, base, tokenFile string, w io.Writer) error {
	u, err := exportURL(base)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, downloadTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), http.NoBody)
	if err != nil {
		return fmt.Errorf("download snapshot: %w", err)
	}
	req.Header.Set("Accept", archive.MediaType)
	if tokenFile != "" {
		token, err := server.ReadTokenFile(tokenFile)
		if err != nil {
			return err
		}
		if u.Scheme != "https" && !loopback(u.Hostname()) {
			return fmt.Errorf("%s is neither https nor this machine: the token would travel in clear", base)
		}
		req.Header.Set("Authorization", "Bearer "+token)
	}
	// A redirect is an answer like any other that is not an archive: the token
	// goes nowhere else.
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Do(req)
	if err != nil {
		return fmt.Errorf("download snapshot: %w", err)
	}
	defer func() { _ = resp.Body.Close() }() // it was read, or the error is said already
	switch resp.StatusCode {
	case http.StatusOK:
	case http.StatusUnauthorized, http.StatusForbidden:
		return fmt.Errorf("download snapshot: %s answers %s; give its token with --token-file", base, resp.Status)
	default:
		return fmt.Errorf("download snapshot: %s answers %s", base, resp.Status)
	}
	if _, err := io.Copy(w, io.LimitReader(resp.Body, archive.DefaultLimits().Bytes)); err != nil {
		return fmt.Errorf("download snapshot: %w", err)
	}
	return nil
}

func exportURL(base string) (*url.URL, error) {
	u, err := url.Parse(base)
	if err != nil {
		return nil, fmt.Errorf("--server: %w", err)
	}
	if (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		return nil, errors.New("--server: want a URL like http://127.0.0.1:8080")
	}
	return u.JoinPath("api", "v1", "snapshot"), nil
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || (ip != nil && ip.IsLoopback())
}
