package gobench

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
)

// sleepInLoop finds waits for the clock in timed loops.
func sleepInLoop() rule {
	return rule{audit.Rule{
		ID: "sleep-in-loop", Severity: tare.Void,
		Title:   "The timed loop sleeps.",
		Why:     "A sleep takes its time and about a tenth of a millisecond more, by timers and the scheduler. The figure is that of the clock, and hides what the code takes.",
		Do:      "wait for the event itself, or leave the wait out of the loop",
		Command: compareRevisions,
		Seen:    []string{"tare: study users (its percentile runner slept)"},
	}, func(in *input) {
		in.timedLoops(func(l *loop) {
			if in.reportsTime(l.owner) {
				return
			}
			in.inspectTimed(l, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.CallExpr:
					if isFunc(in.callee(n), "time", "Sleep") && !nameHas(l.owner.name, "Sleep", "Timer") {
						in.report(n, "the loop sleeps for %s in each iteration", show(n.Args[0]))
					}
				case *ast.UnaryExpr:
					call, ok := n.X.(*ast.CallExpr)
					if n.Op == token.ARROW && ok && isFunc(in.callee(call), "time", "After", "Tick") && !nameHas(l.owner.name, "After", "Tick", "Timer") {
						in.report(n, "the loop waits for %s in each iteration", show(call))
					}
				case *ast.SelectStmt:
					return false // a time limit
				}
				return true
			})
		})
	}}
}

// nameHas reports whether the name of a benchmark contains one of words, in
// whatever case: the benchmark is about it.
func nameHas(name string, words ...string) bool {
	for _, w := range words {
		if strings.Contains(strings.ToLower(name), strings.ToLower(w)) {
			return true
		}
	}
	return false
}

// isAbout reports whether a benchmark is about a function: it has its name, or is
// a benchmark of its package.
func (in *input) isAbout(b *benchmark, fn *types.Func) bool {
	return nameHas(b.name, fn.Name()) || fn.Pkg() != nil && strings.TrimSuffix(in.pass.Pkg.Path(), "_test") == fn.Pkg().Path()
}
