package gatecmd

import (
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tarebench/tare/cmd/tare/internal/benchstudy/gate"
	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/history"
	"github.com/tarebench/tare/cmd/tare/internal/project"
)

// benchHash is the length of commit hashes in advised commands of tare bench.
const benchHash = 12

// adviceCommands returns the commands that the report of tare gate advises. One is the user's own with
// another value of a flag. The other is tare bench for one benchmark. The argument base is the commit
// that tare gate compared with.
func (o options) adviceCommands(cmd *cobra.Command, p project.Project, base string) gate.Commands {
	typed := cmdenv.CommandOf(cmd)
	revision := o.base
	if revision == "" || strings.HasPrefix(revision, "merge-base") { // not a revision for tare bench
		revision = base[:min(benchHash, len(base))]
	}
	return gate.Commands{
		Rounds: o.rounds > 0,
		Gate:   func(flag, value string) string { return typed.Set(flag, value).String() },
		Bench: func(pkg, pattern string) string {
			return benchCommand(p, pkg, pattern).Set("base", revision).WithFlagsOf(typed, "head", "seed", "profile", "no-lock").String()
		},
	}
}

// mergedCommands returns the commands that the merged report of several runs advises. It knows only
// the revisions that the runs compared, not their flags.
func mergedCommands(p project.Project, m gate.Measured) gate.Commands {
	return gate.Commands{Bench: func(pkg, pattern string) string {
		c := benchCommand(p, pkg, pattern).Set("base", m.Commit[:min(benchHash, len(m.Commit))])
		if head := history.Commit(m.Head); head != "" && !strings.HasPrefix(m.Head, gate.Worktree) {
			c = c.Set("head", head)
		}
		return c.String()
	}}
}

func benchCommand(p project.Project, pkg, pattern string) cmdenv.Command {
	env := p.Bench.Env
	if flags := tagFlags(p.Bench, os.Environ()); flags != "" {
		env = append(slices.Clone(env), "GOFLAGS="+flags)
	}
	return cmdenv.NewCommand("tare bench", pkg).WithEnv(env...).Set("bench", pattern)
}
