package gobench

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
)

// errorDiscarded finds calls in timed loops whose error nothing looks at, if nothing
// in the package, be it a test, checks that of the same function.
func errorDiscarded() rule {
	return rule{audit.Rule{
		ID: "error-discarded", Severity: tare.Warn,
		Title:   "The timed call may fail, and nothing looks at its error.",
		Why:     "A call that fails returns early, and is often the fastest one. A published comparison timed the return of an error for months, and called it 51 times as fast.",
		Do:      "check the error in the loop (it costs a nanosecond), or once before it with the same input",
		Command: compareRevisions,
		Seen:    []string{"tare: studies ffi, ingest", "https://github.com/json-iterator/go/blob/v1.1.12/benchmarks/jsoniter_large_file_test.go#L130"},
	}, func(in *input) {
		in.timedLoops(func(l *loop) {
			in.inspectTimed(l, func(n ast.Node) bool {
				call := in.droppedError(l, n)
				if call == nil {
					return true
				}
				fn := in.callee(call)
				if fn == nil || in.cannotFail(call, fn) || in.isChecked(fn) {
					return true
				}
				in.report(n, "the error of %s is discarded in the loop, and no test or benchmark here checks it", show(call.Fun))
				return true
			})
		})
	}}
}

// droppedError returns the call if a statement drops its error: as a statement,
// into _, or into a variable that nothing reads.
func (in *input) droppedError(l *loop, n ast.Node) *ast.CallExpr {
	switch n := n.(type) {
	case *ast.ExprStmt:
		if call, ok := n.X.(*ast.CallExpr); ok && errorAt(in.pass.TypesInfo, call) >= 0 {
			return call
		}
	case *ast.AssignStmt:
		if len(n.Rhs) != 1 {
			return nil
		}
		call, ok := n.Rhs[0].(*ast.CallExpr)
		if !ok {
			return nil
		}
		i := errorAt(in.pass.TypesInfo, call)
		if i < 0 || i >= len(n.Lhs) {
			return nil
		}
		if id, ok := n.Lhs[i].(*ast.Ident); ok && (id.Name == "_" || n.Tok == token.ASSIGN && !in.isRead(l.owner.decl, in.variable(id))) {
			return call
		}
	}
	return nil
}

// errorAt returns the index of the error among the results of a call, -1 if there
// is none.
func errorAt(info *types.Info, call *ast.CallExpr) int {
	switch t := info.TypeOf(call).(type) {
	case *types.Tuple:
		if n := t.Len(); n > 0 && isError(t.At(n-1).Type()) {
			return n - 1
		}
	case types.Type:
		if isError(t) {
			return 0
		}
	}
	return -1
}

// isRead reports whether a local variable is read below root other than by _ = v.
// It returns true for one of a package or unknown.
func (in *input) isRead(root ast.Node, v *types.Var) bool {
	if !in.isLocal(v) {
		return true
	}
	read := false
	in.uses(root, v, func(id *ast.Ident, path []ast.Node) {
		a, ok := parent(path, 1).(*ast.AssignStmt)
		if !ok {
			read = true
			return
		}
		for i, rhs := range a.Rhs {
			if rhs != ast.Expr(id) {
				continue
			}
			if blank, ok := a.Lhs[i].(*ast.Ident); !ok || blank.Name != "_" {
				read = true
			}
		}
	})
	return read
}

// isChecked reports whether a function's error is looked at anywhere in the files
// of tests.
func (in *input) isChecked(fn *types.Func) bool {
	if in.suite.checked == nil {
		in.suite.checked = map[*types.Func]bool{}
		for _, file := range in.pass.Files {
			if strings.HasSuffix(in.pass.Fset.Position(file.FileStart).Filename, "_test.go") {
				in.addChecked(file)
			}
		}
	}
	return in.suite.checked[fn]
}

// addChecked records the functions whose errors a file looks at.
func (in *input) addChecked(root ast.Node) {
	inspectPath(root, func(n ast.Node, path []ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || errorAt(in.pass.TypesInfo, call) < 0 {
			return true
		}
		fn := in.callee(call)
		switch p := parent(path, 1).(type) {
		case *ast.ExprStmt, *ast.GoStmt, *ast.DeferStmt:
		case *ast.AssignStmt:
			i := errorAt(in.pass.TypesInfo, call)
			if id, ok := p.Lhs[min(i, len(p.Lhs)-1)].(*ast.Ident); !ok || id.Name != "_" && in.isRead(root, in.variable(id)) {
				in.suite.checked[fn] = true
			}
		default:
			in.suite.checked[fn] = true
		}
		return true
	})
}

// cannotFail reports whether a call's error is known to be nil, or to be another's
// business: writers in memory, printing, closing.
func (in *input) cannotFail(call *ast.CallExpr, fn *types.Func) bool {
	if fn.Pkg() == nil || isFunc(fn, "fmt") || isFunc(fn, "crypto/rand") || isFunc(fn, "math/rand") {
		return true
	}
	if strings.HasPrefix(fn.Name(), "Close") || strings.HasPrefix(fn.Name(), "Write") || hasName(fn.Name(), []string{"Flush", "Sync", "Shutdown", "Seek", "Reset"}) {
		return true
	}
	if recv := fn.Signature().Recv(); recv != nil {
		if t := recv.Type(); isNamed(t, "bytes") || isNamed(t, "strings") || isNamed(t, "math/rand", "Rand") || isNamed(t, "bufio", "Writer") {
			return true
		}
	}
	return isFunc(fn, "io", "WriteString")
}
