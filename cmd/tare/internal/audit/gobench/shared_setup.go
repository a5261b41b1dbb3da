package gobench

import (
	"cmp"
	"go/ast"
	"go/token"
	"go/types"

	"github.com/tarebench/tare/cmd/tare/internal/audit/gobench/flow"
	"github.com/tarebench/tare/internal/lazyregexp"
)

// This file is a part of the rule shared-state, which finds sub-benchmarks that find what another
// one left. Here the set-up of a sub-benchmark, the code outside its loops, changes a variable that
// the next one uses:
//
//	for _, size := range []int{10, 100} {
//		b.Run(fmt.Sprint(size), func(b *testing.B) {
//			for i := range size { store.Put(i) } // store has 110 entries in the second case
//			for b.Loop() { store.List() }
//		})
//	}
//
// A case is one entry of the table over which a loop calls b.Run, such as 10. A binding has the
// arguments of the calls that lead to an expression, by parameter.

// reportSetUp reports the first variable that gets entries in the set-up of each case, if nothing
// removes those of the previous case.
func (in *input) reportSetUp(outer *benchmark, s subBenchmark) {
	in.inspectSetUp(s, s.function.Body, setUpFrame{}, func(call *ast.CallExpr, called flow.Function, f setUpFrame) bool {
		p, ok := in.pathOf(called.Receiver, f.binding)
		isKnown := ok && (f.depth == 0 || isPosIn(p.root.Pos(), outer.body))
		if !isKnown || !in.isCarriedOver(outer, s, p) || in.findFirstUse(s, p) == nil {
			return true
		}
		isRefilled := func(call *ast.CallExpr) bool { return in.isRefilledInLoop(s, p, call) }
		if in.mayReset(s, p, isRefilled) {
			return true
		}
		in.report(cmp.Or(f.site, call), "%s gets entries in the set-up of each case, and the next case begins with them", p)
		return false
	})
}

// reportFilledBetween reports a variable from before the loop over cases that gets entries in this
// loop, next to the call of b.Run, if nothing removes those of the previous case:
//
//	for _, size := range sizes {
//		store.Fill(size)
//		b.Run(fmt.Sprint(size), func(b *testing.B) { for b.Loop() { store.List() } })
//	}
func (in *input) reportFilledBetween(outer *benchmark, s subBenchmark) {
	var cases ast.Node
	inspectPath(outer.body, func(n ast.Node, path []ast.Node) bool {
		if n == ast.Node(s.call) {
			cases = outermostLoop(path)
		}
		return true
	})
	body := loopBody(cases)
	if body == nil {
		return
	}
	inspectPath(body, func(n ast.Node, path []ast.Node) bool {
		if _, isLiteral := n.(*ast.FuncLit); isLiteral {
			return false
		}
		call, ok := n.(*ast.CallExpr)
		if !ok || call.Pos() > s.call.Pos() {
			return true
		}
		_, isStatement := parent(path, 1).(*ast.ExprStmt)
		for _, called := range in.flowGraph().Called(call, nil) {
			if called.Receiver == nil || !in.isGrowing(called.Object, isStatement) {
				continue
			}
			p, ok := in.pathOf(called.Receiver, nil)
			isFromBefore := ok && isPosIn(p.root.Pos(), outer.body) && p.root.Pos() < cases.Pos()
			if !isFromBefore || in.findFirstUse(s, p) == nil || in.mayReset(s, p, nil) || in.isResetBetween(outer, p, body.Pos(), body.End()) || in.fillsUpTo(path, call, p) {
				continue
			}
			in.report(call, "%s gets entries for each case, and the sub-benchmark of the next case begins with them", p)
		}
		return true
	})
}

// fillsUpTo reports whether a call adds only what p lacks: it is in a loop or behind a condition about p, or an argument
// subtracts the entries that p has.
func (in *input) fillsUpTo(path []ast.Node, call *ast.CallExpr, p varPath) bool {
	isAbout := func(e ast.Node) bool {
		return e != nil && hasNode(e, func(id *ast.Ident) bool { return in.variable(id) == p.root })
	}
	for _, n := range path {
		switch n := n.(type) {
		case *ast.ForStmt:
			if n.Cond != nil && isAbout(n.Cond) {
				return true
			}
		case *ast.IfStmt:
			if isAbout(n.Cond) {
				return true
			}
		}
	}
	return hasNode(call, func(e *ast.BinaryExpr) bool { return e.Op == token.SUB && isAbout(e) })
}

