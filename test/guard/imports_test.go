package guard

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/edsight/edsight/"

// row says what the packages below a path may import. The longest path counts.
type row struct {
	path string
	// own are paths of this module; "…/" allows everything below.
	own []string
	// foreign are prefixes of import paths outside the module and the standard
	// library. The standard library is open, but see pure.
	foreign []string
}

var (
	// objects is the vocabulary of the objects that are read.
	objects = []string{"istio.io/api/", "istio.io/client-go/pkg/apis/", "k8s.io/api/", "k8s.io/apimachinery/"}
	// policy is that part of it in which a mesh's rules are written.
	policy = []string{"istio.io/api/", "istio.io/client-go/pkg/apis/", "k8s.io/apimachinery/"}
	// wire are the messages of xDS.
	wire = []string{"github.com/envoyproxy/go-control-plane/envoy/", "google.golang.org/protobuf/", "github.com/cncf/xds/"}
)

func all(lists ...[]string) []string { return slices.Concat(lists...) }

// table is the direction of all arrows: cmd → server → core, server → views.
var table = []row{
	{"core/model", nil, nil},
	{"core/state", []string{"core/model"}, all(policy, []string{"github.com/tidwall/btree"})},
	{"core/source", []string{"core/model", "core/source/"}, all(objects, []string{
		"istio.io/client-go/", "k8s.io/client-go/", "k8s.io/endpointslice", "k8s.io/klog/v2", "k8s.io/utils/",
		"sigs.k8s.io/yaml", "sigs.k8s.io/json", "go.yaml.in/yaml/", "google.golang.org/protobuf/", "github.com/fsnotify/fsnotify",
		"github.com/go-logr/logr",
	})},
	{"core/registry", []string{"core/model", "core/state", "core/source"}, all(objects, []string{"sigs.k8s.io/yaml", "google.golang.org/protobuf/"})},
	{"core/scope", []string{"core/model", "core/state", "core/eds"}, policy},
	{"core/eds", []string{"core/model", "core/state"}, all(policy, wire)},
	{"core/cds", []string{"core/model", "core/state", "core/scope", "core/eds"}, all(policy, wire)},
	{"core/journal", []string{"core/model", "core/state", "core/source"}, nil},
	{"core/control", []string{"core/model", "core/state", "core/source", "core/registry", "core/journal"}, objects},
	{"core/session", []string{"core/model"}, nil},
	{"core/ads", []string{"core/model", "core/state", "core/registry", "core/scope", "core/eds", "core/cds", "core/journal", "core/session", "core/debugz"}, all(policy, wire, []string{
		"google.golang.org/grpc", "google.golang.org/genproto/googleapis/rpc/", "github.com/cespare/xxhash/v2", "github.com/prometheus/client_golang/",
	})},
	{"core/compare", []string{"core/model", "core/state", "core/scope", "core/eds", "core/cds"}, wire},
	{"core/explain", []string{"core/model", "core/state", "core/source", "core/registry", "core/scope", "core/eds", "core/cds", "core/journal", "core/session"}, objects},
	{"core/archive", []string{"core/model", "core/state", "core/source", "core/journal"}, policy},
	{"core/audit", []string{"core/model", "core/state", "core/source", "core/registry", "core/scope"}, objects},
	{"core/debugz", []string{"core/"}, all(policy, wire)},
	{"core/replay", []string{"core/"}, all(objects, wire, []string{"sigs.k8s.io/yaml"})},
	{"core/coretest", []string{"core/"}, all(objects, []string{"sigs.k8s.io/yaml"})},
	{"server", []string{"core/", "views", "static"}, all(wire, []string{
		"github.com/go-chi/chi/", "github.com/a-h/templ", "github.com/gorilla/websocket", "github.com/klauspost/compress/",
		"github.com/prometheus/client_golang/", "golang.org/x/",
	})},
	{"views", []string{"core/model", "views/", "static"}, []string{"github.com/a-h/templ"}},
	{"static", nil, nil},
	{"cmd/", []string{"core/", "server", "views", "static"}, []string{"github.com/spf13/", "k8s.io/client-go/", "golang.org/x/", "google.golang.org/grpc"}},
	{"deploy", []string{"core/", "server"}, []string{""}},
	{"test/", []string{"core/", "server", "deploy/", "test/"}, []string{""}},
}

