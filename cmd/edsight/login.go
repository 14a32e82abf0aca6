//go:build unix

package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"syscall"

	"github.com/spf13/cobra"
)

// askLogin is the signal that asks a running Edsight for a new login link. Who may
// send it may do anything else to the program, too.
const askLogin = syscall.SIGUSR1

func loginCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "login PID",
		Short: "Have a running Edsight print a new login link",
		Long: `Have a running Edsight print a new login link on its standard error.

It sends the signal USR1, as "kill -USR1 PID" does; in an image without kill:

  kubectl -n edsight exec deployment/edsight -- /edsight login 1
  kubectl -n edsight logs deployment/edsight --tail 1`,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			pid, err := strconv.Atoi(args[0])
			if err != nil || pid < 1 {
				return fmt.Errorf("a process has a number, not %q", args[0])
			}
			if err := syscall.Kill(pid, askLogin); err != nil {
				return fmt.Errorf("process %d: %w", pid, err)
			}
			return nil
		},
	}
}

// answerLogins takes the signal from now on. What it returns calls link whenever a
// login link is asked for, until ctx is done.
func answerLogins(ctx context.Context, link func() error) func() error {
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, askLogin)
	return func() error {
		defer signal.Stop(asked)
		for {
			select {
			case <-ctx.Done():
				return nil
			case <-asked:
				if err := link(); err != nil {
					return fmt.Errorf("login link: %w", err)
				}
			}
		}
	}
}
