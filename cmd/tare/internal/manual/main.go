// Command manual writes the manual pages of tare and completions for shells,
// which are additional files of its release archives.
//
//	go run ./internal/manual DIR
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/tarebench/tare/cmd/tare/internal/cli"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "manual: name the directory to write to")
		os.Exit(2)
	}
	if err := writeManual(os.Args[1], cli.Commands()); err != nil {
		fmt.Fprintln(os.Stderr, "manual:", err)
		os.Exit(1)
	}
}

// writeManual fills dir/man and dir/completions. Its output depends only on the commands and on
// SOURCE_DATE_EPOCH, which dates the pages.
func writeManual(dir string, root *cobra.Command) error {
	pages, scripts := filepath.Join(dir, "man"), filepath.Join(dir, "completions")
	for _, d := range []string{pages, scripts} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			return err
		}
	}
	root.DisableAutoGenTag = true
	if err := doc.GenManTree(root, &doc.GenManHeader{Source: "tare", Manual: "tare"}, pages); err != nil {
		return err
	}
	for name, script := range map[string]func(string) error{
		"tare.bash": func(path string) error { return root.GenBashCompletionFileV2(path, true) },
		"_tare":     root.GenZshCompletionFile,
		"tare.fish": func(path string) error { return root.GenFishCompletionFile(path, true) },
		"tare.ps1":  root.GenPowerShellCompletionFileWithDesc,
	} {
		if err := script(filepath.Join(scripts, name)); err != nil {
			return err
		}
	}
	return nil
}
