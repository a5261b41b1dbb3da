package gobench

import (
	"go/ast"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
)

// randomInput finds random sources whose seed differs from run to run.
func randomInput() rule {
	return rule{audit.Rule{
		ID: "random-input", Severity: tare.Warn,
		Title:   "The inputs differ from run to run.",
		Why:     "A source that is seeded by the clock gives every run other inputs. Base and head then do different work, and a difference between them may be one of the inputs.",
		Do:      "seed with a constant",
		Command: compareFull,
		Seen:    []string{"https://github.com/dgraph-io/ristretto/blob/v0.1.1/z/rtutil_test.go#L311"},
	}, func(in *input) {
		for _, b := range in.suite.benchmarks {
			ast.Inspect(b.body, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok {
					return true
				}
				fn := in.callee(call)
				seeds := isFunc(fn, "math/rand", "NewSource", "Seed") || isFunc(fn, "math/rand/v2", "NewPCG")
				if seeds && in.suite.findBenchmark(call) == b && in.ofClock(call.Args) {
					in.report(call, "%s is seeded by the clock, so that each run has other inputs", show(call.Fun))
				}
				return true
			})
		}
	}}
}

// ofClock reports whether expressions contain a call of time.Now.
func (in *input) ofClock(args []ast.Expr) bool {
	found := false
	for _, a := range args {
		ast.Inspect(a, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok {
				found = found || isFunc(in.callee(call), "time", "Now")
			}
			return !found
		})
	}
	return found
}
