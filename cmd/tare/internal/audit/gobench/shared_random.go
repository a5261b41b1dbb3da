package gobench

import (
	"cmp"
	"go/ast"
	"go/token"
	"go/types"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
	"github.com/tarebench/tare/cmd/tare/internal/audit/gobench/flow"
)

// This file has the rule shared-random. It finds a benchmark whose goroutines share one source of
// random numbers. They wait for each other's access to it, and the benchmark measures this:
//
//	func BenchmarkGet(b *testing.B) {
//		r := rand.New(rand.NewSource(1))
//		b.RunParallel(func(pb *testing.PB) {
//			for pb.Next() { get(r.Intn(n)) }
//		})
//	}
//
// The rule finds calls in the loop that draw a random number. It reports one whose source is
// declared outside the function of a goroutine. With a lock that protects only the source, it
// reports a warning. A binding has the arguments of the calls that lead to an expression, by
// parameter.

// sharedRandom returns the rule shared-random.
func sharedRandom() rule {
	return rule{Rule: audit.Rule{
		ID: "shared-random", Severity: tare.Void,
		Title:   "Parallel goroutines share a random source.",
		Why:     "A *rand.Rand is not safe for several goroutines. Its state is raced for, the processors take its cache line from each other, and that is what the benchmark measures. Behind a lock they wait for each other, whatever is measured.",
		Do:      "make a source in each goroutine, before its loop, with a seed of its own",
		Command: compareRevisions,
	}, find: func(in *input) {
		in.eachTimedLoop(func(l *loop) {
			if l.kind != byNext {
				return
			}
			takesLock := in.takesLock(l)
			in.inspectTimedDeep(l, func(n ast.Node, f *frame) bool {
				if call, ok := n.(*ast.CallExpr); ok {
					in.reportSharedSource(call, f, takesLock)
				}
				return true
			})
		})
	}}
}

// reportSharedSource reports a call that draws from a source of all goroutines. The frame f has the
// body in which the call is: the loop, or a function of the test files that it calls.
func (in *input) reportSharedSource(call *ast.CallExpr, f *frame, takesLock bool) {
	goroutine := f.loop.owner.node // the function of each goroutine
	if lit := f.loop.innermostLiteral(); lit != nil {
		goroutine = lit
	}
	for _, called := range in.flowGraph().Called(call, f.binding) {
		if called.Receiver == nil || !isSource(in.pass.TypesInfo.TypeOf(called.Receiver)) {
			continue
		}
		name, pos := in.originOf(called.Receiver, f.binding)
		// Goroutines do not share the local variables of functions that they call.
		isOfCall := pos.IsValid() && (f.containsPos(pos) || in.callsFunctionAt(goroutine, pos, f.binding))
		switch {
		case !pos.IsValid() || isPosIn(pos, goroutine) || isOfCall:
			// Each goroutine has its own.
		case !takesLock:
			in.report(call, "%s is a random source that all goroutines share", name)
		case in.locksOnlyFor(f.body, call) && !containsWord(f.loop.owner.name, "rand"):
			in.reportAs(tare.Warn, cmp.Or(f.site, call), "all goroutines wait for the lock around %s, a random source that they share", formatExpr(called.Receiver))
		}
	}
}

// originOf returns the name and position of the variable that an expression selects from, such as
// load for load.next. For newLoad().next it returns those of the call. For other expressions the
// position is invalid.
func (in *input) originOf(e ast.Expr, binding flow.Binding) (name string, pos token.Pos) {
	if v := in.flowGraph().Origin(e, binding); v != nil {
		return v.Name(), v.Pos()
	}
	if call, ok := in.flowGraph().Base(e, binding).(*ast.CallExpr); ok {
		return formatExpr(e), call.Pos()
	}
	return "", token.NoPos
}

// callsFunctionAt reports whether a function calls another one, in which pos is. A variable
// declared there is not shared.
func (in *input) callsFunctionAt(function ast.Node, pos token.Pos, binding flow.Binding) bool {
	for call := range nodesOf[*ast.CallExpr](function) {
		for _, called := range in.flowGraph().Called(call, binding) {
			if called.Node != nil && isPosIn(pos, called.Node) {
				return true
			}
		}
	}
	return false
}

// isSource reports whether t is a random source that only one goroutine may use at a time.
func isSource(t types.Type) bool {
	return isNamed(t, "math/rand", "Rand", "Zipf") || isNamed(t, "math/rand/v2", "Rand", "Zipf", "PCG", "ChaCha8")
}

// innermostLiteral returns the innermost function literal around a loop, or nil.
func (l *loop) innermostLiteral() *ast.FuncLit {
	for i := len(l.path) - 1; i >= 0; i-- {
		if lit, ok := l.path[i].(*ast.FuncLit); ok {
			return lit
		}
	}
	return nil
}

// locksOnlyFor reports whether a lock is held around the random number draw, and for nothing else.
func (in *input) locksOnlyFor(body *ast.BlockStmt, draw *ast.CallExpr) bool {
	isLocked, isOnly, isAround := false, true, false
	ast.Inspect(body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || in.pass.TypesInfo.Types[call.Fun].IsType() || in.pass.TypesInfo.Types[call.Fun].IsBuiltin() {
			return true
		}
		fn := in.callee(call)
		switch isDraw := fn != nil && fn.Signature().Recv() != nil && isSource(fn.Signature().Recv().Type()); {
		case calledName(call) == "Lock":
			isLocked = true
		case calledName(call) == "Unlock":
			_, isDeferred := parent(pathTo(body, call), 1).(*ast.DeferStmt)
			isLocked = isLocked && isDeferred
		case isLocked:
			isOnly = isOnly && isDraw
			isAround = isAround || call == draw
		}
		return true
	})
	return isAround && isOnly
}

// takesLock reports whether a loop, or a function of the test files that it calls, calls Lock.
func (in *input) takesLock(l *loop) bool {
	found := false
	in.inspectTimedDeep(l, func(n ast.Node, _ *frame) bool {
		call, ok := n.(*ast.CallExpr)
		found = found || ok && calledName(call) == "Lock"
		return !found
	})
	return found
}
