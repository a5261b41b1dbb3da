package gobench

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
)

// resultUnused finds work that the compiler may remove: expressions without effects
// whose value nothing uses. Loops over b.Loop are exempt, as it keeps results alive.
func resultUnused() rule {
	return rule{Rule: audit.Rule{
		ID: "result-unused", Severity: tare.Void,
		Title:   "Nothing uses the result, and the compiler may leave out the work.",
		Why:     "A small function without effects is inlined, and what is not used is removed: the figure is that of an empty loop, some 0.3 ns/op.",
		Do:      "write for b.Loop(), which keeps arguments and results alive, or assign the result to a package variable",
		Command: compareRevisions,
		Seen:    []string{"https://github.com/golang/go/issues/61515", "https://github.com/bytedance/gopkg/blob/v0.1.3/lang/mcache/utils_test.go#L36"},
	}, find: func(in *input) {
		bodies := in.smallBodies()
		in.eachTimedLoop(func(l *loop) {
			if l.kind == byLoop {
				return
			}
			in.inspectTimed(l, func(n ast.Node) bool {
				var value ast.Expr
				switch n := n.(type) {
				case *ast.ExprStmt:
					value = n.X
				case *ast.AssignStmt:
					if len(n.Lhs) == 1 && len(n.Rhs) == 1 && in.isDropped(l, n) {
						value = n.Rhs[0]
					}
				}
				if value != nil && in.isWork(value) && in.isPure(value, bodies, 0) {
					in.report(n, "nothing uses %s, which has no effects: the compiler may leave it out", formatExpr(value))
				}
				return true
			})
		})
	}}
}

// isDropped reports whether an assignment by = or := is to _ or to a local variable that
// nothing reads.
func (in *input) isDropped(l *loop, a *ast.AssignStmt) bool {
	id, ok := a.Lhs[0].(*ast.Ident)
	if !ok || a.Tok != token.ASSIGN && a.Tok != token.DEFINE {
		return false
	}
	if id.Name == "_" {
		return true
	}
	v := in.variable(id)
	return in.isLocal(v) && !in.isRead(l.owner.decl, v) && !in.isResult(l.owner, v)
}

// isResult reports whether a variable is a named result of the function around a
// benchmark, which its caller may read.
func (in *input) isResult(b *benchmark, v *types.Var) bool {
	if b.decl.Type.Results == nil {
		return false
	}
	for _, f := range b.decl.Type.Results.List {
		for _, id := range f.Names {
			if in.pass.TypesInfo.Defs[id] == v {
				return true
			}
		}
	}
	return false
}

// isWork reports whether an expression is a binary operation or a call, other than a
// conversion, len or cap, and not a constant.
func (in *input) isWork(e ast.Expr) bool {
	if in.pass.TypesInfo.Types[e].Value != nil {
		return false
	}
	switch e := ast.Unparen(e).(type) {
	case *ast.CallExpr:
		return !in.pass.TypesInfo.Types[e.Fun].IsType() && !isBuiltin(in.pass.TypesInfo, e, "len") && !isBuiltin(in.pass.TypesInfo, e, "cap")
	case *ast.BinaryExpr:
		return true
	}
	return false
}

// Limits of the functions that the compiler inlines for certain. Its own budget of 80 is
// on the nodes of its internal form.
const (
	maxInlineStatements = 3
	maxInlineNodes      = 40
	maxInlineDepth      = 2 // calls within calls
)

// smallBodies returns the declarations of the functions of the package that are small
// enough for the compiler to inline. isPureCall reads their statements.
func (in *input) smallBodies() map[*types.Func]*ast.FuncDecl {
	bodies := map[*types.Func]*ast.FuncDecl{}
	for _, file := range in.pass.Files {
		for _, d := range file.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Body == nil || len(fn.Body.List) > maxInlineStatements || hasDirective(fn) {
				continue
			}
			if obj, ok := in.pass.TypesInfo.Defs[fn.Name].(*types.Func); ok && countNodes(fn.Body) <= maxInlineNodes {
				bodies[obj] = fn
			}
		}
	}
	return bodies
}

// hasDirective reports whether a function has the directive //go:noinline or //go:nosplit.
func hasDirective(fn *ast.FuncDecl) bool {
	if fn.Doc == nil {
		return false
	}
	for _, c := range fn.Doc.List {
		if c.Text == "//go:noinline" || c.Text == "//go:nosplit" {
			return true
		}
	}
	return false
}

// countNodes returns the number of nodes of the syntax tree at root.
func countNodes(root ast.Node) int {
	n := 0
	ast.Inspect(root, func(node ast.Node) bool {
		if node != nil {
			n++
		}
		return true
	})
	return n
}

