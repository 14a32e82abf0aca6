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
	ctx, cancel := context.WithTimeout(ctx, downloadTimeout)
	defer cancel()
	resp, err := fetch(ctx, request{base: base, path: "snapshot", accept: archive.MediaType, tokenFile: tokenFile})
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

// request is one to the API of a running Edsight.
type request struct {
	base, path, accept, tokenFile string
	query                         url.Values
}

// fetch sends a request. The caller closes the body.
func fetch(ctx context.Context, r request) (*http.Response, error) {
	u, err := apiURL(r.base, r.path)
	if err != nil {
		return nil, err
	}
	u.RawQuery = r.query.Encode()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), http.NoBody)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", r.accept)
	if r.tokenFile != "" {
		token, err := server.ReadTokenFile(r.tokenFile)
		if err != nil {
			return nil, err
		}
		if u.Scheme != "https" && !loopback(u.Hostname()) {
			return nil, fmt.Errorf("%s is neither https nor this machine: the token would travel in clear", r.base)
		}
		req.Header.Set("Authorization", "Bearer "+token)
	}
	// A redirect is an answer like any other that is not the one wanted: the token
	// goes nowhere else.
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode == http.StatusUnauthorized || resp.StatusCode == http.StatusForbidden {
		remedy := "give its token with --token-file"
		if r.tokenFile != "" {
			remedy = "start it with the same --token-file, or give the token that it has"
		}
		return nil, errors.Join(fmt.Errorf("%s answers %s; %s", r.base, resp.Status, remedy), resp.Body.Close())
	}
	return resp, nil
}

func apiURL(base, path string) (*url.URL, error) {
	u, err := url.Parse(base)
	if err != nil {
		return nil, fmt.Errorf("--server: %w", err)
	}
	if (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		return nil, errors.New("--server: want a URL like http://127.0.0.1:8080")
	}
	return u.JoinPath("api", "v1", path), nil
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || (ip != nil && ip.IsLoopback())
}
