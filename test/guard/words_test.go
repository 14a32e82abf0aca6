package guard

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// forbidden are words that have no place in the tree. They are put together
// here, so that this file does not hold them.
var forbidden = []struct {
	pattern *regexp.Regexp
	why     string
	// code limits the rule to what is compiled or run.
	code bool
}{
	{regexp.MustCompile(`/(wor` + `k|roo` + `t|hom` + `e/[a-z]+|far` + `m)/`), "a path of one machine", false},
	{regexp.MustCompile(`/tm` + `p/(bash|prompts|claude)`), "a path of one machine", false},
	{regexp.MustCompile(`\b(TO` + `DO|FIX` + `ME|XX` + `X)\b`), "finish it, or file an issue", true},
	{regexp.MustCompile(`\bt\.Ski` + `p`), "a test runs, or is not there", true},
}

// codeNames end the names of files that are compiled or run.
var codeNames = []string{".go", ".templ", ".js", ".css", ".sh", ".mk", "Makefile", "Dockerfile", "run"}

func TestForbiddenWords(t *testing.T) {
	for _, file := range textFiles(t) {
		if strings.Contains(file, "/testdata/") {
			continue
		}
		code := slices.ContainsFunc(codeNames, func(end string) bool { return strings.HasSuffix(file, end) })
		text := content(t, file)
		if strings.ContainsRune(text, 0) {
			continue // not text
		}
		for _, f := range forbidden {
			if f.code && !code {
				continue
			}
			if at := f.pattern.FindStringIndex(text); at != nil {
				line := strings.Count(text[:at[0]], "\n") + 1
				t.Errorf("%s:%d: %q: %s", file, line, text[at[0]:at[1]], f.why)
			}
		}
	}
}
