package gobench

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
)

// sleepInLoop finds time.Sleep, <-time.After and <-time.Tick in timed loops, unless the
// name of the benchmark shows that it is about them.
func sleepInLoop() rule {
	return rule{Rule: audit.Rule{
		ID: "sleep-in-loop", Severity: tare.Void,
		Title:   "The timed loop sleeps.",
		Why:     "A sleep takes its time and about a tenth of a millisecond more, by timers and the scheduler. The figure is that of the clock, and hides what the code takes.",
		Do:      "wait for the event itself, or leave the wait out of the loop",
		Command: compareRevisions,
		Seen:    []string{"tare: study users (its percentile runner slept)"},
	}, find: func(in *input) {
		in.eachTimedLoop(func(l *loop) {
			if in.reportsTime(l.owner) {
				return
			}
			in.inspectTimed(l, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.CallExpr:
					if isFunc(in.callee(n), "time", "Sleep") && !containsWord(l.owner.name, "Sleep", "Timer") {
						in.report(n, "the loop sleeps for %s in each iteration", formatExpr(n.Args[0]))
					}
				case *ast.UnaryExpr: // <-time.After(d)
					call, ok := n.X.(*ast.CallExpr)
					isWait := ok && n.Op == token.ARROW && isFunc(in.callee(call), "time", "After", "Tick")
					if isWait && !containsWord(l.owner.name, "After", "Tick", "Timer") {
						in.report(n, "the loop waits for %s in each iteration", formatExpr(call))
					}
				case *ast.SelectStmt:
					return false // time.After in a select is a time limit
				}
				return true
			})
		})
	}}
}

// containsWord reports whether a text, often the name of a benchmark, contains one of words, in upper
// or lower case. A benchmark whose name contains a word is about it.
func containsWord(text string, words ...string) bool {
	text = strings.ToLower(text)
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, strings.ToLower(w)) })
}

// isAbout reports whether a benchmark is about a function: its name contains that of
// the function, or both belong to the same package.
func (in *input) isAbout(b *benchmark, fn *types.Func) bool {
	return containsWord(b.name, fn.Name()) || fn.Pkg() != nil && strings.TrimSuffix(in.pass.Pkg.Path(), "_test") == fn.Pkg().Path()
}
