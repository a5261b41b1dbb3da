package gobench

import (
	"fmt"
	"go/ast"
	"go/types"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
	"github.com/tarebench/tare/internal/format"
)

// randomTimed finds random numbers that are made in timed loops, one finding a
// file.
func randomTimed() rule {
	return rule{audit.Rule{
		ID: "random-timed", Severity: tare.Note,
		Title:   "Random numbers are made in the timed loop.",
		Why:     "A random number takes 2 to 20 ns, which is in the figure. That matters for operations below some hundred nanoseconds, and it hides a difference between two of them.",
		Do:      "make a slice of random inputs before the loop, with a constant seed, and take them in turn",
		Command: compareRevisions,
	}, func(in *input) {
		if path := in.pass.Pkg.Path(); strings.HasPrefix(path, "math/rand") || strings.HasPrefix(path, "crypto/rand") {
			return
		}
		found := map[string][]ast.Node{} // by file
		in.timedCalls(func(l *loop, call *ast.CallExpr, fn *types.Func) {
			if fn.Pkg() == nil || !hasName(fn.Pkg().Path(), []string{"math/rand", "math/rand/v2", "crypto/rand"}) || nameHas(l.owner.name, "rand") || in.isWholeStatement(l, call) {
				return
			}
			file := in.pass.Fset.Position(call.Pos()).Filename
			found[file] = append(found[file], call)
		})
		for _, nodes := range found {
			more := ""
			if len(nodes) > 1 {
				more = fmt.Sprintf(", as in %s of this file", format.Count(len(nodes)-1, "other place"))
			}
			in.report(nodes[0], "%s is timed with what gets the number%s", show(nodes[0].(*ast.CallExpr).Fun), more)
		}
	}}
}

// isWholeStatement reports whether a statement of a loop only makes a call, and
// drops its result: the call is what is measured.
func (in *input) isWholeStatement(l *loop, call *ast.CallExpr) bool {
	whole := false
	ast.Inspect(l.body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ExprStmt:
			whole = whole || n.X == ast.Expr(call)
		case *ast.AssignStmt:
			whole = whole || len(n.Rhs) == 1 && n.Rhs[0] == ast.Expr(call) && show(n.Lhs[0]) == "_"
		}
		return !whole
	})
	return whole
}
