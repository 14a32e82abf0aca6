package replay_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/edsight/edsight/core/replay"
)

const aService = "apiVersion: v1\nkind: Service\nmetadata: {name: web, namespace: shop}\nspec: {ports: [{port: 80}]}\n"

// scenario writes the files of a scenario by their paths.
func scenario(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	files["input/web.yaml"] = aService
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestStepsWithoutANumberOfTheirOwn(t *testing.T) {
	for name, files := range map[string]map[string]string{
		"no number":      {"steps/-e.yaml": aService},
		"the same twice": {"steps/01-a.yaml": aService, "steps/01-b.yaml": aService},
	} {
		if _, err := replay.Run(t.Context(), []string{scenario(t, files)}, t.TempDir()); err == nil || !strings.Contains(err.Error(), "step ") {
			t.Errorf("%s: the error is %v, want one that names the step", name, err)
		}
	}
}

const aPod = `apiVersion: v1
kind: Pod
metadata: {name: a, namespace: shop}
spec: {containers: [{name: istio-proxy}]}
status: {phase: Running, podIP: 10.0.0.1, podIPs: [{ip: 10.0.0.1}]}
`

// TestProxiesThatCannotBe are said, and get nothing.
func TestProxiesThatCannotBe(t *testing.T) {
	waypoint := strings.NewReplacer("name: a", "name: w", "name: istio-proxy", "name: istio-proxy, args: [proxy, waypoint]").Replace(aPod)
	dir, out := scenario(t, map[string]string{
		"input/a.yaml": aPod + "---\n" + waypoint, "input/clusters/west/b.yaml": strings.Replace(aPod, "name: a", "name: b.c", 1),
		"proxies.yaml": "- {id: a.shop, type: ztunnel}\n- {id: w.shop}\n- {id: a.shop, cluster: west}\n- {id: b.c.shop, cluster: west}\n- {id: b.c.shop}\n- {id: web}",
	}), t.TempDir()
	problems, err := replay.Run(t.Context(), []string{dir}, out)
	want := []string{
		`proxy a.shop: "ztunnel" is neither sidecar nor router; others are not modelled, and it gets nothing`,
		"proxy web: without a pod it has to be <pod>.<namespace>", "proxy a.shop: there is no Pod/shop/a ",
		"proxy b.c.shop: the one in cluster west has the same name, and is written; that in cluster Kubernetes gets nothing", "proxy w.shop: there is no Pod/shop/w ",
	}
	if !errors.Is(err, replay.ErrLacking) || len(problems) != len(want) {
		t.Fatalf("%d problems, %v, want %d and that something lacks: %+v", len(problems), err, len(want), problems)
	}
	for i, p := range problems {
		if !strings.HasPrefix(p.Message, want[i]) || filepath.Base(p.Where) != "proxies.yaml" {
			t.Errorf("the problem is %+v, want %s", p, want[i])
		}
	}
	written, err := os.ReadDir(filepath.Join(out, "proxies"))
	if err != nil || len(written) != 1 || written[0].Name() != "b.c.shop" {
		t.Errorf("written is %v, %v", written, err)
	}
}

// TestProxyOfAStep: a proxy may come with a step.
func TestProxyOfAStep(t *testing.T) {
	dir, out := scenario(t, map[string]string{"proxies.yaml": "- {id: a.shop}\n", "steps/01-a.yaml": aPod}), t.TempDir()
	if problems, err := replay.Run(t.Context(), []string{dir}, out); err != nil || len(problems) > 0 {
		t.Fatalf("%v, %v", problems, err)
	}
	if _, err := os.Stat(filepath.Join(out, "steps", "01", "proxies", "a.shop", "clusters.json")); err != nil {
		t.Error(err)
	}
}

// TestWhatLacks: what could not be read or answered is named, and is an error; the rest
// is written.
func TestWhatLacks(t *testing.T) {
	const questions = "questions: [{proxy: a.shop, host: web.shop.svc.cluster.local, port: 80}, {proxy: nobody.shop, host: web.shop.svc.cluster.local, port: 80}]"
	for name, c := range map[string]struct {
		files map[string]string
		file  string
		field string
	}{
		"unknown operation": {map[string]string{"steps/01-a.yaml": "$op: remove\n" + aService}, "01-a.yaml:", "$op"},
		"no YAML":           {map[string]string{"input/bad.yaml": "kind: [broken\n"}, "bad.yaml:", ""},
		"unknown proxy":     {map[string]string{"proxies.yaml": "- {id: b.shop}\n"}, "proxies.yaml", "pod"},
		"asked of nobody":   {map[string]string{"input/a.yaml": aPod, "question.yaml": questions}, "question.yaml", "questions[1].proxy"},
	} {
		out := t.TempDir()
		problems, err := replay.Run(t.Context(), []string{scenario(t, c.files)}, out)
		if !errors.Is(err, replay.ErrLacking) || len(problems) != 1 || !strings.Contains(problems[0].Where, c.file) || problems[0].Field != c.field {
			t.Errorf("%s: %+v, %v", name, problems, err)
		}
		if _, err := os.Stat(filepath.Join(out, "registryz.json")); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestEnvironment: most of istiod's variables are not read, which is no error.
func TestEnvironment(t *testing.T) {
	dir := scenario(t, map[string]string{"env.yaml": "{PILOT_ENABLE_AMBIENT: 'true', ENABLE_MCS_HOSTS: 'true', B: ''}"})
	problems, err := replay.Run(t.Context(), []string{dir}, t.TempDir())
	if err != nil || len(problems) != 2 {
		t.Fatalf("%v, %v, want 2 problems", problems, err)
	}
	for i, want := range []string{"B", "ENABLE_MCS_HOSTS"} {
		if p := problems[i]; p.Field != want || filepath.Base(p.Where) != "env.yaml" || p.Message != "it is not read here" {
			t.Errorf("%+v, want it about %s", p, want)
		}
	}
	dir = scenario(t, map[string]string{"env.yaml": "PILOT_ENABLE_AMBIENT: 'maybe'"})
	if _, err := replay.Run(t.Context(), []string{dir}, t.TempDir()); err == nil || !strings.Contains(err.Error(), "env.yaml: PILOT_ENABLE_AMBIENT: ") {
		t.Errorf("a flag that is none: %v", err)
	}
}

// TestQuestionsThatCannotBeAsked name the file and the field, and nothing is written.
func TestQuestionsThatCannotBeAsked(t *testing.T) {
	for text, want := range map[string]string{
		`questions: [{at: "07", proxy: a.shop, host: web, port: 80}]`:       `questions[0].at: there is no step "07"; the steps are ["01"]`,
		`questions: [{at: "1", proxy: a.shop, host: web, port: 80}]`:        `questions[0].at: there is no step "1"`,
		`questions: [{proxy: a, host: b, port: 80}, {host: web, port: 80}]`: "questions[1].proxy: ",
		`questions: [{proxy: a.shop, port: 80}]`:                            "questions[0].host: ",
		`questions: [{proxy: a.shop, host: web}]`:                           "questions[0].port: ",
		`question: [{proxy: a.shop, host: web, port: 80}]`:                  "questions: there is none",
	} {
		dir, out := scenario(t, map[string]string{"question.yaml": text, "steps/01-a.yaml": aPod}), t.TempDir()
		if _, err := replay.Run(t.Context(), []string{dir}, out); err == nil || !strings.Contains(err.Error(), "question.yaml: "+want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
		if left, err := os.ReadDir(out); err != nil || len(left) > 0 {
			t.Errorf("%s: %v, %v was written", text, left, err)
		}
	}
}

// TestOutIsElsewhere: nothing is written to where a scenario is read, nor twice to one
// place.
func TestOutIsElsewhere(t *testing.T) {
	one, two := scenario(t, map[string]string{}), scenario(t, map[string]string{})
	for _, out := range []string{one, filepath.Join(one, "input"), filepath.Join(one, "new", "folder"), filepath.Join(one, "..", filepath.Base(one), "x")} {
		if _, err := replay.Run(t.Context(), []string{one}, out); err == nil || !strings.Contains(err.Error(), "is within the scenario "+one) {
			t.Errorf("written to %s: %v", out, err)
		}
	}
	if left, err := os.ReadDir(one); err != nil || len(left) != 1 {
		t.Errorf("%v, %v: more than the input", left, err)
	}
	if _, err := replay.Run(t.Context(), []string{one, two}, t.TempDir()); err == nil || !strings.Contains(err.Error(), "both "+one+" and "+two) {
		t.Errorf("two to one place: %v", err)
	}
}

// TestFilesThatAreNone: what would never end is not read, wherever it is.
func TestFilesThatAreNone(t *testing.T) {
	for _, name := range []string{"input/z.yaml", "steps/01-z.yaml", "proxies.yaml", "env.yaml", "question.yaml"} {
		dir := scenario(t, map[string]string{"steps/00-a.yaml": aService})
		if err := os.Symlink(os.DevNull, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
		if _, err := replay.Run(t.Context(), []string{dir}, t.TempDir()); err == nil || !strings.Contains(err.Error(), "not a regular file") || !strings.Contains(err.Error(), filepath.Base(name)) {
			t.Errorf("%s: the error is %v, want that it is no regular file", name, err)
		}
	}
}

// TestLinksAndNamesWithADot: manifests are found as the source of files finds them.
func TestLinksAndNamesWithADot(t *testing.T) {
	dir, links, out := scenario(t, map[string]string{
		"input/.git/x.yaml": "no object", "steps/.01-a.yaml": "no object", "steps/01-a.yaml": aPod, "elsewhere/b.yaml": aService,
	}), t.TempDir(), t.TempDir()
	for link, target := range map[string]string{
		filepath.Join(dir, "input", ".#web.yaml"): "nowhere", filepath.Join(dir, "steps", ".#01-a.yaml"): "nowhere",
		filepath.Join(dir, "input", "more"): "../elsewhere", filepath.Join(links, "all"): filepath.Dir(dir),
		filepath.Join(links, "input"): filepath.Join(dir, "input"),
	} {
		if err := os.Symlink(target, link); err != nil {
			t.Fatal(err)
		}
	}
	problems, err := replay.Run(t.Context(), []string{dir}, out)
	if !errors.Is(err, replay.ErrLacking) || len(problems) != 1 || problems[0].Where != filepath.Join(dir, "input", "more") || problems[0].Message != "a symbolic link to a directory is not followed" {
		t.Errorf("%+v, %v", problems, err)
	}
	// All is the folder of both scenarios.
	for path, want := range map[string]int{links: 1, filepath.Join(links, "all"): 2} {
		out := t.TempDir()
		_, err := replay.Run(t.Context(), []string{path}, out)
		found := 0
		walk := filepath.WalkDir(out, func(path string, _ os.DirEntry, err error) error {
			if text, _ := os.ReadFile(path); filepath.Base(path) == "registryz.json" && strings.Contains(string(text), "web.shop.svc.cluster.local") {
				found++
			}
			return err
		})
		if !errors.Is(err, replay.ErrLacking) || walk != nil || found != want {
			t.Errorf("%s: the service is found %d times, want %d: %v, %v", path, found, want, err, walk)
		}
	}
}
