package server

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"syscall"
	"testing"
)

// TestAside: f has a thread of its own and of a lower priority, while there are not
// too many of them, and what it panics with arrives.
func TestAside(t *testing.T) {
	priority := func() int {
		n, err := syscall.Getpriority(syscall.PRIO_PROCESS, syscall.Gettid())
		if err != nil {
			t.Error(err)
		}
		return niceOf(n)
	}
	seen := priority()
	aside(func() { seen = priority() })
	if want := priority() + niceness; seen != want {
		t.Errorf("priority %d, want %d", seen, want)
	}
	for range cap(threads) {
		threads <- struct{}{}
	}
	aside(func() { seen = priority() })
	for range cap(threads) {
		<-threads
	}
	if want := priority(); seen != want {
		t.Errorf("priority %d without a thread of its own, want %d", seen, want)
	}
	var pages map[string]int
	if p := panicOf(func() { aside(func() { pages["no such"]++ }) }); !strings.Contains(fmt.Sprint(p), "nil map") ||
		!strings.Contains(fmt.Sprint(p), "TestAside") {
		t.Errorf("got %v, want what it was and where", p)
	}
	p := panicOf(func() { aside(func() { panic(http.ErrAbortHandler) }) }) //nolint:forbidigo // as net/http has handlers do
	if err, ok := p.(error); !ok || !errors.Is(err, http.ErrAbortHandler) {
		t.Errorf("got %v, want %v", p, http.ErrAbortHandler)
	}
	if len(threads) != 0 {
		t.Errorf("%d threads are left", len(threads))
	}
}

func panicOf(f func()) (p any) {
	defer func() { p = recover() }()
	f()
	return nil
}
