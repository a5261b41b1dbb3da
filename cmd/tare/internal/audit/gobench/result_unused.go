package gobench

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
)

// This file has the rule result-unused. It finds a benchmark whose work the compiler may remove,
// because nothing uses the result. The benchmark then measures an empty loop:
//
//	func BenchmarkSquare(b *testing.B) {
//		for i := range b.N {
//			square(i)
//		}
//	}
//
// The rule reports an unused value if computing it has no effects, and the compiler inlines all
// functions that take part (see pure_code.go). It skips the body of a loop by b.Loop, which keeps
// results alive. A frame is the body that is searched: the loop, or a function of the test files
// that the loop calls.

// resultUnused returns the rule result-unused.
func resultUnused() rule {
	return rule{Rule: audit.Rule{
		ID: "result-unused", Severity: tare.Void,
		Title:   "Nothing uses the result, and the compiler may leave out the work.",
		Why:     "A small function without effects is inlined, and what is not used is removed: the figure is that of an empty loop, some 0.3 ns/op.",
		Do:      "write for b.Loop(), which keeps arguments and results alive, or assign the result to a package variable",
		Command: compareRevisions,
		Seen:    []string{"https://github.com/golang/go/issues/61515", "https://github.com/bytedance/gopkg/blob/v0.1.3/lang/mcache/utils_test.go#L36"},
	}, find: func(in *input) {
		bodies := in.smallBodies()
		in.eachTimedLoop(func(l *loop) {
			in.inspectTimedDeep(l, func(n ast.Node, f *frame) bool {
				if call := in.findUnrangedSequence(n); call != nil {
					in.report(n, "%s returns a sequence that nothing ranges over: none of its work is done", formatExpr(call.Fun))
				}
				if l.kind == byLoop && f.callDepth() == 0 {
					return true // b.Loop keeps these results
				}
				for _, value := range in.findUnused(l, n, f) {
					if in.isPure(value, bodies, 0) {
						in.report(n, "nothing uses %s, which has no effects: the compiler may leave it out", formatExpr(value))
						break
					}
				}
				return true
			})
		})
	}}
}

// findUnrangedSequence returns the call in v = f() if the result is an iterator that nothing uses.
// Else it returns nil.
func (in *input) findUnrangedSequence(n ast.Node) *ast.CallExpr {
	a, ok := n.(*ast.AssignStmt)
	if !ok || len(a.Lhs) != 1 || len(a.Rhs) != 1 {
		return nil
	}
	call, ok := a.Rhs[0].(*ast.CallExpr)
	if !ok || !isSequence(in.pass.TypesInfo.TypeOf(call)) {
		return nil
	}
	if isBlank(a.Lhs[0]) {
		return call
	}
	v := in.variable(a.Lhs[0])
	if v == nil {
		return nil
	}
	needsValue := func(id *ast.Ident, path []ast.Node) bool {
		p, isAssign := parent(path, 1).(*ast.AssignStmt)
		return !isAssign || !containsIdent(p.Lhs, id) && !isBlank(p.Lhs[0])
	}
	if slices.ContainsFunc(in.pass.Files, func(file *ast.File) bool { return in.hasUse(file, v, needsValue) }) {
		return nil
	}
	return call
}

// isBlank reports whether an expression is the identifier _.
func isBlank(e ast.Expr) bool {
	id, ok := e.(*ast.Ident)
	return ok && id.Name == "_"
}

// isSequence reports whether t is the type of an iterator: func(yield func(T) bool).
func isSequence(t types.Type) bool {
	if t == nil {
		return false
	}
	f, ok := t.Underlying().(*types.Signature)
	if !ok || f.Params().Len() != 1 || f.Results().Len() != 0 {
		return false
	}
	yield, ok := f.Params().At(0).Type().Underlying().(*types.Signature)
	if !ok || yield.Results().Len() != 1 {
		return false
	}
	return isBool(yield.Results().At(0).Type())
}

// findUnused returns the expressions in a statement whose values nothing uses. For an argument that
// is a variable, it returns the values of the variable. The frame f has the body in which the
// statement is: the loop, or a function of the test files that it calls.
func (in *input) findUnused(l *loop, n ast.Node, f *frame) []ast.Expr {
	switch n := n.(type) {
	case *ast.ExprStmt:
		call, ok := n.X.(*ast.CallExpr)
		if !ok {
			return in.selectWork(n.X)
		}
		return append(in.findIgnored(l, call, f), in.selectWork(call)...)
	case *ast.AssignStmt:
		if len(n.Lhs) != 1 || len(n.Rhs) != 1 {
			return nil
		}
		id, ok := n.Lhs[0].(*ast.Ident)
		if !ok {
			return nil
		}
		if isBlank(id) || in.canRemove(l, f, n, in.variable(id)) {
			return in.selectWork(n.Rhs[0])
		}
	}
	return nil
}

