package gobench

import (
	"fmt"
	"go/ast"
	"slices"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
	"github.com/tarebench/tare/internal/format"
)

// pausedInLoop finds StopTimer in each iteration of a loop. It reports the first such
// loop of a file, with the number of the others.
func pausedInLoop() rule {
	return rule{Rule: audit.Rule{
		ID: "paused-in-loop", Severity: tare.Note,
		Title:   "The timer is stopped and started in each iteration.",
		Why:     "Each stop reads the statistics of memory, which stops all goroutines and takes tens of microseconds that go test does not count when it chooses b.N, and the first instructions after it run with cold caches. Operations below some microseconds look slower than they are, and the benchmark runs far longer than it says.",
		Do:      "prepare the inputs before the loop, or time a batch of operations in each iteration",
		Command: compareRevisions,
		Seen:    []string{"https://go.dev/issue/20875"},
	}, find: func(in *input) {
		paused := map[string][]ast.Node{} // by file
		for _, b := range in.suite.benchmarks {
			for _, l := range b.loops {
				if n := in.findPause(l); n != nil && !in.reportsTime(b) {
					file := in.pass.Fset.Position(n.Pos()).Filename
					paused[file] = append(paused[file], n)
				}
			}
		}
		for _, nodes := range paused {
			others := ""
			if len(nodes) > 1 {
				others = fmt.Sprintf(" (and in %s in this file)", format.Count(len(nodes)-1, "other loop"))
			}
			in.report(nodes[0], "b.StopTimer runs in each iteration%s", others)
		}
	}}
}

// findPause returns the first StopTimer that runs in each iteration of a loop, or
// nil without such a call.
func (in *input) findPause(l *loop) ast.Node {
	var first ast.Node
	inspectPath(l.body, func(n ast.Node, path []ast.Node) bool {
		s, ok := n.(ast.Stmt)
		if ok && first == nil && timerCall(in.pass.TypesInfo, s) == "StopTimer" && !isConditional(path) && l.isInnermost(n) {
			first = s
		}
		return first == nil
	})
	return first
}

// reportsTime reports whether a benchmark sets ns/op itself, by b.ReportMetric(value,
// "ns/op"), so that the timer does not matter.
func (in *input) reportsTime(b *benchmark) bool {
	for call := range nodesOf[*ast.CallExpr](b.body) {
		isReport := isMethod(in.pass.TypesInfo, call, "testing", "B", "ReportMetric") && len(call.Args) == 2
		if isReport && formatExpr(call.Args[1]) == `"ns/op"` {
			return true
		}
	}
	return false
}

// isConditional reports whether the last node of a path may not run in each iteration:
// it is in an if statement, a case or a function literal.
func isConditional(path []ast.Node) bool {
	for _, n := range path {
		switch n.(type) {
		case *ast.IfStmt, *ast.CaseClause, *ast.FuncLit:
			return true
		}
	}
	return false
}

// isInnermost reports whether no other loop over iterations is between l and a node within l.
func (l *loop) isInnermost(n ast.Node) bool {
	return !slices.ContainsFunc(l.owner.loops, func(other *loop) bool {
		return other != l && other.node.Pos() > l.node.Pos() && isWithin(n, other.node)
	})
}
