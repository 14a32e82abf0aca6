package replay_test

import (
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
		"parent folder":  {"steps/..-x.yaml": aService},
		"the same twice": {"steps/01-a.yaml": aService, "steps/01-b.yaml": aService},
	} {
		if _, err := replay.Run(t.Context(), []string{scenario(t, files)}, t.TempDir()); err == nil || !strings.Contains(err.Error(), "step ") {
			t.Errorf("%s: the error is %v, want one that names the step", name, err)
		}
	}
}

func TestProxiesThatCannotBe(t *testing.T) {
	dir := scenario(t, map[string]string{"proxies.yaml": "- {id: a.shop, type: banana}\n- {id: b.shop}\n"})
	problems, err := replay.Run(t.Context(), []string{dir}, t.TempDir())
	if err != nil || len(problems) != 2 {
		t.Fatalf("%d problems, %v, want 2", len(problems), err)
	}
	for i, want := range []string{"banana", "Pod/shop/b"} {
		if !strings.Contains(problems[i].Message, want) {
			t.Errorf("the problem is %q, want it to name %s", problems[i].Message, want)
		}
	}
}
