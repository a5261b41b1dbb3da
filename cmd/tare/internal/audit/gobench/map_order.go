package gobench

import (
	"go/ast"
	"go/types"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
)

// mapOrder finds loops over a map, within the timed loop, that take its first key,
// or insert in its order.
func mapOrder() rule {
	return rule{audit.Rule{
		ID: "map-order", Severity: tare.Warn,
		Title:   "The order of a map decides what is timed.",
		Why:     "Go iterates over a map in random order. Taking its first key costs a search for an occupied slot and another key each time; inserting in its order builds another structure each time. Runs differ for no other reason.",
		Do:      "put the keys into a slice before the loop, sorted or in a fixed random order",
		Command: compareRevisions,
	}, func(in *input) {
		in.timedLoops(func(l *loop) {
			in.inspectTimed(l, func(n ast.Node) bool {
				r, ok := n.(*ast.RangeStmt)
				if !ok || in.pass.TypesInfo.TypeOf(r.X) == nil {
					return true
				}
				if _, ok := in.pass.TypesInfo.TypeOf(r.X).Underlying().(*types.Map); !ok {
					return true
				}
				if r.Key == nil || show(r.Key) == "_" || in.pass.Pkg.Path() == "runtime_test" {
					return true
				}
				for _, s := range r.Body.List {
					if branch, ok := s.(*ast.BranchStmt); ok && branch.Tok.String() == "break" {
						in.report(r, "the loop takes the first key of %s, which is another one each time", show(r.X))
						return true
					}
				}
				return true
			})
		})
	}}
}
