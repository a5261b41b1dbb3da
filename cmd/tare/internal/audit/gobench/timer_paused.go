package gobench

import (
	"fmt"
	"go/ast"
	"slices"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
	"github.com/tarebench/tare/cmd/tare/internal/audit/gobench/flow"
	"github.com/tarebench/tare/internal/format"
)

// This file has the rule paused-in-loop. It finds a benchmark that stops the timer in each
// iteration. Stopping takes tens of microseconds that go test does not see, and the next code runs
// with cold caches:
//
//	func BenchmarkUse(b *testing.B) {
//		for range b.N {
//			b.StopTimer()
//			v := prepare()
//			b.StartTimer()
//			use(v)
//		}
//	}
//
// The rule searches the loop for calls that always stop the timer, themselves or in a function of
// the test files. It reports the first loop of a file and counts the others. A binding has the
// arguments of the calls that lead to an expression, by parameter.

// pausedInLoop returns the rule paused-in-loop.
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
			in.report(nodes[0], "%s runs in each iteration%s", in.describePause(nodes[0]), others)
		}
	}}
}

// findPause returns the first call that stops the timer in each iteration, or nil.
func (in *input) findPause(l *loop) ast.Node {
	var first ast.Node
	inspectPath(l.body, func(n ast.Node, path []ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if ok && first == nil && !isConditional(path) && l.isInnermost(n) && in.stopsTimer(call, nil, 0) {
			first = call
		}
		return first == nil
	})
	return first
}

// stopsTimer reports whether a call always runs StopTimer, itself or in a function of the test
// files. The depth counts the calls around it.
func (in *input) stopsTimer(call *ast.CallExpr, binding flow.Binding, depth int) bool {
	for _, f := range in.flowGraph().Called(call, binding) {
		if timerMethod(f.Object) == "StopTimer" {
			return true
		}
		if f.Body == nil || depth == maxTimedDepth || !in.isTestCode(f.Node) {
			continue
		}
		found := false
		inner := in.flowGraph().Bind(call, f)
		inspectPath(f.Body, func(n ast.Node, path []ast.Node) bool {
			c, ok := n.(*ast.CallExpr)
			found = found || ok && !isConditional(path) && in.stopsTimer(c, inner, depth+1)
			return !found
		})
		if found {
			return true
		}
	}
	return false
}

// describePause returns the subject of a finding: "b.StopTimer", and the function that calls it.
func (in *input) describePause(n ast.Node) string {
	call := n.(*ast.CallExpr)
	if timerMethod(in.callee(call)) != "" {
		return "b.StopTimer"
	}
	return "b.StopTimer, which " + formatExpr(call.Fun) + " calls,"
}

// reportsTime reports whether a benchmark replaces ns/op by b.ReportMetric. The timer does not
// matter then.
func (in *input) reportsTime(b *benchmark) bool {
	return hasNode(b.body, func(call *ast.CallExpr) bool {
		isReport := isMethodCall(in.pass.TypesInfo, call, "testing", "B", "ReportMetric") && len(call.Args) == 2
		return isReport && formatExpr(call.Args[1]) == `"ns/op"`
	})
}

// isInnermost reports whether l is the innermost loop around n.
func (l *loop) isInnermost(n ast.Node) bool {
	return !slices.ContainsFunc(l.owner.loops, func(other *loop) bool {
		return other != l && other.node.Pos() > l.node.Pos() && isNodeIn(n, other.node)
	})
}
