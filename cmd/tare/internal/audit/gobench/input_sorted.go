package gobench

import (
	"go/ast"
	"go/types"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
)

// This file has the rule input-sorted. It finds a benchmark that sorts the same slice in each
// iteration. From the second iteration on the slice is already sorted:
//
//	func BenchmarkSort(b *testing.B) {
//		s := randomInts(1000)
//		for range b.N {
//			sort.Ints(s)
//		}
//	}
//
// The rule searches the loop for functions of the packages sort and slices that sort. It reports
// such a call if the slice is from before the loop, and no other use in the loop may change it.

// inputSorted returns the rule input-sorted.
func inputSorted() rule {
	return rule{Rule: audit.Rule{
		ID: "input-sorted", Severity: tare.Void,
		Title:   "The same slice is sorted in each iteration.",
		Why:     "Only the first iteration sorts; the others find a sorted slice, which most algorithms pass over in one run. The figure is that of sorted input.",
		Do:      "copy the input into a second slice in each iteration, and sort that one",
		Command: compareRevisions,
	}, find: func(in *input) {
		in.eachTimedCall(func(l *loop, call *ast.CallExpr, fn *types.Func) {
			isSort := isFunc(fn, "sort", "Sort", "Stable", "Slice", "SliceStable", "Ints", "Strings", "Float64s") ||
				isFunc(fn, "slices", "Sort", "SortFunc", "SortStableFunc")
			if !isSort || containsWord(l.owner.name, "sorted") {
				return
			}
			v := in.variable(stripConversion(in.pass.TypesInfo, call.Args[0]))
			if in.isLocalBefore(v, l) && !in.isRefilled(l, v, call) {
				in.report(call, "%s sorts %s in each iteration, but it is already sorted after the first", formatExpr(call.Fun), v.Name())
			}
		})
	}}
}

// isRefilled reports whether a loop may change a slice other than by sortCall.
func (in *input) isRefilled(l *loop, v *types.Var, sortCall *ast.CallExpr) bool {
	return in.hasUse(l.node, v, func(id *ast.Ident, path []ast.Node) bool {
		call, isCall := parent(path, 1).(*ast.CallExpr)
		isLength := isCall && isBuiltin(in.pass.TypesInfo, call, "len")
		return !isLength && !isNodeIn(id, sortCall)
	})
}
