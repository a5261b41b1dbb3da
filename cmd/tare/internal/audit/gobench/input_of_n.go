package gobench

import (
	"go/ast"
	"go/types"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
)

// inputOfN finds inputs in loops over b.N whose size is b.N, or the number of the iteration.
func inputOfN() rule {
	return rule{Rule: audit.Rule{
		ID: "input-of-n", Severity: tare.Void,
		Title:   "The size of the input grows with b.N.",
		Why:     "go test chooses b.N so that the benchmark takes a second, and expects each iteration to take the same. Where an iteration works on b.N elements, or on as many as there were iterations, ns/op is a mean over sizes that the author did not choose, and depends on -benchtime.",
		Do:      "take inputs of fixed sizes, one sub-benchmark each",
		Command: compareRevisions,
	}, find: func(in *input) {
		in.eachTimedLoop(func(l *loop) {
			if l.kind != overN {
				return
			}
			inspectTimedNodes(in, l, func(call *ast.CallExpr) {
				if sized := in.sizedArgument(l, call); sized != nil {
					in.report(call, "each iteration works on %s, which has b.N elements", sized.Name())
				}
				if in.growsWithCounter(l, call) {
					in.report(call, "%s makes an input as large as the iteration's number", formatExpr(call))
				}
			})
		})
	}}
}

// sizedArgument returns the first argument of a call that is a slice made with b.N
// elements, or nil without such an argument.
func (in *input) sizedArgument(l *loop, call *ast.CallExpr) *types.Var {
	if in.callee(call) == nil {
		return nil
	}
	for _, a := range call.Args {
		v := in.variable(a)
		if v == nil || !l.owner.sized[v] {
			continue
		}
		if _, ok := v.Type().Underlying().(*types.Slice); ok {
			return v
		}
	}
	return nil
}

// growsWithCounter reports whether a call of make or Repeat makes something as large as
// the counter of a loop.
func (in *input) growsWithCounter(l *loop, call *ast.CallExpr) bool {
	counter := in.counter(l)
	if counter == nil || len(call.Args) < 2 {
		return false
	}
	fn := in.callee(call)
	hasSize := isMake(in.pass.TypesInfo, call) || isFunc(fn, "strings", "Repeat") || isFunc(fn, "bytes", "Repeat")
	if !hasSize {
		return false
	}
	return in.variable(stripConversion(in.pass.TypesInfo, call.Args[1])) == counter
}
