package gobench

import (
	"go/ast"
	"go/token"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
)

// This file has the rule bytes-of-n. It finds a benchmark that gives SetBytes the bytes of all
// iterations instead of one. MB/s is then too high:
//
//	func BenchmarkEncode(b *testing.B) {
//		b.SetBytes(int64(len(data) * b.N)) // must be int64(len(data))
//		for range b.N {
//			encode(data)
//		}
//	}
//
// The rule reads the argument of each call of b.SetBytes, and reports one that contains b.N. It
// permits b.N in a division such as total/b.N, which gives the bytes of one iteration.

// bytesOfN returns the rule bytes-of-n.
func bytesOfN() rule {
	return rule{Rule: audit.Rule{
		ID: "bytes-of-n", Severity: tare.Void,
		Title:   "SetBytes is given the bytes of all iterations.",
		Why:     "SetBytes takes the bytes of one iteration, and go test multiplies by b.N. With b.N in it, MB/s grows with the number of iterations.",
		Do:      "give SetBytes the bytes of one iteration",
		Command: compareRevisions,
	}, find: func(in *input) {
		for _, b := range in.suite.benchmarks {
			for call := range nodesOf[*ast.CallExpr](b.body) {
				isSetBytes := isMethodCall(in.pass.TypesInfo, call, "testing", "B", "SetBytes") && len(call.Args) == 1
				isOfSubBenchmark := in.suite.findBenchmark(call) != b // reported with that one
				if isSetBytes && !isOfSubBenchmark && in.multipliesByN(call.Args[0]) {
					in.report(call, "b.SetBytes gets %s, which is not the bytes of one iteration", formatExpr(call.Args[0]))
				}
			}
		}
	}}
}

// multipliesByN reports whether an expression contains b.N outside of divisions.
func (in *input) multipliesByN(e ast.Expr) bool {
	hasN := false
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BinaryExpr:
			return n.Op != token.QUO // skip what is below a division
		case *ast.SelectorExpr:
			hasN = hasN || in.isDirectN(n)
		}
		return !hasN
	})
	return hasN
}
