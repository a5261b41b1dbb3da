package gobench

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/types/typeutil"
)

// inspectPath calls visit for each node below root, with the path from below root
// to the node, which is its last. It goes below a node if visit returns true.
func inspectPath(root ast.Node, visit func(n ast.Node, path []ast.Node) bool) {
	var path []ast.Node
	ast.Inspect(root, func(n ast.Node) bool {
		if n == nil {
			path = path[:max(0, len(path)-1)]
			return true
		}
		if n == root {
			return true
		}
		path = append(path, n)
		if visit(n, path) {
			return true
		}
		path = path[:len(path)-1]
		return false
	})
}

// inspectTimed calls visit for each node of a loop that runs in every iteration
// while the timer does: not between StopTimer and StartTimer, not where an
// iteration fails, and not in literals that are not called where they stand.
func (in *input) inspectTimed(l *loop, visit func(n ast.Node) bool) {
	in.inspectStatements(l.body.List, true, visit)
}

// inspectStatements does so for a list of statements, and reports whether the
// timer runs after them.
func (in *input) inspectStatements(list []ast.Stmt, running bool, visit func(n ast.Node) bool) bool {
	info := in.pass.TypesInfo
	for _, s := range list {
		switch timerCall(info, s) {
		case "StopTimer":
			running = false
			continue
		case "StartTimer":
			running = true
			continue
		}
		ast.Inspect(s, func(n ast.Node) bool {
			switch n := n.(type) {
			case nil:
				return false
			case *ast.BlockStmt:
				running = in.inspectStatements(n.List, running, visit)
				return false
			case *ast.IfStmt:
				if in.isFailure(n.Body) {
					for _, part := range []ast.Node{n.Init, n.Cond, n.Else} {
						if part != nil && running {
							in.inspectNode(part, visit)
						}
					}
					return false
				}
			case *ast.FuncLit:
				return false
			case *ast.DeferStmt, *ast.GoStmt: // they run elsewhere
				if running {
					visit(n)
				}
				return false
			case *ast.CallExpr:
				if lit, ok := n.Fun.(*ast.FuncLit); ok {
					running = in.inspectStatements(lit.Body.List, running, visit)
				}
			}
			return running && visit(n)
		})
	}
	return running
}

// inspectNode visits what an if statement has besides its body.
func (in *input) inspectNode(part ast.Node, visit func(n ast.Node) bool) {
	if s, ok := part.(ast.Stmt); ok {
		in.inspectStatements([]ast.Stmt{s}, true, visit)
		return
	}
	ast.Inspect(part, func(n ast.Node) bool {
		if _, lit := n.(*ast.FuncLit); lit || n == nil {
			return false
		}
		return visit(n)
	})
}

// isFailure reports whether a block ends an iteration or the benchmark: it fails,
// panics, returns or breaks.
func (in *input) isFailure(b *ast.BlockStmt) bool {
	if b == nil || len(b.List) == 0 {
		return false
	}
	for _, s := range b.List {
		switch s := s.(type) {
		case *ast.ReturnStmt, *ast.BranchStmt:
			return true
		case *ast.ExprStmt:
			call, ok := s.X.(*ast.CallExpr)
			if !ok {
				continue
			}
			switch name := calledName(call); {
			case name == "panic", strings.HasPrefix(name, "Fatal"), strings.HasPrefix(name, "Error"), strings.HasPrefix(name, "Fail"), strings.HasPrefix(name, "Skip"), name == "Exit":
				return true
			}
		}
	}
	return false
}

// timedLoops calls visit for each timed loop of the package.
func (in *input) timedLoops(visit func(l *loop)) {
	for _, b := range in.suite.benchmarks {
		for _, l := range b.loops {
			if l.timed {
				visit(l)
			}
		}
	}
}

// timedCalls calls visit for each call in the timed loops of the package.
func (in *input) timedCalls(visit func(l *loop, call *ast.CallExpr, fn *types.Func)) {
	in.timedLoops(func(l *loop) {
		in.inspectTimed(l, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok {
				if fn := in.callee(call); fn != nil {
					visit(l, call, fn)
				}
			}
			return true
		})
	})
}

// callee returns the function or method that a call names. It is nil if that is
// unknown, e.g. a variable.
func (in *input) callee(call *ast.CallExpr) *types.Func {
	fn, _ := typeutil.Callee(in.pass.TypesInfo, call).(*types.Func)
	if fn == nil {
		return nil
	}
	return fn.Origin()
}

