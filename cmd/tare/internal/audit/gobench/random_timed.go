package gobench

import (
	"cmp"
	"fmt"
	"go/ast"
	"slices"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
	"github.com/tarebench/tare/internal/format"
)

// This file has the rule random-timed. It finds a benchmark that makes random numbers while its
// timer runs. Each number takes 2 to 20 ns, which is in the result:
//
//	func BenchmarkGet(b *testing.B) {
//		for b.Loop() {
//			m.Get(keys[rand.IntN(100)])
//		}
//	}
//
// The rule searches the loop, and functions of the test files that it calls, for calls of the
// packages for random numbers. It reports the first call in a file and counts the others. A frame
// is the body that is searched: the loop, or a function of the test files that the loop calls.

// randomTimed returns the rule random-timed.
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
		found := map[string][]*ast.CallExpr{} // by file
		in.eachTimedLoop(func(l *loop) {
			in.inspectTimedDeep(l, func(n ast.Node, f *frame) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok || !in.isRandom(call, f) {
					return true
				}
				isBenchmarkOfRandom := containsWord(in.joinNames(l, call), "rand")
				isInLoop := f.site == nil
				if isBenchmarkOfRandom || isInLoop && in.isStatement(l, call) {
					return true
				}
				call = cmp.Or(f.site, call) // report the call in the loop itself
				file := in.pass.Fset.Position(call.Pos()).Filename
				if !slices.Contains(found[file], call) {
					found[file] = append(found[file], call)
				}
				return true
			})
		})
		for _, calls := range found {
			first, others := calls[0], ""
			if len(calls) > 1 {
				others = fmt.Sprintf(" (and at %s in this file)", format.Count(len(calls)-1, "other place"))
			}
			in.report(first, "the call of %s is timed together with the operation that uses its result%s", formatExpr(first.Fun), others)
		}
	}}
}

var randomPackages = []string{"math/rand", "math/rand/v2", "crypto/rand"}

// isRandom reports whether a call may make random numbers. The frame f has the body in which the
// call is: the loop, or a function that it calls.
func (in *input) isRandom(call *ast.CallExpr, f *frame) bool {
	for _, called := range in.flowGraph().Called(call, f.binding) {
		if fn := called.Object; fn != nil && fn.Pkg() != nil && isOneOf(fn.Pkg().Path(), randomPackages) {
			return true
		}
	}
	return false
}

// isStatement reports whether a call is a statement f() or _ = f() of a loop. Nothing uses its
// result, so the call is what the benchmark measures.
func (in *input) isStatement(l *loop, call *ast.CallExpr) bool {
	for s := range nodesOf[ast.Stmt](l.body) {
		e, isExpr := s.(*ast.ExprStmt)
		a, isAssign := s.(*ast.AssignStmt)
		if isExpr && e.X == ast.Expr(call) || isAssign && len(a.Rhs) == 1 && a.Rhs[0] == ast.Expr(call) && isBlank(a.Lhs[0]) {
			return true
		}
	}
	return false
}
