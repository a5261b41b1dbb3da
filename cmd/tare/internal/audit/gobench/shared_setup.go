package gobench

import (
	"cmp"
	"go/ast"
	"go/token"
	"go/types"

	"github.com/tarebench/tare/cmd/tare/internal/audit/gobench/flow"
	"github.com/tarebench/tare/internal/lazyregexp"
)

// reportSetUp reports what the sub-benchmark of each case works on, and adds entries to before its
// loop: those of the cases before are still there.
func (in *input) reportSetUp(outer *benchmark, s sub) {
	found := false
	var visit func(root ast.Node, site *ast.CallExpr, bound flow.Binding, depth int)
	visit = func(root ast.Node, site *ast.CallExpr, bound flow.Binding, depth int) {
		statements := map[ast.Expr]bool{}
		ast.Inspect(root, func(n ast.Node) bool {
			for _, l := range s.loops {
				if n == ast.Node(l.node) {
					return false
				}
			}
			switch n := n.(type) {
			case *ast.ExprStmt:
				statements[n.X] = true
			case *ast.CallExpr:
				at := cmp.Or(site, n)
				for _, called := range in.flowGraph().Called(n, bound) {
					if found {
						return false
					}
					if called.Bound == nil || !in.isGrowing(called.Object, statements[n]) {
						if called.Body != nil && called.Object != nil && depth < maxTimedDepth && in.isTestHelper(called.Object) {
							visit(called.Body, at, in.flowGraph().Bind(n, called), depth+1)
						}
						continue
					}
					origin, fields := in.flowGraph().Path(called.Bound, bound)
					p := place{origin, fields}
					if origin == nil || origin.Pos() >= in.casesOf(outer, s.call) || !isWithinPos(origin.Pos(), outer.body) && depth > 0 || in.empties(s, p, true) || in.findFirstUse(s, p) == nil {
						continue
					}
					found = true
					in.report(at, "%s gets entries in the set-up of each case, and the next case begins with them", p)
					return false
				}
			}
			return true
		})
	}
	visit(s.function.Body, nil, nil, 0)
}

// setter matches the names of methods that set a property of their receiver.
var setter = lazyregexp.New(`^(Set|Use|Enable|Disable|With)[A-Z]`)

// reportLeft reports a property that a sub-benchmark sets before its loop, if a later one uses the
// same value and does not set that property: what it measures depends on whether the first has run.
func (in *input) reportLeft(outer *benchmark, s sub, later []sub) {
	for call := range nodesOf[*ast.CallExpr](s.function.Body) {
		fn := in.callee(call)
		sel, ok := call.Fun.(*ast.SelectorExpr)
		if !ok || fn == nil || !setter.MatchString(fn.Name()) || !in.setsReceiver(fn) || in.countCalls(s, fn) > 1 {
			continue
		}
		root, fields := in.flowGraph().Path(sel.X, nil)
		p := place{root, fields}
		if root == nil || !isWithinPos(root.Pos(), outer.body) || isWithinPos(root.Pos(), s.function.Node) || in.mayEmpty(s, p) {
			continue
		}
		for _, next := range later {
			if next.function.Node == s.function.Node || in.countCalls(next, fn) > 0 || in.isRenewed(outer, p, s.call.End(), next.call.Pos()) || in.isSetBetween(outer, fn, s.call.End(), next.call.Pos()) {
				continue
			}
			if use := in.findUse(next, p); use != nil {
				in.report(use, "%s has what %s of another sub-benchmark left, in line %d", p, formatExpr(call.Fun), in.lineOf(call))
				break
			}
		}
	}
}

// setsReceiver reports whether a method of the package assigns to a field of its receiver.
func (in *input) setsReceiver(fn *types.Func) bool {
	recv, f := fn.Signature().Recv(), in.flowGraph().Declared(fn)
	if recv == nil || f.Body == nil {
		return false
	}
	for a := range nodesOf[*ast.AssignStmt](f.Body) {
		for _, lhs := range a.Lhs {
			if root, fields := in.flowGraph().Path(lhs, flow.Binding{recv: nil}); root == recv && fields != "" {
				return true
			}
		}
	}
	return false
}

// countCalls returns the number of calls of a function in a sub-benchmark.
func (in *input) countCalls(s sub, fn *types.Func) int {
	n := 0
	for call := range nodesOf[*ast.CallExpr](s.function.Body) {
		if in.callee(call) == fn {
			n++
		}
	}
	return n
}

// isSetBetween reports whether a benchmark calls a function between two positions.
func (in *input) isSetBetween(outer *benchmark, fn *types.Func, from, to token.Pos) bool {
	for call := range nodesOf[*ast.CallExpr](outer.body) {
		if in.callee(call) == fn && from < call.Pos() && call.Pos() < to {
			return true
		}
	}
	return false
}
