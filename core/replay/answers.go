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

// answers are given as the scenario goes on, and written in the order of the
// questions.
type answers struct {
	questions []asked
	given     []*explain.Answer
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
	return &answers{
		questions: file.Questions, given: make([]*explain.Answer, len(file.Questions)),
		explainer: explain.New(explain.Options{Objects: objects, Journal: core.Journal()}),
	}, nil
}

// at answers the questions about the present state.
func (a *answers) at(step string, core *control.Controller) {
	for i := range a.questions {
		if a.questions[i].At == step {
			a.given[i] = a.explainer.Explain(core.Snapshot(), a.questions[i].Question, nil)
		}
	}
}

// write writes answers.json, if anything was asked.
func (a *answers) write(dir string) error {
	if len(a.questions) == 0 {
		return nil
	}
	if err := createDir(dir); err != nil {
		return err
	}
	return writeFile(filepath.Join(dir, "answers.json"), a.given)
}
