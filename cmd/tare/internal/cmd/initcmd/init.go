// Package initcmd implements tare init: it writes a tare.yaml.
package initcmd

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/project"
	"github.com/tarebench/tare/cmd/tare/internal/project/survey"
	"github.com/tarebench/tare/internal/whole"
)

// gateDocs has the recipes for CI.
const gateDocs = "https://github.com/tarebench/tare/blob/main/docs/gate.md"

// initReport is the output of tare init.
type initReport struct {
	File    string        `json:"file"`
	Written bool          `json:"written"`
	Found   survey.Survey `json:"found"`
	Next    []string      `json:"next"`
}

// Command returns tare init.
func Command(env cmdenv.Env) *cobra.Command {
	var force, print, asJSON bool
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Write a tare.yaml for this repository, after looking at it",
		Long: `Write a tare.yaml for the repository of the working directory: which benchmarks
tare gate runs, what a change is compared with, and how much slower is too slow.

It looks at the benchmarks that test files declare, the modules, the CI in use,
study files and documents kept for tests, runs nothing, and says in comments what
it found. A tare.yaml that is there is never touched without --force.

Exit codes: 0 written; 1 I/O error; 2 there is a tare.yaml already.`,
		Example: `  tare init
  tare init --print | less
  tare init --force && git diff tare.yaml`,
		Args: cmdenv.AtMost(0),
		RunE: func(*cobra.Command, []string) error {
			if print && (force || asJSON) {
				return cmdenv.Usage("--print writes no file and prints nothing else", "leave --force and --json out")
			}
			return beginProject(env, force, print, asJSON)
		},
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	cmd.Flags().BoolVar(&force, "force", false, "write over a tare.yaml that is there")
	cmd.Flags().BoolVar(&print, "print", false, "print it instead of writing it")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print what was found as JSON")
	return cmd
}

// beginProject surveys the repository and writes its tare.yaml.
func beginProject(env cmdenv.Env, force, print, asJSON bool) error {
	wd, err := os.Getwd()
	if err != nil {
		return err
	}
	home := project.Home(wd)
	root, _ := project.Root(wd)
	found, err := survey.Look(home, root)
	if err != nil {
		return fmt.Errorf("cannot look at %s: %w", home, err)
	}
	draft := found.Draft()
	if print {
		_, err := env.Out.Write(draft)
		return err
	}
	path := filepath.Join(home, project.FileName)
	if err := writeFile(path, draft, force); err != nil {
		return err
	}
	b := initReport{File: fromHere(wd, path), Written: true, Found: found, Next: nextSteps(found)}
	if asJSON {
		return cmdenv.PrintJSON(env.Out, b)
	}
	fmt.Fprintf(env.Out, "wrote %s, with %s\n", b.File, found.Count())
	for i, step := range b.Next {
		fmt.Fprintf(env.Out, "%-5s %s\n", []string{"next:", "then:"}[min(i, 1)], step)
	}
	return nil
}

// writeFile writes a new file, or with force also an existing one.
func writeFile(path string, text []byte, force bool) error {
	if force {
		out, err := cmdenv.OpenOutput(path)
		if err != nil {
			return err
		}
		defer out.Close()
		return out.Save(func(f io.Writer) error { _, err := f.Write(text); return err })
	}
	err := whole.WriteNew(whole.System{}, path, text, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return cmdenv.Usage(path+" is there already", "--print shows what tare init would write, --force writes it")
	}
	if err != nil {
		return fmt.Errorf("cannot write %s: %w", path, cmdenv.Cause(err))
	}
	return nil
}

// nextSteps returns two lines of advice about a new tare.yaml.
func nextSteps(found survey.Survey) []string {
	first := "tare gate     measures the worktree against its base, as a pull request will be"
	if len(found.Benchmarks) == 0 {
		first = "write a benchmark, e.g. func BenchmarkEncode(b *testing.B) in a test file; then tare gate"
	}
	second := "run tare gate in CI; exit code 3 blocks a change: " + gateDocs
	switch {
	case slices.Contains(found.CI, survey.GitHub):
		second = "add `uses: tarebench/tare@COMMIT` to a workflow of pull requests: " + gateDocs + "#github-actions"
	case slices.Contains(found.CI, survey.GitLab):
		second = "add a job that runs tare gate --gitlab gl-code-quality-report.json: " + gateDocs + "#gitlab-ci"
	case len(found.CI) > 0:
		second = "run tare gate in " + strings.Join(found.CI, " or ") + "; exit code 3 blocks a change: " + gateDocs
	}
	return []string{first, second}
}

// fromHere returns path relative to the working directory if that is shorter.
func fromHere(wd, path string) string {
	rel, err := filepath.Rel(wd, path)
	if err != nil || len(rel) >= len(path) {
		return path
	}
	return rel
}
