package main

import (
	"fmt"
	"net/url"

	"github.com/edsight/edsight/server"
)

// parseURL reads the URL of a server, which is one like the example.
func parseURL(text, example string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil {
		return nil, err
	}
	if (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		return nil, fmt.Errorf("want a URL like %s", example)
	}
	return u, nil
}

// checkClear refuses to send a token to another machine in clear.
func checkClear(u *url.URL) error {
	if u.Scheme != "https" && !server.IsLoopback(u.Hostname()) {
		return fmt.Errorf("%s is neither https nor this machine: the token would travel in clear", u.Redacted())
	}
	return nil
}
