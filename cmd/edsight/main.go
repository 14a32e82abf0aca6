// Command edsight answers why a proxy of a mesh has, or has not, an endpoint. It
// watches a cluster, manifest files or an embedded demo mesh and serves the
// dashboard; see its help for the other commands.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// version is set by the linker for releases.
var version = ""

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	err := run(ctx, os.Args[1:], environment{getenv: os.Getenv, out: os.Stdout, err: os.Stderr})
	stop()
	if err != nil && !errors.Is(err, context.Canceled) {
		fmt.Fprintln(os.Stderr, "edsight:", err)
		os.Exit(1)
	}
}

// environment is what the commands get from the process.
type environment struct {
	getenv   func(string) string
	out, err io.Writer
}

// run carries out one command line.
func run(ctx context.Context, args []string, env environment) error {
	cmd := rootCommand(env)
	cmd.SetArgs(args)
	cmd.SetOut(env.out)
	cmd.SetErr(env.err)
	return cmd.ExecuteContext(ctx)
}
