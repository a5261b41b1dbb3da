package gobench

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
)

// stateGrows finds slices, maps and buffers from outside of a loop that each iteration makes
// larger.
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
			report := func(n ast.Node, v *types.Var, how string) {
				if !seen[v] {
					seen[v] = true
					in.report(n, "%s %s in each iteration and is never emptied, so it grows with b.N", v.Name(), how)
				}
			}
			in.inspectTimed(l, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.AssignStmt:
					if v := in.findAppended(l, n); v != nil && !containsWord(l.owner.name, "append", "grow") {
						report(n, v, "is appended to")
					}
					if v := in.findGrownMap(l, n); v != nil {
						report(n, v, "gets a new key")
					}
				case *ast.CallExpr:
					if v, how := in.findInserted(l, n); v != nil {
						report(n, v, how)
					}
				case *ast.Ident:
					v, _ := in.pass.TypesInfo.Uses[n].(*types.Var)
					if !in.isOutside(v, l) || !in.isLocal(v) {
						return true
					}
					isBuffer := isNamed(v.Type(), "bytes", "Buffer") || isNamed(v.Type(), "strings", "Builder")
					if isBuffer && in.isOnlyWritten(l, v) {
						report(n, v, "is written to")
					}
				}
				return true
			})
		})
	}}
}

// findAppended returns the variable v of a statement v = append(v, …) if v is from outside of the
// loop and the loop does not set it in another way. It returns nil for other statements, for slices
// that are made for b.N elements, and for measurements that the benchmark reads after the loop.
func (in *input) findAppended(l *loop, a *ast.AssignStmt) *types.Var {
	if len(a.Lhs) != 1 || a.Tok != token.ASSIGN {
		return nil
	}
	call, ok := a.Rhs[0].(*ast.CallExpr)
	v := in.variable(a.Lhs[0])
	if !ok || !in.isOutside(v, l) || !in.isLocal(v) {
		return nil
	}
	if !isBuiltin(in.pass.TypesInfo, call, "append") || in.variable(call.Args[0]) != v {
		return nil
	}
	init := in.initOf(l.owner.decl, v)
	isMadeForN := l.owner.sized[v] || init != nil && l.owner.dependsOnN(in.pass.TypesInfo, init)
	if isMadeForN {
		return nil
	}
	appended := in.pass.TypesInfo.TypeOf(call.Args[len(call.Args)-1])
	isMeasurement := isNamed(appended, "time", "Duration") || in.isReadAfter(l, v)
	if isMeasurement {
		return nil
	}
	isSetElsewhere := false
	in.inspectUses(l.node, v, func(id *ast.Ident, path []ast.Node) {
		switch p := parent(path, 1).(type) {
		case *ast.AssignStmt:
			if p != a && p.Lhs[0] == ast.Expr(id) {
				isSetElsewhere = true
			}
		case *ast.UnaryExpr:
			if p.Op == token.AND {
				isSetElsewhere = true
			}
		}
	})
	if isSetElsewhere {
		return nil
	}
	return v
}

// isReadAfter reports whether a benchmark uses a variable after a loop, other than in an
// assignment such as _ = v.
func (in *input) isReadAfter(l *loop, v *types.Var) bool {
	found := false
	in.inspectUses(l.owner.decl, v, func(id *ast.Ident, path []ast.Node) {
		_, isAssign := parent(path, 1).(*ast.AssignStmt)
		found = found || id.Pos() > l.node.End() && !isAssign
	})
	return found
}

