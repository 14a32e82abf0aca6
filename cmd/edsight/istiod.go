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
// the user names the URL, and redirects are not followed. The file holds the token with
// which it is asked, and is read for each question: tokens of Kubernetes change.
func istiod(base, tokenFile string) (server.AskIstiod, error) {
	if base == "" {
		if tokenFile != "" {
			return nil, errors.New("--istiod-token-file is for --istiod, which names no URL")
		}
		return nil, nil
	}
	u, err := parseURL(base, "http://127.0.0.1:15014")
	if err != nil {
		return nil, fmt.Errorf("--istiod: %w", err)
	}
	if tokenFile != "" {
		if err := checkClear(u); err != nil {
			return nil, fmt.Errorf("--istiod-token-file: %w", err)
		}
		if _, err := istiodToken(tokenFile); err != nil {
			return nil, fmt.Errorf("%w: %s", err, tokenFile)
		}
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
		if tokenFile != "" {
			token, err := istiodToken(tokenFile)
			if err != nil {
				return nil, err
			}
			req.Header.Set("Authorization", "Bearer "+token)
		}
		resp, err := client.Do(req)
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, resp.Body.Close()) }()
		if resp.StatusCode != http.StatusOK {
			return nil, refused(resp, tokenFile != "")
		}
		return io.ReadAll(io.LimitReader(resp.Body, compare.MaxDocument+1))
	}, nil
}

// refused says what to do about an answer that is none, without the URL, which may
// hold a password.
func refused(resp *http.Response, withToken bool) error {
	if resp.StatusCode != http.StatusUnauthorized && resp.StatusCode != http.StatusForbidden {
		return fmt.Errorf("it answers %s", resp.Status)
	}
	if withToken {
		return fmt.Errorf("it answers %s: the token of --istiod-token-file is out of date, or may not read this", resp.Status)
	}
	return fmt.Errorf("it answers %s: start Edsight with --istiod-token-file, or let --istiod name a forwarded port", resp.Status)
}
