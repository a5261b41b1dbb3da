package gobench

import (
	"go/ast"
	"go/types"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
)

// inputSorted finds sorts of the same slice in each iteration: all but the first
// sort what is sorted.
func inputSorted() rule {
	return rule{audit.Rule{
		ID: "input-sorted", Severity: tare.Void,
		Title:   "The same slice is sorted in each iteration.",
		Why:     "Only the first iteration sorts; the others find a sorted slice, which most algorithms pass over in one run. The figure is that of sorted input.",
		Do:      "copy the input into a second slice in each iteration, and sort that one",
		Command: compareRevisions,
	}, func(in *input) {
		in.timedCalls(func(l *loop, call *ast.CallExpr, fn *types.Func) {
			if !isFunc(fn, "sort", "Sort", "Stable", "Slice", "SliceStable", "Ints", "Strings", "Float64s") && !isFunc(fn, "slices", "Sort", "SortFunc", "SortStableFunc") {
				return
			}
			v := in.variable(stripConversion(in.pass.TypesInfo, call.Args[0]))
			if v == nil || !in.isOutside(v, l) || !in.isLocal(v) || nameHas(l.owner.name, "sorted") || in.isRefilled(l, v, call) {
				return
			}
			in.report(call, "%s sorts %s in each iteration, and it is sorted after the first", show(call.Fun), v.Name())
		})
	}}
}

// stripConversion returns what an expression converts, e.g. the slice in
// sort.IntSlice(s), or the expression itself.
func stripConversion(info *types.Info, e ast.Expr) ast.Expr {
	for {
		call, ok := ast.Unparen(e).(*ast.CallExpr)
		if !ok || len(call.Args) != 1 || !info.Types[call.Fun].IsType() {
			return e
		}
		e = call.Args[0]
	}
}

// isRefilled reports whether a loop may change a slice besides sorting it: it is
// assigned to, or used by anything but the sort and len.
func (in *input) isRefilled(l *loop, v *types.Var, sort *ast.CallExpr) bool {
	refilled := false
	in.uses(l.node, v, func(id *ast.Ident, path []ast.Node) {
		if sort.Pos() <= id.Pos() && id.Pos() < sort.End() {
			return
		}
		if call, ok := parent(path, 1).(*ast.CallExpr); ok && isBuiltin(in.pass.TypesInfo, call, "len") {
			return
		}
		refilled = true
	})
	return refilled
}
