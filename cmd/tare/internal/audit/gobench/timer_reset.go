package gobench

import (
	"go/ast"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
)

// This file has the rule reset-in-loop. It finds a benchmark that resets the timer in its loop or
// after it. The reset forgets the time of the iterations before:
//
//	func BenchmarkParse(b *testing.B) {
//		for range b.N {
//			data := prepare()
//			b.ResetTimer()
//			parse(data)
//		}
//	}
//
// The rule searches the loops and the statements after them for calls of ResetTimer. After a loop
// it allows a reset that more work follows.

// resetInLoop returns the rule reset-in-loop.
func resetInLoop() rule {
	return rule{Rule: audit.Rule{
		ID: "reset-in-loop", Severity: tare.Void,
		Title:   "The timer is reset in the loop or after it.",
		Why:     "ResetTimer forgets the time so far. In the loop the figure is the time of the last iteration divided by all iterations; after the loop it is almost zero.",
		Do:      "call ResetTimer once, between the preparation and the loop, or write for b.Loop()",
		Command: compareRevisions,
		Seen:    []string{"https://github.com/golang/go/issues/61515"},
	}, find: func(in *input) {
		for _, b := range in.suite.benchmarks {
			for _, l := range b.loops {
				if l.kind == byNext {
					continue // package testing forbids ResetTimer here
				}
				ast.Inspect(l.body, func(n ast.Node) bool {
					s, ok := n.(ast.Stmt)
					if ok && timerCall(in.pass.TypesInfo, s) == "ResetTimer" {
						in.report(s, "b.ResetTimer in the loop forgets the iterations before")
					}
					_, isLiteral := n.(*ast.FuncLit)
					return !isLiteral
				})
			}
			last := b.mainLoop()
			if last == nil || last.kind != overN {
				continue
			}
			for _, s := range b.body.List {
				if s.Pos() > last.node.End() && timerCall(in.pass.TypesInfo, s) == "ResetTimer" && !hasWorkAfter(b, s) {
					in.report(s, "b.ResetTimer after the loop forgets all iterations")
				}
			}
		}
	}}
}

// hasWorkAfter reports whether a statement that may take time follows the statement reset.
func hasWorkAfter(b *benchmark, reset ast.Stmt) bool {
	for _, s := range b.body.List {
		if s.Pos() <= reset.Pos() {
			continue
		}
		e, isExpr := s.(*ast.ExprStmt)
		if !isExpr || !isReporting(e) {
			return true
		}
	}
	return false
}

// isReporting reports whether a statement only reports, logs or stops the timer. It takes almost no
// time.
func isReporting(s *ast.ExprStmt) bool {
	call, ok := s.X.(*ast.CallExpr)
	return ok && isOneOf(calledName(call), []string{"ReportMetric", "ReportAllocs", "SetBytes", "Log", "Logf", "StopTimer"})
}
