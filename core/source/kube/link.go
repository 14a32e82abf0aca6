package kube

import (
	"context"
	"errors"
	"log/slog"
	"net/url"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"

	"github.com/edsight/edsight/core/model"
)

const (
	probeUp      = 2 * time.Second        // between probes while the API server answers
	probeDown    = 300 * time.Millisecond // and while it does not
	probeTimeout = 5 * time.Second
)

// link knows whether the API server can be reached. Lists and watches wait for
// it, so that they go on as soon as it answers again, without a backoff.
type link struct {
	disco discovery.DiscoveryInterface
	log   *slog.Logger
	now   func() time.Time
	lost  chan struct{} // wakes the probe; holds one

	mu    sync.Mutex // protects all below
	heard time.Time
	err   error
	up    chan struct{} // closed while the API server is believed to answer
}

func newLink(disco discovery.DiscoveryInterface, log *slog.Logger, now func() time.Time) *link {
	l := &link{disco: disco, log: log, now: now, lost: make(chan struct{}, 1), up: make(chan struct{})}
	close(l.up) // until the contrary is known
	return l
}

// status tells whether the API server answers, when it was last heard of, and
// the error if it does not answer.
func (l *link) status() (connected bool, heard time.Time, problem string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err != nil {
		return false, l.heard, l.err.Error()
	}
	return !l.heard.IsZero(), l.heard, ""
}

// wait returns when the API server is believed to answer, or ctx is done.
func (l *link) wait(ctx context.Context) error {
	l.mu.Lock()
	up := l.up
	l.mu.Unlock()
	select {
	case <-up:
		return ctx.Err()
	case <-ctx.Done():
		return ctx.Err()
	}
}

// hear notes that the API server has said something.
func (l *link) hear() {
	l.mu.Lock()
	l.heard = l.now()
	back := l.err != nil
	if back {
		l.err = nil
		close(l.up)
	}
	l.mu.Unlock()
	if back {
		l.log.Info("API server answers again")
	}
}

// lose notes that the API server could not be reached.
func (l *link) lose(err error) {
	l.mu.Lock()
	first := l.err == nil
	l.err = err
	if first {
		l.up = make(chan struct{})
	}
	l.mu.Unlock()
	if first {
		l.log.Warn("API server does not answer", "error", err)
	}
	select {
	case l.lost <- struct{}{}:
	default:
	}
}

// run probes the API server until ctx is done, and looks whether kinds which it
// did not serve have come.
func (l *link) run(ctx context.Context, kinds map[model.Kind]*kind) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-l.lost:
			timer.Reset(probeDown)
			continue
		case <-timer.C:
		}
		timer.Reset(l.probe(ctx, kinds))
	}
}

// probe asks once and returns when to ask again.
func (l *link) probe(ctx context.Context, kinds map[model.Kind]*kind) time.Duration {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	err := l.disco.RESTClient().Get().AbsPath("/readyz").Do(ctx).Error()
	if code := statusCode(err); err != nil && (code == 0 || code >= 500) {
		if ctx.Err() == nil || errors.Is(ctx.Err(), context.DeadlineExceeded) {
			l.lose(err)
		}
		return probeDown
	}
	l.hear()
	l.findServed(ctx, kinds)
	return probeUp
}

// findServed tells absent kinds that the API server serves them now.
func (l *link) findServed(ctx context.Context, kinds map[model.Kind]*kind) {
	served := map[string]map[string]bool{} // by group and version
	for _, k := range kinds {
		if !k.isAbsent() || ctx.Err() != nil {
			continue
		}
		if served[k.groupVersion] == nil {
			served[k.groupVersion] = l.resources(ctx, k.groupVersion)
		}
		if served[k.groupVersion][k.resource] {
			k.appear()
		}
	}
}

// resources are those that the API server serves of a group and version.
func (l *link) resources(ctx context.Context, groupVersion string) map[string]bool {
	names := map[string]bool{}
	var list metav1.APIResourceList
	err := l.disco.RESTClient().Get().AbsPath("/apis/" + groupVersion).Do(ctx).Into(&list)
	if err != nil {
		l.log.Debug("group is not served", "group", groupVersion, "error", err)
		return names
	}
	for i := range list.APIResources {
		names[list.APIResources[i].Name] = true
	}
	return names
}

// statusCode is that of the API server's answer, 0 if there was none.
func statusCode(err error) int {
	if status := apierrors.APIStatus(nil); errors.As(err, &status) {
		return int(status.Status().Code)
	}
	return 0
}

// unreachable tells whether the request got no answer at all.
func unreachable(err error) bool {
	var u *url.Error
	return statusCode(err) == 0 && errors.As(err, &u)
}
