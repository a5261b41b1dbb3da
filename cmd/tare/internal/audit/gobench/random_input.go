package gobench

import (
	"go/ast"
	"slices"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
)

// This file has the rule random-input. It finds a benchmark whose random inputs differ from run to
// run. Two versions of the code are then measured with different inputs:
//
//	func BenchmarkSort(b *testing.B) {
//		r := rand.New(rand.NewSource(time.Now().UnixNano()))
//		data := r.Perm(1000)
//		for b.Loop() { … }
//	}
//
// The rule searches the benchmark for calls that seed a random source with time.Now.

// randomInput returns the rule random-input.
func randomInput() rule {
	return rule{Rule: audit.Rule{
		ID: "random-input", Severity: tare.Warn,
		Title:   "The inputs differ from run to run.",
		Why:     "A source that is seeded by the clock gives every run other inputs. Two versions of the code then do different work, and if their times differ, the inputs may be the reason.",
		Do:      "seed with a constant",
		Command: compareFull,
		Seen:    []string{"https://github.com/dgraph-io/ristretto/blob/v0.1.1/z/rtutil_test.go#L311"},
	}, find: func(in *input) {
		for _, b := range in.suite.benchmarks {
			for call := range nodesOf[*ast.CallExpr](b.body) {
				fn := in.callee(call)
				isSeeding := isFunc(fn, "math/rand", "NewSource", "Seed") || isFunc(fn, "math/rand/v2", "NewPCG")
				isOwnCall := in.suite.findBenchmark(call) == b
				if isSeeding && isOwnCall && slices.ContainsFunc(call.Args, in.callsNow) {
					in.report(call, "%s is seeded by the clock, so that each run has other inputs", formatExpr(call.Fun))
				}
			}
		}
	}}
}

// callsNow reports whether an expression calls time.Now.
func (in *input) callsNow(e ast.Expr) bool {
	for call := range nodesOf[*ast.CallExpr](e) {
		if isFunc(in.callee(call), "time", "Now") {
			return true
		}
	}
	return false
}
