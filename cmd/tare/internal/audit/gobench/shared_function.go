package gobench

import (
	"go/ast"
	"go/token"
	"go/types"
)

// This file is a part of the rule shared-state, which finds sub-benchmarks that find what another
// one left. Here two sub-benchmarks are the same function, so they differ only by what the first
// leaves:
//
//	b.Run("cold", lookUp)
//	b.Run("warm", lookUp)
//
// It also finds a counter that several sub-benchmarks share. A case is one entry of a table over
// which a loop calls b.Run.

// reportTwins reports a function that two statements, one after the other, run under two names.
func (in *input) reportTwins(outer *benchmark) {
	for block := range nodesOf[*ast.BlockStmt](outer.body) {
		for i := 1; i < len(block.List); i++ {
			first, second := in.findRun(block.List[i-1]), in.findRun(block.List[i])
			if first == nil || second == nil {
				continue
			}
			v := in.variable(first.Args[1])
			if v == nil || v != in.variable(second.Args[1]) || !in.isLocal(v) {
				continue
			}
			lit := in.findOnlyLiteral(v)
			firstName, secondName := formatExpr(first.Args[0]), formatExpr(second.Args[0])
			if lit == nil || firstName == secondName || hasCall(lit.Body, func(name string) bool { return name == "Name" }) {
				continue
			}
			in.report(first, "%s and %s are the same function on the same variables: all that differs is what the first leaves in them", firstName, secondName)
		}
	}
}

// findRun returns the call b.Run(name, function) of a statement, or nil.
func (in *input) findRun(s ast.Stmt) *ast.CallExpr {
	e, ok := s.(*ast.ExprStmt)
	if !ok {
		return nil
	}
	call, ok := e.X.(*ast.CallExpr)
	if !ok || len(call.Args) != 2 || !isMethodOf(in.callee(call), "testing", "B", "Run") {
		return nil
	}
	return call
}

// findOnlyLiteral returns the function literal that is the only value of a variable, or nil.
func (in *input) findOnlyLiteral(v *types.Var) *ast.FuncLit {
	values := in.flowGraph().Values(v)
	if len(values) != 1 {
		return nil
	}
	lit, _ := values[0].(*ast.FuncLit)
	return lit
}

// reportCarriedCounter reports a container that gets an entry for each value of a counter, if the
// sub-benchmarks of all cases share both. They are declared between the positions first and cases,
// before the loop over the cases:
//
//	store.Put(keys[next], value); next++
func (in *input) reportCarriedCounter(l *loop, first, cases token.Pos) {
	isBeforeCases := func(v *types.Var) bool { return v != nil && first <= v.Pos() && v.Pos() <= cases }
	for n := range nodesOf[*ast.IncDecStmt](l.body) {
		counter := in.variable(n.X)
		if n.Tok != token.INC || !isBeforeCases(counter) || in.isSetIn(l.owner.body, counter) {
			continue
		}
		inspectPath(l.body, func(n ast.Node, path []ast.Node) bool {
			id, ok := n.(*ast.Ident)
			if !ok {
				return true
			}
			v, _ := in.pass.TypesInfo.Uses[id].(*types.Var)
			call, isCall := parent(path, 2).(*ast.CallExpr)
			if isCall && len(call.Args) > 0 && isBeforeCases(v) && usageOf(id, path) == writeUse && in.usesVariable(call.Args[0], counter) {
				in.report(id, "%s gets entries from the sub-benchmark of each case, because %s goes on counting, and the next case begins with them", v.Name(), counter.Name())
			}
			return true
		})
	}
}

// isSetIn reports whether root assigns to a variable. An increment v++ does not count.
func (in *input) isSetIn(root ast.Node, v *types.Var) bool {
	return in.hasUse(root, v, func(id *ast.Ident, path []ast.Node) bool {
		a, ok := parent(path, 1).(*ast.AssignStmt)
		return ok && containsIdent(a.Lhs, id)
	})
}
