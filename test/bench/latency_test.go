package bench_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"golang.org/x/sync/errgroup"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/edsight/edsight/core/control"
	"github.com/edsight/edsight/core/source/kube"
	"github.com/edsight/edsight/server"
)

const (
	rate     = 200 // updates a second
	duration = 10 * time.Second
	patience = time.Minute
)

// BenchmarkSliceWriteToReader measures from the moment at which the API server
// has acknowledged the write of a slice to the moment at which a reader in the
// same process has the transition ("journal"), and a client of the websocket has
// its frame ("frame"). A negative delay means that it was there first. "write" is
// how long the API server took to acknowledge.
func BenchmarkSliceWriteToReader(b *testing.B) {
	k, all := newMesh(b, services, pods)
	source, err := kube.New(k.Config(), kube.Options{})
	if err != nil {
		b.Fatal(err)
	}
	core := control.New(control.Options{Source: source, JournalSize: 1 << 14})
	ctx, cancel := context.WithCancel(b.Context())
	defer cancel()
	begin := time.Now()
	ended := make(chan error, 1)
	go func() { ended <- core.Run(ctx) }()
	if err := core.Journal().Wait(ctx, 1); err != nil {
		b.Fatal(err)
	}
	b.Logf("%d services with %d endpoints each were ready after %v", services, pods, time.Since(begin).Round(time.Millisecond))

	m := &measure{client: k.Client, journal: newSight(), frames: newSight(), slices: all}
	go readJournal(ctx, core.Journal(), m.journal)
	go readFrames(dial(b, core), m.frames)
	b.Run("quiet", m.quiet)
	b.Run("200-a-second", m.busy)
	cancel()
	if err := <-ended; err != nil {
		b.Error(err)
	}
}

// dial serves the core and returns a websocket to it.
func dial(b *testing.B, core *control.Controller) *websocket.Conn {
	b.Helper()
	const token = "a token of the benchmark, long enough"
	web := httptest.NewServer(server.New(core, server.Options{Token: token}).Handler())
	b.Cleanup(web.Close)
	dialer := &websocket.Dialer{Subprotocols: []string{"edsight.v1.json"}, HandshakeTimeout: patience}
	conn, resp, err := dialer.DialContext(b.Context(), strings.Replace(web.URL, "http", "ws", 1)+"/ws",
		http.Header{"Authorization": {"Bearer " + token}})
	if err != nil {
		b.Fatal(err)
	}
	_ = resp.Body.Close()
	b.Cleanup(func() { _ = conn.Close() })
	return conn
}

// measure writes slices and compares the times.
type measure struct {
	client kubernetes.Interface
	slices []*discoveryv1.EndpointSlice
	// What a reader in the same process saw, and what a client of the websocket.
	journal, frames *sight
}

// write is one write: when it was asked for, when it was acknowledged, and the
// version that came of it.
type write struct {
	asked, acknowledged time.Time
	version             string
}

// flip changes the readiness of the first endpoint of slice n.
func (m *measure) flip(ctx context.Context, n int) (write, error) {
	s := m.slices[n].DeepCopy()
	ready := !*s.Endpoints[0].Conditions.Ready
	s.Endpoints[0].Conditions.Ready = &ready
	w := write{asked: time.Now()}
	updated, err := m.client.DiscoveryV1().EndpointSlices(namespace).Update(ctx, s, metav1.UpdateOptions{})
	if err != nil {
		return w, err
	}
	w.acknowledged, w.version = time.Now(), updated.ResourceVersion
	m.slices[n] = updated
	return w, nil
}

func (m *measure) quiet(b *testing.B) {
	var writes []write
	for b.Loop() {
		w, err := m.flip(b.Context(), len(writes)%services)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := m.frames.wait(b.Context(), w.version); err != nil {
			b.Fatal(err)
		}
		writes = append(writes, w)
	}
	m.report(b, writes)
}

// busy writes at a fixed rate, whether or not what was written before has been
// seen; no slice is written again before its turn comes.
func (m *measure) busy(b *testing.B) {
	for b.Loop() {
		merged := m.journal.mergedSoFar()
		writes := make([]write, rate*int(duration/time.Second))
		ctx, cancel := context.WithTimeout(b.Context(), duration+patience)
		var group errgroup.Group
		tick := time.NewTicker(time.Second / rate)
		for i := range writes {
			<-tick.C
			group.Go(func() (err error) {
				writes[i], err = m.flip(ctx, i%services)
				return err
			})
		}
		tick.Stop()
		if err := group.Wait(); err != nil {
			b.Fatal(err)
		}
		for i := range writes {
			if _, err := m.frames.wait(ctx, writes[i].version); err != nil {
				b.Fatal(err)
			}
		}
		cancel()
		m.report(b, writes)
		b.ReportMetric(float64(len(writes)), "writes")
		b.ReportMetric(float64(m.journal.mergedSoFar()-merged), "merged")
	}
}

func (m *measure) report(b *testing.B, writes []write) {
	b.Helper()
	var write, journal, frame []time.Duration
	for _, w := range writes {
		atJournal, errJournal := m.journal.wait(b.Context(), w.version)
		atFrame, errFrame := m.frames.wait(b.Context(), w.version)
		if errJournal != nil || errFrame != nil {
			b.Fatal(errJournal, errFrame)
		}
		write = append(write, w.acknowledged.Sub(w.asked))
		journal = append(journal, atJournal.Sub(w.acknowledged))
		frame = append(frame, atFrame.Sub(w.acknowledged))
	}
	report(b, "write", write)
	report(b, "journal", journal)
	report(b, "frame", frame)
}
