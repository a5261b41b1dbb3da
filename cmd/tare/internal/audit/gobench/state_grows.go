package gobench

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
)

// This file has the rule state-grows. It finds a benchmark that makes a variable larger in each
// iteration and never empties it. Later iterations then work on more memory than the first:
//
//	func BenchmarkDecode(b *testing.B) {
//		var out []Value
//		for range b.N {
//			out = append(out, decode(data))
//		}
//	}
//
// The rule finds appends, new keys of a map, writes to a buffer and methods that add an entry. The
// variable must be declared before the loop. It skips variables that are made for b.N elements, or
// that the loop may empty.

// stateGrows returns the rule state-grows.
func stateGrows() rule {
	return rule{Rule: audit.Rule{
		ID: "state-grows", Severity: tare.Warn,
		Title:   "Each iteration leaves something that grows with b.N.",
		Why:     "The later iterations work on more memory than the first, copy it when it grows, and give the collector more to do. What an iteration takes depends on -benchtime, and two benchmarks with different b.N are not comparable.",
		Do:      "empty it in each iteration (Reset, s = s[:0], clear), or work on a state of fixed size",
		Command: compareRevisions,
		Seen:    []string{"tare: study users (its store grew with every create)"},
	}, find: func(in *input) {
		in.eachTimedLoop(func(l *loop) {
			seen := map[*types.Var]bool{}
			in.inspectTimed(l, func(n ast.Node) bool {
				if v, how := in.findGrowth(l, n); v != nil && !seen[v] {
					seen[v] = true
					in.report(n, "%s %s in each iteration and is never emptied, so it grows with b.N", v.Name(), how)
				}
				return true
			})
			in.reportInserted(l, seen)
		})
	}}
}

// findGrowth returns the variable that a node makes larger, or nil. The text completes the finding,
// as in "gets a new key".
func (in *input) findGrowth(l *loop, n ast.Node) (v *types.Var, text string) {
	switch n := n.(type) {
	case *ast.AssignStmt:
		if v := in.findAppended(l, n); v != nil && !containsWord(l.owner.name, "append", "grow") {
			return v, "is appended to"
		}
		return in.findGrownMap(l, n), "gets a new key"
	case *ast.CallExpr:
		return in.findInserted(l, n)
	case *ast.Ident:
		v, _ := in.pass.TypesInfo.Uses[n].(*types.Var)
		if in.isLocalBefore(v, l) && isBuffer(v.Type()) && in.isOnlyWritten(l, v) {
			return v, "is written to"
		}
	}
	return nil, ""
}

func isBuffer(t types.Type) bool {
	return isNamed(t, "bytes", "Buffer") || isNamed(t, "strings", "Builder")
}

// findAppended returns v of v = append(v, …) if v is declared before the loop, else nil. It omits
// slices for b.N elements, and measurements that the benchmark reads after the loop.
func (in *input) findAppended(l *loop, a *ast.AssignStmt) *types.Var {
	if len(a.Lhs) != 1 || a.Tok != token.ASSIGN {
		return nil
	}
	v := in.variable(a.Lhs[0])
	call, isCall := a.Rhs[0].(*ast.CallExpr)
	appendsToItself := isCall && isBuiltin(in.pass.TypesInfo, call, "append") && in.variable(call.Args[0]) == v
	if !appendsToItself || !in.isLocalBefore(v, l) {
		return nil
	}
	init := in.initOf(l.owner.decl, v)
	isMadeForN := l.owner.sizedByN[v] || init != nil && l.owner.dependsOnN(in.pass.TypesInfo, init)
	appended := in.pass.TypesInfo.TypeOf(call.Args[len(call.Args)-1])
	isMeasurement := isNamed(appended, "time", "Duration") || in.isReadAfter(l, v)
	if isMadeForN || isMeasurement || in.isSetElsewhere(l, v, a) {
		return nil
	}
	return v
}

// isSetElsewhere reports whether a loop sets a variable other than by a, or takes its address.
func (in *input) isSetElsewhere(l *loop, v *types.Var, a *ast.AssignStmt) bool {
	return in.hasUse(l.node, v, func(id *ast.Ident, path []ast.Node) bool {
		switch p := parent(path, 1).(type) {
		case *ast.AssignStmt:
			return p != a && p.Lhs[0] == ast.Expr(id)
		case *ast.UnaryExpr:
			return p.Op == token.AND
		}
		return false
	})
}

