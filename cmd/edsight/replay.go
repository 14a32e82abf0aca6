package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/edsight/edsight/core/replay"
)

func replayCommand() *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:   "replay SCENARIO... --out DIR",
		Short: "Compute what would happen in a scenario, offline",
		Long: `Compute what would happen in a scenario, offline.

A scenario is a folder with a folder "input" of manifests, and, where wanted,
"proxies.yaml", "env.yaml" and "steps/NN-name.yaml". Any other folder is searched
for scenarios, whose paths DIR then mirrors. For the initial state and after each
step DIR gets registryz.json, endpointShardz.json, the endpoints and clusters of
each proxy, and what was pushed and why; where the scenario has questions
("question.yaml"), "answers.json" says why a proxy has an endpoint or not. What is
strange is printed; the exit status is 1 if something could not be read or answered.`,
		Example: "  edsight replay ./what-if --out ./result",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if out == "" {
				return errors.New("say with --out where to write to")
			}
			problems, err := replay.Run(cmd.Context(), args, out)
			for _, p := range problems {
				if _, printed := fmt.Fprintln(cmd.ErrOrStderr(), problemLine(p)); printed != nil {
					return errors.Join(err, printed)
				}
			}
			if err == nil || errors.Is(err, replay.ErrLacking) {
				_, printed := fmt.Fprintln(cmd.OutOrStdout(), "what would happen is written to", out)
				err = errors.Join(err, printed)
			}
			return err
		},
	}
	cmd.Flags().StringVar(&out, "out", "", "folder to write to (required)")
	return cmd
}
