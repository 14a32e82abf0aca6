//go:build unix

package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
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
		Long: `Have a running Edsight print a new login link on its standard error, where its
log is: in the terminal in which it runs, or in the log of its Pod. The link is not
printed here.

It sends the signal USR1, as "kill -USR1 PID" does, but to nothing else than an
Edsight that serves; in an image without kill:

  kubectl -n edsight exec deployment/edsight -- /edsight login 1
  kubectl -n edsight logs deployment/edsight --tail 1`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			pid, err := strconv.Atoi(args[0])
			if err != nil || pid < 1 {
				return fmt.Errorf("a process has a number, not %q", args[0])
			}
			if err := checkServes(cmd.Context(), pid); err != nil {
				return fmt.Errorf("process %d: %w", pid, err)
			}
			if err := syscall.Kill(pid, askLogin); err != nil {
				return fmt.Errorf("process %d: %w", pid, err)
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "the link is printed in the log of process %d, on its standard error\n", pid)
			return err
		},
	}
}

// checkServes returns an error unless the process is an Edsight that serves: the
// signal ends most other programs.
func checkServes(ctx context.Context, pid int) error {
	edsight, line, err := commandLine(ctx, pid)
	if err != nil {
		return err
	}
	if !edsight || !slices.Contains(line, "serve") {
		return fmt.Errorf("it is no Edsight that serves, but %q; the log of Edsight names its PID", strings.Join(line[:min(2, len(line))], " "))
	}
	return nil
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
