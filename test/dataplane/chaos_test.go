package dataplane

import (
	"context"
	"flag"
	"runtime"
	"runtime/pprof"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/edsight/edsight/core/control"
	"github.com/edsight/edsight/core/registry"
	"github.com/edsight/edsight/core/source"
	"github.com/edsight/edsight/core/source/kube"
	"github.com/edsight/edsight/core/state"
	"github.com/edsight/edsight/test/chaos"
	"github.com/edsight/edsight/test/kubetest"
)

var (
	chaosFor     = flag.Duration("chaos", 4*time.Second, "how long TestChaosWithAPIServer disturbs")
	chaosClients = flag.Int("chaos-clients", 24, "clients of TestChaosWithAPIServer")
	chaosSeed    = flag.Uint64("chaos-seed", 1, "seed of TestChaosWithAPIServer")
)

// uptime is how long the API server lives before it crashes, recovery how long it
// takes at most until all is there again, on a machine that has other work.
const (
	uptime   = 2 * time.Second
	recovery = 2 * time.Minute
)

// TestChaosWithAPIServer does what TestChaos of the server does, with objects in an
// API server that crashes again and again.
func TestChaosWithAPIServer(t *testing.T) {
	a := &frailAPIServer{t: t, cluster: kubetest.Start(t, kubetest.Options{Istio: true})}
	a.cluster.Namespace("istio-system")
	a.cluster.Namespace("shop")
	a.applier = a.cluster.Applier()
	before := runtime.NumGoroutine()
	m := meshOf(t, a.source)
	a.live()
	chaos.Run(t, chaos.Mesh{
		Core: m.core, Dial: m.dial, Put: a.put, Fresh: a.fresh, Patience: recovery,
	}, chaos.Options{For: *chaosFor, Clients: *chaosClients, Seed: *chaosSeed})
	t.Logf("the API server crashed %d times", a.crashes)
	if a.crashes == 0 {
		t.Error("the API server did not crash")
	}
	m.end()
	defer func() {
		if t.Failed() {
			_ = pprof.Lookup("goroutine").WriteTo(t.Output(), 1) // who is left
		}
	}()
	eventually(t, "no goroutine is left", func() bool { return runtime.NumGoroutine() <= before+2 })
}

func (m *mesh) dial() *grpc.ClientConn {
	m.t.Helper()
	conn, err := grpc.NewClient("passthrough:///"+m.addr, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		m.t.Fatal(err)
	}
	return conn
}

// frailAPIServer holds objects, and crashes while they are written.
type frailAPIServer struct {
	t       *testing.T
	cluster *kubetest.Cluster
	applier *kubetest.Applier
	crashes int
	// crash is when the API server does so; down is closed after it.
	crash *time.Timer
	down  chan struct{}
}

func (a *frailAPIServer) source() source.Source {
	a.t.Helper()
	s, err := kube.New(a.cluster.Config(), kube.Options{})
	if err != nil {
		a.t.Fatal(err)
	}
	return s
}

// live lets the API server live for a while.
func (a *frailAPIServer) live() {
	down := make(chan struct{})
	a.down = down
	a.crash = time.AfterFunc(uptime, func() {
		a.cluster.StopAPIServer()
		close(down)
	})
}

// put writes manifests. If the API server crashes it is started again, and what was
// not written is written then. The API server chooses the addresses of Services: one
// that a crash left allocated, without its Service, is refused if it is asked for.
func (a *frailAPIServer) put(yaml string) {
	a.t.Helper()
	objects := a.cluster.Parse([]byte(yaml))
	for _, obj := range objects {
		unstructured.RemoveNestedField(obj.Object, "spec", "clusterIP")
	}
	for {
		err := a.write(objects)
		if err == nil {
			return
		}
		if apierrors.IsInvalid(err) || apierrors.IsBadRequest(err) {
			a.t.Fatalf("refused: %v\n%s", err, yaml)
		}
		a.restart()
		a.live()
	}
}

func (a *frailAPIServer) write(objects []*unstructured.Unstructured) error {
	for _, obj := range objects {
		if obj.Object["$op"] == "delete" {
			if err := a.applier.Delete(a.t.Context(), obj); err != nil && !apierrors.IsNotFound(err) {
				return err
			}
			continue
		}
		if err := a.applier.Apply(a.t.Context(), obj); err != nil {
			return err
		}
	}
	return nil
}

// restart waits for the crash.
func (a *frailAPIServer) restart() {
	a.t.Helper()
	select {
	case <-a.down:
	case <-time.After(recovery):
		a.t.Fatal("the API server lives, and cannot be written to")
	}
	a.crashes++
	a.cluster.StartAPIServer()
}

// calm has the API server live on.
func (a *frailAPIServer) calm() {
	a.t.Helper()
	if a.crash != nil && !a.crash.Stop() {
		a.restart()
	}
	a.crash = nil
}

// fresh compiles the objects from scratch. The API server crashes no more.
func (a *frailAPIServer) fresh(pins []registry.Pinned) *state.Snapshot {
	a.t.Helper()
	a.calm()
	core := control.New(control.Options{Source: a.source()})
	ctx, cancel := context.WithCancel(a.t.Context())
	ended := make(chan error, 1)
	go func() { ended <- core.Run(ctx) }()
	reading, read := context.WithTimeout(ctx, recovery)
	defer read()
	if err := core.Journal().Wait(reading, 1); err != nil {
		a.t.Fatalf("the objects are not read: %v", err)
	}
	for _, p := range pins {
		<-core.Connect(p)
	}
	cancel()
	if err := <-ended; err != nil {
		a.t.Fatalf("the core ended: %v", err)
	}
	return core.Snapshot()
}