// setUpFrame is the body of a sub-benchmark, or of a function that its set-up calls.
type setUpFrame struct {
	site    *ast.CallExpr // call in the sub-benchmark that leads here; nil for itself
	binding flow.Binding  // arguments of the call
	depth   int           // calls between the sub-benchmark and the function
}

// inspectSetUp calls visit for each call in a set-up that adds an entry to its receiver. It enters
// functions of the package, such as fill(store, size). After visit has returned false, it stops and
// returns false, too.
func (in *input) inspectSetUp(s subBenchmark, body ast.Node, f setUpFrame, visit func(*ast.CallExpr, flow.Function, setUpFrame) bool) bool {
	proceed := true
	statements := map[ast.Expr]bool{} // calls that are statements
	ast.Inspect(body, func(n ast.Node) bool {
		for _, l := range s.loops {
			if n == ast.Node(l.node) {
				return false
			}
		}
		switch n := n.(type) {
		case *ast.ExprStmt:
			statements[n.X] = true
		case *ast.CallExpr:
			for _, called := range in.flowGraph().Called(n, f.binding) {
				switch {
				case !proceed:
				case called.Receiver != nil && in.isGrowing(called.Object, statements[n]):
					proceed = visit(n, called, f)
				case called.Body != nil && called.Object != nil && f.depth < maxTimedDepth && called.Object.Signature().Recv() == nil:
					inner := setUpFrame{site: cmp.Or(f.site, n), binding: in.flowGraph().Bind(n, called), depth: f.depth + 1}
					proceed = in.inspectSetUp(s, called.Body, inner, visit)
				}
			}
		}
		return proceed
	})
	return proceed
}

// isRefilledInLoop reports whether the loop around takeCall, which takes an entry from p, also adds
// one.
func (in *input) isRefilledInLoop(s subBenchmark, p varPath, takeCall *ast.CallExpr) bool {
	for _, l := range s.loops {
		if !isNodeIn(takeCall, l.body) {
			continue
		}
		for call := range nodesOf[*ast.CallExpr](l.body) {
			if sel, ok := call.Fun.(*ast.SelectorExpr); ok && in.isOverlapping(sel.X, p) && in.isGrowing(in.callee(call), false) {
				return true
			}
		}
	}
	return false
}

// setterName matches methods that set a property of their receiver, such as SetIndent.
var setterName = lazyregexp.New(`^(Set|Use|Enable|Disable|With)[A-Z]`)

// reportProperty reports a property, such as an indent, that a sub-benchmark sets and a later one
// does not. The result of the later one depends on whether the first has run.
func (in *input) reportProperty(outer *benchmark, s subBenchmark, later []subBenchmark) {
	for call := range nodesOf[*ast.CallExpr](s.function.Body) {
		fn := in.callee(call)
		sel, ok := call.Fun.(*ast.SelectorExpr)
		if !ok || fn == nil || !setterName.MatchString(fn.Name()) || !in.setsReceiver(fn) {
			continue
		}
		// A second call may set the property back.
		if in.countCalls(s.function.Body, fn, s.function.Body.Pos(), s.function.Body.End()) > 1 {
			continue
		}
		p, ok := in.pathOf(sel.X, nil)
		if !ok || !s.isShared(outer, p) || in.mayReset(s, p, nil) {
			continue
		}
		for _, next := range later {
			body := next.function.Body
			isSetAgain := in.countCalls(body, fn, body.Pos(), body.End()) > 0 || in.countCalls(outer.body, fn, s.call.End(), next.call.Pos()) > 0
			if use := in.findUseAfter(outer, s, next, p); use != nil && !isSetAgain {
				in.report(use, "%s has what %s of another sub-benchmark left, in line %d", p, formatExpr(call.Fun), in.lineOf(call))
				break
			}
		}
	}
}

// setsReceiver reports whether a method sets a field of its receiver.
func (in *input) setsReceiver(fn *types.Func) bool {
	recv, body := in.methodBody(fn)
	if body == nil {
		return false
	}
	for a := range nodesOf[*ast.AssignStmt](body) {
		for _, lhs := range a.Lhs {
			if fields, ok := in.receiverPath(lhs, recv); ok && fields != "" {
				return true
			}
		}
	}
	return false
}

// countCalls returns the number of calls of fn below root between two positions.
func (in *input) countCalls(root ast.Node, fn *types.Func, start, end token.Pos) int {
	n := 0
	for call := range nodesOf[*ast.CallExpr](root) {
		if in.callee(call) == fn && start < call.Pos() && call.Pos() < end {
			n++
		}
	}
	return n
}
