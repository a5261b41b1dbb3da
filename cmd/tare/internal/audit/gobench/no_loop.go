package gobench

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
)

// This file has the rule no-loop. It finds a benchmark that does its work only once. The command go
// test still divides the time by b.N, so the result is far too small:
//
//	func BenchmarkParse(b *testing.B) {
//		parse(text)
//	}
//
// The rule reports a benchmark that uses none of b.N, b.Loop, b.Run and b.RunParallel, and does not
// pass b on. It skips benchmarks with ReportMetric, whose metric may be their only purpose.

// noLoop returns the rule no-loop.
func noLoop() rule {
	return rule{Rule: audit.Rule{
		ID: "no-loop", Severity: tare.Void,
		Title:   "The benchmark does not repeat its work b.N times.",
		Why:     "go test divides the time by b.N, whatever was done. Work that is done once is divided by up to a billion: 0.0000012 ns/op.",
		Do:      "repeat the work: for b.Loop() { … }",
		Command: compareRevisions,
		Seen:    []string{"https://github.com/RoaringBitmap/roaring/blob/v1.9.4/benchmark_test.go#L400"},
	}, find: func(in *input) {
		for _, b := range in.suite.benchmarks {
			if len(b.loops) > 0 || b.b == nil || !strings.HasPrefix(b.name, "Benchmark") || !in.isRunByGoTest(b) {
				continue
			}
			if hasCall(b.body, func(name string) bool { return name == "ReportMetric" }) {
				continue
			}
			hasWork := slices.ContainsFunc(b.body.List, func(s ast.Stmt) bool {
				e, ok := s.(*ast.ExprStmt)
				return !ok || !isReporting(e)
			})
			if hasWork && !in.mayRepeat(b) {
				in.report(b.node, "%s has no loop over b.N or b.Loop, so its work is done once", b.name)
			}
		}
	}}
}

// isRunByGoTest reports whether go test runs a benchmark: a declared function, or a function
// literal that b.Run gets.
func (in *input) isRunByGoTest(b *benchmark) bool {
	if b.outer == nil {
		return b.node == ast.Node(b.decl) && b.decl.Recv == nil
	}
	for call := range nodesOf[*ast.CallExpr](b.outer.body) {
		if isMethodCall(in.pass.TypesInfo, call, "testing", "B", "Run") && call.Args[1] == b.node {
			return true
		}
	}
	return false
}

// mayRepeat reports whether a benchmark without a loop may repeat its work in another way.
// Benchmarks that always skip or fail have no work to repeat.
func (in *input) mayRepeat(b *benchmark) bool {
	repeats := false
	inspectPath(b.body, func(n ast.Node, path []ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok || in.pass.TypesInfo.Uses[id] != b.b {
			return true
		}
		if call, ok := parent(path, 1).(*ast.CallExpr); ok && in.takesInterface(call, id) {
			return true // this use of b repeats nothing
		}
		sel, ok := parent(path, 1).(*ast.SelectorExpr)
		switch {
		case !ok || sel.X != ast.Expr(id): // passes b on
			repeats = true
		case isOneOf(sel.Sel.Name, []string{"N", "Loop", "Run", "RunParallel"}):
			repeats = true
		case isOneOf(sel.Sel.Name, []string{"Skip", "Skipf", "SkipNow", "Fatal", "Fatalf", "FailNow"}) && !isConditional(path):
			repeats = true
		}
		return !repeats
	})
	return repeats
}

// takesInterface reports whether a call passes arg as an interface such as testing.TB. The called
// function cannot read b.N then.
func (in *input) takesInterface(call *ast.CallExpr, arg ast.Expr) bool {
	fn := in.callee(call)
	if fn == nil {
		return false
	}
	params := fn.Signature().Params()
	for i, a := range call.Args {
		if a == arg && i < params.Len() {
			param := params.At(i).Type()
			_, isTypeParam := types.Unalias(param).(*types.TypeParam)
			return types.IsInterface(param) && !isTypeParam
		}
	}
	return false
}
