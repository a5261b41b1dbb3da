package gobench

import (
	"go/ast"
	"go/token"
	"go/types"
)

// This file is a part of the rule error-discarded. Tests that check the error of a function, its
// checkers, show nothing about a benchmark with other input (see error_checked.go). This file has
// two kinds of input: constants in a table, and receivers. In this example the rule reports the
// benchmark if no checker of Parse uses the constants jsonLine or textLine:
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

// findUncheckedReceiver returns the text of the call that makes the receiver of call, if fn seems to
// fail with it: a test expects an error with such a receiver, and every test that expects success
// uses another. With these tests it returns "NewParser(Options{})" for a benchmark that uses that:
//
//	if err := NewParser(Options{}).Parse(s); !errors.Is(err, ErrTooDeep) { t.Fatal(err) }
//	if err := NewParser(Options{MaxDepth: 64}).Parse(s); err != nil { t.Fatal(err) }
//
// Otherwise it returns "".
func (in *input) findUncheckedReceiver(call *ast.CallExpr, fn *types.Func) string {
	receiver := in.describeReceiver(call)
	if receiver == "" {
		return ""
	}
	failsWithIt, succeedsWithAnother := false, false
	for decl := range in.functions() {
		if !in.isTestCode(decl) {
			continue
		}
		for check := range nodesOf[*ast.IfStmt](decl) {
			a, ok := check.Init.(*ast.AssignStmt)
			if !ok || len(a.Rhs) != 1 {
				continue
			}
			checked, ok := a.Rhs[0].(*ast.CallExpr)
			if !ok || in.callee(checked) != fn {
				continue
			}
			switch other := in.describeReceiver(checked); {
			case in.needsSuccess(check.Cond) && (other == "" || other == receiver): // "": may be the same
				return ""
			case in.needsSuccess(check.Cond):
				succeedsWithAnother = true
			case other == receiver:
				failsWithIt = true
			}
		}
		if in.mayCheckLater(decl, call, fn, receiver) {
			return ""
		}
	}
	if failsWithIt && succeedsWithAnother {
		return receiver
	}
	return ""
}

// mayCheckLater reports whether a test keeps the error of another call of fn with this receiver in a
// variable. It may then expect success in any way, unless it only expects errors.
func (in *input) mayCheckLater(decl *ast.FuncDecl, call *ast.CallExpr, fn *types.Func, receiver string) bool {
	if in.expectsOnlyErrors(decl) {
		return false
	}
	for a := range nodesOf[*ast.AssignStmt](decl) {
		other, ok := a.Rhs[0].(*ast.CallExpr)
		if !ok || other == call || in.callee(other) != fn || in.describeReceiver(other) != receiver {
			continue
		}
		if !isGuard(decl, a) && !isBlank(a.Lhs[len(a.Lhs)-1]) {
			return true
		}
	}
	return false
}

// isGuard reports whether an assignment is the init statement of an if statement.
func isGuard(decl *ast.FuncDecl, a *ast.AssignStmt) bool {
	return hasNode(decl, func(s *ast.IfStmt) bool { return s.Init == ast.Stmt(a) })
}

// expectsOnlyErrors reports whether a function compares errors, as with errors.Is, and requires none
// to be nil.
func (in *input) expectsOnlyErrors(decl *ast.FuncDecl) bool {
	isMatcher := func(call *ast.CallExpr) bool { return isFunc(in.callee(call), "errors", "Is", "As") }
	isNilNeeded := func(s *ast.IfStmt) bool { return in.needsSuccess(s.Cond) }
	return hasNode(decl, isMatcher) && !hasNode(decl, isNilNeeded)
}

// needsSuccess reports whether a condition such as err != nil is true for any error, so that a test
// fails for it.
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
