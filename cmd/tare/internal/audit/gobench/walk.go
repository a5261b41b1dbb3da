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

// This file has the searches in syntax trees that the rules share: walks over nodes, and questions about
// calls, variables and positions.

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

// hasNode reports whether matches returns true for a node of type N below root, or for root itself.
func hasNode[N ast.Node](root ast.Node, matches func(n N) bool) bool {
	for n := range nodesOf[N](root) {
		if matches(n) {
			return true
		}
	}
	return false
}

// functions returns the functions and methods of the package that have a body.
func (in *input) functions() iter.Seq[*ast.FuncDecl] {
	return func(yield func(*ast.FuncDecl) bool) {
		for _, file := range in.pass.Files {
			for _, d := range file.Decls {
				if fn, ok := d.(*ast.FuncDecl); ok && fn.Body != nil && !yield(fn) {
					return
				}
			}
		}
	}
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

// inspectTimedNodes calls visit for the nodes of type N that inspectTimed visits.
func inspectTimedNodes[N ast.Node](in *input, l *loop, visit func(n N)) {
	in.inspectTimed(l, func(n ast.Node) bool {
		if n, ok := n.(N); ok {
			visit(n)
		}
		return true
	})
}

// endsIteration reports whether a block ends an iteration or the benchmark: it contains a
// return, break or continue, or calls panic or a method such as b.Fatal or b.Skip.
func endsIteration(b *ast.BlockStmt) bool {
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
			if name == "panic" || name == "Exit" || hasAnyPrefix(name, "Fatal", "Error", "Fail", "Skip") {
				return true
			}
		}
	}
	return false
}

// callee returns the function or method that a call names. It returns nil if that is unknown, e.g.
// for a variable.
func (in *input) callee(call *ast.CallExpr) *types.Func {
	fn, _ := typeutil.Callee(in.pass.TypesInfo, call).(*types.Func)
	if fn == nil {
		return nil
	}
	return fn.Origin()
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

// hasCall reports whether a function or method whose name matches is called below root.
func hasCall(root ast.Node, matches func(name string) bool) bool {
	return hasNode(root, func(call *ast.CallExpr) bool { return matches(calledName(call)) })
}

// hasAnyPrefix reports whether a text begins with one of prefixes.
func hasAnyPrefix(text string, prefixes ...string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(text, p) })
}

// isAppend reports whether a call appends to its first argument: it calls append, or a function
// such as strconv.AppendInt.
func (in *input) isAppend(call *ast.CallExpr) bool {
	return isBuiltin(in.pass.TypesInfo, call, "append") || strings.HasPrefix(calledName(call), "Append")
}

// isTestHelper reports whether a function, not a method, is declared in a test file of the package.
func (in *input) isTestHelper(fn *types.Func) bool {
	return fn.Pkg() == in.pass.Pkg && fn.Signature().Recv() == nil && strings.HasSuffix(in.pass.Fset.Position(fn.Pos()).Filename, "_test.go")
}

// isAbout reports whether a benchmark is about a function: its name contains that of
// the function, or both belong to the same package.
func (in *input) isAbout(b *benchmark, fn *types.Func) bool {
	testedPath := strings.TrimSuffix(in.pass.Pkg.Path(), "_test")
	return containsWord(b.name, fn.Name()) || fn.Pkg() != nil && fn.Pkg().Path() == testedPath
}

// containsWord reports whether a text contains one of words, in upper or lower case. Rules pass the name
// of a benchmark to exempt it: BenchmarkSleep measures sleeping itself, so it may sleep.
func containsWord(text string, words ...string) bool {
	text = strings.ToLower(text)
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, strings.ToLower(w)) })
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

// counter returns the variable that counts the iterations of a loop: i in for i := range b.N. It
// returns nil if there is none.
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

// isDeclaredOutside reports whether a variable, not a field or _, is declared outside of a loop: in the function
// around the loop or in the package.
func (in *input) isDeclaredOutside(v *types.Var, l *loop) bool {
	if v == nil || v.IsField() || v.Name() == "_" {
		return false
	}
	return v.Pos() < l.node.Pos() || v.Pos() > l.node.End()
}

// isLocalBefore reports whether a variable is declared outside of a loop, in a function.
func (in *input) isLocalBefore(v *types.Var, l *loop) bool {
	return in.isDeclaredOutside(v, l) && in.isLocal(v)
}

