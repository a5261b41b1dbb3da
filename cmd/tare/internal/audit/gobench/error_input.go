package gobench

import (
	"go/ast"
	"go/token"
	"go/types"
)

// This file is a part of the rule error-discarded. A test may check the error of a function with
// other input than the benchmark. This test is called a checker, and here does not show that the
// benchmark succeeds. For example, the table of the benchmark has a constant that no checker uses:
//
//	for _, c := range []struct{ line string }{{jsonLine}, {textLine}} {
//		v := []byte(c.line)
//		for b.Loop() { Parse(v) }
//	}

// tableConstants returns the constants in the table from which v gets its value. In the example
// above, these are jsonLine and textLine.
func (in *input) tableConstants(l *loop, v *types.Var) map[types.Object]bool {
	if !in.isLocal(v) {
		return nil
	}
	values := in.flowGraph().Values(v)
	if len(values) != 1 {
		return nil
	}
	sel, ok := stripConversion(in.pass.TypesInfo, values[0]).(*ast.SelectorExpr)
	if !ok {
		return nil
	}
	constants := map[types.Object]bool{}
	for r := range nodesOf[*ast.RangeStmt](l.owner.decl) {
		table, ok := r.X.(*ast.CompositeLit)
		if !ok || r.Value == nil || in.variable(r.Value) != in.variable(sel.X) {
			continue
		}
		for id := range nodesOf[*ast.Ident](table) {
			c, ok := in.pass.TypesInfo.Uses[id].(*types.Const)
			if t := in.pass.TypesInfo.TypeOf(sel); ok && t != nil && c.Pkg() == in.pass.Pkg && types.AssignableTo(c.Type(), t) {
				constants[c] = true
			}
		}
	}
	return constants
}

// findUncheckedReceiver returns the call that makes the receiver of a call of fn, if a test expects
// that fn fails with such a receiver. Tests that need success use other receivers:
//
//	NewParser(Options{})             // errors.Is(err, ErrTooDeep)
//	NewParser(Options{MaxDepth: 64}) // err != nil is fatal
//
// Otherwise it returns "".
func (in *input) findUncheckedReceiver(call *ast.CallExpr, fn *types.Func) string {
	made := in.describeReceiver(call)
	if made == "" {
		return ""
	}
	expectsError, hasSuccess := false, false
	for decl := range in.functions() {
		if !in.isTestCode(decl) {
			continue
		}
		onlyErrors := in.expectsOnlyErrors(decl)
		for guard := range nodesOf[*ast.IfStmt](decl) {
			a, ok := guard.Init.(*ast.AssignStmt)
			if !ok || len(a.Rhs) != 1 {
				continue
			}
			checked, ok := a.Rhs[0].(*ast.CallExpr)
			if !ok || in.callee(checked) != fn {
				continue
			}
			receiver := in.describeReceiver(checked)
			isSame := receiver == "" || receiver == made
			if in.needsSuccess(guard.Cond) {
				if isSame {
					return ""
				}
				hasSuccess = true
			} else {
				expectsError = expectsError || receiver == made
			}
		}
		// Other forms of a check may be of this receiver.
		for a := range nodesOf[*ast.AssignStmt](decl) {
			other, ok := a.Rhs[0].(*ast.CallExpr)
			if ok && other != call && !onlyErrors && in.callee(other) == fn && in.describeReceiver(other) == made && !isGuard(decl, a) && !isBlank(a.Lhs[len(a.Lhs)-1]) {
				return ""
			}
		}
	}
	if !expectsError || !hasSuccess {
		return ""
	}
	return made
}

// isGuard reports whether an assignment is the init statement of an if statement.
func isGuard(decl *ast.FuncDecl, a *ast.AssignStmt) bool {
	return hasNode(decl, func(s *ast.IfStmt) bool { return s.Init == ast.Stmt(a) })
}

// expectsOnlyErrors reports whether a function compares errors, and none has to be nil.
func (in *input) expectsOnlyErrors(decl *ast.FuncDecl) bool {
	isMatcher := func(call *ast.CallExpr) bool { return isFunc(in.callee(call), "errors", "Is", "As") }
	isNilNeeded := func(s *ast.IfStmt) bool { return in.needsSuccess(s.Cond) }
	return hasNode(decl, isMatcher) && !hasNode(decl, isNilNeeded)
}

// needsSuccess reports whether a condition is true for any error.
func (in *input) needsSuccess(cond ast.Expr) bool {
	return hasNode(cond, func(e *ast.BinaryExpr) bool {
		return e.Op == token.NEQ && isError(in.pass.TypesInfo.TypeOf(e.X)) && formatExpr(e.Y) == "nil"
	})
}

// describeReceiver returns the source text of the call that makes the receiver of a call, or "".
func (in *input) describeReceiver(call *ast.CallExpr) string {
	sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	made := sel.X
	if v := in.variable(made); in.isLocal(v) {
		values := in.flowGraph().Values(v)
		if len(values) != 1 {
			return ""
		}
		made = values[0]
	}
	maker, ok := made.(*ast.CallExpr)
	if !ok || len(maker.Args) == 0 {
		return ""
	}
	for id := range nodesOf[*ast.Ident](maker) {
		if v := in.variable(id); v != nil && in.isLocal(v) {
			return "" // it differs from call to call
		}
	}
	return formatExpr(maker)
}
