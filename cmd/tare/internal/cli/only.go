package cli

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tarebench/tare/cmd/tare/internal/near"
	"github.com/tarebench/tare/lab"
)

// names are the ids of a study's contenders and workloads.
func (c chosen) names() (contenders, workloads []string) {
	for _, e := range c.Contenders {
		contenders = append(contenders, e.ID)
	}
	for _, w := range c.Workloads {
		workloads = append(workloads, w.ID)
	}
	return contenders, workloads
}

// patterns checks that --contender and --workload are patterns.
func patterns(only lab.Only) error {
	for _, p := range slices.Concat(only.Contenders, only.Workloads) {
		if _, err := path.Match(p, ""); err != nil || p == "" {
			return Usage(fmt.Sprintf("%q is not a pattern", p), `* stands for any text, ? for one character, [ab] for one of those; quote it for the shell`)
		}
	}
	return nil
}

// choose keeps the studies in which only chooses a contender and a workload,
// and names the others. A pattern that chooses nothing in any study is an
// error with what it may have meant.
func choose(only lab.Only, studies []chosen) (kept []chosen, others []string, err error) {
	var contenders, workloads []string
	for _, s := range studies {
		c, w := s.names()
		contenders, workloads = append(contenders, c...), append(workloads, w...)
		if matches(only.Contenders, c) && matches(only.Workloads, w) {
			kept = append(kept, s)
		} else {
			others = append(others, s.ID)
		}
	}
	where := fmt.Sprintf("any of the %d studies", len(studies))
	if len(studies) == 1 {
		where = studies[0].ID
	}
	for _, p := range only.Contenders {
		if !matches([]string{p}, contenders) {
			return nil, nil, nothing("contender", p, where, contenders)
		}
	}
	for _, p := range only.Workloads {
		if !matches([]string{p}, workloads) {
			return nil, nil, nothing("workload", p, where, workloads)
		}
	}
	if len(kept) == 0 {
		return nil, nil, Usage("no study has both a contender and a workload that was chosen", "tare explain STUDY lists what a study has")
	}
	return kept, others, nil
}

// matches reports whether one of patterns matches one of names. No patterns
// match everything.
func matches(patterns, names []string) bool {
	return len(patterns) == 0 || slices.ContainsFunc(patterns, func(p string) bool {
		return slices.ContainsFunc(names, func(name string) bool {
			ok, err := lab.Match(p, name)
			return ok && err == nil
		})
	})
}

// nothing says that a pattern matches nothing, and what it may have meant:
// a name, or all names that begin alike.
func nothing(what, pattern, where string, names []string) error {
	names = slices.Clone(names)
	slices.Sort(names)
	names = slices.Compact(names)
	known := slices.Clone(names)
	for _, name := range names {
		if i := strings.IndexAny(name, "-/"); i > 0 {
			known = append(known, name[:i]+"*")
		}
	}
	slices.Sort(known)
	hint := near.Hint(pattern, names)
	if close := near.Names(pattern, slices.Compact(known)); len(close) > 0 {
		hint = near.Hint(pattern, close)
	}
	if hint == "" {
		hint = "tare explain STUDY lists them"
	}
	return Usage(fmt.Sprintf("--%s %q matches no %s of %s", what, pattern, what, where), hint)
}

// CompleteNames offers the contenders or workloads of the studies named so
// far, of all bundled ones where there is none.
func (env Env) CompleteNames(of func(chosen) []string) func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return func(_ *cobra.Command, args []string, start string) ([]string, cobra.ShellCompDirective) {
		if len(args) == 0 {
			args = env.Bundled()
		}
		var names []string
		for _, arg := range args {
			if arg == "-" {
				continue // completing must not read what was meant for the run
			}
			if study, err := env.ReadStudy(arg); err == nil {
				names = append(names, of(study)...)
			}
		}
		slices.Sort(names)
		return slices.DeleteFunc(slices.Compact(names), func(n string) bool { return !strings.HasPrefix(n, start) }), cobra.ShellCompDirectiveNoFileComp
	}
}
