package gobench

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"github.com/tarebench/tare/cmd/tare/internal/audit/gobench/flow"
)

// This file is a part of the rule input-in-loop, which finds an input that each iteration makes
// again. Here the loop calls a function that makes the input:
//
//	encodeLarge := func() { Encode(newOrders(1000)) }
//	for b.Loop() { encodeLarge() }
//
// The rule then reads the body of encodeLarge as if it were the body of the loop.

// repeatedBody returns the loop that repeats a call: the loop of the frame f, or the body of f as a
// loop. It returns nil if the iterations may call the function of f with other arguments, or with
// other values of the variables that the call uses. The frame has the body in which the call is.
func (in *input) repeatedBody(f *frame, call *ast.CallExpr) *loop {
	if f.callDepth() == 0 {
		return f.loop
	}
	t := typeOfFunction(f.node)
	if t == nil || !in.hasNoInput(t) || !in.isOperation(t) {
		return nil
	}
	isChanged := func(id *ast.Ident) bool {
		v, _ := in.pass.TypesInfo.Uses[id].(*types.Var)
		return v != nil && !v.IsField() && in.mayChange(v)
	}
	if hasNode(call, isChanged) {
		return nil
	}
	return &loop{kind: f.loop.kind, owner: f.loop.owner, node: f.body, body: f.body, timed: true}
}

// typeOfFunction returns the type in a declaration or a literal of a function, else nil.
func typeOfFunction(n ast.Node) *ast.FuncType {
	switch n := n.(type) {
	case *ast.FuncDecl:
		if n.Recv == nil {
			return n.Type
		}
	case *ast.FuncLit:
		return n.Type
	}
	return nil
}

// hasNoInput reports whether a function has no parameters but a *testing.B or testing.TB.
func (in *input) hasNoInput(t *ast.FuncType) bool {
	return !slices.ContainsFunc(flow.Params(t), func(p flow.Param) bool {
		return !isNamed(in.pass.TypesInfo.TypeOf(p.Type), "testing", "B", "TB")
	})
}

// isOperation reports whether a function returns nothing, or only numbers, bools and errors. It does
// not make a value for others.
func (in *input) isOperation(t *ast.FuncType) bool {
	if t.Results == nil {
		return true
	}
	return !slices.ContainsFunc(t.Results.List, func(field *ast.Field) bool {
		result := in.pass.TypesInfo.TypeOf(field.Type)
		return !isError(result) && !isNonStringBasic(result)
	})
}

// mayChange reports whether the package sets a variable after its declaration, or takes its address.
func (in *input) mayChange(v *types.Var) bool {
	return slices.ContainsFunc(in.pass.Files, func(file *ast.File) bool {
		return in.hasUse(file, v, func(id *ast.Ident, path []ast.Node) bool {
			switch p := parent(path, 1).(type) {
			case *ast.AssignStmt:
				return containsIdent(p.Lhs, id)
			case *ast.RangeStmt:
				return p.Tok == token.ASSIGN && (p.Key == ast.Expr(id) || p.Value == ast.Expr(id))
			case *ast.IncDecStmt, *ast.UnaryExpr:
				return true
			}
			return false
		})
	})
}
