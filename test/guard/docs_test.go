package guard

import (
	"path"
	"strings"
	"testing"
)

func TestEveryPackageSaysWhatItIsFor(t *testing.T) {
	documented := map[string]bool{}
	for _, f := range goFiles(t) {
		if f.test {
			continue
		}
		dir := path.Dir(f.path)
		if _, known := documented[dir]; !known {
			documented[dir] = false
		}
		doc := f.tree.Doc.Text()
		want := "Package " + f.tree.Name.Name + " "
		if f.tree.Name.Name == "main" {
			want = "Command "
		}
		if strings.HasPrefix(doc, want) {
			if documented[dir] {
				t.Errorf("%s: the package doc is in more than one file", dir)
			}
			documented[dir] = true
		}
	}
	for dir, ok := range documented {
		if !ok {
			t.Errorf("%s has no package doc", dir)
		}
	}
}