// isLocal reports whether a variable is declared in a function, not in the package.
func (in *input) isLocal(v *types.Var) bool {
	return v != nil && !v.IsField() && v.Pkg() != nil && v.Parent() != v.Pkg().Scope()
}

// inspectUses calls visit for each identifier id below root that uses a variable. path holds the nodes
// from the child of root down to id, its last element.
func (in *input) inspectUses(root ast.Node, v *types.Var, visit func(id *ast.Ident, path []ast.Node)) {
	inspectPath(root, func(n ast.Node, path []ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && in.pass.TypesInfo.Uses[id] == v {
			visit(id, path)
		}
		return true
	})
}

// usesVariable reports whether the code below root uses a variable.
func (in *input) usesVariable(root ast.Node, v *types.Var) bool {
	return in.hasUse(root, v, func(*ast.Ident, []ast.Node) bool { return true })
}

// hasUse reports whether matches returns true for a use of a variable below root. See inspectUses.
func (in *input) hasUse(root ast.Node, v *types.Var, matches func(id *ast.Ident, path []ast.Node) bool) bool {
	found := false
	in.inspectUses(root, v, func(id *ast.Ident, path []ast.Node) { found = found || matches(id, path) })
	return found
}

// readUses reports whether the package assigns to a variable after its declaration (isSet), and whether
// it uses the variable in another way (isRead).
func (in *input) readUses(v *types.Var) (isSet, isRead bool) {
	for _, file := range in.pass.Files {
		in.inspectUses(file, v, func(id *ast.Ident, path []ast.Node) {
			if a, ok := parent(path, 1).(*ast.AssignStmt); ok && a.Tok == token.ASSIGN && containsIdent(a.Lhs, id) {
				isSet = true
				return
			}
			isRead = true
		})
	}
	return isSet, isRead
}

// parent returns the node that is levels above the last node of a path: 1 for its
// parent. It returns nil if the path is shorter.
func parent(path []ast.Node, levels int) ast.Node {
	if len(path) <= levels {
		return nil
	}
	return path[len(path)-1-levels]
}

// isConditional reports whether the last node of a path may not run in each iteration:
// it is in an if statement, a case or a function literal.
func isConditional(path []ast.Node) bool {
	for _, n := range path {
		switch n.(type) {
		case *ast.IfStmt, *ast.CaseClause, *ast.FuncLit:
			return true
		}
	}
	return false
}

// isLoop reports whether a node is a for statement, with or without range.
func isLoop(n ast.Node) bool { return loopBody(n) != nil }

// loopBody returns the body of a for statement, with or without range, and nil for other nodes.
func loopBody(n ast.Node) *ast.BlockStmt {
	switch n := n.(type) {
	case *ast.ForStmt:
		return n.Body
	case *ast.RangeStmt:
		return n.Body
	}
	return nil
}

// containsIdent reports whether a list contains an identifier.
func containsIdent(list []ast.Expr, id *ast.Ident) bool { return slices.Contains(list, ast.Expr(id)) }

// isNodeIn reports whether a node begins in the source text of another.
func isNodeIn(n, outer ast.Node) bool { return isPosIn(n.Pos(), outer) }

// isPosIn reports whether a position is in the source text of a node.
func isPosIn(pos token.Pos, n ast.Node) bool { return n.Pos() <= pos && pos < n.End() }

// lineOf returns the line of a node.
func (in *input) lineOf(n ast.Node) int { return in.pass.Fset.Position(n.Pos()).Line }

// stripConversion returns the operand of a conversion, e.g. s of sort.IntSlice(s), and
// other expressions as they are.
func stripConversion(info *types.Info, e ast.Expr) ast.Expr {
	for {
		call, ok := ast.Unparen(e).(*ast.CallExpr)
		if !ok || len(call.Args) != 1 || !info.Types[call.Fun].IsType() {
			return e
		}
		e = call.Args[0]
	}
}

// formatExpr returns the source text of an expression in one line, cut to 60 characters.
func formatExpr(e ast.Expr) string {
	const maxLength = 60
	return format.Clip(strings.Join(strings.Fields(types.ExprString(e)), " "), maxLength)
}
