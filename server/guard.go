package server

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

const contentSecurityPolicy = "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none'"

// protect puts the checks that concern every request before the routes: who may
// be called by which name, and from where.
func (s *Server) protect(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		setSecurityHeaders(w.Header())
		if err := s.checkCaller(r); err != nil {
			s.fail(w, r, err)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func setSecurityHeaders(h http.Header) {
	h.Set("Content-Security-Policy", contentSecurityPolicy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
}

func (s *Server) checkCaller(r *http.Request) error {
	if !s.hostAllowed(r.Host) {
		return errorf(http.StatusMisdirectedRequest, "this server is not called by the name in the Host header")
	}
	if r.Header.Get("Sec-Fetch-Site") == "cross-site" {
		return errorf(http.StatusForbidden, "this request comes from another site; enter the address yourself")
	}
	if needsOrigin(r) && !originAllowed(r) {
		return errorf(http.StatusForbidden, "requests that change something, and live feeds, are taken from this server's own pages only")
	}
	return nil
}

// hostAllowed admits loopback addresses, localhost and the configured names, on
// any port: a forwarded port is another one than that listened on. A name that
// an attacker's DNS points here is none of these.
func (s *Server) hostAllowed(hostport string) bool {
	host := strings.ToLower(hostOnly(hostport))
	if host == "localhost" || slices.Contains(s.hosts, host) {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.IsLoopback()
}

// hostOnly takes the port and the brackets off; what is no host and port gives "".
func hostOnly(hostport string) string {
	host, port, err := net.SplitHostPort(hostport)
	if err != nil {
		if inner, ok := strings.CutPrefix(hostport, "["); ok && strings.HasSuffix(inner, "]") {
			return strings.TrimSuffix(inner, "]")
		}
		return hostport
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return ""
	}
	return host
}

func needsOrigin(r *http.Request) bool {
	return (r.Method != http.MethodGet && r.Method != http.MethodHead) || isUpgrade(r)
}

func isUpgrade(r *http.Request) bool { return r.Header.Get("Upgrade") != "" }

// originAllowed wants exactly the origin that this request was sent to. A
// program need not name one, but then it must bring a token: what a browser
// adds by itself does not count.
func originAllowed(r *http.Request) bool {
	origin := r.Header.Values("Origin")
	if len(origin) == 0 {
		return r.Header.Get("Authorization") != ""
	}
	scheme := "http://"
	if r.TLS != nil {
		scheme = "https://"
	}
	return len(origin) == 1 && origin[0] == scheme+strings.ToLower(r.Host)
}

// admit finds out who calls and whether the route is open to him.
func (s *Server) admit(rt *route, r *http.Request) error {
	id, err := s.identify(r)
	switch {
	case rt.access == accessPublic:
	case err != nil:
		return err
	case id.role == roleNone && rt.access == accessDebug && s.opts.OpenDebug:
		id = identity{name: "open-debug", role: roleReader}
	case id.role == roleNone:
		return errLogin
	}
	recordOf(r).identity = id
	// What belongs to one namespace is decided when the service or proxy is
	// found, so that one that may not be seen answers like one that is unknown.
	if rt.access != accessPublic && !rt.namespaced && !authorize(id, rt.action(), "") {
		return errorf(http.StatusForbidden, "%s may not do this", id.name)
	}
	return nil
}

// identify finds out who calls. A wrong token is an error; a session that is
// over makes an anonymous caller.
func (s *Server) identify(r *http.Request) (identity, error) {
	if auth := r.Header.Get("Authorization"); auth != "" {
		scheme, token, _ := strings.Cut(auth, " ")
		if strings.EqualFold(scheme, "Bearer") && s.isToken(token) {
			return identity{name: "token", role: roleAdmin}, nil
		}
		return identity{}, errorf(http.StatusUnauthorized, "the token is not valid")
	}
	for _, c := range r.CookiesNamed(cookieName(r)) {
		if sess := s.sessions.find(c.Value); sess != nil {
			return sess.identity(), nil
		}
	}
	return identity{}, nil
}
