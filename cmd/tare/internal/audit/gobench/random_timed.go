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

// randomTimed finds random numbers that are made in timed loops. It reports the first
// call of a file, with the number of the others.
func randomTimed() rule {
	return rule{Rule: audit.Rule{
		ID: "random-timed", Severity: tare.Note,
		Title:   "Random numbers are made in the timed loop.",
		Why:     "A random number takes 2 to 20 ns, which is in the figure. That matters for operations below some hundred nanoseconds, and it hides a difference between two of them.",
		Do:      "make a slice of random inputs before the loop, with a constant seed, and take them in turn",
		Command: compareRevisions,
	}, find: func(in *input) {
		if path := in.pass.Pkg.Path(); strings.HasPrefix(path, "math/rand") || strings.HasPrefix(path, "crypto/rand") {
			return
		}
		found := map[string][]ast.Node{} // by file
		in.eachTimedCall(func(l *loop, call *ast.CallExpr, fn *types.Func) {
			isRandom := fn.Pkg() != nil && hasName(fn.Pkg().Path(), []string{"math/rand", "math/rand/v2", "crypto/rand"})
			if !isRandom || nameHas(l.owner.name, "rand") || in.isStatement(l, call) {
				return // no random number, or the benchmark is about random numbers
			}
			file := in.pass.Fset.Position(call.Pos()).Filename
			found[file] = append(found[file], call)
		})
		for _, nodes := range found {
			more := ""
			if len(nodes) > 1 {
				more = fmt.Sprintf(", as in %s of this file", format.Count(len(nodes)-1, "other place"))
			}
			in.report(nodes[0], "%s is timed with what gets the number%s", formatExpr(nodes[0].(*ast.CallExpr).Fun), more)
		}
	}}
}

// isStatement reports whether a call is a statement of a loop by itself, f() or _ = f(),
// so that the benchmark measures this call.
func (in *input) isStatement(l *loop, call *ast.CallExpr) bool {
	found := false
	ast.Inspect(l.body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ExprStmt:
			found = found || n.X == ast.Expr(call)
		case *ast.AssignStmt:
			found = found || len(n.Rhs) == 1 && n.Rhs[0] == ast.Expr(call) && formatExpr(n.Lhs[0]) == "_"
		}
		return !found
	})
	return found
}
