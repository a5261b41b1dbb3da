package rerun

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/benchstudy"
	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/session"
	"github.com/tarebench/tare/internal/format"
)

// This file repeats a result of a command such as tare bench. It calls the same command with the seed
// and the commits of the result.

// findCommand returns the command that args call, with parsed flags. It returns nil if they are
// invalid or the command generates no study.
func findCommand(root *cobra.Command, args []string) *cobra.Command {
	cmd, rest, err := root.Find(args)
	if err != nil {
		return nil
	}
	makesStudy := slices.Contains([]string{"bench", "json", "rpc"}, cmd.Name())
	if !makesStudy || cmd.ParseFlags(rest) != nil {
		return nil
	}
	return cmd
}

// repeatCommand runs the command of the result old again and compares the results. foreign means
// that old was made elsewhere or was changed. tree returns tare's commands.
func repeatCommand(ctx context.Context, env cmdenv.Env, tree func(cmdenv.Env) *cobra.Command, o options, old *tare.Result, foreign bool) error {
	args, notes, err := repeatedArgs(tree(env), o, old)
	if err != nil {
		return err
	}
	argsWithEnv, err := withEnv(env, o, args, foreign)
	if err != nil {
		return err
	}
	p := session.NewProgress(env, o.quiet)
	p.Say("again as on " + format.Minute(old.Started) + " UTC: tare " + strings.Join(args, " "))
	for _, note := range notes {
		p.Say(note)
	}
	p.End()
	now, err := measureAgain(ctx, env, tree, argsWithEnv)
	return printComparison(env, o, old, now, err)
}

// withEnv returns args with the values of the environment variables in --env flags. A result has
// only digests of these values.
func withEnv(env cmdenv.Env, o options, args []string, foreign bool) ([]string, error) {
	var indices []int // indices of --env flags
	var record []string
	for i, arg := range args {
		if kv, ok := strings.CutPrefix(arg, "--env="); ok {
			indices, record = append(indices, i), append(record, kv)
		}
	}
	values, err := restoreEnv(env, o, record, foreign)
	if err != nil {
		return nil, err
	}
	args = slices.Clone(args)
	for i, kv := range values {
		args[indices[i]] = "--env=" + kv
	}
	return args, nil
}

// repeatedArgs returns the arguments that repeat the command of a result, with its seed and commits.
// Another working directory or a changed input file is an error. notes has a line for each side
// (base or head) that is measured as it is today.
func repeatedArgs(root *cobra.Command, o options, old *tare.Result) (args, notes []string, err error) {
	cmd := findCommand(root, old.Asked.Command)
	if cmd == nil {
		return nil, nil, cmdenv.Usage(fmt.Sprintf("the result of %s was made by %q, which this tare does not know", old.Study, "tare "+strings.Join(old.Asked.Command, " ")), "")
	}
	if err := checkInputs(cmd, old); err != nil {
		return nil, nil, err
	}
	values := map[string]string{"seed": old.Seed} // new values of flags
	if o.reseed {
		values["seed"] = fmt.Sprint(o.seed)
	}
	if o.catalog != "" && cmd.Flags().Lookup("catalog") != nil {
		values["catalog"] = o.catalog
	}
	if o.quiet {
		values["quiet"] = "true"
	}
	if o.noLock {
		values["no-lock"] = "true"
	}
	if cmd.Name() == "bench" {
		for _, side := range []string{benchstudy.Base, benchstudy.Head} {
			c, ok := old.Contender(side)
			commit, hasChanges := parseCommit(c.Version)
			switch revision, _ := cmd.Flags().GetString(side); {
			case !ok || revision == "": // the side has the same files as the other, or no revision
			case hasChanges || commit == "":
				notes = append(notes, fmt.Sprintf("%s was the %s: it is the files as they are today", side, cmp.Or(c.Version, "worktree")))
			default:
				values[side] = commit
			}
		}
	}
	return rebuildArgs(cmd, values), notes, nil
}

