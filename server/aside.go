package server

import (
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"runtime/debug"
)

// threads are those of aside. The runtime ends a program that has 10,000.
var threads = make(chan struct{}, 256) //nolint:gochecknoglobals // the limit is the program's

// aside runs f on a thread of its own and of a lower priority, and waits for it. A
// thread that has read for a while is otherwise the one which then writes the state,
// and the kernel lets it wait for a time slice of some milliseconds, as it has had its
// share. If there are too many threads f runs where it is.
func aside(f func()) {
	select {
	case threads <- struct{}{}:
		defer func() { <-threads }()
	default:
		f()
		return
	}
	done := make(chan any)
	go func() {
		// The priority cannot be raised again: the thread stays locked, and so ends
		// with the goroutine.
		runtime.LockOSThread()
		lowerPriority()
		defer func() { done <- withStack(recover()) }()
		f()
	}()
	if p := <-done; p != nil {
		panic(p) //nolint:forbidigo // not a new one: net/http ends the connection, and logs it
	}
}

// withStack is what was recovered, with where it came from.
func withStack(p any) any {
	if err, ok := p.(error); p == nil || ok && errors.Is(err, http.ErrAbortHandler) {
		return p
	}
	return fmt.Errorf("%v\n%s", p, debug.Stack())
}
