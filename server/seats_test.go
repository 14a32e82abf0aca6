package server

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// TestSeats: a seat is free again when its answer ends, and an answer that has had its
// time is ended for another, the oldest first.
func TestSeats(t *testing.T) {
	var p seats
	start, ended := time.Now(), make([]bool, maxLarge)
	held := make([]*seat, maxLarge)
	for i := range held {
		if held[i] = p.take(start.Add(time.Duration(i)*time.Second), func() { ended[i] = true }); held[i] == nil {
			t.Fatalf("there is no seat for number %d", i)
		}
	}
	if p.take(start.Add(fairTime-1), nil) != nil {
		t.Fatal("there is a seat too many")
	}
	p.leave(held[3])
	if held[3] = p.take(start.Add(fairTime-1), func() { ended[3] = true }); held[3] == nil {
		t.Fatal("the seat of one that has left is not free")
	}
	for i := range 2 {
		at := start.Add(fairTime + time.Duration(i)*time.Second)
		if p.take(at, func() {}) == nil || !ended[i] || ended[i+1] {
			t.Errorf("%s after the start, %v are ended", at.Sub(start), ended)
		}
		if p.take(at, nil) != nil {
			t.Errorf("one that has not had its time is ended: %v", ended)
		}
	}
	p.leave(held[0]) // which is another's by now
	if len(p.held) != maxLarge {
		t.Errorf("%d seats are held", len(p.held))
	}
}

// TestSlowClientsGiveWay: clients that do not read hold all seats, but not for long.
func TestSlowClientsGiveWay(t *testing.T) {
	var clock atomic.Int64
	s := New(newFakeCore(), Options{Now: func() time.Time { return time.Unix(clock.Load(), 0) }})
	ended := make(chan error, maxLarge)
	h := httptest.NewServer(s.door(&route{access: accessPublic, handle: s.stream(func(r *http.Request) (piecewise, error) {
		return func(w io.Writer, _ string) error {
			_, err := io.WriteString(w, "{}")
			if r.URL.Query().Has("short") {
				return err
			}
			for piece := strings.Repeat("x", 32<<10); err == nil; {
				_, err = io.WriteString(w, piece)
			}
			ended <- err
			return err
		}, nil
	})}))
	t.Cleanup(h.Close)
	for range maxLarge {
		c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", h.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close() //nolint:errcheck // it is the server that ends it
		if _, err := io.WriteString(c, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		if line, err := bufio.NewReader(c).ReadString('\n'); err != nil || !strings.Contains(line, "200") {
			t.Fatalf("%q, %v", line, err)
		}
	}
	short := func() int { return do(t, client(), http.MethodGet, h.URL+"?short", nil).StatusCode }
	if code := short(); code != http.StatusServiceUnavailable || len(ended) != 0 {
		t.Fatalf("one more: %d, and %d are ended", code, len(ended))
	}
	clock.Add(int64(fairTime / time.Second))
	if code := short(); code != http.StatusOK {
		t.Fatalf("when the others have had their time: %d", code)
	}
	if err := <-ended; !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("one is ended by %v", err)
	}
}
