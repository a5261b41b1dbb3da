package gobench

import (
	"go/ast"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
)

// This file has the rule defer-in-loop. It finds a benchmark that defers a call in each iteration.
// All b.N calls run after the last iteration, and the files stay open until then:
//
//	func BenchmarkRead(b *testing.B) {
//		for range b.N {
//			f, _ := os.Open(name)
//			defer f.Close()
//			read(f)
//		}
//	}
//
// The rule searches the loop for defer statements. It skips those in a function literal, because
// this returns in the same iteration.

// deferInLoop returns the rule defer-in-loop.
func deferInLoop() rule {
	return rule{Rule: audit.Rule{
		ID: "defer-in-loop", Severity: tare.Warn,
		Title:   "The loop defers a call in each iteration.",
		Why:     "Deferred calls run when the benchmark returns, not at the end of an iteration: b.N of them pile up, what they would close stays open, and their time and memory count for the complete run.",
		Do:      "call it at the end of the iteration",
		Command: compareRevisions,
		Seen:    []string{"https://github.com/grpc/grpc-go/blob/v1.85.0/metadata/metadata_test.go#L446"},
	}, find: func(in *input) {
		in.eachTimedLoop(func(l *loop) {
			inspectTimedNodes(in, l, func(d *ast.DeferStmt) {
				if !isInLiteral(l, d) && !containsWord(l.owner.name, "defer") {
					in.report(d, "%s is deferred in each iteration, and runs after all of them", formatExpr(d.Call.Fun))
				}
			})
		})
	}}
}

// isInLiteral reports whether a function literal in a loop contains a node.
func isInLiteral(l *loop, node ast.Node) bool {
	return hasNode(l.body, func(lit *ast.FuncLit) bool { return isNodeIn(node, lit) })
}
