package kubetest

import (
	"context"
	"fmt"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

const (
	startTimeout = time.Minute
	pollEvery    = 50 * time.Millisecond
)

// Options say what runs beside etcd and the API server.
type Options struct {
	// Controllers runs kube-controller-manager with the EndpointSlice, namespace
	// and service account controllers.
	Controllers bool
	// Istio installs Istio's custom resource definitions.
	Istio bool
}

// Cluster is a running cluster.
type Cluster struct {
	// Client has all rights, and no limit on its requests.
	Client kubernetes.Interface
	// Dynamic is the same for objects of any kind.
	Dynamic dynamic.Interface

	t      testing.TB
	bin    string // folder of the binaries
	dir    string // folder of the data
	config *rest.Config
	etcd   *process
	server *process
	// controllers is nil if there are none.
	controllers *process

	etcdURL    string
	serverPort int
}

// Start starts a cluster, which ends with the test.
func Start(tb testing.TB, o Options) *Cluster {
	tb.Helper()
	c := &Cluster{t: tb, bin: binaries(tb), dir: tb.TempDir()}
	c.writeKeys()
	c.startEtcd()
	c.serverPort = freePort(tb)
	c.startServer()
	c.config = c.configFor(adminToken)
	c.Client = must(kubernetes.NewForConfig(c.config))(tb)
	c.Dynamic = must(dynamic.NewForConfig(c.config))(tb)
	if o.Istio {
		c.InstallIstio()
	}
	if o.Controllers {
		c.startControllers()
	}
	return c
}

// Config is a connection with all rights.
func (c *Cluster) Config() *rest.Config { return rest.CopyConfig(c.config) }

// ServiceAccountConfig is a connection with the rights of a service account,
// which must exist.
func (c *Cluster) ServiceAccountConfig(namespace, name string) *rest.Config {
	c.t.Helper()
	token, err := c.Client.CoreV1().ServiceAccounts(namespace).
		CreateToken(c.t.Context(), name, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		c.t.Fatalf("token of %s/%s: %v", namespace, name, err)
	}
	return c.configFor(token.Status.Token)
}

func (c *Cluster) configFor(token string) *rest.Config {
	return &rest.Config{
		Host:            fmt.Sprintf("https://127.0.0.1:%d", c.serverPort),
		BearerToken:     token,
		TLSClientConfig: rest.TLSClientConfig{CAFile: filepath.Join(c.dir, "certs", "apiserver.crt")},
		QPS:             -1,
		WarningHandler:  rest.NoWarnings{},
	}
}

// StopAPIServer kills the API server, as a crash would.
func (c *Cluster) StopAPIServer() {
	c.t.Helper()
	c.server.kill()
}

// PauseAPIServer stops the API server from answering, without closing its
// connections, until ResumeAPIServer.
func (c *Cluster) PauseAPIServer() {
	c.t.Helper()
	c.check(c.server.cmd.Process.Signal(syscall.SIGSTOP), "pause", c.server.name)
}

// ResumeAPIServer lets a paused API server go on.
func (c *Cluster) ResumeAPIServer() {
	c.t.Helper()
	c.check(c.server.cmd.Process.Signal(syscall.SIGCONT), "resume", c.server.name)
}

// StartAPIServer starts the API server, at first or again with the same port
// and data, and returns when it is ready. The controllers are started anew, as
// those that lost their API server may wait for a minute.
func (c *Cluster) StartAPIServer() {
	c.t.Helper()
	c.startServer()
	if c.controllers != nil {
		c.controllers.kill()
		c.startControllers()
	}
}

func (c *Cluster) startServer() {
	c.t.Helper()
	key := filepath.Join(c.dir, "sa.key")
	c.server = c.startProcess("kube-apiserver",
		"--etcd-servers="+c.etcdURL,
		fmt.Sprintf("--secure-port=%d", c.serverPort),
		"--bind-address=127.0.0.1",
		"--cert-dir="+filepath.Join(c.dir, "certs"),
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file="+key,
		"--service-account-signing-key-file="+key,
		"--token-auth-file="+filepath.Join(c.dir, "tokens.csv"),
		"--authorization-mode=RBAC",
		"--service-cluster-ip-range=10.96.0.0/16",
		"--disable-admission-plugins=ServiceAccount",
		"--profiling=false")
	c.waitReady(c.server, fmt.Sprintf("https://127.0.0.1:%d/readyz", c.serverPort))
}

func (c *Cluster) startEtcd() {
	client, peer := freePort(c.t), freePort(c.t)
	c.etcdURL = fmt.Sprintf("http://127.0.0.1:%d", client)
	peerURL := fmt.Sprintf("http://127.0.0.1:%d", peer)
	c.etcd = c.startProcess("etcd",
		"--data-dir="+filepath.Join(c.dir, "etcd"),
		"--listen-client-urls="+c.etcdURL, "--advertise-client-urls="+c.etcdURL,
		"--listen-peer-urls="+peerURL, "--initial-advertise-peer-urls="+peerURL,
		"--initial-cluster=default="+peerURL,
		"--unsafe-no-fsync", "--log-level=warn")
	c.waitReady(c.etcd, c.etcdURL+"/health")
}

func (c *Cluster) startControllers() {
	c.controllers = c.startProcess("kube-controller-manager",
		"--kubeconfig="+c.Kubeconfig(c.config),
		"--service-account-private-key-file="+filepath.Join(c.dir, "sa.key"),
		"--controllers=endpointslice-controller,endpointslice-mirroring-controller,namespace-controller,serviceaccount-controller",
		"--leader-elect=false", "--secure-port=0",
		"--kube-api-qps=1000", "--kube-api-burst=1000")
}

// waitReady waits until p answers at url, and fails if p ends before.
func (c *Cluster) waitReady(p *process, url string) {
	c.t.Helper()
	client := insecureClient()
	err := wait.PollUntilContextTimeout(c.t.Context(), pollEvery, startTimeout, true, func(ctx context.Context) (bool, error) {
		if p.ended() {
			return false, fmt.Errorf("%s ended", p.name)
		}
		return answers(ctx, client, url), nil
	})
	if err != nil {
		c.t.Fatalf("%s at %s: %v", p.name, url, err)
	}
}

// must turns an error into the end of the test.
func must[T any](v T, err error) func(testing.TB) T {
	return func(tb testing.TB) T {
		tb.Helper()
		if err != nil {
			tb.Fatal(err)
		}
		return v
	}
}