// isReadAfter reports whether a benchmark uses a variable after a loop, other than in _ = v.
func (in *input) isReadAfter(l *loop, v *types.Var) bool {
	return in.hasUse(l.owner.decl, v, func(id *ast.Ident, path []ast.Node) bool {
		_, isAssign := parent(path, 1).(*ast.AssignStmt)
		return id.Pos() > l.node.End() && !isAssign
	})
}

// findGrownMap returns m of m[i] = … if i counts the iterations, else nil. It omits maps that are
// made for b.N entries, or emptied.
func (in *input) findGrownMap(l *loop, a *ast.AssignStmt) *types.Var {
	index, ok := a.Lhs[0].(*ast.IndexExpr)
	if !ok || len(a.Lhs) != 1 {
		return nil
	}
	v := in.variable(index.X)
	if !in.isLocalBefore(v, l) || !isMap(v.Type()) {
		return nil
	}
	counter, key := in.counter(l), in.variable(stripConversion(in.pass.TypesInfo, index.Index))
	if counter == nil || key != counter {
		return nil
	}
	if init, ok := in.initOf(l.owner.decl, v).(*ast.CallExpr); ok && l.owner.dependsOnN(in.pass.TypesInfo, init) {
		return nil
	}
	mayBeEmptied := func(id *ast.Ident, path []ast.Node) bool {
		p, isAssign := parent(path, 1).(*ast.AssignStmt)
		_, isArgument := parent(path, 1).(*ast.CallExpr)
		return isArgument || isAssign && p.Lhs[0] == ast.Expr(id)
	}
	if in.hasUse(l.node, v, mayBeEmptied) {
		return nil
	}
	return v
}

// findInserted returns the receiver of a call that adds an entry to it, or nil. Such a call takes
// longer the more entries there are. The text completes the finding, as in "gets an entry and is
// looked through".
func (in *input) findInserted(l *loop, call *ast.CallExpr) (store *types.Var, text string) {
	sel, isSelector := call.Fun.(*ast.SelectorExpr)
	fn := in.callee(call)
	recv, body := in.methodBody(fn)
	if !isSelector || len(call.Args) == 0 || body == nil {
		return nil, ""
	}
	addsEachTime := in.isDistinct(l, call.Args[0]) || in.alwaysAdds(fn)
	store = in.variable(sel.X)
	const dropsResults = false // the loop may use what the method returns
	if !addsEachTime || !in.isLocalBefore(store, l) || !in.isGrowing(fn, dropsResults) || in.mayShrink(l, store) {
		return nil, ""
	}
	for inner := range nodesOf[*ast.CallExpr](body) {
		if isFunc(in.callee(inner), "slices", "Insert") || in.movesEntries(inner) {
			return store, "gets an entry before others, which are moved,"
		}
	}
	if in.looksThrough(body, recv) {
		return store, "gets an entry and is looked through"
	}
	return nil, ""
}

// mayShrink reports whether a loop may remove entries from a store.
func (in *input) mayShrink(l *loop, store *types.Var) bool {
	return in.hasUse(l.node, store, func(_ *ast.Ident, path []ast.Node) bool {
		sel, isSelector := parent(path, 1).(*ast.SelectorExpr)
		if !isSelector || shrinkingName.MatchString(sel.Sel.Name) {
			return true
		}
		method, _ := in.pass.TypesInfo.Uses[sel.Sel].(*types.Func)
		return in.shrinks(method)
	})
}

// shrinks reports whether a method may remove entries of its receiver.
func (in *input) shrinks(fn *types.Func) bool {
	recv, body := in.methodBody(fn)
	return body != nil && hasNode(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			return isBuiltin(in.pass.TypesInfo, n, "delete") || isBuiltin(in.pass.TypesInfo, n, "clear") || isFunc(in.callee(n), "slices", "Delete", "DeleteFunc")
		case *ast.AssignStmt:
			_, isSlice := ast.Unparen(n.Rhs[0]).(*ast.SliceExpr)
			fields, ok := in.receiverPath(n.Lhs[0], recv)
			return isSlice && ok && fields != ""
		}
		return false
	})
}

