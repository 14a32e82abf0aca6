package dataplane

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/edsight/edsight/test/kubetest"
)

const typeClusters = "type.googleapis.com/envoy.config.cluster.v3.Cluster"

// asker asks Edsight's TLS port as proxies and istioctl do.
type asker struct {
	t    *testing.T
	conn *grpc.ClientConn
}

// ask sends one request with a token, "" for none, and returns the answer.
func (a *asker) ask(token, node, typeURL string, names ...string) (*discoveryv3.DiscoveryResponse, error) {
	a.t.Helper()
	ctx, cancel := context.WithTimeout(a.t.Context(), patience)
	defer cancel()
	if token != "" {
		ctx = metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+token)
	}
	s, err := discoveryv3.NewAggregatedDiscoveryServiceClient(a.conn).StreamAggregatedResources(ctx)
	if err != nil {
		return nil, err
	}
	// An error of the server comes with Recv.
	_ = s.Send(&discoveryv3.DiscoveryRequest{Node: &corev3.Node{Id: node}, TypeUrl: typeURL, ResourceNames: names})
	return s.Recv()
}

func TestTokensAtTheTLSPort(t *testing.T) {
	c := kubetest.Start(t, kubetest.Options{Istio: true})
	for _, ns := range []string{"istio-system", "shop", "bank"} {
		c.Namespace(ns)
	}
	c.Service("shop", "web")
	c.Node("node-a", "a")
	c.RunPod(kubetest.Pod{Namespace: "shop", Name: "client-0", Node: "node-a", IP: "10.8.0.1"})
	a := startTLS(t, c)
	root, shop, bank := token(t, c, "istio-system", "istio-ca"), token(t, c, "shop", "istio-ca"), token(t, c, "bank", "istio-ca")
	other := token(t, c, "shop", "somebody-else")
	const node = "sidecar~10.0.0.1~client-0.shop~shop.svc.cluster.local"
	for _, q := range []struct {
		what, token, node, typeURL string
		names                      []string
		code                       codes.Code
		has                        string
	}{
		{"a proxy of the namespace", shop, node, typeClusters, nil, codes.OK, "web.shop.svc.cluster.local"},
		{"a proxy of another namespace", shop, strings.ReplaceAll(node, "shop", "bank"), typeClusters, nil, codes.PermissionDenied, ""},
		{"no token", "", node, typeClusters, nil, codes.Unauthenticated, ""},
		{"a token made up", "nonsense", node, typeClusters, nil, codes.Unauthenticated, ""},
		{"a token for somebody else", other, node, typeClusters, nil, codes.Unauthenticated, ""},
		{"istioctl of the root namespace", root, "x", "istio.io/debug", []string{"registryz"}, codes.OK, `"hostname":"web.shop.svc.cluster.local"`},
		{"istioctl of another namespace", shop, "x", "istio.io/debug", []string{"registryz"}, codes.PermissionDenied, ""},
		{"a handler that there is not", root, "x", "istio.io/debug", []string{"no-such"}, codes.NotFound, ""},
		{"proxy-status", root, "x", "istio.io/debug/syncz", nil, codes.OK, ""},
		{"a proxy's endpoints, for its namespace", shop, "x", "istio.io/debug", []string{"edsz?proxyID=client-0.shop"}, codes.OK, "outbound|80||web.shop.svc.cluster.local"},
		{"a proxy's clusters, for its namespace", shop, "x", "istio.io/debug/config_dump", []string{"client-0.shop"}, codes.OK, "outbound|80||web.shop.svc.cluster.local"},
		{"for another namespace", bank, "x", "istio.io/debug/config_dump", []string{"client-0.shop"}, codes.NotFound, ""},
	} {
		m, err := a.ask(q.token, q.node, q.typeURL, q.names...)
		if status.Code(err) != q.code {
			t.Errorf("%s: %v, want %s", q.what, err, q.code)
			continue
		}
		found := q.has == ""
		for _, r := range m.GetResources() {
			found = found || bytes.Contains(r.GetValue(), []byte(q.has))
		}
		if !found {
			t.Errorf("%s: %d resources, none with %s", q.what, len(m.GetResources()), q.has)
		}
	}
	a.manyAtOnce(shop)
}

// manyAtOnce connects as all proxies do when a server comes back.
func (a *asker) manyAtOnce(token string) {
	a.t.Helper()
	const many = 100
	var failed atomic.Int64
	var all sync.WaitGroup
	for i := range many {
		all.Go(func() {
			if _, err := a.ask(token, fmt.Sprintf("sidecar~10.0.0.1~many-%d.shop~shop.svc.cluster.local", i), typeClusters); err != nil {
				failed.Add(1)
			}
		})
	}
	all.Wait()
	if n := failed.Load(); n > 0 {
		a.t.Errorf("%d of %d proxies that connected at once were refused", n, many)
	}
}

// token is one of the default service account of a namespace.
func token(t *testing.T, c *kubetest.Cluster, namespace, audience string) string {
	t.Helper()
	_, err := c.Client.CoreV1().ServiceAccounts(namespace).Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "test-" + audience}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := c.Client.CoreV1().ServiceAccounts(namespace).CreateToken(t.Context(), "test-"+audience,
		&authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{Audiences: []string{audience}}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return r.Status.Token
}

// startTLS runs Edsight as a process of its own on the cluster.
func startTLS(t *testing.T, c *kubetest.Cluster) *asker {
	t.Helper()
	dir := t.TempDir()
	binary := filepath.Join(dir, "edsight")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", binary, "../../cmd/edsight").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	pool := writeCertificate(t, dir)
	addr := freeAddress(t)
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), binary, "serve", "--kubeconfig", c.Kubeconfig(c.Config()), "--http", freeAddress(t),
		"--xds-tls", addr, "--xds-tls-cert", filepath.Join(dir, "cert.pem"), "--xds-tls-key", filepath.Join(dir, "key.pem"))
	var log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt) // its end is waited for
		if err := cmd.Wait(); err != nil {
			t.Errorf("Edsight ended: %v", err)
		}
		if t.Failed() {
			t.Logf("Edsight's log:\n%s", log.String())
		}
	})
	eventually(t, "Edsight listens", func() bool {
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", addr)
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	})
	creds := credentials.NewTLS(&tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS13})
	conn, err := grpc.NewClient("passthrough:///"+addr, grpc.WithTransportCredentials(creds))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return &asker{t: t, conn: conn}
}

// writeCertificate makes a certificate for 127.0.0.1.
func writeCertificate(t *testing.T, dir string) *x509.CertPool {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "edsight"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	cert := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	for name, content := range map[string][]byte{"cert.pem": cert, "key.pem": pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: keyDER})} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(cert)
	return pool
}
