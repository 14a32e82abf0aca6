package replay_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/edsight/edsight/core/replay"
)

// question is one element of a case's question.json, with what is right.
type question struct {
	At         string   `json:"at"`
	Host       string   `json:"host"`
	Address    string   `json:"address"`
	Present    bool     `json:"present"`
	Port       *uint32  `json:"endpoint_port"`
	Priority   *uint32  `json:"priority"`
	Cause      string   `json:"cause"`
	Object     string   `json:"object"`
	ObjectAlso []string `json:"object_also"`
	Mention    []string `json:"sentence_must_mention"`
}

// answer is one element of answers.json.
type answer struct {
	At       string  `json:"at"`
	Host     string  `json:"host"`
	Address  string  `json:"address"`
	Present  bool    `json:"present"`
	Port     uint32  `json:"endpoint_port"`
	Priority *uint32 `json:"priority"`
	Cause    string  `json:"cause"`
	Object   string  `json:"object"`
	Sentence string  `json:"sentence"`
}

// TestDiagnosis asks what people really asked, and holds each answer against what
// a right one contains: whether the endpoint is there, the cause, the object
// responsible, and what the sentence has to mention.
func TestDiagnosis(t *testing.T) {
	cases, out := unpack(t, filepath.Join("testdata", "diagnosis.tar.gz")), t.TempDir()
	if _, err := replay.Run(t.Context(), []string{cases}, out); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(cases, "*", "*", "question.json"))
	if err != nil {
		t.Fatal(err)
	}
	asked := 0
	for _, file := range files {
		rel, err := filepath.Rel(cases, filepath.Dir(file))
		if err != nil {
			t.Fatal(err)
		}
		t.Run(rel, func(t *testing.T) {
			var want struct {
				Questions []question `json:"questions"`
			}
			var got []answer
			decode(t, file, &want)
			decode(t, filepath.Join(out, rel, "answers.json"), &got)
			if len(got) != len(want.Questions) {
				t.Fatalf("%d answers to %d questions", len(got), len(want.Questions))
			}
			for i := range got {
				asked++
				for _, wrong := range score(&want.Questions[i], &got[i]) {
					t.Errorf("question %d (%s %s at %q): %s\n%s", i+1, want.Questions[i].Host, want.Questions[i].Address, want.Questions[i].At, wrong, got[i].Sentence)
				}
			}
		})
	}
	if asked != 57 {
		t.Errorf("%d questions were asked, want 57", asked)
	}
}

func decode(t *testing.T, path string, into any) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

// score lists what is wrong with an answer.
func score(q *question, a *answer) []string {
	var wrong []string
	if a.At != q.At || a.Host != q.Host || a.Address != q.Address {
		wrong = append(wrong, "it is to another question")
	}
	if a.Present != q.Present {
		wrong = append(wrong, "present is not right")
	}
	if a.Cause != q.Cause {
		wrong = append(wrong, "the cause is "+a.Cause+", want "+q.Cause)
	}
	if q.Port != nil && a.Port != *q.Port {
		wrong = append(wrong, "the endpoint's port is not right")
	}
	if q.Priority != nil && (a.Priority == nil || *a.Priority != *q.Priority) {
		wrong = append(wrong, "the priority is not right")
	}
	text := plain(a.Sentence + " " + a.Cause + " " + a.Object)
	for _, m := range q.Mention {
		if !strings.Contains(text, plain(m)) {
			wrong = append(wrong, "it does not mention "+m)
		}
	}
	if q.Object != "" && !namesAny(a, append(q.ObjectAlso, q.Object)) {
		wrong = append(wrong, "it does not name "+q.Object)
	}
	return wrong
}

// namesAny tells whether kind, namespace and name of one of the objects occur.
func namesAny(a *answer, objects []string) bool {
	text := strings.ToLower(a.Object + " " + a.Sentence)
	for _, o := range objects {
		all := true
		for part := range strings.SplitSeq(strings.ToLower(o), "/") {
			all = all && strings.Contains(text, part)
		}
		if all {
			return true
		}
	}
	return false
}

// plain makes the ways of writing a pair of key and value the same.
func plain(s string) string {
	s = strings.ToLower(strings.NewReplacer(`"`, "", "'", "", "`", "").Replace(s))
	return regexp.MustCompile(`\s*[:=]\s*`).ReplaceAllString(s, "=")
}