// looksThrough reports whether a method ranges over a slice of its receiver and appends to it.
func (in *input) looksThrough(body ast.Node, recv *types.Var) bool {
	appended := map[string]bool{} // fields of the receiver
	for a := range nodesOf[*ast.AssignStmt](body) {
		if call, ok := a.Rhs[0].(*ast.CallExpr); ok && in.isAppend(call) {
			if fields, ok := in.receiverPath(a.Lhs[0], recv); ok {
				appended[fields] = true
			}
		}
	}
	for r := range nodesOf[*ast.RangeStmt](body) {
		if fields, ok := in.receiverPath(r.X, recv); ok && appended[fields] {
			return true
		}
	}
	return false
}

// movesEntries reports whether a call is copy(s[i+1:], s[i:]), which makes room for an entry.
func (in *input) movesEntries(call *ast.CallExpr) bool {
	if !isBuiltin(in.pass.TypesInfo, call, "copy") {
		return false
	}
	target, isTargetSlice := call.Args[0].(*ast.SliceExpr)
	source, isSourceSlice := call.Args[1].(*ast.SliceExpr)
	return isTargetSlice && isSourceSlice && formatExpr(target.X) == formatExpr(source.X)
}

// alwaysAdds reports whether each call of a method adds an entry to a slice of the receiver. No
// condition or return may come before.
func (in *input) alwaysAdds(fn *types.Func) bool {
	recv, body := in.methodBody(fn)
	if body == nil {
		return false
	}
	for _, s := range body.List {
		if a, ok := s.(*ast.AssignStmt); ok && len(a.Lhs) == 1 && len(a.Rhs) == 1 {
			call, isCall := a.Rhs[0].(*ast.CallExpr)
			_, isReceiver := in.receiverPath(a.Lhs[0], recv)
			if isCall && isReceiver && (in.isAppend(call) || isFunc(in.callee(call), "slices", "Insert")) {
				return true
			}
		}
		returns := false
		ast.Inspect(s, func(n ast.Node) bool {
			_, isReturn := n.(*ast.ReturnStmt)
			_, isLiteral := n.(*ast.FuncLit)
			returns = returns || isReturn
			return !isLiteral
		})
		if returns {
			return false
		}
	}
	return false
}

// isDistinct reports whether an expression may have another value in each iteration. It is random,
// or contains the counter.
func (in *input) isDistinct(l *loop, e ast.Expr) bool {
	counter := in.counter(l)
	if index, ok := ast.Unparen(e).(*ast.IndexExpr); ok && counter != nil {
		return in.variable(index.Index) == counter || in.isLongCycle(index.Index, counter)
	}
	if call, ok := ast.Unparen(e).(*ast.CallExpr); ok && len(call.Args) == 0 {
		fn := in.callee(call)
		return fn != nil && fn.Pkg() != nil && isOneOf(fn.Pkg().Path(), []string{"math/rand", "math/rand/v2"})
	}
	return counter != nil && in.growsWithCounter(e, counter)
}

// isOnlyWritten reports whether a loop writes to a buffer, and neither reads nor empties it. It is
// false if other code gets the buffer.
func (in *input) isOnlyWritten(l *loop, v *types.Var) bool {
	hasWrite, hasOther := false, false // hasOther: a use that may read or empty the buffer
	in.inspectUses(l.owner.decl, v, func(id *ast.Ident, path []ast.Node) {
		sel, isSelector := parent(path, 1).(*ast.SelectorExpr)
		isInLoop := l.node.Pos() <= id.Pos() && id.Pos() <= l.node.End()
		switch {
		case !isInLoop:
			hasOther = hasOther || !isSelector
		case !isSelector:
			call, isCall := parent(path, 1).(*ast.CallExpr)
			if u, ok := parent(path, 1).(*ast.UnaryExpr); ok && u.Op == token.AND { // &buf as an argument
				call, isCall = parent(path, 2).(*ast.CallExpr)
			}
			if isCall && isFunc(in.callee(call), "fmt", "Fprint", "Fprintf", "Fprintln") {
				hasWrite = true
			} else {
				hasOther = true
			}
		case isOneOf(sel.Sel.Name, []string{"Write", "WriteString", "WriteByte", "WriteRune"}):
			hasWrite = true
		case isOneOf(sel.Sel.Name, []string{"Len", "Cap", "Grow"}):
			// Neither reads nor empties.
		default:
			hasOther = true
		}
	})
	return hasWrite && !hasOther
}
