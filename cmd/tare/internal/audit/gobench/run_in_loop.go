package gobench

import (
	"go/ast"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
)

// This file has the rule run-in-loop. It finds a benchmark that calls b.Run in a loop over its own
// iterations. The sub-benchmark runs again and again, and the benchmark has no result:
//
//	func BenchmarkAll(b *testing.B) {
//		for range b.N {
//			b.Run("parse", benchmarkParse)
//		}
//	}
//
// The rule searches the loop for calls of Run. The sub-benchmarks in it have a b of their own, so
// their loops are no part of it.

// runInLoop returns the rule run-in-loop.
func runInLoop() rule {
	return rule{Rule: audit.Rule{
		ID: "run-in-loop", Severity: tare.Void,
		Title:   "b.Run is called in a loop over b.N.",
		Why:     "A benchmark with sub-benchmarks runs once, with b.N = 1, and has no figure of its own. With b.Loop it runs each sub-benchmark again and again, under one more name each time.",
		Do:      "put the loop into the function that b.Run gets",
		Command: compareRevisions,
	}, find: func(in *input) {
		for _, b := range in.suite.benchmarks {
			for _, l := range b.loops {
				for call := range nodesOf[*ast.CallExpr](l.body) {
					// The b.Run of a sub-benchmark belongs to another b.
					if isMethodCall(in.pass.TypesInfo, call, "testing", "B", "Run") && in.suite.findBenchmark(call) == b {
						in.report(call, "b.Run is called in a loop over the iterations")
					}
				}
			}
		}
	}}
}
