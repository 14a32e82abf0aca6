package dataplane

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	adminv3 "github.com/envoyproxy/go-control-plane/envoy/admin/v3"
	"google.golang.org/protobuf/encoding/protojson"
)

// envoy is a running Envoy, with a listener that sends each request to the
// cluster which its header "cluster" names.
type envoy struct {
	t               *testing.T
	bootstrap       string
	listener, admin string
	log             *os.File
	cmd             *exec.Cmd
	done            chan struct{}
}

const bootstrapText = `
node: {id: "sidecar~127.0.0.1~client-0.shop~shop.svc.cluster.local", cluster: client.shop,
  metadata: {NAMESPACE: shop, ISTIO_VERSION: "1.28.2", CLUSTER_ID: Kubernetes}}
admin: {address: {socket_address: {address: 127.0.0.1, port_value: %[1]s}}}
dynamic_resources:
  ads_config: {api_type: %[4]s, transport_api_version: V3, grpc_services: [{envoy_grpc: {cluster_name: xds}}]}
  cds_config: {ads: {}, resource_api_version: V3}
static_resources:
  listeners:
  - name: out
    address: {socket_address: {address: 127.0.0.1, port_value: %[2]s}}
    filter_chains:
    - filters:
      - name: envoy.filters.network.http_connection_manager
        typed_config:
          "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
          stat_prefix: out
          http_filters:
          - name: envoy.filters.http.router
            typed_config: {"@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router}
          route_config:
            name: out
            validate_clusters: false
            virtual_hosts:
            - name: all
              domains: ["*"]
              routes: [{match: {prefix: /}, route: {cluster_header: cluster, retry_policy: {retry_on: connect-failure, num_retries: 2}}}]
  clusters:
  - name: xds
    type: STATIC
    connect_timeout: 1s
    typed_extension_protocol_options:
      envoy.extensions.upstreams.http.v3.HttpProtocolOptions:
        "@type": type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions
        explicit_http_config: {http2_protocol_options: {}}
    load_assignment:
      cluster_name: xds
      endpoints: [{lb_endpoints: [{endpoint: {address: {socket_address: {address: 127.0.0.1, port_value: %[3]s}}}}]}]
`

// startEnvoy starts Envoy with incremental or state-of-the-world ADS.
func startEnvoy(t *testing.T, m *mesh, delta bool) *envoy {
	t.Helper()
	kind := "GRPC"
	if delta {
		kind = "DELTA_GRPC"
	}
	e := &envoy{t: t, listener: freeAddress(t), admin: freeAddress(t), bootstrap: filepath.Join(t.TempDir(), "envoy.yaml")}
	text := fmt.Sprintf(bootstrapText, port(t, e.admin), port(t, e.listener), port(t, m.addr), kind)
	if err := os.WriteFile(e.bootstrap, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	e.start()
	t.Cleanup(func() {
		e.stop()
		if t.Failed() {
			t.Logf("end of Envoy's log:\n%s", e.tail())
		}
	})
	return e
}

func (e *envoy) start() {
	e.t.Helper()
	binary, err := exec.CommandContext(e.t.Context(), "./install.sh").Output()
	if err != nil {
		e.t.Fatalf("install Envoy: %v", err)
	}
	if e.log, err = os.CreateTemp(e.t.TempDir(), "envoy.log"); err != nil {
		e.t.Fatal(err)
	}
	e.cmd = exec.CommandContext(context.WithoutCancel(e.t.Context()), strings.TrimSpace(string(binary)),
		"-c", e.bootstrap, "--concurrency", "1", "--disable-hot-restart", "--log-level", "info")
	e.cmd.Stdout, e.cmd.Stderr = e.log, e.log
	if err := e.cmd.Start(); err != nil {
		e.t.Fatal(err)
	}
	e.done = make(chan struct{})
	go func(cmd *exec.Cmd, done chan struct{}) {
		defer close(done)
		_ = cmd.Wait() // it is killed, so it always ends in an error
	}(e.cmd, e.done)
	eventually(e.t, "Envoy answers", func() bool {
		body, err := e.get("/ready")
		return err == nil && strings.Contains(body, "LIVE")
	})
}

// stop kills Envoy. It may be called again.
func (e *envoy) stop() {
	_ = e.cmd.Process.Kill() // it may have ended by itself
	<-e.done
}

func (e *envoy) tail() string {
	log, err := os.ReadFile(e.log.Name())
	if err != nil {
		return err.Error()
	}
	return string(log[max(0, len(log)-4000):])
}

func (e *envoy) get(path string) (string, error) {
	return fetch(e.t.Context(), "http://"+e.admin+path, "")
}

func fetch(ctx context.Context, url, cluster string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return "", err
	}
	req.Header.Set("Cluster", cluster)
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(req)
	if err != nil {
		return "", err
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("status %s: %s", resp.Status, body)
	}
	return string(body), err
}

// call sends one request to a cluster and returns the name of who answered.
func (e *envoy) call(cluster string) (string, error) {
	return fetch(e.t.Context(), "http://"+e.listener+"/", cluster)
}

// hosts is what Envoy itself says of its clusters: for each name "address:port
// health priority region/zone", sorted.
func (e *envoy) hosts() map[string][]string {
	e.t.Helper()
	body, err := e.get("/clusters?format=json")
	if err != nil {
		e.t.Fatal(err)
	}
	all := &adminv3.Clusters{}
	if err := (protojson.UnmarshalOptions{DiscardUnknown: true}).Unmarshal([]byte(body), all); err != nil {
		e.t.Fatal(err)
	}
	out := map[string][]string{}
	for _, c := range all.GetClusterStatuses() {
		list := []string{}
		for _, h := range c.GetHostStatuses() {
			a := h.GetAddress().GetSocketAddress()
			address := cmp.Or(a.GetAddress(), h.GetAddress().GetPipe().GetPath())
			list = append(list, fmt.Sprintf("%s:%d %s %d %s/%s", address, a.GetPortValue(),
				h.GetHealthStatus().GetEdsHealthStatus(), h.GetPriority(), h.GetLocality().GetRegion(), h.GetLocality().GetZone()))
		}
		slices.Sort(list)
		out[c.GetName()] = list
	}
	return out
}

func port(t *testing.T, addr string) string {
	t.Helper()
	_, p, err := net.SplitHostPort(addr)
	if err != nil {
		t.Fatal(err)
	}
	return p
}
