package gobench

import (
	"go/ast"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
)

// loopMixed finds benchmarks that use b.N before or in a loop over b.Loop, where
// it is not yet the number of iterations.
func loopMixed() rule {
	return rule{audit.Rule{
		ID: "loop-mixed", Severity: tare.Void,
		Title:   "The benchmark uses both b.Loop and b.N.",
		Why:     "With b.Loop the function runs once and b.N is only known when the loop ends: before, it is 0 or 1. Inputs made for b.N iterations are too few, and a loop over b.N beside it runs once or not at all.",
		Do:      "take b.Loop or b.N, not both; after a loop over b.Loop, b.N is the number of its iterations",
		Command: compareRevisions,
		Seen:    []string{"https://pkg.go.dev/testing#B.Loop"},
	}, func(in *input) {
		for _, b := range in.suite.benchmarks {
			var byCall *loop
			for _, l := range b.loops {
				if l.kind == byLoop && byCall == nil {
					byCall = l
				}
			}
			if byCall == nil {
				continue
			}
			ast.Inspect(b.body, func(n ast.Node) bool {
				sel, ok := n.(*ast.SelectorExpr)
				if ok && sel.Sel.Name == "N" && isNamed(in.pass.TypesInfo.TypeOf(sel.X), "testing", "B") && (sel.Pos() < byCall.node.End() || loopsOver(b, sel)) {
					in.report(sel, "b.N is used beside b.Loop, before it is the number of iterations")
				}
				_, lit := n.(*ast.FuncLit)
				return !lit
			})
		}
	}}
}

// loopsOver reports whether a loop over b.N ends by a node.
func loopsOver(b *benchmark, n ast.Node) bool {
	for _, l := range b.loops {
		if l.kind == overN && l.node.Pos() <= n.Pos() && n.Pos() < l.body.Pos() {
			return true
		}
	}
	return false
}
