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

// This file has searches in syntax trees that all rules use: for nodes of a type, calls, uses of
// variables, and loops. For example, hasCall reports whether some code calls a function with a
// matching name. Many searches pass on a path, the nodes from below the root down to a node. In
// b.Run(name, f), the path of the identifier b ends with the call, the selector b.Run and b.

// inspectPath calls visit for each node n below root. The path holds the nodes from a child of root
// to n, its last element. If visit returns false, the nodes below n are skipped.
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

// nodesOf returns the nodes of type N at and below root.
func nodesOf[N ast.Node](root ast.Node) iter.Seq[N] {
	return func(yield func(N) bool) {
		for n := range ast.Preorder(root) {
			if n, ok := n.(N); ok && !yield(n) {
				return
			}
		}
	}
}

// hasNode reports whether matches returns true for a node of type N at or below root.
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

// eachTimedLoop calls visit for each loop of the package that runs while the timer runs.
func (in *input) eachTimedLoop(visit func(l *loop)) {
	for _, b := range in.suite.benchmarks {
		for _, l := range b.loops {
			if l.timed {
				visit(l)
			}
		}
	}
}

// eachTimedCall calls visit for each call of a known function in the timed regions.
func (in *input) eachTimedCall(visit func(l *loop, call *ast.CallExpr, fn *types.Func)) {
	in.eachTimedLoop(func(l *loop) {
		inspectTimedNodes(in, l, func(call *ast.CallExpr) {
			if fn := in.callee(call); fn != nil {
				visit(l, call, fn)
			}
		})
	})
}

// inspectTimedNodes calls visit for each node of type N in the timed region of a loop, the code
// that runs while the timer runs.
func inspectTimedNodes[N ast.Node](in *input, l *loop, visit func(n N)) {
	in.inspectTimed(l, func(n ast.Node) bool {
		if n, ok := n.(N); ok {
			visit(n)
		}
		return true
	})
}

// endsIteration reports whether a block ends an iteration or the benchmark, as continue, break or
// b.Fatal does. (A goto counts, too.)
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

// callee returns the function or method that a call names, or nil.
func (in *input) callee(call *ast.CallExpr) *types.Func {
	fn, _ := typeutil.Callee(in.pass.TypesInfo, call).(*types.Func)
	if fn == nil {
		return nil
	}
	return fn.Origin()
}

// calledName returns the name of the called function without package and receiver, or "".
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

// hasCall reports whether the code at root calls a function with a matching name.
func hasCall(root ast.Node, matches func(name string) bool) bool {
	return hasNode(root, func(call *ast.CallExpr) bool { return matches(calledName(call)) })
}

func hasAnyPrefix(text string, prefixes ...string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(text, p) })
}

// isAppend reports whether a call is append, or a function such as strconv.AppendInt.
func (in *input) isAppend(call *ast.CallExpr) bool {
	return isBuiltin(in.pass.TypesInfo, call, "append") || strings.HasPrefix(calledName(call), "Append")
}

// isTestHelper reports whether a function, not a method, is declared in a test file.
func (in *input) isTestHelper(fn *types.Func) bool {
	return fn.Pkg() == in.pass.Pkg && fn.Signature().Recv() == nil && strings.HasSuffix(in.pass.Fset.Position(fn.Pos()).Filename, "_test.go")
}

// mayMeasure reports whether a function may be the subject of a benchmark: the name of the benchmark
// contains that of the function, or the function is in the tested package.
func (in *input) mayMeasure(b *benchmark, fn *types.Func) bool {
	testedPath := strings.TrimSuffix(in.pass.Pkg.Path(), "_test")
	return containsWord(b.name, fn.Name()) || fn.Pkg() != nil && fn.Pkg().Path() == testedPath
}

// containsWord reports whether a text contains one of words, in any case. Rules use it to exempt a
// benchmark by its name: BenchmarkSleep may sleep.
func containsWord(text string, words ...string) bool {
	text = strings.ToLower(text)
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, strings.ToLower(w)) })
}

// variable returns the variable of x, &x or (x). It returns nil for others.
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

// initOf returns the initial value of a variable that is declared below root, or nil. It is the
// call for v, err := f().
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

// counter returns the variable that counts iterations, as i in for i := range b.N. It is nil if
// there is none.
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

