package gobench

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"github.com/tarebench/tare/cmd/tare/internal/audit/gobench/flow"
	"github.com/tarebench/tare/internal/lazyregexp"
)

// This file is a part of the rule unlike-work. One side of a comparison keeps its result in its
// receiver, and only the first iteration computes it:
//
//	func (e *Event) Wire() []byte {
//		if e.wire == nil { e.wire = e.encode() }
//		return e.wire
//	}

// keptName matches comparisons in which a kept result is meant.
var keptName = lazyregexp.New(`(?i)cache|memo|warm|lazy|kept|once|repeat|again|reuse|hit`)

// reportKept reports sides of a call such as side.encode(event) that keep their results, if event
// is from before the loop.
func (in *input) reportKept(l *loop, call *ast.CallExpr) {
	if in.callee(call) != nil || keptName.MatchString(l.owner.name) {
		return
	}
	var keeping []ast.Expr
	other := false
	for _, source := range in.findSideSources(l, call) {
		for _, f := range in.flowGraph().Functions(source, nil) {
			if f.Object != nil && in.isMethodOnKept(l, call, f) {
				keeping = append(keeping, source)
			} else if f.Body != nil {
				other = true
			}
		}
	}
	if !other {
		return
	}
	for _, source := range keeping {
		in.report(source, "one side of the comparison, %s, keeps its result in its receiver: it works in the first iteration only", formatExpr(source))
	}
}

// findSideSources returns the functions that a call such as side.encode(event) may run, as they are
// named in the table. If the benchmark has a table, those of other tables do not count.
func (in *input) findSideSources(l *loop, call *ast.CallExpr) []ast.Expr {
	all := in.flowGraph().Sources(call.Fun, nil)
	var own []ast.Expr
	for _, source := range all {
		if isNodeIn(source, l.owner.decl) {
			own = append(own, source)
		}
	}
	if len(own) > 0 {
		return own
	}
	return all
}

// findOwnSides is calledSides without the functions of other tables.
func (in *input) findOwnSides(l *loop, call *ast.CallExpr) []side {
	nodes := map[ast.Node]bool{}
	for _, source := range in.findSideSources(l, call) {
		for _, f := range in.flowGraph().Functions(source, nil) {
			nodes[f.Node] = true
		}
	}
	return slices.DeleteFunc(in.calledSides(call), func(s side) bool { return !nodes[s.node] })
}

// isMethodOnKept reports whether f is a method that keeps its result, on a variable from before the
// loop that the loop does not set.
func (in *input) isMethodOnKept(l *loop, call *ast.CallExpr, f flow.Function) bool {
	if !in.keepsResult(f.Object) {
		return false
	}
	receiver := in.flowGraph().Bind(call, f)[f.Object.Signature().Recv()]
	if receiver == nil {
		return false
	}
	p, ok := in.pathOf(receiver, nil)
	if !ok || !in.isLocalBefore(p.root, l) {
		return false
	}
	isSet := func(id *ast.Ident, path []ast.Node) bool {
		switch p := parent(path, 1).(type) {
		case *ast.CallExpr:
			return p != call // it may set the variable
		case *ast.SelectorExpr, *ast.AssignStmt, *ast.UnaryExpr:
			_, isCallee := parent(path, 2).(*ast.CallExpr)
			return !isCallee || parent(path, 2) != ast.Node(call)
		}
		return false
	}
	return !in.hasUse(l.body, p.root, isSet)
}

// keepsResult reports whether a method sets a field of its receiver if it is nil, and returns it.
func (in *input) keepsResult(fn *types.Func) bool {
	recv, body := in.methodBody(fn)
	if body == nil {
		return false
	}
	for _, s := range body.List {
		guard, ok := s.(*ast.IfStmt)
		if !ok {
			continue
		}
		cond, ok := guard.Cond.(*ast.BinaryExpr)
		if !ok || cond.Op != token.EQL && cond.Op != token.NEQ || formatExpr(cond.Y) != "nil" {
			continue
		}
		fields, ok := in.receiverPath(cond.X, recv)
		if !ok || fields == "" || isError(in.pass.TypesInfo.TypeOf(cond.X)) {
			continue
		}
		isField := func(e ast.Expr) bool {
			other, ok := in.receiverPath(e, recv)
			return ok && other == fields
		}
		sets := hasNode(body, func(a *ast.AssignStmt) bool { return isField(a.Lhs[0]) })
		returns := hasNode(body, func(r *ast.ReturnStmt) bool { return len(r.Results) > 0 && isField(r.Results[0]) })
		if sets && returns {
			return true
		}
	}
	return false
}
