package replay

import (
	"path/filepath"

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
	given     []answered
	explainer *explain.Explainer
}

// newAnswers reads the questions of a scenario, of which there need not be any.
func newAnswers(dir string, objects explain.Objects, core *control.Controller) (*answers, error) {
	var file struct {
		Questions []asked `json:"questions"`
	}
	if err := readLoose(filepath.Join(dir, "question.yaml"), &file); err != nil {
		return nil, err
	}
	a := &answers{explainer: explain.New(explain.Options{Objects: objects, Journal: core.Journal()})}
	for _, q := range file.Questions {
		a.given = append(a.given, answered{asked: q})
	}
	return a, nil
}

// at answers the questions about the present state.
func (a *answers) at(step string, core *control.Controller) {
	for i := range a.given {
		if q := &a.given[i]; q.At == step {
			q.Answer = a.explainer.Explain(core.Snapshot(), q.Question, nil)
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
