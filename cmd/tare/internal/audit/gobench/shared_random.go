package gobench

import (
	"go/ast"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
)

// sharedRandom finds random sources that the goroutines of RunParallel share.
func sharedRandom() rule {
	return rule{audit.Rule{
		ID: "shared-random", Severity: tare.Void,
		Title:   "Parallel goroutines share a random source.",
		Why:     "A *rand.Rand is not safe for several goroutines. Its state is raced for, the processors take its cache line from each other, and that is what the benchmark measures.",
		Do:      "make a source in each goroutine, before its loop, with a seed of its own",
		Command: compareRevisions,
	}, func(in *input) {
		in.timedLoops(func(l *loop) {
			if l.kind != byNext {
				return
			}
			lit := l.literal()
			in.inspectTimed(l, func(n ast.Node) bool {
				sel, ok := n.(*ast.SelectorExpr)
				if !ok || !isNamed(in.pass.TypesInfo.TypeOf(sel.X), "math/rand", "Rand") && !isNamed(in.pass.TypesInfo.TypeOf(sel.X), "math/rand/v2", "Rand") {
					return true
				}
				if v := in.variable(sel.X); v != nil && lit != nil && !v.IsField() && (v.Pos() < lit.Pos() || v.Pos() > lit.End()) && !in.isLocked(l) {
					in.report(sel, "%s is a random source that all goroutines share", v.Name())
				}
				return true
			})
		})
	}}
}

// literal returns the function literal that a loop stands in, nil if that is the
// benchmark itself.
func (l *loop) literal() *ast.FuncLit {
	for i := len(l.path) - 1; i >= 0; i-- {
		if lit, ok := l.path[i].(*ast.FuncLit); ok {
			return lit
		}
	}
	return nil
}

// isLocked reports whether a loop takes a lock.
func (in *input) isLocked(l *loop) bool {
	return in.calls(l.body, func(name string) bool { return name == "Lock" })
}