// canRemove reports whether the compiler may remove an assignment to v.
func (in *input) canRemove(l *loop, f *frame, a *ast.AssignStmt, v *types.Var) bool {
	mayPanic := a.Tok == token.QUO_ASSIGN || a.Tok == token.REM_ASSIGN // division by 0
	// In a loop with calls, the operation is a call, not a sum of results.
	isAnyName := func(name string) bool { return name != "" }
	isMeasured := hasCall(a.Rhs[0], isAnyName) || !hasCall(f.body, isAnyName)
	if mayPanic || !isMeasured || !in.isLocal(v) || isNamedResult(l.owner.decl.Type, v) {
		return false
	}
	return in.isDead(l, f, v) && !in.isPassedByStatement(l, v)
}

// findIgnored returns the arguments of a call that the called function ignores, if the compiler
// inlines it.
func (in *input) findIgnored(l *loop, call *ast.CallExpr, f *frame) []ast.Expr {
	var unused []ast.Expr
	for i, a := range call.Args {
		if !in.isInlined(call) || !in.ignoresArgument(call, i) {
			continue
		}
		if v := in.variable(a); !in.isLocal(v) || isAddress(a) {
			unused = append(unused, in.selectWork(a)...)
		} else if in.isDead(l, f, v) {
			unused = append(unused, in.selectWork(in.flowGraph().Values(v)...)...)
		}
	}
	return unused
}

// selectWork returns the expressions of a list that compute something, such as square(i) and a + b.
func (in *input) selectWork(list ...ast.Expr) []ast.Expr {
	var out []ast.Expr
	for _, e := range list {
		e = stripConversion(in.pass.TypesInfo, e)
		if in.computes(e) {
			out = append(out, e)
		}
	}
	return out
}

func isAddress(e ast.Expr) bool {
	u, ok := ast.Unparen(e).(*ast.UnaryExpr)
	return ok && u.Op == token.AND
}

// isInlined reports whether the compiler surely inlines all functions that a call may run.
func (in *input) isInlined(call *ast.CallExpr) bool {
	called := in.flowGraph().Called(call, nil)
	for _, f := range called {
		isStatic := f.Object != nil && f.Object == in.callee(call) || in.isLocal(in.variable(call.Fun)) && len(called) == 1
		if f.Body == nil || !isStatic || !in.isSmall(f.Body) {
			return false
		}
	}
	return len(called) > 0
}

// isDead reports whether no use of a local variable needs its value. The variable must be declared
// in the benchmark, or in the function of the frame.
func (in *input) isDead(l *loop, f *frame, v *types.Var) bool {
	root := ast.Node(l.owner.decl) // declares v
	if !isPosIn(v.Pos(), root) {
		if f.node == nil || !isPosIn(v.Pos(), f.node) {
			return false
		}
		root = f.node
	}
	return !in.hasUse(root, v, func(id *ast.Ident, path []ast.Node) bool { return !in.isDeadUse(v, id, path) })
}

// isDeadUse reports whether a use of v does not need its value. This holds for arguments that are
// ignored, for _ = v, and for v = f(v).
func (in *input) isDeadUse(v *types.Var, id *ast.Ident, path []ast.Node) bool {
	if call, ok := parent(path, 1).(*ast.CallExpr); ok {
		if i := slices.Index(call.Args, ast.Expr(id)); i >= 0 && in.isInlined(call) && in.ignoresArgument(call, i) {
			return true
		}
	}
	for i := len(path) - 1; i >= 0; i-- {
		switch p := path[i].(type) {
		case *ast.IncDecStmt:
			return p.X == ast.Expr(id)
		case *ast.FuncLit, *ast.BlockStmt, *ast.UnaryExpr:
			return false
		case *ast.AssignStmt:
			target, ok := p.Lhs[0].(*ast.Ident)
			if !ok || len(p.Lhs) != 1 {
				return containsIdent(p.Lhs, id)
			}
			isOwnValue := target == id || in.pass.TypesInfo.ObjectOf(target) == v // v = f(v), v += v
			isDropped := isBlank(target) && p.Rhs[0] == ast.Expr(id)              // _ = v
			return isOwnValue || isDropped
		}
	}
	return false
}

// isPassedByStatement reports whether a statement of a loop only passes a variable to a function.
// Such a call is reported in place of the assignment, by findIgnored.
func (in *input) isPassedByStatement(l *loop, v *types.Var) bool {
	return in.hasUse(l.body, v, func(id *ast.Ident, path []ast.Node) bool {
		call, isCall := parent(path, 1).(*ast.CallExpr)
		_, isStatement := parent(path, 2).(*ast.ExprStmt)
		return isCall && isStatement && containsIdent(call.Args, id)
	})
}

// computes reports whether an expression is a call or a binary operation. Constants, conversions,
// len and cap do not count.
func (in *input) computes(e ast.Expr) bool {
	if in.pass.TypesInfo.Types[e].Value != nil {
		return false
	}
	switch e := ast.Unparen(e).(type) {
	case *ast.CallExpr:
		return !in.pass.TypesInfo.Types[e.Fun].IsType() && !isBuiltin(in.pass.TypesInfo, e, "len") && !isBuiltin(in.pass.TypesInfo, e, "cap")
	case *ast.BinaryExpr:
		return true
	}
	return false
}