// variable returns the variable that an expression names, also behind & and
// parentheses. It is nil if the expression is something else.
func (in *input) variable(e ast.Expr) *types.Var {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		v, _ := in.pass.TypesInfo.ObjectOf(e).(*types.Var)
		return v
	case *ast.UnaryExpr:
		if e.Op == token.AND {
			return in.variable(e.X)
		}
	}
	return nil
}

// isOutside reports whether a variable is declared in a function, and outside of
// a loop.
func (in *input) isOutside(v *types.Var, l *loop) bool {
	return v != nil && !v.IsField() && v.Name() != "_" && (v.Pos() < l.node.Pos() || v.Pos() > l.node.End())
}

// isLocal reports whether a variable is one of a function.
func (in *input) isLocal(v *types.Var) bool {
	return v != nil && !v.IsField() && v.Pkg() != nil && v.Parent() != v.Pkg().Scope()
}

// uses calls visit for each use of a variable below root, with the path to it.
func (in *input) uses(root ast.Node, v *types.Var, visit func(id *ast.Ident, path []ast.Node)) {
	inspectPath(root, func(n ast.Node, path []ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && in.pass.TypesInfo.Uses[id] == v {
			visit(id, path)
		}
		return true
	})
}

// initOf returns the expression that a local variable is declared with, below
// root. It is nil if there is none.
func (in *input) initOf(root ast.Node, v *types.Var) ast.Expr {
	var init ast.Expr
	ast.Inspect(root, func(n ast.Node) bool {
		var names []ast.Expr
		var values []ast.Expr
		switch n := n.(type) {
		case *ast.AssignStmt:
			names, values = n.Lhs, n.Rhs
		case *ast.ValueSpec:
			for _, id := range n.Names {
				names = append(names, id)
			}
			values = n.Values
		}
		for i, name := range names {
			id, ok := name.(*ast.Ident)
			if !ok || in.pass.TypesInfo.Defs[id] != v || len(values) == 0 {
				continue
			}
			init = values[0]
			if len(values) == len(names) {
				init = values[i]
			}
		}
		return init == nil
	})
	return init
}

// calledName returns the last name of what a call calls, "" if it has none.
func calledName(call *ast.CallExpr) string {
	switch f := ast.Unparen(call.Fun).(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		return f.Sel.Name
	case *ast.IndexExpr:
		return calledName(&ast.CallExpr{Fun: f.X})
	}
	return ""
}

// isFunc reports whether fn is one of the named functions, not methods, of a
// package. Without names, any function of it.
func isFunc(fn *types.Func, pkg string, names ...string) bool {
	return fn != nil && fn.Pkg() != nil && fn.Pkg().Path() == pkg && fn.Signature().Recv() == nil && hasName(fn.Name(), names)
}

func hasName(name string, names []string) bool {
	if len(names) == 0 {
		return true
	}
	for _, n := range names {
		if n == name {
			return true
		}
	}
	return false
}

// isMethod reports whether a call is of a method of *PKG.TYPE.
func isMethod(info *types.Info, call *ast.CallExpr, pkg, typ, name string) bool {
	sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	return ok && sel.Sel.Name == name && isNamed(info.TypeOf(sel.X), pkg, typ)
}

// isNamed reports whether t is the named type of a package, or a pointer to it.
func isNamed(t types.Type, pkg string, names ...string) bool {
	if t == nil {
		return false
	}
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		t = p.Elem()
	}
	n, ok := types.Unalias(t).(*types.Named)
	return ok && n.Obj().Pkg() != nil && n.Obj().Pkg().Path() == pkg && hasName(n.Obj().Name(), names)
}

// isMake reports whether a call is of the builtin make.
func isMake(info *types.Info, call *ast.CallExpr) bool { return isBuiltin(info, call, "make") }

func isBuiltin(info *types.Info, call *ast.CallExpr, name string) bool {
	id, ok := ast.Unparen(call.Fun).(*ast.Ident)
	if !ok || id.Name != name {
		return false
	}
	_, ok = info.Uses[id].(*types.Builtin)
	return ok
}

// isError reports whether t is the type error.
func isError(t types.Type) bool {
	return t != nil && types.Identical(t, types.Universe.Lookup("error").Type())
}

// show returns an expression in one short line.
func show(e ast.Expr) string {
	const most = 60
	text := []rune(strings.Join(strings.Fields(types.ExprString(e)), " "))
	if len(text) > most {
		return string(text[:most-1]) + "…"
	}
	return string(text)
}

// calls reports whether a call below root has a name that is wanted.
func (in *input) calls(root ast.Node, wanted func(name string) bool) bool {
	found := false
	ast.Inspect(root, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && wanted(calledName(call)) {
			found = true
		}
		return !found
	})
	return found
}
