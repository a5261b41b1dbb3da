// Command writeups writes the documents that quote runs of the bundled studies (comparisons of programs). They are
// docs/claims.md, docs/results.md, the pages of docs/research, the transcripts, and parts of README.md and
// cgocopy/README.md. All numbers come from the stored results in docs/runs.
//
//	go run ./cmd/tare/internal/writeups                          # write the documents from the stored runs
//	go run ./cmd/tare/internal/writeups -tare out/tare tiny ffi  # measure these runs first, and store them
//	go run ./cmd/tare/internal/writeups -tare out/tare all       # all of them: some hours
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "writeups:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, stderr io.Writer) error {
	flags := flag.NewFlagSet("writeups", flag.ContinueOnError)
	root := flags.String("root", ".", "the repository")
	bin := flags.String("tare", "", "the tare program that measures the named runs; without it nothing is measured")
	if err := flags.Parse(args); err != nil {
		return err
	}
	names := flags.Args()
	if slices.Equal(names, []string{"all"}) {
		names = runNames()
	}
	if len(names) > 0 && *bin == "" {
		return fmt.Errorf("runs are named and no program measures them: add -tare FILE")
	}
	for _, name := range names {
		if err := measureRun(ctx, *bin, *root, name, stderr); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	documents, missing, err := writeAll(*root)
	if err != nil {
		return err
	}
	if len(missing) > 0 {
		fmt.Fprintf(stderr, "runs without a stored result, whose text in the documents stays: %s\n", strings.Join(missing, ", "))
	}
	for path, text := range documents {
		path = filepath.Join(*root, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

func measureRun(ctx context.Context, bin, root, name string, stderr io.Writer) error {
	i := slices.IndexFunc(runs, func(r storedRun) bool { return r.name == name })
	if i < 0 {
		return fmt.Errorf("no such run; there are %s", strings.Join(runNames(), ", "))
	}
	fmt.Fprintln(stderr, "tare", strings.Join(runs[i].args, " "))
	cmd := exec.CommandContext(ctx, bin, append(slices.Clone(runs[i].args), "--json", "--quiet")...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.Stderr = stderr
	var out bytes.Buffer
	cmd.Stdout = &out
	if err := cmd.Run(); err != nil {
		return err
	}
	return saveResult(root, name, out.Bytes())
}
