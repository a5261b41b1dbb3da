package gobench

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/tarebench/tare/cmd/tare/internal/audit/gobench/flow"
)

// This file is a part of the rule input-consumed. A method with any name removes the keys that it
// gets, and each iteration passes the same:
//
//	func (b *Book) Settle(lines []Line) (n int) {
//		for _, l := range lines {
//			if _, ok := b.open[l.Ref]; !ok { continue }
//			delete(b.open, l.Ref)
//			n++
//		}
//		return n
//	}
//
// All calls but the first find no key. The rule reads the code of the method.

// removesSameKeys reports whether a call removes keys that are the same in each iteration, and the
// caller does not see that they are gone. The frame f has the body in which the call is.
func (in *input) removesSameKeys(l *loop, call *ast.CallExpr, called flow.Function, f *frame) bool {
	if len(call.Args) == 0 || !in.removesKnownKeys(called) {
		return false
	}
	for _, arg := range call.Args {
		if isConstant := in.pass.TypesInfo.Types[arg].Value != nil; !isConstant && !in.isSameInAll(l, arg, f) {
			return false
		}
	}
	return in.ignoresResults(f.body, call, f)
}

// isSameInAll reports whether an argument is the same in all iterations.
func (in *input) isSameInAll(l *loop, arg ast.Expr, f *frame) bool {
	hasOther := hasNode(arg, func(n ast.Node) bool {
		_, isCall := n.(*ast.CallExpr)
		_, isIndex := n.(*ast.IndexExpr)
		return isCall || isIndex
	})
	if hasOther || !in.isFromBefore(l, arg, f) {
		return false
	}
	root, _ := in.flowGraph().Path(arg, f.binding)
	return root == nil || !hasNode(l.node, func(s ast.Stmt) bool { return in.assignsTo(s, root) })
}

// removesKnownKeys reports whether a method looks for the keys that it gets, and removes those that
// it finds. It may not store any in the same map.
func (in *input) removesKnownKeys(called flow.Function) bool {
	recv, body := in.methodBody(called.Object)
	if body == nil || in.isTestCode(called.Node) {
		return false
	}
	atReceiver := flow.Binding{recv: nil}
	removed, looked, stored := map[storedKey]bool{}, map[storedKey]bool{}, map[string]bool{}
	inspectPath(body, func(n ast.Node, path []ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			if isBuiltin(in.pass.TypesInfo, n, "delete") {
				entry := &ast.IndexExpr{X: n.Args[0], Index: n.Args[1]}
				if k, ok := in.keyOf(entry, recv, atReceiver); ok && in.isFromParameter(n.Args[1], called) {
					removed[k] = true
				}
			}
		case *ast.IndexExpr:
			a, isAssign := parent(path, 1).(*ast.AssignStmt)
			isTarget := isAssign && a.Rhs[0] != ast.Expr(n)
			k, ok := in.keyOf(n, recv, atReceiver)
			switch {
			case ok && isTarget:
				stored[k.fields] = true
			case ok && isAssign && len(a.Lhs) > 1: // _, ok := b.open[key]
				looked[k] = true
			}
		}
		return true
	})
	for k := range removed {
		if looked[k] && !stored[k.fields] {
			return true
		}
	}
	return false
}

// isFromParameter reports whether an expression is a parameter of a function, or a part of one.
func (in *input) isFromParameter(e ast.Expr, f flow.Function) bool {
	root, _ := in.flowGraph().Path(e, flow.Binding{in.variable(e): nil})
	return root != nil && in.isPartOfParameter(root, f)
}

// ignoresResults reports whether the caller of a method does not see that it did nothing: the loop
// drops the results, or only adds them up.
func (in *input) ignoresResults(body ast.Node, call *ast.CallExpr, f *frame) bool {
	switch p := parent(pathTo(body, call), 1).(type) {
	case *ast.ExprStmt:
		return true
	case *ast.ReturnStmt:
		return f.callDepth() == 1 && f.site != nil && len(p.Results) == 1 && in.ignoresResults(f.loop.body, f.site, &frame{loop: f.loop})
	case *ast.AssignStmt:
		for _, lhs := range p.Lhs {
			isRead := hasNode(f.loop.body, func(s *ast.IfStmt) bool {
				return hasNode(s, func(id *ast.Ident) bool { return in.variable(id) != nil && in.variable(id) == in.variable(lhs) })
			})
			if isRead && !isBlank(lhs) {
				return false
			}
		}
		return true
	}
	return false
}

// storesEntry reports whether a method of the package stores an entry in a map or slice of its
// receiver.
func (in *input) storesEntry(fn *types.Func) bool {
	recv, body := in.methodBody(fn)
	return body != nil && hasNode(body, func(a *ast.AssignStmt) bool {
		for i, lhs := range a.Lhs {
			fields, ok := in.receiverPath(lhs, recv)
			if !ok || fields == "" || len(a.Lhs) != len(a.Rhs) {
				continue
			}
			index, isEntry := lhs.(*ast.IndexExpr)
			isEntry = isEntry && isMap(in.pass.TypesInfo.TypeOf(index.X))
			if a.Tok == token.ASSIGN && isEntry || in.isAppendTo(lhs, a.Rhs[i]) {
				return true
			}
		}
		return false
	})
}
