package gobench

import (
	"go/ast"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
)

// pausedInLoop finds StopTimer in a loop.
func pausedInLoop() rule {
	return rule{audit.Rule{
		ID: "paused-in-loop", Severity: tare.Note,
		Title:   "The timer is stopped and started in each iteration.",
		Why:     "Each stop reads the statistics of memory, which stops all goroutines and takes tens of microseconds that go test does not count when it chooses b.N, and the first instructions after it run with cold caches. Operations below some microseconds look slower than they are, and the benchmark runs far longer than it says.",
		Do:      "prepare the inputs before the loop, or time a batch of operations in each iteration",
		Command: compareRevisions,
		Seen:    []string{"https://github.com/golang/go/issues/27217"},
	}, func(in *input) {
		for _, b := range in.suite.benchmarks {
			for _, l := range b.loops {
				first := true
				inspectPath(l.body, func(n ast.Node, path []ast.Node) bool {
					s, ok := n.(ast.Stmt)
					if ok && first && timerCall(in.pass.TypesInfo, s) == "StopTimer" && !isConditional(path) && l.innermost(n) {
						first = false
						in.report(s, "b.StopTimer runs in each iteration")
					}
					return true
				})
			}
		}
	}}
}

// isConditional reports whether the last node of a path runs in some iterations
// only.
func isConditional(path []ast.Node) bool {
	for _, n := range path {
		switch n.(type) {
		case *ast.IfStmt, *ast.CaseClause, *ast.FuncLit:
			return true
		}
	}
	return false
}

// innermost reports whether no other loop over iterations is between l and a node.
func (l *loop) innermost(n ast.Node) bool {
	for _, other := range l.owner.loops {
		if other != l && other.node.Pos() > l.node.Pos() && other.node.Pos() <= n.Pos() && n.Pos() < other.node.End() {
			return false
		}
	}
	return true
}
