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

// findCommand returns the command of args with parsed flags, or nil if it is not one that makes
// a study without a file.
func findCommand(root *cobra.Command, args []string) *cobra.Command {
	cmd, rest, err := root.Find(args)
	if err != nil || !slices.Contains([]string{"bench", "json", "rpc"}, cmd.Name()) || cmd.ParseFlags(rest) != nil {
		return nil
	}
	return cmd
}

// repeatCommand runs the command of a result again.
func repeatCommand(ctx context.Context, env cmdenv.Env, tree func(cmdenv.Env) *cobra.Command, o options, old *tare.Result, foreign bool) error {
	args, notes, err := repeatedArgs(tree(env), o, old)
	if err != nil {
		return err
	}
	given, err := withEnv(env, o, args, foreign)
	if err != nil {
		return err
	}
	p := session.NewProgress(env, o.quiet)
	p.Say("again as on " + format.Minute(old.Started) + " UTC: tare " + strings.Join(args, " "))
	for _, note := range notes {
		p.Say(note)
	}
	p.End()
	now, err := measureAgain(ctx, env, tree, given)
	return printComparison(env, o, old, now, err)
}

// withEnv adds the values of variables that the result has only as digests to the arguments.
func withEnv(env cmdenv.Env, o options, args []string, foreign bool) ([]string, error) {
	var at []int
	var record []string
	for i, arg := range args {
		if kv, is := strings.CutPrefix(arg, "--env="); is {
			at, record = append(at, i), append(record, kv)
		}
	}
	values, err := restoreEnv(env, o, record, foreign)
	if err != nil {
		return nil, err
	}
	args = slices.Clone(args)
	for i, kv := range values {
		args[at[i]] = "--env=" + kv
	}
	return args, nil
}

// repeatedArgs returns the arguments of a result's command with its seed and the commits of its
// revisions. notes describe what cannot be repeated.
func repeatedArgs(root *cobra.Command, o options, old *tare.Result) (args, notes []string, err error) {
	cmd := findCommand(root, old.Asked.Command)
	if cmd == nil {
		return nil, nil, cmdenv.Usage(fmt.Sprintf("the result of %s was made by %q, which this tare does not know", old.Study, "tare "+strings.Join(old.Asked.Command, " ")), "")
	}
	if dir, err := os.Getwd(); err != nil || filepath.Clean(dir) != filepath.Clean(old.Asked.WorkDir) {
		return nil, nil, cmdenv.Usage("the result of "+old.Study+" was asked for in "+old.Asked.WorkDir, "go there and rerun it by the path of its result.json")
	}
	if slices.Contains(cmd.Flags().Args(), "-") {
		return nil, nil, cmdenv.Usage("the documents of "+old.Study+" came from stdin and are not kept", "give them again: tare "+strings.Join(old.Asked.Command, " "))
	}
	for _, name := range session.FilesOf(cmd) {
		was := old.Asked.Files[name]
		if is, err := session.SumOf(name); err != nil {
			return nil, nil, cmdenv.Usage(fmt.Sprintf("cannot read %s: %v", name, cmdenv.Cause(err)), "the result was made of it")
		} else if is != was {
			return nil, nil, cmdenv.Usage(fmt.Sprintf("%s changed: SHA-256 %s then, %s now", name, formatSum(was), formatSum(is)), "tare "+strings.Join(old.Asked.Command, " ")+" measures it as it is")
		}
	}
	over := map[string]string{"seed": old.Seed}
	if o.reseed {
		over["seed"] = fmt.Sprint(o.seed)
	}
	if o.catalog != "" && cmd.Flags().Lookup("catalog") != nil {
		over["catalog"] = o.catalog
	}
	for flag, on := range map[string]bool{"quiet": o.quiet, "no-lock": o.noLock} {
		if on {
			over[flag] = "true"
		}
	}
	if cmd.Name() == "bench" {
		for _, side := range []string{benchstudy.Base, benchstudy.Head} {
			c, ok := old.Contender(side)
			commit, changed := parseCommit(c.Version)
			switch asked, _ := cmd.Flags().GetString(side); {
			case !ok || asked == "": // same files as the other side
			case changed || commit == "":
				notes = append(notes, fmt.Sprintf("%s was the %s: it is the files as they are today", side, cmp.Or(c.Version, "worktree")))
			default:
				over[side] = commit
			}
		}
	}
	return rebuildArgs(cmd, over), notes, nil
}

func formatSum(sum string) string {
	if sum == "" {
		return "not recorded"
	}
	return sum[:min(12, len(sum))]
}

// parseCommit returns the commit in the version of a side, and whether there were other
// changes: main (1a2b3c4d5), 1a2b3c4d5, worktree at 1a2b3c4d5 with changes.
func parseCommit(version string) (commit string, changed bool) {
	for _, form := range []string{`^worktree at ([0-9a-f]{7,64})\b`, `\(([0-9a-f]{7,64})\)`, `^([0-9a-f]{7,64})\b`} {
		if m := regexp.MustCompile(form).FindStringSubmatch(version); m != nil {
			return m[1], strings.Contains(version, " with changes")
		}
	}
	return "", false
}

// rebuildArgs returns a command's arguments with other values for some flags, and without flags
// of output.
func rebuildArgs(cmd *cobra.Command, over map[string]string) []string {
	args := []string{cmd.Name()}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		_, replaced := over[f.Name]
		switch list, ok := f.Value.(pflag.SliceValue); {
		case replaced, slices.Contains([]string{"format", "json", "output", "quiet", "no-lock", "no-page", "receipt"}, f.Name):
		case ok:
			for _, v := range list.GetSlice() {
				args = append(args, "--"+f.Name+"="+v)
			}
		default:
			args = append(args, "--"+f.Name+"="+f.Value.String())
		}
	})
	for _, name := range slices.Sorted(maps.Keys(over)) {
		args = append(args, "--"+name+"="+over[name])
	}
	if rest := cmd.Flags().Args(); len(rest) > 0 {
		args = append(append(args, "--"), rest...)
	}
	return args
}

// suggestCommand returns the command of a result of tare bench or tare json that does not
// contain it, or "" for other results.
func suggestCommand(old *tare.Result) string {
	base, _ := old.Contender(benchstudy.Base)
	head, _ := old.Contender(benchstudy.Head)
	switch {
	case old.Kind == "gobench":
		text := "in its repository: tare bench"
		if commit, _ := parseCommit(base.Version); commit != "" {
			text += " --base " + commit
		}
		if commit, changed := parseCommit(head.Version); commit != "" && !changed {
			text += " --head " + commit
		}
		return text + " --seed " + old.Seed
	case old.Kind == "codec" && strings.HasPrefix(old.Study, "json-") && slices.ContainsFunc(old.Workloads, func(w tare.Workload) bool { return w.File != "" }):
		return "tare json FILE --seed " + old.Seed + " with the documents it was made of"
	}
	return ""
}