// isPure reports whether an expression has no effects and the compiler sees all of it,
// so that it can remove the expression. depth is the number of calls around it.
func (in *input) isPure(e ast.Expr, bodies map[*types.Func]*ast.FuncDecl, depth int) bool {
	info := in.pass.TypesInfo
	switch e := ast.Unparen(e).(type) {
	case *ast.BasicLit:
		return true
	case *ast.Ident:
		return info.TypeOf(e) != nil
	case *ast.SelectorExpr:
		return info.Selections[e] == nil || in.isPure(e.X, bodies, depth)
	case *ast.BinaryExpr:
		// Operations on strings call the runtime; a division may panic.
		mayPanic := e.Op == token.QUO || e.Op == token.REM
		if mayPanic || !isPlain(info.TypeOf(e)) || !isPlain(info.TypeOf(e.X)) {
			return false
		}
		return in.isPure(e.X, bodies, depth) && in.isPure(e.Y, bodies, depth)
	case *ast.UnaryExpr:
		return e.Op != token.ARROW && e.Op != token.AND && in.isPure(e.X, bodies, depth)
	case *ast.CallExpr:
		return in.isPureCall(e, bodies, depth)
	}
	return false
}

// isPlain reports whether t is a basic type other than string.
func isPlain(t types.Type) bool {
	basic, ok := t.Underlying().(*types.Basic)
	return ok && basic.Info()&types.IsString == 0
}

// isPureCall reports whether a call is a conversion to a number, or calls a function
// without effects that the compiler inlines: a builtin, an intrinsic or one of bodies.
func (in *input) isPureCall(call *ast.CallExpr, bodies map[*types.Func]*ast.FuncDecl, depth int) bool {
	info := in.pass.TypesInfo
	if !in.arePure(call.Args, bodies, depth) {
		return false
	}
	if info.Types[call.Fun].IsType() {
		t, ok := info.TypeOf(call).Underlying().(*types.Basic)
		return ok && t.Info()&types.IsNumeric != 0
	}
	fn := in.callee(call)
	switch {
	case fn == nil:
		return isBuiltin(info, call, "len") || isBuiltin(info, call, "min") || isBuiltin(info, call, "max")
	case isFunc(fn, "math/bits", pureBits...), isFunc(fn, "math", pureMath...):
		return true
	}
	decl, ok := bodies[fn]
	if !ok || depth > maxInlineDepth {
		return false
	}
	if sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok && info.Selections[sel] != nil && !in.isPure(sel.X, bodies, depth) {
		return false
	}
	for _, s := range decl.Body.List {
		if !in.isPureStatement(s, bodies, depth+1) {
			return false
		}
	}
	return len(decl.Body.List) > 0
}

// Functions of math/bits and math that the compiler inlines or replaces by instructions.
var (
	pureBits = []string{
		"LeadingZeros", "LeadingZeros8", "LeadingZeros16", "LeadingZeros32", "LeadingZeros64",
		"TrailingZeros", "TrailingZeros16", "TrailingZeros32", "TrailingZeros64",
		"OnesCount", "OnesCount64", "Len", "Len64", "RotateLeft", "RotateLeft32", "RotateLeft64", "ReverseBytes64",
	}
	pureMath = []string{
		"Abs", "Sqrt", "Floor", "Ceil", "Trunc", "Copysign", "Float64bits", "Float64frombits", "Float32bits",
		"IsNaN", "IsInf", "FMA",
	}
)

// isPureStatement reports whether a statement only returns or defines pure values, or is
// an if statement without else that does so.
func (in *input) isPureStatement(s ast.Stmt, bodies map[*types.Func]*ast.FuncDecl, depth int) bool {
	switch s := s.(type) {
	case *ast.ReturnStmt:
		return in.arePure(s.Results, bodies, depth)
	case *ast.IfStmt:
		if s.Init != nil || s.Else != nil || !in.isPure(s.Cond, bodies, depth) {
			return false
		}
		for _, inner := range s.Body.List {
			if !in.isPureStatement(inner, bodies, depth) {
				return false
			}
		}
		return true
	case *ast.AssignStmt:
		return s.Tok == token.DEFINE && in.arePure(s.Rhs, bodies, depth)
	}
	return false
}

// arePure reports whether all expressions are pure.
func (in *input) arePure(list []ast.Expr, bodies map[*types.Func]*ast.FuncDecl, depth int) bool {
	return !slices.ContainsFunc(list, func(e ast.Expr) bool { return !in.isPure(e, bodies, depth) })
}
