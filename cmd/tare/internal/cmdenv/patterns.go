package cmdenv

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/tarebench/tare/cmd/tare/internal/suggest"
	"github.com/tarebench/tare/lab"
)

// CheckPatterns returns an error if a pattern of --contender or --workload is invalid.
func CheckPatterns(only lab.Only) error {
	for _, p := range slices.Concat(only.Contenders, only.Workloads) {
		if _, err := path.Match(p, ""); err != nil || p == "" {
			return Usage(fmt.Sprintf("%q is not a pattern", p), `* stands for any text, ? for one character, [ab] for one of those; quote it for the shell`)
		}
	}
	return nil
}

// Choose returns the studies with a contender and a workload that only selects, and the names of the
// others. If a pattern matches in no study, the error has similar names.
func Choose(only lab.Only, studies []Study) (chosen []Study, others []string, err error) {
	var contenders, workloads []string
	for _, s := range studies {
		c, w := s.Names()
		contenders, workloads = append(contenders, c...), append(workloads, w...)
		if Matches(only.Contenders, c) && Matches(only.Workloads, w) {
			chosen = append(chosen, s)
		} else {
			others = append(others, s.ID)
		}
	}
	scope := fmt.Sprintf("any of the %d studies", len(studies))
	if len(studies) == 1 {
		scope = studies[0].ID
	}
	for _, p := range only.Contenders {
		if !Matches([]string{p}, contenders) {
			return nil, nil, NoMatch("contender", p, scope, contenders)
		}
	}
	for _, p := range only.Workloads {
		if !Matches([]string{p}, workloads) {
			return nil, nil, NoMatch("workload", p, scope, workloads)
		}
	}
	if len(chosen) == 0 {
		return nil, nil, Usage("no study has both a contender and a workload that was chosen", "tare explain STUDY lists what a study has")
	}
	return chosen, others, nil
}

// Matches reports whether any of patterns matches any of names. Without patterns it returns true.
func Matches(patterns, names []string) bool {
	return len(patterns) == 0 || slices.ContainsFunc(patterns, func(p string) bool {
		return slices.ContainsFunc(names, func(name string) bool {
			ok, err := lab.Match(p, name) // CheckPatterns has rejected invalid patterns
			return ok && err == nil
		})
	})
}

// NoMatch returns the error for a pattern of the flag --noun that matches none of names, the names in
// scope. The hint has similar names, or patterns such as sonic-*.
func NoMatch(noun, pattern, scope string, names []string) error {
	names = slices.Clone(names)
	slices.Sort(names)
	names = slices.Compact(names)
	known := slices.Clone(names) // and patterns for names with the same first part
	for _, name := range names {
		if i := strings.IndexAny(name, "-/"); i > 0 {
			known = append(known, name[:i]+"*")
		}
	}
	slices.Sort(known)
	hint := suggest.Hint(pattern, names)
	if similar := suggest.Names(pattern, slices.Compact(known)); len(similar) > 0 {
		hint = suggest.Hint(pattern, similar)
	}
	if hint == "" {
		hint = "tare explain STUDY lists them"
	}
	return Usage(fmt.Sprintf("--%s %q matches no %s of %s", noun, pattern, noun, scope), hint)
}
