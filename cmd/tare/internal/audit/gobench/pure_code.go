package gobench

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// This file is a part of the rule result-unused. It finds pure code, which has no effects, such as
// x*x. The compiler removes pure code if nothing uses its value:
//
//	for i := range b.N { square(i) } // func square(x int) int { return x * x }
//
// A call is pure if the compiler inlines the function, which it does for small ones, and all of its
// code is pure. In this file, bodies has the functions of the package that the compiler surely
// inlines.

// isPure reports whether the compiler can remove an expression. The depth counts the calls around
// it.
func (in *input) isPure(e ast.Expr, bodies map[*types.Func]*ast.FuncDecl, depth int) bool {
	info := in.pass.TypesInfo
	switch e := ast.Unparen(e).(type) {
	case *ast.BasicLit:
		return true
	case *ast.Ident:
		return info.TypeOf(e) != nil
	case *ast.SelectorExpr:
		return info.Selections[e] == nil || in.isPure(e.X, bodies, depth)
	case *ast.BinaryExpr:
		// Operations on strings call the runtime. Of x/y only the check for 0 stays.
		if !isNonStringBasic(info.TypeOf(e)) || !isNonStringBasic(info.TypeOf(e.X)) {
			return false
		}
		return in.isPure(e.X, bodies, depth) && in.isPure(e.Y, bodies, depth)
	case *ast.IndexExpr:
		if isMap(info.TypeOf(e.X)) || info.Types[e.Index].IsType() {
			return false
		}
		return in.isPure(e.X, bodies, depth) && in.isPure(e.Index, bodies, depth)
	case *ast.UnaryExpr:
		if e.Op == token.AND { // &s[i]
			_, isElement := ast.Unparen(e.X).(*ast.IndexExpr)
			return isElement && in.isPure(e.X, bodies, depth)
		}
		return e.Op != token.ARROW && in.isPure(e.X, bodies, depth)
	case *ast.CallExpr:
		return in.isPureCall(e, bodies, depth)
	}
	return false
}

// isPureCall reports whether a call has no effects and is inlined, or converts to a number.
func (in *input) isPureCall(call *ast.CallExpr, bodies map[*types.Func]*ast.FuncDecl, depth int) bool {
	info := in.pass.TypesInfo
	if !in.arePure(call.Args, bodies, depth) {
		return false
	}
	if info.Types[call.Fun].IsType() {
		t, ok := info.TypeOf(call).Underlying().(*types.Basic)
		return ok && t.Info()&types.IsNumeric != 0
	}
	fn := in.callee(call)
	switch {
	case fn == nil:
		return isBuiltin(info, call, "len") || isBuiltin(info, call, "min") || isBuiltin(info, call, "max")
	case isFunc(fn, "math/bits", pureBits...), isFunc(fn, "math", pureMath...):
		return true
	}
	decl, ok := bodies[fn]
	if !ok || depth > maxInlineDepth {
		return false
	}
	if sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok && info.Selections[sel] != nil && !in.isPure(sel.X, bodies, depth) {
		return false
	}
	return len(decl.Body.List) > 0 && in.arePureStatements(decl.Body.List, bodies, depth+1)
}

// Functions that the compiler inlines or replaces by instructions.
var (
	pureBits = []string{
		"LeadingZeros", "LeadingZeros8", "LeadingZeros16", "LeadingZeros32", "LeadingZeros64",
		"TrailingZeros", "TrailingZeros16", "TrailingZeros32", "TrailingZeros64",
		"OnesCount", "OnesCount64", "Len", "Len64", "RotateLeft", "RotateLeft32", "RotateLeft64", "ReverseBytes64",
	}
	pureMath = []string{
		"Abs", "Sqrt", "Floor", "Ceil", "Trunc", "Copysign", "Float64bits", "Float64frombits", "Float32bits",
		"IsNaN", "IsInf", "FMA",
	}
)

