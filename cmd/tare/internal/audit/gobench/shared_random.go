package gobench

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
	"github.com/tarebench/tare/cmd/tare/internal/audit/gobench/flow"
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
			if l.kind != byNext || in.takesLock(l) {
				return // not a loop of RunParallel, or one whose goroutines use the source in turn
			}
			var function ast.Node = l.owner.node
			if lit := l.literal(); lit != nil {
				function = lit
			}
			in.inspectTimedCalls(l, func(n ast.Node, f *frame) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok {
					return true
				}
				for _, called := range in.flowGraph().Called(call, f.bound) {
					if called.Bound == nil || !isSource(in.pass.TypesInfo.TypeOf(called.Bound)) {
						continue
					}
					v := in.flowGraph().Origin(called.Bound, f.bound)
					// The variables of the functions that the loop calls belong to the goroutine.
					isInside := v == nil || isWithinPos(v.Pos(), function) || in.isLocal(v) && (f.isIn(v.Pos()) || in.callsFunctionAt(function, v.Pos(), f.bound))
					if !isInside {
						in.report(call, "%s is a random source that all goroutines share", v.Name())
					}
				}
				return true
			})
		})
	}}
}

// callsFunctionAt reports whether a goroutine's function calls a function that a position is in, and so has
// the variable that is declared there to itself.
func (in *input) callsFunctionAt(function ast.Node, pos token.Pos, bound flow.Binding) bool {
	for call := range nodesOf[*ast.CallExpr](function) {
		for _, called := range in.flowGraph().Called(call, bound) {
			if called.Node != nil && isWithinPos(pos, called.Node) {
				return true
			}
		}
	}
	return false
}

// isSource reports whether t is a source of random numbers that several goroutines must not use at once.
func isSource(t types.Type) bool {
	return isNamed(t, "math/rand", "Rand", "Zipf") || isNamed(t, "math/rand/v2", "Rand", "Zipf", "PCG", "ChaCha8")
}

// isWithinPos reports whether a position is in the source text of a node.
func isWithinPos(pos token.Pos, n ast.Node) bool { return n.Pos() <= pos && pos < n.End() }

// isIn reports whether a position is in one of the functions that lead to the frame.
func (f *frame) isIn(pos token.Pos) bool {
	for _, c := range f.calls {
		if isWithinPos(pos, c) {
			return true
		}
	}
	return false
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

// takesLock reports whether a loop, or a function of the benchmark that it calls, calls
// something named Lock.
func (in *input) takesLock(l *loop) bool {
	found := false
	in.inspectTimedCalls(l, func(n ast.Node, _ *frame) bool {
		call, ok := n.(*ast.CallExpr)
		found = found || ok && calledName(call) == "Lock"
		return !found
	})
	return found
}
