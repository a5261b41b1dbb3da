package gobench

import (
	"go/ast"
	"go/types"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
)

// noLoop finds benchmarks that do their work once, whatever b.N is. One that
// reports a metric may be there for that alone.
func noLoop() rule {
	return rule{audit.Rule{
		ID: "no-loop", Severity: tare.Void,
		Title:   "The benchmark does not repeat its work b.N times.",
		Why:     "go test divides the time by b.N, whatever was done. Work that is done once is divided by up to a billion: 0.0000012 ns/op.",
		Do:      "repeat the work: for b.Loop() { … }",
		Command: compareRevisions,
		Seen:    []string{"https://github.com/RoaringBitmap/roaring/blob/v1.9.4/benchmark_test.go#L400"},
	}, func(in *input) {
		for _, b := range in.suite.benchmarks {
			if len(b.loops) > 0 || b.b == nil || len(b.body.List) == 0 || !strings.HasPrefix(b.name, "Benchmark") || !in.isRun(b) || in.calls(b.body, func(name string) bool { return name == "ReportMetric" }) {
				continue
			}
			works := false
			for _, s := range b.body.List {
				e, ok := s.(*ast.ExprStmt)
				works = works || !ok || !isReporting(e)
			}
			if works && !in.passesOn(b) {
				in.report(b.node, "%s has no loop over b.N or b.Loop, so its work is done once", b.name)
			}
		}
	}}
}

// isRun reports whether go test runs a benchmark: it is declared as one, or is the
// argument of b.Run.
func (in *input) isRun(b *benchmark) bool {
	if b.outer == nil {
		return b.node == ast.Node(b.decl) && b.decl.Recv == nil
	}
	run := false
	ast.Inspect(b.outer.body, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && isMethod(in.pass.TypesInfo, call, "testing", "B", "Run") && call.Args[1] == b.node {
			run = true
		}
		return !run
	})
	return run
}

// passesOn reports whether a benchmark may repeat its work by other means than a
// loop of its own: b is an argument or a value, b.N or b.Loop is used, there are
// parallel or other benchmarks in it, or it skips or fails itself.
func (in *input) passesOn(b *benchmark) bool {
	passes := false
	inspectPath(b.body, func(n ast.Node, path []ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok || in.pass.TypesInfo.Uses[id] != b.b {
			return true
		}
		if call, ok := parent(path, 1).(*ast.CallExpr); ok && in.takesInterface(call, id) {
			return true
		}
		sel, ok := parent(path, 1).(*ast.SelectorExpr)
		if !ok || sel.X != ast.Expr(id) || hasName(sel.Sel.Name, []string{"N", "Loop", "Run", "RunParallel", "Skip", "Skipf", "SkipNow", "Fatal", "Fatalf", "FailNow"}) && !isConditional(path) {
			passes = true
		}
		if ok && hasName(sel.Sel.Name, []string{"N", "Loop", "Run", "RunParallel"}) {
			passes = true
		}
		return !passes
	})
	return passes
}

// takesInterface reports whether an argument of a call becomes an interface, such
// as testing.TB, which has no b.N.
func (in *input) takesInterface(call *ast.CallExpr, arg ast.Expr) bool {
	fn := in.callee(call)
	if fn == nil {
		return false
	}
	params := fn.Signature().Params()
	for i, a := range call.Args {
		if a == arg && i < params.Len() {
			_, generic := types.Unalias(params.At(i).Type()).(*types.TypeParam)
			return types.IsInterface(params.At(i).Type()) && !generic
		}
	}
	return false
}

// parent returns the node so many levels above the last of a path, nil if there is
// none.
func parent(path []ast.Node, levels int) ast.Node {
	if len(path) <= levels {
		return nil
	}
	return path[len(path)-1-levels]
}
