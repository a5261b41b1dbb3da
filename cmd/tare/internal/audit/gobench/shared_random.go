package gobench

import (
	"go/ast"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
)

// sharedRandom finds a *rand.Rand that the goroutines of RunParallel share: the function
// that RunParallel gets uses it in its loop, without a lock, and does not declare it.
func sharedRandom() rule {
	return rule{Rule: audit.Rule{
		ID: "shared-random", Severity: tare.Void,
		Title:   "Parallel goroutines share a random source.",
		Why:     "A *rand.Rand is not safe for several goroutines. Its state is raced for, the processors take its cache line from each other, and that is what the benchmark measures.",
		Do:      "make a source in each goroutine, before its loop, with a seed of its own",
		Command: compareRevisions,
	}, find: func(in *input) {
		in.eachTimedLoop(func(l *loop) {
			lit := l.literal()
			if l.kind != byNext || lit == nil || in.takesLock(l) {
				return // not a loop of RunParallel, or one whose goroutines use the source in turn
			}
			inspectTimedNodes(in, l, func(sel *ast.SelectorExpr) {
				v := in.variable(sel.X)
				if v == nil || v.IsField() || !isRand(in.pass.TypesInfo.TypeOf(sel.X)) {
					return
				}
				isDeclaredOutside := v.Pos() < lit.Pos() || v.Pos() > lit.End()
				if isDeclaredOutside {
					in.report(sel, "%s is a random source that all goroutines share", v.Name())
				}
			})
		})
	}}
}

// literal returns the innermost function literal of the benchmark around a loop, nil if
// the loop is directly in the body of the benchmark.
func (l *loop) literal() *ast.FuncLit {
	for i := len(l.path) - 1; i >= 0; i-- {
		if lit, ok := l.path[i].(*ast.FuncLit); ok {
			return lit
		}
	}
	return nil
}

// takesLock reports whether a loop calls something named Lock.
func (in *input) takesLock(l *loop) bool {
	return in.hasCall(l.body, func(name string) bool { return name == "Lock" })
}
