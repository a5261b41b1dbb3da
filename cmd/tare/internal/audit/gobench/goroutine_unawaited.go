package gobench

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
)

// This file has the rule goroutine-unawaited. It finds a benchmark that starts goroutines and does
// not wait for them. It measures only how long starting takes:
//
//	func BenchmarkSend(b *testing.B) {
//		for b.Loop() {
//			go send(message)
//		}
//	}
//
// The rule searches the loop for go statements. It skips a benchmark with anything that may wait,
// such as a channel, a lock or a call named Wait.

// goroutineUnawaited returns the rule goroutine-unawaited.
func goroutineUnawaited() rule {
	return rule{Rule: audit.Rule{
		ID: "goroutine-unawaited", Severity: tare.Void,
		Title:   "The loop starts goroutines that nothing waits for.",
		Why:     "The figure is that of starting them. Their work runs in parallel to the timer, after it, or never, and slows down what is measured next.",
		Do:      "wait for them before the timer stops, e.g. by a sync.WaitGroup",
		Command: compareRevisions,
	}, find: func(in *input) {
		in.eachTimedLoop(func(l *loop) {
			if in.mayWait(l.owner.decl) {
				return
			}
			inspectTimedNodes(in, l, func(g *ast.GoStmt) {
				in.report(g, "the loop starts a goroutine in each iteration, and nothing in the benchmark waits for it")
			})
		})
	}}
}

// mayWait reports whether root may wait for another goroutine. A lock or a call such as Close may
// do so.
func (in *input) mayWait(root ast.Node) bool {
	found := hasCall(root, func(name string) bool {
		return containsWord(name, "wait", "join", "sleep", "gosched", "lock", "close", "stop", "acquire")
	})
	ast.Inspect(root, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectStmt:
			found = true
		case *ast.UnaryExpr:
			found = found || n.Op == token.ARROW
		case *ast.RangeStmt:
			if t := in.pass.TypesInfo.TypeOf(n.X); t != nil {
				_, isChan := t.Underlying().(*types.Chan)
				found = found || isChan
			}
		}
		return !found
	})
	return found
}
