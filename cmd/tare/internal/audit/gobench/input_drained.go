package gobench

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/lazyregexp"
)

// This file is a part of the rule input-consumed, which finds benchmarks whose input is used up.
// Here the loop takes entries from a queue until it is empty, and does not see this:
//
//	queue := newQueue(1000)
//	for range b.N { v, _ := queue.Pop() }
//
// The rule reads the code of methods such as Pop. It reports a method that removes an entry, and
// returns false or an error if there is none, if the loop ignores that result and adds no entries.

// reportDrained reports a call v, _ := queue.Pop() if the loop adds no entries. It is only a
// warning: the entries may suffice for a small b.N.
func (in *input) reportDrained(l *loop, call *ast.CallExpr) {
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || !takingName.MatchString(sel.Sel.Name) || !in.ignoresLastResult(l, call) {
		return
	}
	v := in.variable(sel.X)
	if !in.isDeclaredOutside(v, l) || !in.isLocal(v) || !in.takesEntry(in.callee(call)) || in.mayHaveEntries(l, v) {
		return
	}
	in.reportAs(tare.Warn, call, "%s takes an entry from %s, the loop adds none, and nothing reads whether there was one: most iterations may find %s empty", formatExpr(call.Fun), v.Name(), v.Name())
}

// takingName matches methods that take an entry from their receiver, such as Pop.
var takingName = lazyregexp.New(`^(Pop|Next|Dequeue|Take|Poll|Shift|Remove|Delete(Min|Max)|Extract)`)

// ignoresLastResult reports whether a loop ignores the last result of a call, or only guards an
// assignment with it (see onlyGuards).
func (in *input) ignoresLastResult(l *loop, call *ast.CallExpr) bool {
	isIgnored := false
	inspectPath(l.body, func(n ast.Node, path []ast.Node) bool {
		if n != ast.Node(call) {
			return !isIgnored
		}
		switch p := parent(path, 1).(type) {
		case *ast.ExprStmt:
			isIgnored = true
		case *ast.AssignStmt:
			last := p.Lhs[len(p.Lhs)-1]
			id, ok := last.(*ast.Ident)
			v := in.variable(last)
			isIgnored = ok && (isBlank(id) || in.isSink(v) || len(p.Lhs) > 1 && in.onlyGuards(l, v))
		}
		return false
	})
	return isIgnored
}

// onlyGuards reports whether the only use of a variable ok in a loop is if ok { sink = v }. The if
// statement may also declare ok.
func (in *input) onlyGuards(l *loop, v *types.Var) bool {
	uses, guards := 0, 0
	if v == nil {
		return false
	}
	in.inspectUses(l.body, v, func(id *ast.Ident, path []ast.Node) {
		switch p := parent(path, 1).(type) {
		case *ast.AssignStmt:
			return
		case *ast.IfStmt:
			init, _ := p.Init.(*ast.AssignStmt) // if v, ok := q.Pop(); ok { … }
			isOwnInit := init != nil && slices.ContainsFunc(init.Lhs, func(lhs ast.Expr) bool { return in.variable(lhs) == v })
			assigns := p.Else == nil && (p.Init == nil || isOwnInit)
			for _, s := range p.Body.List {
				_, isAssign := s.(*ast.AssignStmt)
				assigns = assigns && isAssign
			}
			if assigns {
				guards++
			}
		}
		uses++
	})
	return uses == 1 && guards == 1
}

// isSink reports whether v is an unexported package variable that nothing reads. Benchmarks assign
// results to it to keep the compiler from removing the work.
func (in *input) isSink(v *types.Var) bool {
	if v == nil || in.isLocal(v) || v.Exported() {
		return false
	}
	_, isRead := in.classifyUses(v)
	return !isRead
}

// takesEntry reports whether a method removes an entry of its receiver, and its last result says
// whether there was one. It is false for a method that waits for entries.
func (in *input) takesEntry(fn *types.Func) bool {
	recv, body := in.methodBody(fn)
	if body == nil || fn.Signature().Results().Len() == 0 {
		return false
	}
	results := fn.Signature().Results()
	last := results.At(results.Len() - 1).Type()
	if !isError(last) && !isBool(last) {
		return false
	}
	removes, fails, waits := false, false, false
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			removes = removes || in.cutsSlice(n, recv)
		case *ast.CallExpr:
			name := calledName(n)
			removes = removes || isBuiltin(in.pass.TypesInfo, n, "delete") || isFunc(in.callee(n), "container/heap", "Pop", "Remove") || isMethodOf(in.callee(n), "container/list", "List", "Remove")
			waits = waits || name == "Wait" || name == "Sleep"
		case *ast.UnaryExpr:
			waits = waits || n.Op == token.ARROW
		case *ast.SelectStmt:
			waits = true
		case *ast.ReturnStmt:
			if len(n.Results) == results.Len() {
				result := in.pass.TypesInfo.Types[n.Results[len(n.Results)-1]]
				isFalse := result.Value != nil && result.Value.String() == "false"
				fails = fails || isFalse || isError(last) && !result.IsNil()
			}
		}
		return true
	})
	return removes && fails && !waits
}

// cutsSlice reports whether an assignment has the form r.items = r.items[1:] for a receiver r.
func (in *input) cutsSlice(a *ast.AssignStmt, recv *types.Var) bool {
	for i, lhs := range a.Lhs {
		fields, isTarget := in.receiverPath(lhs, recv)
		if !isTarget || fields == "" || len(a.Lhs) != len(a.Rhs) {
			continue
		}
		if s, ok := a.Rhs[i].(*ast.SliceExpr); ok {
			if _, isSource := in.receiverPath(s.X, recv); isSource {
				return true
			}
		}
	}
	return false
}

// mayHaveEntries reports whether the queue v may have an entry for each iteration: it is made with b.N
// entries, or a use of it may add entries.
func (in *input) mayHaveEntries(l *loop, v *types.Var) bool {
	init := in.initOf(l.owner.decl, v)
	isMadeWithN := init != nil && l.owner.dependsOnN(in.pass.TypesInfo, init)
	if isMadeWithN || l.owner.sizedByN[v] || in.isPreparedForN(l, v) {
		return true
	}
	return in.hasUse(l.owner.decl, v, func(id *ast.Ident, path []ast.Node) bool {
		if isNodeIn(id, l.node) {
			return !isTakingOrReading(path)
		}
		return in.mayAddBesideLoop(l, path)
	})
}

// isTakingOrReading reports whether the last node of a path is x in a selector such as x.Pop or x.Len,
// which adds no entries.
func isTakingOrReading(path []ast.Node) bool {
	sel, ok := parent(path, 1).(*ast.SelectorExpr)
	return ok && (takingName.MatchString(sel.Sel.Name) || isOneOf(sel.Sel.Name, []string{"Len", "Size", "Cap", "Peek", "Front"}))
}

// mayAddBesideLoop reports whether a use of a queue outside the loop may add an entry for each
// iteration. A goroutine or another function may run during the loop, and a statement may depend on
// b.N. The last node of the path is the use.
func (in *input) mayAddBesideLoop(l *loop, path []ast.Node) bool {
	return slices.ContainsFunc(path, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			return true
		case *ast.FuncLit:
			return !isNodeIn(l.node, n)
		case ast.Stmt:
			return !isNodeIn(l.node, n) && l.owner.dependsOnN(in.pass.TypesInfo, n)
		}
		return false
	})
}
