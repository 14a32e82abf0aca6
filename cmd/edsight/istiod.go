package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/edsight/edsight/core/compare"
	"github.com/edsight/edsight/server"
)

// istiodTimeout is how long istiod may take.
const istiodTimeout = 30 * time.Second

// istiod asks the istiod at the URL what it sends to a proxy; nil without a URL. Only
// the user names the URL, and redirects are not followed.
func istiod(base string) (server.AskIstiod, error) {
	if base == "" {
		return nil, nil
	}
	u, err := url.Parse(base)
	if err != nil {
		return nil, fmt.Errorf("--istiod: %w", err)
	}
	if (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		return nil, errors.New("--istiod: want a URL like http://127.0.0.1:15014")
	}
	client := &http.Client{
		Timeout:       istiodTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return func(ctx context.Context, proxy string) (b []byte, err error) {
		ask := u.JoinPath("debug", "edsz")
		ask.RawQuery = url.Values{"proxyID": {proxy}}.Encode()
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, ask.String(), http.NoBody)
		if err != nil {
			return nil, err
		}
		resp, err := client.Do(req)
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, resp.Body.Close()) }()
		if resp.StatusCode != http.StatusOK {
			return nil, fmt.Errorf("it answers %s", resp.Status) // without the URL, which may hold a password
		}
		return io.ReadAll(io.LimitReader(resp.Body, compare.MaxDocument+1))
	}, nil
}
