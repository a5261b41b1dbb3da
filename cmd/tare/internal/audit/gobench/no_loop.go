package gobench

import (
	"go/ast"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
)

// noLoop finds benchmarks that do their work once, whatever b.N is.
func noLoop() rule {
	return rule{audit.Rule{
		ID: "no-loop", Severity: tare.Void,
		Title:   "The benchmark does not repeat its work b.N times.",
		Why:     "go test divides the time by b.N, whatever was done. Work that is done once is divided by up to a billion: 0.0000012 ns/op.",
		Do:      "repeat the work: for b.Loop() { … }",
		Command: compareRevisions,
	}, func(in *input) {
		for _, b := range in.suite.benchmarks {
			if len(b.loops) > 0 || b.b == nil || len(b.body.List) == 0 || b.outer == nil && !strings.HasPrefix(b.name, "Benchmark") {
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

// parent returns the node so many levels above the last of a path, nil if there is
// none.
func parent(path []ast.Node, levels int) ast.Node {
	if len(path) <= levels {
		return nil
	}
	return path[len(path)-1-levels]
}