// pure packages compute: they neither read files nor talk to anything.
var pure = []string{"core/model", "core/state", "core/registry", "core/scope", "core/eds", "core/cds", "core/journal", "core/audit", "core/compare"}

// unpure is what they therefore do not need.
var unpure = []string{"os", "net/http", "os/exec", "log/slog", "math/rand", "math/rand/v2"}

// listed is what go list says of a package.
type listed struct {
	ImportPath string
	Standard   bool
	Imports    []string
	Deps       []string
}

func packages(t *testing.T) (ours []listed, standard map[string]bool) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-deps", "-json=ImportPath,Standard,Imports,Deps", "./...")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		if exit, ok := errors.AsType[*exec.ExitError](err); ok {
			t.Fatalf("go list: %v\n%s", err, exit.Stderr)
		}
		t.Fatal(err)
	}
	standard = map[string]bool{"C": true}
	d := json.NewDecoder(strings.NewReader(string(out)))
	for {
		var p listed
		switch err := d.Decode(&p); {
		case errors.Is(err, io.EOF):
			return ours, standard
		case err != nil:
			t.Fatal(err)
		case p.Standard:
			standard[p.ImportPath] = true
		case strings.HasPrefix(p.ImportPath, module):
			p.ImportPath = strings.TrimPrefix(p.ImportPath, module)
			ours = append(ours, p)
		}
	}
}

func below(path, prefix string) bool {
	return path == strings.TrimSuffix(prefix, "/") || strings.HasPrefix(path, strings.TrimSuffix(prefix, "/")+"/")
}

func rowOf(path string) *row {
	var best *row
	for i := range table {
		if r := &table[i]; below(path, r.path) && (best == nil || len(r.path) > len(best.path)) {
			best = r
		}
	}
	return best
}

func (r *row) allows(path string) bool {
	if rel, ours := strings.CutPrefix(path, module); ours {
		return slices.ContainsFunc(r.own, func(o string) bool {
			return rel == o || (strings.HasSuffix(o, "/") && below(rel, o))
		})
	}
	return slices.ContainsFunc(r.foreign, func(f string) bool { return strings.HasPrefix(path, f) })
}

func TestImports(t *testing.T) {
	ours, standard := packages(t)
	for _, p := range ours {
		r := rowOf(p.ImportPath)
		if r == nil {
			t.Errorf("%s has no row in the table of imports", p.ImportPath)
			continue
		}
		isPure := slices.ContainsFunc(pure, func(q string) bool { return below(p.ImportPath, q) })
		for _, i := range p.Imports {
			if isPure && slices.Contains(unpure, i) {
				t.Errorf("%s is pure and imports %s", p.ImportPath, i)
			}
			if !standard[i] && !r.allows(i) {
				t.Errorf("%s must not import %s", p.ImportPath, i)
			}
		}
	}
}

// TestClusterClientStaysInSources looks at all dependencies: what can talk to a
// cluster comes in through the sources alone.
func TestClusterClientStaysInSources(t *testing.T) {
	ours, _ := packages(t)
	for _, p := range ours {
		if below(p.ImportPath, "core/source") || below(p.ImportPath, "core/coretest") || below(p.ImportPath, "core/audit") ||
			below(p.ImportPath, "cmd") || below(p.ImportPath, "test") || below(p.ImportPath, "deploy") {
			continue
		}
		for _, d := range p.Deps {
			if strings.HasPrefix(d, "k8s.io/client-go/") {
				t.Errorf("%s depends on %s", p.ImportPath, d)
				break
			}
		}
	}
}
