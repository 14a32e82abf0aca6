package guard

import (
	"go/ast"
	"slices"
	"testing"
)

// Hard limits, in lines.
const (
	maxFile         = 400
	maxTestFile     = 800
	maxFunction     = 80
	maxTestFunction = 100
)

func TestFilesAndFunctionsAreShort(t *testing.T) {
	var functions []int
	for _, f := range goFiles(t) {
		if f.generated {
			continue
		}
		file, function := maxFile, maxFunction
		if f.test {
			file, function = maxTestFile, maxTestFunction
		}
		if f.lines > file {
			t.Errorf("%s has %d lines, at most %d are allowed", f.path, f.lines, file)
		}
		for _, d := range f.tree.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			lines := f.fset.Position(fn.End()).Line - f.fset.Position(fn.Pos()).Line + 1
			if lines > function {
				t.Errorf("%s: %s has %d lines, at most %d are allowed", f.path, fn.Name.Name, lines, function)
			}
			if !f.test {
				functions = append(functions, lines)
			}
		}
	}
	slices.Sort(functions)
	n := len(functions)
	t.Logf("%d functions: median %d lines, 90th percentile %d, longest %d",
		n, functions[n/2], functions[n*9/10], functions[n-1])
}
