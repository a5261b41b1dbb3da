package gobench

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"github.com/tarebench/tare/cmd/tare/internal/audit/gobench/flow"
	"github.com/tarebench/tare/internal/lazyregexp"
)

// This file is a part of the rule unlike-work, which finds comparisons whose sides do different
// work. Here one side stores its result in its receiver, and only the first iteration computes it:
//
//	func (e *Event) Wire() []byte {
//		if e.wire == nil { e.wire = e.encode() }
//		return e.wire
//	}
//
// A side is one of the functions that a call such as side.encode(event) may run. The rule reports
// it if another side has no such method, and event is from before the loop.

// keptName matches comparisons in which a kept result is meant.
var keptName = lazyregexp.New(`(?i)cache|memo|warm|lazy|kept|once|repeat|again|reuse|hit`)

// reportKept reports the sides of a call such as side.encode(event) that store their result in
// event. It reports nothing if event is set in the loop.
func (in *input) reportKept(l *loop, call *ast.CallExpr) {
	if in.callee(call) != nil || keptName.MatchString(l.owner.name) {
		return
	}
	var storing []ast.Expr
	other := false
	for _, source := range in.findSideSources(l, call) {
		for _, f := range in.flowGraph().Functions(source, nil) {
			if f.Object != nil && in.isMethodOnKept(l, call, f) {
				storing = append(storing, source)
			} else if f.Body != nil {
				other = true
			}
		}
	}
	if !other {
		return
	}
	for _, source := range storing {
		in.report(source, "one side of the comparison, %s, keeps its result in its receiver: it works in the first iteration only", formatExpr(source))
	}
}

// findSideSources returns the functions that a call such as side.encode(event) may run, as the
// source names them. If some are in the same function as the loop, it omits all others.
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

// findOwnSides is calledSides without the functions of tables in other benchmarks.
func (in *input) findOwnSides(l *loop, call *ast.CallExpr) []side {
	nodes := map[ast.Node]bool{}
	for _, source := range in.findSideSources(l, call) {
		for _, f := range in.flowGraph().Functions(source, nil) {
			nodes[f.Node] = true
		}
	}
	return slices.DeleteFunc(in.calledSides(call), func(s side) bool { return !nodes[s.node] })
}

// isMethodOnKept reports whether f is a method that stores its result in its receiver. The receiver
// must be from before the loop, and the loop must not set it.
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

// keepsResult reports whether a method compares a field of its receiver with nil, sets it and
// returns it.
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