// isPureStatement reports whether a statement only returns pure values or assigns them to local
// variables.
func (in *input) isPureStatement(s ast.Stmt, bodies map[*types.Func]*ast.FuncDecl, depth int) bool {
	switch s := s.(type) {
	case *ast.ReturnStmt:
		return in.arePure(s.Results, bodies, depth)
	case *ast.IfStmt:
		return s.Init == nil && s.Else == nil && in.isPure(s.Cond, bodies, depth) && in.arePureStatements(s.Body.List, bodies, depth)
	case *ast.AssignStmt:
		if isDivision := s.Tok == token.QUO_ASSIGN || s.Tok == token.REM_ASSIGN; isDivision && in.pass.TypesInfo.Types[s.Rhs[0]].Value == nil {
			return false // it may panic
		}
		return in.areLocal(s.Lhs) && in.arePure(s.Rhs, bodies, depth)
	case *ast.IncDecStmt:
		return in.areLocal([]ast.Expr{s.X})
	case *ast.RangeStmt:
		for range nodesOf[*ast.ReturnStmt](s.Body) {
			return false // the compiler does not remove a loop that may end early
		}
		return in.isPure(s.X, bodies, depth) && in.arePureStatements(s.Body.List, bodies, depth)
	}
	return false
}

func (in *input) arePureStatements(list []ast.Stmt, bodies map[*types.Func]*ast.FuncDecl, depth int) bool {
	return !slices.ContainsFunc(list, func(s ast.Stmt) bool { return !in.isPureStatement(s, bodies, depth) })
}

func (in *input) arePure(list []ast.Expr, bodies map[*types.Func]*ast.FuncDecl, depth int) bool {
	return !slices.ContainsFunc(list, func(e ast.Expr) bool { return !in.isPure(e, bodies, depth) })
}

// areLocal reports whether all expressions are local variables or _.
func (in *input) areLocal(list []ast.Expr) bool {
	return !slices.ContainsFunc(list, func(e ast.Expr) bool {
		id, ok := e.(*ast.Ident)
		return !ok || id.Name != "_" && !in.isLocal(in.variable(id))
	})
}

// Limits of functions that the compiler surely inlines, in nodes of the syntax tree. The compiler
// itself allows 80 nodes of its internal form. None of 600 functions of the standard library with
// up to 70 nodes of the tree exceeds this. They have no calls (Go 1.26).
const (
	maxLeafNodes   = 100 // for a function without calls
	maxInlineNodes = 40  // for a function with calls, which are inlined too
	maxInlineDepth = 2   // calls within calls
)

// smallBodies returns the functions of the package that the compiler inlines.
func (in *input) smallBodies() map[*types.Func]*ast.FuncDecl {
	bodies := map[*types.Func]*ast.FuncDecl{}
	for fn := range in.functions() {
		obj, ok := in.pass.TypesInfo.Defs[fn.Name].(*types.Func)
		if ok && !hasDirective(fn) && in.isSmall(fn.Body) {
			bodies[obj] = fn
		}
	}
	return bodies
}

// hasDirective reports whether a comment such as //go:noinline keeps the compiler from inlining a
// function.
func hasDirective(fn *ast.FuncDecl) bool {
	return fn.Doc != nil && slices.ContainsFunc(fn.Doc.List, func(c *ast.Comment) bool { return isOneOf(c.Text, []string{"//go:noinline", "//go:nosplit"}) })
}

// isSmall reports whether the compiler surely inlines a function with this body.
func (in *input) isSmall(body *ast.BlockStmt) bool {
	isRealCall := func(call *ast.CallExpr) bool { return !in.pass.TypesInfo.Types[call.Fun].IsType() } // no conversion
	if hasNode(body, isRealCall) {
		return countNodes(body) <= maxInlineNodes
	}
	return countNodes(body) <= maxLeafNodes
}

// countNodes returns the number of nodes of the syntax tree at and below root.
func countNodes(root ast.Node) int {
	n := 0
	ast.Inspect(root, func(node ast.Node) bool {
		if node != nil {
			n++
		}
		return true
	})
	return n
}
