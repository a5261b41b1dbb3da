package gobench

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// This file finds out whether code only reads a value. One value then does for all iterations of a
// benchmark, and the rule input-in-loop can advise so. For example, the first function only reads
// its argument:
//
//	func sum(s []int) (n int) { for _, v := range s { n += v }; return n }
//	func fill(s []int)        { for i := range s { s[i] = i } }
//
// Code that sets a part of a value, returns it or stores it does not only read it. Of the functions
// below, callOnlyReads follows an argument into the called function. The function codeOnlyReads
// checks all uses of a variable, and useOnlyReads one use. Their depth counts the calls and
// variables followed so far.

// callOnlyReads reports whether all functions that a call may run only read the argument arg. It is
// false for functions without code in the package.
func (in *input) callOnlyReads(call *ast.CallExpr, arg ast.Expr, depth int) bool {
	info := in.pass.TypesInfo
	if isBuiltin(info, call, "len") || isBuiltin(info, call, "cap") || isBasic(info.TypeOf(arg)) {
		return true
	}
	if isBuiltin(info, call, "append") || isBuiltin(info, call, "copy") {
		isSource := call.Args[0] != arg
		t, isSlice := info.TypeOf(arg).Underlying().(*types.Slice)
		return isSource && isSlice && isBasic(t.Elem()) // others could be changed through the copy
	}
	called := in.flowGraph().Called(call, nil)
	for _, f := range called {
		if f.Body == nil || depth == maxTimedDepth {
			return false
		}
		isBound := false
		for param, value := range in.flowGraph().Bind(call, f) {
			if value == arg {
				isBound = true
				if !in.codeOnlyReads(f.Body, param, depth+1) {
					return false
				}
			}
		}
		if !isBound {
			return false
		}
	}
	return len(called) > 0
}

// codeOnlyReads reports whether root only reads v and the memory to which v refers.
func (in *input) codeOnlyReads(root ast.Node, v *types.Var, depth int) bool {
	if v == nil || depth > maxTimedDepth {
		return false
	}
	readOnly := true
	in.inspectUses(root, v, func(id *ast.Ident, path []ast.Node) {
		readOnly = readOnly && in.useOnlyReads(root, id, path, depth)
	})
	return readOnly
}

// useOnlyReads reports whether a use of a variable only reads it. The path has the nodes from root
// to id.
func (in *input) useOnlyReads(root ast.Node, id *ast.Ident, path []ast.Node, depth int) bool {
	info := in.pass.TypesInfo
	part, i := ast.Expr(id), len(path)-2 // the used part, such as v.items[0]; path[i] is its parent
	for i >= 0 && in.isPartOf(path[i], part) {
		part = path[i].(ast.Expr)
		i--
	}
	if i < 0 {
		return false
	}
	switch p := path[i].(type) {
	case *ast.IncDecStmt: // v++
		return false
	case *ast.SelectorExpr: // a method
		call, ok := parent(path[:i+1], 1).(*ast.CallExpr)
		return ok && call.Fun == ast.Expr(p) && in.methodOnlyReads(in.callee(call), depth)
	case *ast.IndexExpr, *ast.SliceExpr, *ast.UnaryExpr, *ast.BinaryExpr: // an index or an operand
		return true
	case *ast.AssignStmt:
		j := slices.Index(p.Rhs, part)
		if j < 0 { // the assignment sets the part
			return false
		}
		alias := in.variable(p.Lhs[min(j, len(p.Lhs)-1)])
		isReadAlias := p.Tok == token.DEFINE && in.isLocal(alias) && in.codeOnlyReads(root, alias, depth+1)
		return isBasic(info.TypeOf(part)) || isReadAlias
	case *ast.RangeStmt:
		if p.X != part { // the loop sets the part
			return false
		}
		if p.Value == nil {
			return true
		}
		element := in.variable(p.Value)
		return element != nil && (element.Name() == "_" || in.codeOnlyReads(root, element, depth+1))
	case *ast.CallExpr:
		return p.Fun != part && in.callOnlyReads(p, part, depth)
	}
	return isBasic(info.TypeOf(part))
}

// methodOnlyReads reports whether a method of the package only reads its receiver.
func (in *input) methodOnlyReads(fn *types.Func, depth int) bool {
	recv, body := in.methodBody(fn)
	return body != nil && depth < maxTimedDepth && in.codeOnlyReads(body, recv, depth+1)
}

// isPartOf reports whether a node selects a part of x, its child, or takes the address.
func (in *input) isPartOf(n ast.Node, x ast.Expr) bool {
	switch n := n.(type) {
	case *ast.SelectorExpr:
		s := in.pass.TypesInfo.Selections[n]
		return s != nil && s.Kind() == types.FieldVal
	case *ast.IndexExpr:
		return n.X == x
	case *ast.SliceExpr:
		return n.X == x
	case *ast.ParenExpr:
		return true
	case *ast.UnaryExpr:
		return n.Op == token.AND
	}
	return false
}
