package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/source"
	"github.com/edsight/edsight/views"
)

// exitWrong is the exit code of wrong if anything is; see exitTrouble.
const exitWrong = 1

func wrongCommand() *cobra.Command {
	var f askFlags
	cmd := &cobra.Command{
		Use:   "wrong {--server URL [--token-file FILE] | --from PATH}",
		Short: "List what is wrong now",
		Long: `List what is wrong now, as the page /wrong does: services in trouble, findings about
slices, problems with the configuration. The exit status is 0 if nothing is wrong, 1 if
something is, and 2 in trouble, which -o json prints as {"error": "..."}.`,
		Example: `  edsight wrong --server http://127.0.0.1:8080 --token-file token
  edsight wrong --from ./manifests -o json`,
		Args: func(cmd *cobra.Command, args []string) error { return trouble(cobra.NoArgs(cmd, args)) },
		RunE: func(cmd *cobra.Command, _ []string) error {
			n, err := printWrong(cmd, &f)
			if err == nil && n > 0 {
				return &exitError{code: exitWrong}
			}
			return troubleIn(cmd.OutOrStdout(), f.out, err)
		},
	}
	cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return trouble(err) })
	f.add(cmd.Flags())
	return cmd
}

// printWrong asks and prints, and tells how much is wrong.
func printWrong(cmd *cobra.Command, f *askFlags) (int, error) {
	if err := f.check(); err != nil {
		return 0, err
	}
	e, err := f.open(cmd.Context(), cmd.ErrOrStderr())
	if err != nil {
		return 0, err
	}
	var m views.Wrong
	if err := e.read(cmd.Context(), "/wrong", nil, &m); err != nil {
		return 0, fmt.Errorf("wrong: %w", err)
	}
	if f.out == "json" {
		return m.Total(), printJSON(cmd.OutOrStdout(), m)
	}
	_, err = io.WriteString(cmd.OutOrStdout(), printable(wrongText(&m)))
	return m.Total(), err
}

func wrongText(m *views.Wrong) string {
	var b strings.Builder
	if m.Partial {
		b.WriteString("the objects themselves are not at hand: of slices only what the state tells is checked\n")
	}
	if m.Total() == 0 {
		b.WriteString("nothing is wrong\n")
	}
	list := func(count int, what string, lines []string) {
		if count == 0 {
			return
		}
		fmt.Fprintf(&b, "%s:\n", what)
		for _, l := range lines {
			fmt.Fprintf(&b, "✗ %s\n", l)
		}
		if n := count - len(lines); n > 0 {
			fmt.Fprintf(&b, "  and %d more\n", n)
		}
	}
	list(m.ServiceCount, views.Count(m.ServiceCount, "service", "services")+" in trouble", lines(m.Services, serviceLine))
	list(m.FindingCount, views.Count(m.FindingCount, "finding", "findings")+" about slices", lines(m.Findings, findingLine))
	list(len(m.Problems), views.Count(len(m.Problems), "problem", "problems")+" with the configuration", lines(m.Problems, wrongLine))
	return b.String()
}

func lines[T any](list []T, line func(*T) string) []string {
	out := make([]string, len(list))
	for i := range list {
		out[i] = line(&list[i])
	}
	return out
}

func serviceLine(s *views.ServiceRow) string {
	return s.Namespace + "/" + string(s.Host) + ": " + strings.Join(s.Trouble, "; ")
}

func findingLine(f *views.Finding) string {
	return complaint("", f.Object, f.Field, f.Message, f.Remedy)
}

func wrongLine(p *views.Problem) string {
	return complaint(p.Where, p.Object, p.Field, p.Message, p.Remedy)
}

// complaint is what is wrong with an object, and what would cure it.
func complaint(where string, object model.ObjectKey, field, message, remedy string) string {
	text := problemLine(source.Problem{Where: where, Object: object, Field: field, Message: message})
	if remedy != "" {
		text += "; " + remedy
	}
	return text
}
