package gobench

import (
	"go/ast"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
)

// This file has the rule parallel-n. It finds a function for RunParallel that ignores its
// *testing.PB. Each goroutine then does its work once, instead of b.N times together:
//
//	func BenchmarkWork(b *testing.B) {
//		b.RunParallel(func(pb *testing.PB) {
//			work() // must be: for pb.Next() { work() }
//		})
//	}
//
// The rule reports a call of RunParallel if its function literal does not use pb.

// parallelN returns the rule parallel-n.
func parallelN() rule {
	return rule{Rule: audit.Rule{
		ID: "parallel-n", Severity: tare.Void,
		Title:   "RunParallel's function does not call pb.Next.",
		Why:     "pb.Next shares b.N iterations among the goroutines. Without it each goroutine does its work once, or b.N times, and the time is divided by b.N: the figure depends on the number of processors.",
		Do:      "repeat the work with for pb.Next() { … }",
		Command: compareRevisions,
	}, find: func(in *input) {
		for _, b := range in.suite.benchmarks {
			for call := range nodesOf[*ast.CallExpr](b.body) {
				if !isMethodCall(in.pass.TypesInfo, call, "testing", "B", "RunParallel") || len(call.Args) != 1 {
					continue
				}
				lit, ok := call.Args[0].(*ast.FuncLit)
				if !ok {
					continue
				}
				pb, _ := paramOf(in.pass.TypesInfo, lit.Type, "PB")
				isUsed := pb != nil && in.usesVariable(lit.Body, pb)
				// The call belongs to the innermost benchmark only.
				if !isUsed && len(lit.Body.List) > 0 && b == in.suite.findBenchmark(call) {
					in.report(call, "the function does not call pb.Next, so the goroutines do not share the iterations")
				}
			}
		}
	}}
}
