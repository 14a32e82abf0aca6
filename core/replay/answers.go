package replay

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/edsight/edsight/core/control"
	"github.com/edsight/edsight/core/explain"
)

// asked is one element of question.yaml. What it says of the right answer is not
// looked at.
type asked struct {
	// At is the number of the step after which it is asked, "" before the first.
	At string `json:"at"`
	explain.Question
}

// answered is one element of answers.json: the question, and its answer.
type answered struct {
	asked
	*explain.Answer
}

// answers are given as the scenario goes on, and written in the order of the
// questions.
type answers struct {
	path      string
	scenario  *Scenario
	given     []answered
	explainer *explain.Explainer
}

// newAnswers reads the questions of a scenario, of which there need not be any.
func newAnswers(dir string, s *Scenario, objects explain.Objects, core *control.Controller) (*answers, error) {
	a := &answers{
		path: filepath.Join(dir, "question.yaml"), scenario: s,
		explainer: explain.New(explain.Options{Objects: objects, Journal: core.Journal()}),
	}
	var file *struct {
		Questions []asked `json:"questions"`
	}
	if err := readLoose(a.path, &file); err != nil || file == nil {
		return a, err
	}
	if len(file.Questions) == 0 {
		return nil, fmt.Errorf("read %s: questions: there is none", a.path)
	}
	for i, q := range file.Questions {
		if field, text := q.lacks(s.numbers()); text != "" {
			return nil, fmt.Errorf("read %s: questions[%d].%s: %s", a.path, i, field, text)
		}
		a.given = append(a.given, answered{asked: q})
	}
	return a, nil
}

// lacks says why a question cannot be asked, "" if it can.
func (q *asked) lacks(steps []string) (field, text string) {
	switch {
	case q.At != "" && !slices.Contains(steps, q.At):
		return "at", fmt.Sprintf("there is no step %q; the steps are %q", q.At, steps)
	case q.Proxy == "":
		return "proxy", "is missing"
	case q.Host == "":
		return "host", "is missing"
	case q.Port == 0:
		return "port", "is missing"
	}
	return "", ""
}

// at answers the questions about the present state.
func (a *answers) at(step string, core *control.Controller) {
	for i := range a.given {
		q := &a.given[i]
		if q.At != step {
			continue // it is asked at another time
		}
		q.Answer = a.explainer.Explain(core.Snapshot(), q.Question, nil)
		if q.Cause == explain.ProxyUnknown {
			a.scenario.mistake(a.path, fmt.Sprintf("questions[%d].proxy", i), q.Sentence)
		}
	}
}

// write writes answers.json, if anything was asked.
func (a *answers) write(dir string) error {
	if len(a.given) == 0 {
		return nil
	}
	if err := createDir(dir); err != nil {
		return err
	}
	return writeFile(filepath.Join(dir, "answers.json"), a.given)
}
