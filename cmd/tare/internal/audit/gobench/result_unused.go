package gobench

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
)

// resultUnused finds work that the compiler may leave out: expressions without
// effects, in loops over b.N, whose value nothing uses.
func resultUnused() rule {
	return rule{audit.Rule{
		ID: "result-unused", Severity: tare.Void,
		Title:   "Nothing uses the result, and the compiler may leave out the work.",
		Why:     "A small function without effects is inlined, and what nobody uses is removed: the figure is that of an empty loop, some 0.3 ns/op.",
		Do:      "write for b.Loop(), which keeps arguments and results alive, or assign the result to a package variable",
		Command: compareRevisions,
		Seen:    []string{"https://github.com/golang/go/issues/61515", "https://github.com/bytedance/gopkg/blob/v0.1.3/lang/mcache/utils_test.go#L36"},
	}, func(in *input) {
		bodies := in.smallBodies()
		in.timedLoops(func(l *loop) {
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
					in.report(n, "nothing uses %s, which has no effects: the compiler may leave it out", show(value))
				}
				return true
			})
		})
	}}
}

// isDropped reports whether an assignment is to _ or to a local variable that
// nothing reads, and only sets it.
func (in *input) isDropped(l *loop, a *ast.AssignStmt) bool {
	id, ok := a.Lhs[0].(*ast.Ident)
	if !ok || a.Tok != token.ASSIGN && a.Tok != token.DEFINE {
		return false
	}
	v := in.variable(id)
	return id.Name == "_" || in.isLocal(v) && !in.isRead(l.owner.decl, v) && !in.isResult(l.owner, v)
}

// isResult reports whether a variable is a named result of a function around a
// benchmark, so that whoever calls it may read it.
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

// isWork reports whether a value is a call or an operation, not a variable or a
// constant.
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

// smallBodies returns the functions of the package that the compiler inlines
// surely: a few statements without loops, closures and calls that it cannot see.
func (in *input) smallBodies() map[*types.Func]*ast.FuncDecl {
	bodies := map[*types.Func]*ast.FuncDecl{}
	for _, file := range in.pass.Files {
		for _, d := range file.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Body == nil || len(fn.Body.List) > 3 || isKeptOut(fn) {
				continue
			}
			if obj, ok := in.pass.TypesInfo.Defs[fn.Name].(*types.Func); ok && countNodes(fn.Body) <= 40 {
				bodies[obj] = fn
			}
		}
	}
	return bodies
}

// isKeptOut reports whether a directive forbids to inline a function.
func isKeptOut(fn *ast.FuncDecl) bool {
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

// isPure reports whether an expression has no effects and the compiler sees all of
// it. depth bounds how far calls are followed.
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
		t, ok := info.TypeOf(e).Underlying().(*types.Basic)
		operand, isBasic := info.TypeOf(e.X).Underlying().(*types.Basic)
		return ok && t.Info()&types.IsString == 0 && isBasic && operand.Info()&types.IsString == 0 && e.Op != token.QUO && e.Op != token.REM && in.isPure(e.X, bodies, depth) && in.isPure(e.Y, bodies, depth)
	case *ast.UnaryExpr:
		return e.Op != token.ARROW && e.Op != token.AND && in.isPure(e.X, bodies, depth)
	case *ast.CallExpr:
		return in.isPureCall(e, bodies, depth)
	}
	return false
}

// isPureCall reports whether a call is a conversion between numbers, or one of a
// function that the compiler inlines and that has no effects.
func (in *input) isPureCall(call *ast.CallExpr, bodies map[*types.Func]*ast.FuncDecl, depth int) bool {
	info := in.pass.TypesInfo
	for _, a := range call.Args {
		if !in.isPure(a, bodies, depth) {
			return false
		}
	}
	if info.Types[call.Fun].IsType() {
		t, ok := info.TypeOf(call).Underlying().(*types.Basic)
		return ok && t.Info()&types.IsNumeric != 0
	}
	fn := in.callee(call)
	switch {
	case fn == nil:
		return isBuiltin(info, call, "len") || isBuiltin(info, call, "min") || isBuiltin(info, call, "max")
	case isFunc(fn, "math/bits", "LeadingZeros", "LeadingZeros8", "LeadingZeros16", "LeadingZeros32", "LeadingZeros64", "TrailingZeros", "TrailingZeros16", "TrailingZeros32", "TrailingZeros64", "OnesCount", "OnesCount64", "Len", "Len64", "RotateLeft", "RotateLeft32", "RotateLeft64", "ReverseBytes64"),
		isFunc(fn, "math", "Abs", "Sqrt", "Floor", "Ceil", "Trunc", "Copysign", "Float64bits", "Float64frombits", "Float32bits", "IsNaN", "IsInf", "FMA"):
		return true
	}
	decl, ok := bodies[fn]
	if !ok || depth > 2 {
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

// isPureStatement reports whether a statement only computes and returns.
func (in *input) isPureStatement(s ast.Stmt, bodies map[*types.Func]*ast.FuncDecl, depth int) bool {
	switch s := s.(type) {
	case *ast.ReturnStmt:
		for _, r := range s.Results {
			if !in.isPure(r, bodies, depth) {
				return false
			}
		}
		return true
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
		if s.Tok != token.DEFINE {
			return false
		}
		for _, r := range s.Rhs {
			if !in.isPure(r, bodies, depth) {
				return false
			}
		}
		return true
	}
	return false
}