// isDeclaredOutside reports whether a variable is declared outside the loop: in a function or in the
// package. It returns false for fields and for _.
func (in *input) isDeclaredOutside(v *types.Var, l *loop) bool {
	if v == nil || v.IsField() || v.Name() == "_" {
		return false
	}
	return v.Pos() < l.node.Pos() || v.Pos() > l.node.End()
}

// isLocalBefore reports whether a variable is declared outside the loop, but in a function.
func (in *input) isLocalBefore(v *types.Var, l *loop) bool {
	return in.isDeclaredOutside(v, l) && in.isLocal(v)
}

// isLocal reports whether a variable is declared in a function.
func (in *input) isLocal(v *types.Var) bool {
	return v != nil && !v.IsField() && v.Pkg() != nil && v.Parent() != v.Pkg().Scope()
}

// inspectUses calls visit for each use of a variable below root. The path holds the nodes from a
// child of root to the identifier, its last element.
func (in *input) inspectUses(root ast.Node, v *types.Var, visit func(id *ast.Ident, path []ast.Node)) {
	inspectPath(root, func(n ast.Node, path []ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && in.pass.TypesInfo.Uses[id] == v {
			visit(id, path)
		}
		return true
	})
}

// usesVariable reports whether root uses a variable.
func (in *input) usesVariable(root ast.Node, v *types.Var) bool {
	return in.hasUse(root, v, func(*ast.Ident, []ast.Node) bool { return true })
}

// hasUse reports whether matches returns true for a use of a variable below root.
func (in *input) hasUse(root ast.Node, v *types.Var, matches func(id *ast.Ident, path []ast.Node) bool) bool {
	found := false
	in.inspectUses(root, v, func(id *ast.Ident, path []ast.Node) { found = found || matches(id, path) })
	return found
}

// classifyUses returns whether the package assigns to a variable after its declaration, and whether
// it uses the variable in another way.
func (in *input) classifyUses(v *types.Var) (isSet, isRead bool) {
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

// parent returns the node that is some levels above the last node of a path: with 1 its parent. It
// returns nil if the path is shorter.
func parent(path []ast.Node, levels int) ast.Node {
	if len(path) <= levels {
		return nil
	}
	return path[len(path)-1-levels]
}

// isConditional reports whether the last node of a path may not run, because the body of an if
// statement, a case or a function literal is on the path.
func isConditional(path []ast.Node) bool {
	for i, n := range path {
		switch n := n.(type) {
		case *ast.IfStmt:
			isCondition := i+1 < len(path) && (path[i+1] == ast.Node(n.Init) || path[i+1] == ast.Node(n.Cond))
			if !isCondition {
				return true
			}
		case *ast.CaseClause, *ast.FuncLit:
			return true
		}
	}
	return false
}

// isLoop reports whether a node is any for statement.
func isLoop(n ast.Node) bool { return loopBody(n) != nil }

// loopBody returns the body of any for statement, nil for other nodes.
func loopBody(n ast.Node) *ast.BlockStmt {
	switch n := n.(type) {
	case *ast.ForStmt:
		return n.Body
	case *ast.RangeStmt:
		return n.Body
	}
	return nil
}

// containsIdent reports whether an identifier is one of the expressions in a list.
func containsIdent(list []ast.Expr, id *ast.Ident) bool { return slices.Contains(list, ast.Expr(id)) }

// isNodeIn reports whether a node begins in the source text of another.
func isNodeIn(n, outer ast.Node) bool { return isPosIn(n.Pos(), outer) }

// isPosIn reports whether a position is in the source text of a node.
func isPosIn(pos token.Pos, n ast.Node) bool { return n.Pos() <= pos && pos < n.End() }

// lineOf returns the line of a node in its file.
func (in *input) lineOf(n ast.Node) int { return in.pass.Fset.Position(n.Pos()).Line }

// stripConversion removes conversions from an expression: it returns s for sort.IntSlice(s).
func stripConversion(info *types.Info, e ast.Expr) ast.Expr {
	for {
		call, ok := ast.Unparen(e).(*ast.CallExpr)
		if !ok || len(call.Args) != 1 || !info.Types[call.Fun].IsType() {
			return e
		}
		e = call.Args[0]
	}
}

// formatExpr returns the source text of an expression in one line of at most 60 characters.
func formatExpr(e ast.Expr) string {
	const maxLength = 60
	return format.Clip(strings.Join(strings.Fields(types.ExprString(e)), " "), maxLength)
}
