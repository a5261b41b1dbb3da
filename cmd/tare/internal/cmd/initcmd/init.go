// Package initcmd implements tare init. It writes a tare.yaml, the settings of tare gate for a
// repository.
package initcmd

import (
	"cmp"
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
	"github.com/tarebench/tare/internal/atomicfile"
)

const ciDocs = "https://github.com/tarebench/tare/blob/main/deploy/ci/README.md"

type initReport struct {
	File    string        `json:"file"`
	Written bool          `json:"written"`
	CI      []string      `json:"workflows,omitempty"` // paths of written workflows, from the top of the repository
	Found   survey.Survey `json:"found"`
	Next    []string      `json:"next"` // advice on the next steps
}

// Command returns tare init.
func Command(env cmdenv.Env) *cobra.Command {
	var force, print, asJSON bool
	chosen := map[string]*bool{} // values of --github and so on, by the name of the flag
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Write a tare.yaml for this repository",
		Long: `Write a tare.yaml for the repository of the working directory: which benchmarks
tare gate runs, what a change is compared with, and how much slower is too slow.

It reads which benchmarks the test files declare, the modules, the CI in use,
study files and test documents. It runs nothing, and writes comments about what
it found. Without --force it does not change an existing tare.yaml.

--github, --gitlab and --forgejo also write a workflow that runs tare gate on
pull requests. It names the actions of others by commit. An existing tare.yaml
then stays as it is.

Exit codes: 0 written; 1 I/O error; 2 there is a tare.yaml or workflow already.`,
		Example: `  tare init
  tare init --print | less
  tare init --github
  tare init --force && git diff tare.yaml`,
		Args: cmdenv.AtMost(0),
		RunE: func(*cobra.Command, []string) error {
			var workflows []forge
			for _, f := range forges() {
				if *chosen[f.flag] {
					workflows = append(workflows, f)
				}
			}
			if print && (force || asJSON || len(workflows) > 0) {
				return cmdenv.Usage("--print writes no file and prints nothing else", "leave --force, --json and the workflows out")
			}
			return beginProject(env, workflows, force, print, asJSON)
		},
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	for _, f := range forges() {
		chosen[f.flag] = cmd.Flags().Bool(f.flag, false, "also write a workflow for "+f.name)
	}
	cmd.Flags().BoolVar(&force, "force", false, "overwrite an existing tare.yaml or workflow")
	cmd.Flags().BoolVar(&print, "print", false, "print it instead of writing it")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print what was found as JSON")
	return cmd
}

// beginProject surveys the repository and writes its tare.yaml and the workflows. An existing
// tare.yaml is an error unless force is set. With workflows it stays as it is. If print is set, the
// tare.yaml is only printed.
func beginProject(env cmdenv.Env, workflows []forge, force, print, asJSON bool) error {
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
	result := initReport{File: fromHere(wd, path), Written: true, Found: found, Next: nextSteps(found)}
	if _, err := os.Lstat(path); err == nil && len(workflows) > 0 && !force {
		result.Written = false
	} else if err := writeFile(path, draft, force); err != nil {
		return err
	}
	for i, f := range workflows {
		path, next, err := writeWorkflow(f, cmp.Or(root, home), home, force)
		if err != nil {
			return err
		}
		if i == 0 {
			result.Next = result.Next[:1] // remove the advice to write a workflow
		}
		result.CI, result.Next = append(result.CI, path), append(result.Next, next)
	}
	if asJSON {
		return cmdenv.PrintJSON(env.Out, result)
	}
	if result.Written {
		fmt.Fprintf(env.Out, "wrote %s, with %s\n", result.File, found.Count())
	}
	for _, path := range result.CI {
		fmt.Fprintf(env.Out, "wrote %s\n", path)
	}
	for i, step := range result.Next {
		fmt.Fprintf(env.Out, "%-5s %s\n", []string{"next:", "then:"}[min(i, 1)], step)
	}
	return nil
}

func writeFile(path string, text []byte, force bool) error {
	if force {
		return cmdenv.SaveFile(atomicfile.System{}, path, 0o644, func(f io.Writer) error { _, err := f.Write(text); return err })
	}
	err := atomicfile.WriteNew(atomicfile.System{}, path, text, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return cmdenv.Usage(path+" is there already", "--print shows what tare init would write, --force writes it")
	}
	if err != nil {
		return fmt.Errorf("cannot write %s: %w", path, cmdenv.Cause(err))
	}
	return nil
}

func nextSteps(found survey.Survey) []string {
	first := "tare gate     measures the worktree against its base, as a pull request will be"
	if len(found.Benchmarks) == 0 {
		first = "write a benchmark, e.g. func BenchmarkEncode(b *testing.B) in a test file; then tare gate"
	}
	second := "run tare gate in CI; exit code 3 blocks a change: " + ciDocs
	switch {
	case slices.Contains(found.CI, survey.GitHub):
		second = "tare init --github writes a workflow for pull requests: " + ciDocs + "#github-actions"
	case slices.Contains(found.CI, survey.GitLab):
		second = "tare init --gitlab writes a job for merge requests: " + ciDocs + "#gitlab-ci"
	case len(found.CI) > 0:
		second = "run tare gate in " + strings.Join(found.CI, " or ") + "; exit code 3 blocks a change: " + ciDocs
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