// checkInputs returns an error if the working directory is another than that of the result, or if an
// input has changed or was stdin.
func checkInputs(cmd *cobra.Command, old *tare.Result) error {
	if dir, err := os.Getwd(); err != nil || filepath.Clean(dir) != filepath.Clean(old.Asked.WorkDir) {
		return cmdenv.Usage("the result of "+old.Study+" was asked for in "+old.Asked.WorkDir, "go there and rerun it by the path of its result.json")
	}
	if slices.Contains(cmd.Flags().Args(), "-") {
		return cmdenv.Usage("the documents of "+old.Study+" came from stdin and are not kept", "give them again: tare "+strings.Join(old.Asked.Command, " "))
	}
	for _, name := range session.FilesOf(cmd) {
		oldSum := old.Asked.Files[name]
		sum, err := session.SumOf(name)
		if err != nil {
			return cmdenv.Usage(fmt.Sprintf("cannot read %s: %v", name, cmdenv.Cause(err)), "the result was made of it")
		}
		if sum != oldSum {
			return cmdenv.Usage(fmt.Sprintf("%s changed: SHA-256 %s then, %s now", name, formatSum(oldSum), formatSum(sum)), "tare "+strings.Join(old.Asked.Command, " ")+" measures it as it is")
		}
	}
	return nil
}

func formatSum(sum string) string {
	if sum == "" {
		return "not recorded"
	}
	return sum[:min(12, len(sum))]
}

// parseCommit returns the commit in the version of a side, or "", and whether the side had changes on
// top of it. The forms of a version are, in the order of the patterns below: "worktree at 1a2b3c4d5
// with changes", "main (1a2b3c4d5)" and "1a2b3c4d5".
func parseCommit(version string) (commit string, hasChanges bool) {
	for _, form := range []string{`^worktree at ([0-9a-f]{7,64})\b`, `\(([0-9a-f]{7,64})\)`, `^([0-9a-f]{7,64})\b`} {
		if m := regexp.MustCompile(form).FindStringSubmatch(version); m != nil {
			return m[1], strings.Contains(version, " with changes")
		}
	}
	return "", false
}

// rebuildArgs returns the arguments of a command. The flags in values get these values. Flags about
// output and the lock are dropped.
func rebuildArgs(cmd *cobra.Command, values map[string]string) []string {
	args := []string{cmd.Name()}
	dropped := []string{"format", "json", "output", "quiet", "progress", "no-lock", "no-page", "receipt"}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if _, isReplaced := values[f.Name]; isReplaced || slices.Contains(dropped, f.Name) {
			return
		}
		list, ok := f.Value.(pflag.SliceValue)
		if !ok {
			args = append(args, "--"+f.Name+"="+f.Value.String())
			return
		}
		for _, v := range list.GetSlice() {
			args = append(args, "--"+f.Name+"="+v)
		}
	})
	for _, name := range slices.Sorted(maps.Keys(values)) {
		args = append(args, "--"+name+"="+values[name])
	}
	if rest := cmd.Flags().Args(); len(rest) > 0 {
		args = append(append(args, "--"), rest...)
	}
	return args
}

// suggestCommand returns a command that repeats a result which does not contain its command. It
// returns "" unless the result is of tare bench or tare json.
func suggestCommand(old *tare.Result) string {
	base, _ := old.Contender(benchstudy.Base)
	head, _ := old.Contender(benchstudy.Head)
	switch {
	case old.Kind == "gobench":
		text := "in its repository: tare bench"
		if commit, _ := parseCommit(base.Version); commit != "" {
			text += " --base " + commit
		}
		if commit, hasChanges := parseCommit(head.Version); commit != "" && !hasChanges {
			text += " --head " + commit
		}
		return text + " --seed " + old.Seed
	case old.Kind == "codec" && strings.HasPrefix(old.Study, "json-") && hasFiles(old):
		return "tare json FILE --seed " + old.Seed + " with the documents it was made of"
	}
	return ""
}

func hasFiles(r *tare.Result) bool {
	return slices.ContainsFunc(r.Workloads, func(w tare.Workload) bool { return w.File != "" })
}
