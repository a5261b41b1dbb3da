package gobench

import (
	"go/ast"
	"go/token"
	"go/types"
	"iter"
	"slices"
	"strings"

	"golang.org/x/tools/go/types/typeutil"

	"github.com/tarebench/tare/internal/format"
)

// inspectPath calls visit for each node n below root. path holds the nodes from the child of root
// down to n, its last element. The children of n are visited if visit returns true.
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

// isFailure reports whether a block ends an iteration or the benchmark: it contains a
// return, break or continue, or calls panic or a method such as b.Fatal or b.Skip.
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
			name := calledName(call)
			if name == "panic" || name == "Exit" {
				return true
			}
			for _, prefix := range []string{"Fatal", "Error", "Fail", "Skip"} {
				if strings.HasPrefix(name, prefix) {
					return true
				}
			}
		}
	}
	return false
}

// nodesOf returns the nodes of type N below root, and root if it is one.
func nodesOf[N ast.Node](root ast.Node) iter.Seq[N] {
	return func(yield func(N) bool) {
		for n := range ast.Preorder(root) {
			if n, ok := n.(N); ok && !yield(n) {
				return
			}
		}
	}
}

// inspectTimedNodes is inspectTimed for the nodes of type N.
func inspectTimedNodes[N ast.Node](in *input, l *loop, visit func(n N)) {
	in.inspectTimed(l, func(n ast.Node) bool {
		if n, ok := n.(N); ok {
			visit(n)
		}
		return true
	})
}

// eachTimedLoop calls visit for each timed loop of the package.
func (in *input) eachTimedLoop(visit func(l *loop)) {
	for _, b := range in.suite.benchmarks {
		for _, l := range b.loops {
			if l.timed {
				visit(l)
			}
		}
	}
}

// eachTimedCall calls visit for each timed call in the statements of the loops of the package,
// with the function or method fn that it calls. Calls of unknown functions are omitted.
func (in *input) eachTimedCall(visit func(l *loop, call *ast.CallExpr, fn *types.Func)) {
	in.eachTimedLoop(func(l *loop) {
		inspectTimedNodes(in, l, func(call *ast.CallExpr) {
			if fn := in.callee(call); fn != nil {
				visit(l, call, fn)
			}
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

// variable returns the variable that an expression names: x, &x or (x). It returns nil
// if the expression is something else.
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

// isOutside reports whether a variable, not a field or _, is declared outside of a
// loop: in the function around it or in the package.
func (in *input) isOutside(v *types.Var, l *loop) bool {
	if v == nil || v.IsField() || v.Name() == "_" {
		return false
	}
	return v.Pos() < l.node.Pos() || v.Pos() > l.node.End()
}

// isWithin reports whether a node begins in the source text of another.
func isWithin(n, outer ast.Node) bool { return outer.Pos() <= n.Pos() && n.Pos() < outer.End() }

// isLocal reports whether a variable is declared in a function.
func (in *input) isLocal(v *types.Var) bool {
	return v != nil && !v.IsField() && v.Pkg() != nil && v.Parent() != v.Pkg().Scope()
}

// inspectUses calls visit for each use of a variable below root, with the path from
// below root to the identifier, its last element.
func (in *input) inspectUses(root ast.Node, v *types.Var, visit func(id *ast.Ident, path []ast.Node)) {
	inspectPath(root, func(n ast.Node, path []ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && in.pass.TypesInfo.Uses[id] == v {
			visit(id, path)
		}
		return true
	})
}

// initOf returns the initial value in the declaration of a local variable below root:
// the right side of v := value or var v = value, and the call in v, err := f(). It
// returns nil for a variable without an initial value.
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
			init = values[0] // a call with several results
			if len(values) == len(names) {
				init = values[i]
			}
		}
		return init == nil
	})
	return init
}

// calledName returns the name of the called function or method without its package or
// receiver, and "" if the called expression has no name.
func calledName(call *ast.CallExpr) string {
	switch f := ast.Unparen(call.Fun).(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		return f.Sel.Name
	case *ast.IndexExpr: // an instance of a generic function: f[T](x)
		return calledName(&ast.CallExpr{Fun: f.X})
	}
	return ""
}

// isFunc reports whether fn is one of the named functions, not methods, of a
// package. Without names, any function of it.
func isFunc(fn *types.Func, pkg string, names ...string) bool {
	return fn != nil && fn.Pkg() != nil && fn.Pkg().Path() == pkg && fn.Signature().Recv() == nil && isOneOf(fn.Name(), names)
}

// isOneOf reports whether names contains name. No names mean any name: it returns true then.
func isOneOf(name string, names []string) bool {
	return len(names) == 0 || slices.Contains(names, name)
}

// isMethod reports whether a call selects name of a value of type PKG.TYPE or *PKG.TYPE.
func isMethod(info *types.Info, call *ast.CallExpr, pkg, typ, name string) bool {
	sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	return ok && sel.Sel.Name == name && isNamed(info.TypeOf(sel.X), pkg, typ)
}

// isMethodOf reports whether fn is a method of the type PKG.TYPE or *PKG.TYPE with one of names.
func isMethodOf(fn *types.Func, pkg, typ string, names ...string) bool {
	return fn != nil && fn.Signature().Recv() != nil && isNamed(fn.Signature().Recv().Type(), pkg, typ) && isOneOf(fn.Name(), names)
}

// isNamed reports whether t is one of the named types of a package, or a pointer to
// one. Without names, any type of the package.
func isNamed(t types.Type, pkg string, names ...string) bool {
	if t == nil {
		return false
	}
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		t = p.Elem()
	}
	n, ok := types.Unalias(t).(*types.Named)
	return ok && n.Obj().Pkg() != nil && n.Obj().Pkg().Path() == pkg && isOneOf(n.Obj().Name(), names)
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

// isRand reports whether t is the type Rand of math/rand or math/rand/v2.
func isRand(t types.Type) bool {
	return isNamed(t, "math/rand", "Rand") || isNamed(t, "math/rand/v2", "Rand")
}

// formatExpr returns the source text of an expression in one line, cut to 60 characters.
func formatExpr(e ast.Expr) string {
	const maxLength = 60
	return format.Clip(strings.Join(strings.Fields(types.ExprString(e)), " "), maxLength)
}

// hasCall reports whether the name of a function or method called below root matches.
func (in *input) hasCall(root ast.Node, matches func(name string) bool) bool {
	for call := range nodesOf[*ast.CallExpr](root) {
		if matches(calledName(call)) {
			return true
		}
	}
	return false
}

// readUses reports whether the package assigns to a variable after its declaration, and whether it uses
// the variable otherwise.
func (in *input) readUses(v *types.Var) (isSet, isRead bool) {
	for _, file := range in.pass.Files {
		in.inspectUses(file, v, func(id *ast.Ident, path []ast.Node) {
			if a, ok := parent(path, 1).(*ast.AssignStmt); ok && a.Tok == token.ASSIGN && isAmong(a.Lhs, id) {
				isSet = true
				return
			}
			isRead = true
		})
	}
	return isSet, isRead
}

// isAppend reports whether a call appends to its first argument.
func isAppend(in *input, call *ast.CallExpr) bool {
	return isBuiltin(in.pass.TypesInfo, call, "append") || strings.HasPrefix(calledName(call), "Append")
}
