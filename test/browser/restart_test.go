package browser

import (
	"context"
	"io"
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"
)

// relay passes connections on to an Edsight, and can cut them, as a forwarded port does.
type relay struct {
	listener net.Listener

	mu     sync.Mutex // protects all below
	target string
	conns  []net.Conn
}

func newRelay(t *testing.T, to *site) *relay {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &relay{listener: l, target: to.http.Listener.Addr().String()}
	go r.accept(t.Context())
	t.Cleanup(func() {
		_ = l.Close()
		r.cut(to)
	})
	return r
}

func (r *relay) accept(ctx context.Context) {
	for {
		client, err := r.listener.Accept()
		if err != nil {
			return
		}
		r.mu.Lock()
		server, err := new(net.Dialer).DialContext(ctx, "tcp", r.target)
		if err != nil {
			_ = client.Close()
		} else {
			r.conns = append(r.conns, client, server)
			go pass(client, server)
			go pass(server, client)
		}
		r.mu.Unlock()
	}
}

// pass copies until one side ends, and then ends both.
func pass(from, to net.Conn) {
	_, _ = io.Copy(to, from)
	_, _ = from.Close(), to.Close()
}

// cut ends all connections; new ones go to another Edsight.
func (r *relay) cut(to *site) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.conns {
		_ = c.Close()
	}
	r.conns, r.target = nil, to.http.Listener.Addr().String()
}

// TestConnectionCut loses the connection while somebody looks: the page says so, goes on
// without a gap, and after a restart of Edsight says that the login is over.
func TestConnectionCut(t *testing.T) {
	s, restarted := newSite(t), newSite(t)
	r := newRelay(t, s)
	b := s.open(t, looks()[0])
	base := "http://" + r.listener.Addr().String()
	b.do(chromedp.Navigate(base+s.app.LoginPath()), chromedp.WaitVisible(id("feed")))
	b.until(`document.querySelector('[data-ws="live"]')`)
	eval[bool](b, `(() => {
		window.said = [];
		new MutationObserver(() => said.push(document.querySelector("[data-ws]").textContent))
			.observe(document.querySelector("[data-ws]"), { childList: true });
		return true;
	})()`)
	r.cut(s)
	b.until(`window.said.length > 0`)
	s.setReady(false)
	b.until(`document.querySelector('[data-ws="live"]')`)
	b.until(rows(2))
	if said := eval[string](b, `said.join(" | ")`); said != "◌ connection lost, trying again | ● live" {
		t.Errorf("the page says %q", said)
	}
	r.cut(restarted)
	b.until(`document.querySelector("[data-ws]").textContent.includes("logged out")`)
	b.do(chromedp.Reload(), chromedp.WaitVisible(id("login")))
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, e := range b.errors {
		if !strings.Contains(e, "/ws?") && !strings.Contains(e, "401") {
			t.Errorf("the browser says: %s", e)
		}
	}
}
