package gobench

import (
	"go/ast"
	"slices"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
)

// This file has the rule loop-mixed. It finds a benchmark with b.Loop that also uses b.N. Before
// the loop ends, b.N is not the number of iterations:
//
//	func BenchmarkSum(b *testing.B) {
//		data := make([]int, b.N) // b.N is 0 or 1
//		for b.Loop() {
//			sum(data)
//		}
//	}
//
// The rule searches the benchmark for b.N before the end of its first loop by b.Loop. It also
// reports a function with b.N that this loop calls.

// loopMixed returns the rule loop-mixed.
func loopMixed() rule {
	return rule{Rule: audit.Rule{
		ID: "loop-mixed", Severity: tare.Void,
		Title:   "The benchmark uses both b.Loop and b.N.",
		Why:     "With b.Loop the function runs once and b.N is only known when the loop ends: before, it is 0 or 1. Inputs made for b.N iterations are too few, and a loop over b.N next to it runs once or not at all.",
		Do:      "take b.Loop or b.N, not both; after a loop over b.Loop, b.N is the number of its iterations",
		Command: compareRevisions,
		Seen:    []string{"https://pkg.go.dev/testing#B.Loop"},
	}, find: func(in *input) {
		for _, b := range in.suite.benchmarks {
			first := slices.IndexFunc(b.loops, func(l *loop) bool { return l.kind == byLoop })
			if first < 0 {
				continue
			}
			in.reportCalleesOfN(b.loops[first])
			loopEnd := b.loops[first].node.End()
			ast.Inspect(b.body, func(n ast.Node) bool {
				sel, ok := n.(*ast.SelectorExpr)
				if ok && in.isDirectN(sel) && (sel.Pos() < loopEnd || isInLoopHead(b, sel)) {
					in.report(sel, "b.N is used in a benchmark with b.Loop, and is not the number of iterations before the loop ends")
				}
				_, isLiteral := n.(*ast.FuncLit)
				return !isLiteral
			})
		}
	}}
}

// isDirectN reports whether a selector is b.N of a testing.B, not of a struct that embeds one.
func (in *input) isDirectN(sel *ast.SelectorExpr) bool {
	return sel.Sel.Name == "N" && isNamed(in.pass.TypesInfo.TypeOf(sel.X), "testing", "B")
}

// reportCalleesOfN reports calls f(b) in a loop by b.Loop if f uses b.N.
func (in *input) reportCalleesOfN(l *loop) {
	for call := range nodesOf[*ast.CallExpr](l.body) {
		for _, a := range call.Args {
			if !isNamed(in.pass.TypesInfo.TypeOf(a), "testing", "B") {
				continue
			}
			for _, f := range in.flowGraph().Called(call, nil) {
				if f.Body != nil && in.containsN(f.Body) {
					in.report(call, "%s uses b.N in a loop over b.Loop, where it is not the number of its iterations", formatExpr(call.Fun))
				}
			}
		}
	}
}

// containsN reports whether a body uses b.N.
func (in *input) containsN(body ast.Node) bool {
	for sel := range nodesOf[*ast.SelectorExpr](body) {
		if in.isDirectN(sel) {
			return true
		}
	}
	return false
}

// isInLoopHead reports whether n is in the head of a loop over b.N, as in for range b.N.
func isInLoopHead(b *benchmark, n ast.Node) bool {
	return slices.ContainsFunc(b.loops, func(l *loop) bool {
		return l.kind == overN && l.node.Pos() <= n.Pos() && n.Pos() < l.body.Pos()
	})
}
