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
	if code := exitCode(err, os.Stderr); code != 0 {
		os.Exit(code)
	}
}

// exitCode says what an error has to say, and gives the code that the program ends
// with.
func exitCode(err error, w io.Writer) int {
	if err == nil {
		return 0
	}
	code := 1
	if exit, ok := errors.AsType[*exitError](err); ok {
		if exit.err == nil {
			return exit.code
		}
		code = exit.code
	}
	_, _ = fmt.Fprintln(w, "edsight:", err) // nobody is left to be told
	return code
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
