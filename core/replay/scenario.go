package replay

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/registry"
	"github.com/edsight/edsight/core/source"
	"github.com/edsight/edsight/core/source/files"
	"github.com/edsight/edsight/core/source/manifest"
)

// ErrLacking is the error of a scenario that was replayed without what its problems name.
var ErrLacking = errors.New("the result lacks what could not be read or answered")

// Scenario is a folder of manifests, read.
type Scenario struct {
	Initial []manifest.Document
	Steps   []Step
	Proxies []registry.Pinned
	// Features are the flags of env.yaml.
	Features registry.Features
	// Problems are what is strange about it, and what could not be read; the rest goes on
	// without it.
	Problems []source.Problem
	// wrong counts the objects, proxies and questions of which the result is not what was
	// asked for.
	wrong int
}

// Step is a change of several objects at once.
type Step struct {
	// Number is what stands before the first dash of the file's name, "01".
	Number  string
	Changes []manifest.Document
}

// isScenario tells whether the folder has the folder input.
func isScenario(dir string) bool {
	info, err := os.Stat(filepath.Join(dir, "input"))
	return err == nil && info.IsDir()
}

// Load reads a scenario.
func Load(dir string) (*Scenario, error) {
	s := &Scenario{}
	if err := s.loadInput(filepath.Join(dir, "input")); err != nil {
		return nil, err
	}
	if err := s.loadSteps(filepath.Join(dir, "steps")); err != nil {
		return nil, err
	}
	if err := s.loadEnv(filepath.Join(dir, "env.yaml")); err != nil {
		return nil, err
	}
	return s, s.loadProxies(filepath.Join(dir, "proxies.yaml"))
}

func (s *Scenario) loadEnv(path string) error {
	var env map[string]string
	if err := readYAML(path, &env); err != nil {
		return err
	}
	features, others, err := registry.ParseFeatures(env)
	if err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	s.Features = features
	for _, name := range others {
		s.problem(path, name, "it is not read here")
	}
	return nil
}

func (s *Scenario) loadInput(dir string) error {
	clusters, problems, err := files.List(dir)
	if err != nil {
		return err
	}
	for _, p := range problems {
		s.mistake(p.Where, "", p.Message)
	}
	for _, path := range slices.Sorted(maps.Keys(clusters)) {
		docs, err := s.decode(path, clusters[path])
		if err != nil {
			return err
		}
		s.Initial = append(s.Initial, docs...)
	}
	return nil
}

func (s *Scenario) loadSteps(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read steps: %w", err)
	}
	for _, e := range entries {
		if e.IsDir() || strings.HasPrefix(e.Name(), ".") || !files.IsManifest(e.Name()) {
			continue // not a step
		}
		docs, err := s.decode(filepath.Join(dir, e.Name()), files.ConfigCluster)
		if err != nil {
			return err
		}
		number, _, _ := strings.Cut(strings.TrimSuffix(e.Name(), filepath.Ext(e.Name())), "-")
		if number == "" {
			return fmt.Errorf("step %s: the name does not begin with a number", e.Name())
		}
		if n := len(s.Steps); n > 0 && s.Steps[n-1].Number == number {
			return fmt.Errorf("step %s: there are two steps of that number", e.Name())
		}
		s.Steps = append(s.Steps, Step{Number: number, Changes: docs})
	}
	return nil
}

func (s *Scenario) decode(path string, cluster model.ClusterID) ([]manifest.Document, error) {
	data, _, err := files.Read(path)
	if err != nil {
		return nil, fmt.Errorf("read manifest %s: %w", path, err)
	}
	file := manifest.DecodeFile(path, data, cluster)
	s.Problems = append(s.Problems, file.Problems...)
	s.wrong += len(file.Broken)
	return file.Documents, nil
}

// proxySpec is one element of proxies.yaml.
type proxySpec struct {
	ID        string            `json:"id"`
	Type      model.ProxyType   `json:"type"`
	Pod       string            `json:"pod"`
	Namespace string            `json:"namespace"`
	Cluster   model.ClusterID   `json:"cluster"`
	Metadata  map[string]string `json:"metadata"`
}

func (s *Scenario) loadProxies(path string) error {
	var specs []proxySpec
	if err := readYAML(path, &specs); err != nil {
		return err
	}
	for _, p := range specs {
		if p.Pod == "" {
			dot := strings.LastIndexByte(p.ID, '.')
			if dot < 0 {
				s.mistake(path, "id", fmt.Sprintf("proxy %s: without a pod it has to be <pod>.<namespace>", p.ID))
				continue
			}
			p.Pod, p.Namespace = p.ID[:dot], cmp.Or(p.Namespace, p.ID[dot+1:])
		}
		if p.Cluster == "" {
			p.Cluster = files.ConfigCluster
		}
		if p.Type != "" && p.Type != model.Sidecar && p.Type != model.Router {
			s.mistake(path, "type", fmt.Sprintf("proxy %s: %q is neither sidecar nor router; others are not modelled, and it gets nothing", p.ID, p.Type))
			continue
		}
		pod := model.ObjectKey{Cluster: p.Cluster, Kind: model.KindPod, Namespace: p.Namespace, Name: p.Pod}
		s.Proxies = append(s.Proxies, registry.Pinned{Pod: pod, Type: p.Type, Metadata: p.Metadata})
	}
	slices.SortFunc(s.Proxies, func(a, b registry.Pinned) int { return a.Pod.Compare(b.Pod) })
	return nil
}

// numbers are those of the steps.
func (s *Scenario) numbers() []string {
	list := make([]string, len(s.Steps))
	for i := range s.Steps {
		list[i] = s.Steps[i].Number
	}
	return list
}

// mistake is a problem that makes the result another than what was asked for.
func (s *Scenario) mistake(path, field, message string) {
	s.wrong++
	s.problem(path, field, message)
}

// err tells that the result is not what was asked for.
func (s *Scenario) err(dir string) error {
	if s.wrong == 0 {
		return nil
	}
	return fmt.Errorf("%s: %w (places: %d)", dir, ErrLacking, s.wrong)
}

func (s *Scenario) problem(path, field, message string) {
	s.Problems = append(s.Problems, source.Problem{Where: path, Field: field, Message: message})
}

// readYAML reads a file that need not be there. Fields that are not known are
// errors.
func readYAML(path string, into any) error { return readFile(path, into, yaml.UnmarshalStrict) }

// readLoose reads a file that need not be there, and passes unknown fields over.
func readLoose(path string, into any) error { return readFile(path, into, yaml.Unmarshal) }

func readFile(path string, into any, decode func([]byte, any, ...yaml.JSONOpt) error) error {
	data, _, err := files.Read(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	if err := decode(data, into); err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	return nil
}
