package gobench

import (
	"go/ast"
	"go/types"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
)

// mapOrder finds loops over a map, within the timed loop, that take the first key and break.
func mapOrder() rule {
	return rule{Rule: audit.Rule{
		ID: "map-order", Severity: tare.Warn,
		Title:   "The order of a map decides what is timed.",
		Why:     "Go iterates over a map in random order. Taking its first key costs a search for an occupied slot and another key each time. Runs differ for no other reason.",
		Do:      "put the keys into a slice before the loop, sorted or in a fixed random order",
		Command: compareRevisions,
	}, find: func(in *input) {
		in.eachTimedLoop(func(l *loop) {
			inspectTimedNodes(in, l, func(r *ast.RangeStmt) {
				t := in.pass.TypesInfo.TypeOf(r.X)
				if t == nil {
					return
				}
				_, isMap := t.Underlying().(*types.Map)
				usesKey := r.Key != nil && formatExpr(r.Key) != "_"
				if !isMap || !usesKey || in.pass.Pkg.Path() == "runtime_test" { // runtime_test measures maps
					return
				}
				for _, s := range r.Body.List {
					if branch, ok := s.(*ast.BranchStmt); ok && branch.Tok.String() == "break" {
						in.report(r, "the loop takes the first key of %s, which is another one each time", formatExpr(r.X))
						return
					}
				}
			})
		})
	}}
}
