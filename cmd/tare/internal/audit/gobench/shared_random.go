package gobench

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
	"github.com/tarebench/tare/cmd/tare/internal/audit/gobench/flow"
)

// sharedRandom finds a *rand.Rand that the goroutines of RunParallel share without a lock:
//
//	r := rand.New(rand.NewSource(1))
//	b.RunParallel(func(pb *testing.PB) { for pb.Next() { get(r.Intn(n)) } })
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
				return // not a loop of RunParallel, or only one goroutine at a time uses the source
			}
			function := l.owner.node // the function that each goroutine runs
			if lit := l.innermostLiteral(); lit != nil {
				function = lit
			}
			in.inspectTimedCalls(l, func(n ast.Node, f *frame) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok {
					return true
				}
				for _, called := range in.flowGraph().Called(call, f.binding) {
					if called.Receiver == nil || !isSource(in.pass.TypesInfo.TypeOf(called.Receiver)) {
						continue
					}
					v := in.flowGraph().Origin(called.Receiver, f.binding)
					// Goroutines do not share the local variables of functions that they call.
					isOfCall := in.isLocal(v) && (f.isIn(v.Pos()) || in.callsFunctionAt(function, v.Pos(), f.binding))
					if v != nil && !isWithinPos(v.Pos(), function) && !isOfCall {
						in.report(call, "%s is a random source that all goroutines share", v.Name())
					}
				}
				return true
			})
		})
	}}
}

// callsFunctionAt reports whether the function of a goroutine calls a function that contains the position
// pos. The goroutines then do not share the variable that is declared at pos.
func (in *input) callsFunctionAt(function ast.Node, pos token.Pos, binding flow.Binding) bool {
	for call := range nodesOf[*ast.CallExpr](function) {
		for _, called := range in.flowGraph().Called(call, binding) {
			if called.Node != nil && isWithinPos(pos, called.Node) {
				return true
			}
		}
	}
	return false
}

// isSource reports whether t is a source of random numbers that only one goroutine may use at a time.
func isSource(t types.Type) bool {
	return isNamed(t, "math/rand", "Rand", "Zipf") || isNamed(t, "math/rand/v2", "Rand", "Zipf", "PCG", "ChaCha8")
}

// innermostLiteral returns the innermost function literal of the benchmark around a loop, or nil if the
// loop is directly in the body of the benchmark.
func (l *loop) innermostLiteral() *ast.FuncLit {
	for i := len(l.path) - 1; i >= 0; i-- {
		if lit, ok := l.path[i].(*ast.FuncLit); ok {
			return lit
		}
	}
	return nil
}

// takesLock reports whether a loop, or a function of the benchmark that it calls, calls a function
// named Lock.
func (in *input) takesLock(l *loop) bool {
	found := false
	in.inspectTimedCalls(l, func(n ast.Node, _ *frame) bool {
		call, ok := n.(*ast.CallExpr)
		found = found || ok && calledName(call) == "Lock"
		return !found
	})
	return found
}
