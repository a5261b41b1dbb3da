package gobench

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
)

// stateGrows finds slices, maps and buffers that each iteration makes larger.
func stateGrows() rule {
	return rule{audit.Rule{
		ID: "state-grows", Severity: tare.Warn,
		Title:   "Each iteration leaves something behind that grows with b.N.",
		Why:     "The later iterations work on more memory than the first, copy it when it grows, and give the collector more to do. What an iteration takes depends on -benchtime, and two benchmarks with different b.N are not comparable.",
		Do:      "empty it in each iteration (Reset, s = s[:0], clear), or work on a state of fixed size",
		Command: compareRevisions,
		Seen:    []string{"tare: study users (its store grew with every create)"},
	}, func(in *input) {
		in.timedLoops(func(l *loop) {
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
					if v := in.findAppended(l, n); v != nil && !nameHas(l.owner.name, "append", "grow") {
						report(n, v, "is appended to")
					}
					if v := in.mapGrown(l, n); v != nil {
						report(n, v, "gets a new key")
					}
				case *ast.Ident:
					v, _ := in.pass.TypesInfo.Uses[n].(*types.Var)
					if v != nil && in.isOutside(v, l) && in.isLocal(v) && (isNamed(v.Type(), "bytes", "Buffer") || isNamed(v.Type(), "strings", "Builder")) && in.onlyWritten(l, v) {
						report(n, v, "is written to")
					}
				}
				return true
			})
		})
	}}
}

// findAppended returns the variable if a statement appends to one from outside of the
// loop that the loop does not set otherwise.
func (in *input) findAppended(l *loop, a *ast.AssignStmt) *types.Var {
	if len(a.Lhs) != 1 || a.Tok != token.ASSIGN {
		return nil
	}
	call, ok := a.Rhs[0].(*ast.CallExpr)
	v := in.variable(a.Lhs[0])
	if !ok || v == nil || !isBuiltin(in.pass.TypesInfo, call, "append") || in.variable(call.Args[0]) != v || !in.isOutside(v, l) || !in.isLocal(v) || l.owner.sized[v] {
		return nil
	}
	if init := in.initOf(l.owner.decl, v); init != nil && l.owner.isOfN(in.pass.TypesInfo, init) {
		return nil
	}
	if isNamed(in.pass.TypesInfo.TypeOf(call.Args[len(call.Args)-1]), "time", "Duration") || in.isReadAfter(l, v) {
		return nil // a measurement
	}
	set := false
	in.uses(l.node, v, func(id *ast.Ident, path []ast.Node) {
		other, ok := parent(path, 1).(*ast.AssignStmt)
		if ok && other != a && other.Lhs[0] == ast.Expr(id) {
			set = true
		}
		if u, ok := parent(path, 1).(*ast.UnaryExpr); ok && u.Op == token.AND {
			set = true
		}
	})
	if set {
		return nil
	}
	return v
}

// isReadAfter reports whether a benchmark uses a variable after a loop, other than
// by _ = v.
func (in *input) isReadAfter(l *loop, v *types.Var) bool {
	used := false
	in.uses(l.owner.decl, v, func(id *ast.Ident, path []ast.Node) {
		_, assigned := parent(path, 1).(*ast.AssignStmt)
		used = used || id.Pos() > l.node.End() && !assigned
	})
	return used
}

// mapGrown returns the map if a statement sets an element of one from outside of
// the loop whose key is the loop's own counter.
func (in *input) mapGrown(l *loop, a *ast.AssignStmt) *types.Var {
	index, ok := a.Lhs[0].(*ast.IndexExpr)
	if !ok || len(a.Lhs) != 1 {
		return nil
	}
	v := in.variable(index.X)
	if v == nil || !in.isOutside(v, l) || !in.isLocal(v) {
		return nil
	}
	if _, ok := v.Type().Underlying().(*types.Map); !ok || in.counter(l) == nil || in.variable(stripConversion(in.pass.TypesInfo, index.Index)) != in.counter(l) {
		return nil
	}
	if init, ok := in.initOf(l.owner.decl, v).(*ast.CallExpr); ok && l.owner.isOfN(in.pass.TypesInfo, init) {
		return nil
	}
	emptied := false
	in.uses(l.node, v, func(id *ast.Ident, path []ast.Node) {
		switch p := parent(path, 1).(type) {
		case *ast.AssignStmt:
			emptied = emptied || p.Lhs[0] == ast.Expr(id)
		case *ast.CallExpr:
			emptied = true
		}
	})
	if emptied {
		return nil
	}
	return v
}

// counter returns the variable that counts a loop's iterations, nil if there is
// none.
func (in *input) counter(l *loop) *types.Var {
	switch n := l.node.(type) {
	case *ast.ForStmt:
		if a, ok := n.Init.(*ast.AssignStmt); ok && len(a.Lhs) == 1 {
			return in.variable(a.Lhs[0])
		}
	case *ast.RangeStmt:
		if n.Key != nil {
			return in.variable(n.Key)
		}
	}
	return nil
}

// onlyWritten reports whether a loop writes to a buffer, and neither reads it nor
// empties it. What gets the buffer outside of the loop may do both.
func (in *input) onlyWritten(l *loop, v *types.Var) bool {
	written, other := false, false
	in.uses(l.owner.decl, v, func(id *ast.Ident, path []ast.Node) {
		if id.Pos() < l.node.Pos() || id.Pos() > l.node.End() {
			_, method := parent(path, 1).(*ast.SelectorExpr)
			other = other || !method
			return
		}
		sel, ok := parent(path, 1).(*ast.SelectorExpr)
		if !ok {
			call, isCall := parent(path, 1).(*ast.CallExpr)
			if u, ok := parent(path, 1).(*ast.UnaryExpr); ok && u.Op == token.AND {
				call, isCall = parent(path, 2).(*ast.CallExpr)
			}
			if isCall && isFunc(in.callee(call), "fmt", "Fprint", "Fprintf", "Fprintln") {
				written = true
				return
			}
			other = true
			return
		}
		switch name := sel.Sel.Name; {
		case hasName(name, []string{"Write", "WriteString", "WriteByte", "WriteRune"}):
			written = true
		case hasName(name, []string{"Len", "Cap", "Grow"}):
		default:
			other = true
		}
	})
	return written && !other
}
