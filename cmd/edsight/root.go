package main

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

func rootCommand(env environment) *cobra.Command {
	cmd := &cobra.Command{
		Use:           "edsight",
		Short:         "Why does this proxy (not) have this endpoint?",
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	cmd.AddCommand(serveCommand(env), loginCommand(), explainCommand(), wrongCommand(), diffCommand(), snapshotCommand(), replayCommand(), versionCommand())
	return cmd
}

func versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "edsight %s %s %s/%s\n",
				programVersion(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return err
		},
	}
}

// programVersion is the linker's version, or what the Go command recorded.
func programVersion() string {
	if version != "" {
		return version
	}
	build, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	for _, s := range build.Settings {
		if s.Key == "vcs.revision" {
			return s.Value
		}
	}
	return cmp.Or(build.Main.Version, "unknown")
}
