package gobench

import (
	"go/ast"
	"go/types"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
)

// inputOfN finds inputs whose size is b.N, or the number of the iteration.
func inputOfN() rule {
	return rule{audit.Rule{
		ID: "input-of-n", Severity: tare.Void,
		Title:   "The size of the input grows with b.N.",
		Why:     "go test chooses b.N so that the benchmark takes a second, and expects each iteration to take the same. Where an iteration works on b.N elements, or on as many as there were iterations, ns/op is a mean over sizes that nobody chose, and depends on -benchtime.",
		Do:      "take inputs of fixed sizes, one sub-benchmark each",
		Command: compareRevisions,
	}, func(in *input) {
		in.timedLoops(func(l *loop) {
			if l.kind != overN {
				return
			}
			in.inspectTimed(l, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok {
					return true
				}
				if sized := in.sizedArgument(l, call); sized != nil {
					in.report(call, "each iteration works on %s, which has b.N elements", sized.Name())
				}
				if in.growsWithCounter(l, call) {
					in.report(call, "%s makes an input as large as the iteration's number", show(call))
				}
				return true
			})
		})
	}}
}

// sizedArgument returns the slice if a call gets one that was made with b.N
// elements, else nil.
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

// growsWithCounter reports whether a call makes something as large as the counter
// of a loop.
func (in *input) growsWithCounter(l *loop, call *ast.CallExpr) bool {
	counter := in.counter(l)
	fn := in.callee(call)
	if counter == nil || len(call.Args) < 2 || !isMake(in.pass.TypesInfo, call) && !isFunc(fn, "strings", "Repeat") && !isFunc(fn, "bytes", "Repeat") {
		return false
	}
	return in.variable(stripConversion(in.pass.TypesInfo, call.Args[1])) == counter
}
