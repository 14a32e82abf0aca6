package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/edsight/edsight/core/archive"
	"github.com/edsight/edsight/views"
)

// snapshotFlags are the flags of snapshot.
type snapshotFlags struct {
	server, tokenFile, from, out string
	unredacted                   bool
	mesh                         meshFlags
}

func snapshotCommand() *cobra.Command {
	var f snapshotFlags
	cmd := &cobra.Command{
		Use:   "snapshot {--server URL [--token-file FILE] | --from PATH} -o FILE",
		Short: "Export a whole state to one file",
		Long: `Export a whole state to one file: services, endpoints with the reasons of
those that are left out, proxies, Istio objects, mesh configuration, and the last
transitions. What looks like a credential is left out, unless --unredacted says
otherwise.`,
		Example: `  edsight snapshot --server http://127.0.0.1:8080 --token-file token -o state` + archive.Extension + `
  edsight snapshot --from ./manifests -o state` + archive.Extension,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.server, "server", "", "URL of a running Edsight")
	flags.StringVar(&f.tokenFile, "token-file", "", "file with the token for --server")
	flags.StringVar(&f.from, "from", "", "file or folder of manifests")
	flags.StringVarP(&f.out, "output", "o", "", `file to write, "-" for standard output`)
	flags.BoolVar(&f.unredacted, "unredacted", false, "leave in what looks like a credential")
	f.mesh.add(flags)
	cmd.MarkFlagsMutuallyExclusive("server", "from")
	cmd.MarkFlagsMutuallyExclusive("server", "istiod-env")
	cmd.MarkFlagsMutuallyExclusive("server", "root-namespace")
	cmd.MarkFlagsMutuallyExclusive("server", "unredacted")
	cmd.MarkFlagsOneRequired("server", "from")
	return cmd
}

func (f *snapshotFlags) run(cmd *cobra.Command) error {
	if f.out == "" {
		return errors.New("say with -o which file to write")
	}
	write := func(w io.Writer) error { return f.export(cmd, w) }
	if f.server != "" {
		write = func(w io.Writer) error { return download(cmd.Context(), f.server, f.tokenFile, w) }
	}
	dir := filepath.Dir(f.out)
	if f.out == "-" {
		dir = ""
	}
	return writeThrough(cmd, dir, f.out, write)
}

// writeThrough writes to a temporary file, checks that it is an archive, and only
// then puts it in its place.
func writeThrough(cmd *cobra.Command, dir, out string, write func(io.Writer) error) (err error) {
	temp, err := os.CreateTemp(dir, ".edsight-*")
	if err != nil {
		return fmt.Errorf("write snapshot: %w", err)
	}
	defer func() { err = errors.Join(err, temp.Close(), removeIfThere(temp.Name())) }()
	if err := write(temp); err != nil {
		return err
	}
	if _, err := temp.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("write snapshot: %w", err)
	}
	c, err := archive.Read(temp, archive.DefaultLimits())
	if err != nil {
		return err
	}
	if out == "-" {
		if _, err = temp.Seek(0, io.SeekStart); err == nil {
			_, err = io.Copy(cmd.OutOrStdout(), temp)
		}
	} else {
		err = os.Rename(temp.Name(), out)
	}
	if err != nil {
		return fmt.Errorf("write snapshot: %w", err)
	}
	_, err = fmt.Fprintln(cmd.ErrOrStderr(), summary(out, c))
	return err
}

func removeIfThere(name string) error {
	if err := os.Remove(name); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

func summary(out string, c *archive.Content) string {
	s := fmt.Sprintf("%s: state %d, %s, %s, %s", out, c.Snapshot.Version,
		views.Count(c.Snapshot.ServiceCount(), "service", "services"), views.Count(c.Snapshot.ProxyCount(), "proxy", "proxies"),
		views.Count(len(c.Transitions), "transition", "transitions"))
	if c.Header.Unredacted {
		return s + "; not redacted"
	}
	return s + "; redacted, " + views.Count(c.Header.Redacted, "value", "values") + " left out"
}

// export writes the state of manifests.
func (f *snapshotFlags) export(cmd *cobra.Command, w io.Writer) error {
	core, _, err := f.mesh.settled(cmd.Context(), f.from, cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	last := core.Journal().Since(0, 1)
	return archive.Write(w, &archive.Content{
		Header:   archive.Header{Program: programVersion(), Created: time.Now().UTC(), Unredacted: f.unredacted},
		Snapshot: core.Snapshot(), Source: core.Status().Source, Transitions: last.Transitions,
	})
}