// findGrownMap returns the map m of a statement m[i] = … if m is from outside of the
// loop, i is the counter of the loop, and the loop does not empty m. It returns nil for
// other statements, and for maps that are made for b.N elements.
func (in *input) findGrownMap(l *loop, a *ast.AssignStmt) *types.Var {
	index, ok := a.Lhs[0].(*ast.IndexExpr)
	if !ok || len(a.Lhs) != 1 {
		return nil
	}
	v := in.variable(index.X)
	if !in.isOutside(v, l) || !in.isLocal(v) {
		return nil
	}
	counter := in.counter(l)
	if !isMap(v.Type()) || counter == nil || in.variable(stripConversion(in.pass.TypesInfo, index.Index)) != counter {
		return nil
	}
	if init, ok := in.initOf(l.owner.decl, v).(*ast.CallExpr); ok && l.owner.dependsOnN(in.pass.TypesInfo, init) {
		return nil
	}
	mayBeEmptied := false
	in.inspectUses(l.node, v, func(id *ast.Ident, path []ast.Node) {
		switch p := parent(path, 1).(type) {
		case *ast.AssignStmt:
			mayBeEmptied = mayBeEmptied || p.Lhs[0] == ast.Expr(id)
		case *ast.CallExpr:
			mayBeEmptied = true
		}
	})
	if mayBeEmptied {
		return nil
	}
	return v
}

// findInserted returns the receiver of a call if it is from outside of the loop and the method adds
// another entry in each iteration, in time proportional to the number of entries: it inserts into a
// slice, or appends to one and ranges over it. how is the predicate of the finding, such as "gets
// an entry and is looked through". It returns nil for other calls.
func (in *input) findInserted(l *loop, call *ast.CallExpr) (v *types.Var, how string) {
	sel, ok := call.Fun.(*ast.SelectorExpr)
	fn := in.callee(call)
	if !ok || len(call.Args) == 0 || !in.isDistinct(l, call.Args[0]) && !in.alwaysAdds(fn) {
		return nil, ""
	}
	v = in.variable(sel.X)
	if fn == nil || !in.isOutside(v, l) || !in.isLocal(v) || !in.isGrowing(fn, false) {
		return nil, ""
	}
	mayBeEmptied := false
	in.inspectUses(l.node, v, func(id *ast.Ident, path []ast.Node) {
		if sel, ok := parent(path, 1).(*ast.SelectorExpr); ok {
			mayBeEmptied = mayBeEmptied || shrinkingName.MatchString(sel.Sel.Name)
			return
		}
		mayBeEmptied = true
	})
	recv, body := in.methodBody(fn)
	if mayBeEmptied || body == nil {
		return nil, ""
	}
	for inner := range nodesOf[*ast.CallExpr](body) {
		if isFunc(in.callee(inner), "slices", "Insert") || in.movesEntries(inner) {
			return v, "gets an entry before others, which are moved,"
		}
	}
	if in.looksThrough(body, recv) {
		return v, "gets an entry and is looked through"
	}
	return nil, ""
}

// looksThrough reports whether a method ranges over a slice of its receiver that it appends to.
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
	target, ok := call.Args[0].(*ast.SliceExpr)
	source, isSlice := call.Args[1].(*ast.SliceExpr)
	return ok && isSlice && formatExpr(target.X) == formatExpr(source.X)
}

// alwaysAdds reports whether each call of a method adds an entry to a slice of the receiver: the
// statement that does so is in no condition, and no return comes before it.
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

// isDistinct reports whether an expression may have another value in each iteration: it contains
// the counter i of the loop, or is keys[i] or a random number such as rand.Int().
func (in *input) isDistinct(l *loop, e ast.Expr) bool {
	counter := in.counter(l)
	if index, ok := ast.Unparen(e).(*ast.IndexExpr); ok && counter != nil {
		return in.variable(index.Index) == counter
	}
	if call, ok := ast.Unparen(e).(*ast.CallExpr); ok && len(call.Args) == 0 {
		fn := in.callee(call)
		return fn != nil && fn.Pkg() != nil && isOneOf(fn.Pkg().Path(), []string{"math/rand", "math/rand/v2"})
	}
	return counter != nil && in.growsWith(e, counter)
}

// isOnlyWritten reports whether a loop writes to a buffer, and neither reads it nor
// empties it. A function that gets the buffer outside of the loop may do both.
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
			// These methods neither read nor empty the buffer.
		default:
			hasOther = true
		}
	})
	return hasWrite && !hasOther
}
