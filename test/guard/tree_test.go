package guard

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// root is the top of the checkout, as seen from this folder.
const root = "../.."

// notOurs are folders that hold nothing written for this tree.
var notOurs = []string{".git", "node_modules", "bin", "dist"}

// textFiles lists the paths, below root, of all files that people wrote.
func textFiles(t *testing.T) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if slices.Contains(notOurs, d.Name()) {
				return filepath.SkipDir
			}
			return nil
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		out = append(out, filepath.ToSlash(rel))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func content(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(root, path))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// goFile is one parsed file.
type goFile struct {
	path      string
	fset      *token.FileSet
	tree      *ast.File
	lines     int
	test      bool
	generated bool
}

// goFiles parses every Go file.
func goFiles(t *testing.T) []goFile {
	t.Helper()
	var out []goFile
	for _, path := range textFiles(t) {
		if !strings.HasSuffix(path, ".go") || strings.Contains(path, "/testdata/") {
			continue
		}
		fset := token.NewFileSet()
		text := content(t, path)
		tree, err := parser.ParseFile(fset, path, text, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, goFile{
			path: path, fset: fset, tree: tree, lines: strings.Count(text, "\n"),
			test: strings.HasSuffix(path, "_test.go"), generated: ast.IsGenerated(tree),
		})
	}
	if len(out) == 0 {
		t.Fatal("no Go files found")
	}
	return out
}
