package gobench

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
)

// errorDiscarded finds calls in timed loops whose error is discarded, if no test file of
// the package checks the error of the same function.
func errorDiscarded() rule {
	return rule{Rule: audit.Rule{
		ID: "error-discarded", Severity: tare.Warn,
		Title:   "The timed call may fail, and nothing looks at its error.",
		Why:     "A call that fails returns early, and is often the fastest one. A published comparison timed the return of an error, and found it 52 times as fast as JSON.",
		Do:      "check the error in the loop (it costs a nanosecond), or once before it with the same input",
		Command: compareRevisions,
		Seen:    []string{"tare: studies ffi, ingest", "https://github.com/json-iterator/go/blob/v1.1.12/benchmarks/jsoniter_large_file_test.go#L130"},
	}, find: func(in *input) {
		in.eachTimedLoop(func(l *loop) {
			in.inspectTimed(l, func(n ast.Node) bool {
				call := in.findDropped(l, n)
				if call == nil {
					return true
				}
				fn := in.callee(call)
				if fn != nil && !isHarmless(fn) && !in.isChecked(fn) {
					in.report(n, "the error of %s is discarded in the loop, and no test or benchmark of the package checks it", formatExpr(call.Fun))
				}
				return true
			})
		})
	}}
}

// findDropped returns the call of a statement that drops its error: the call is the statement, or
// the error is assigned to _ or to a variable that nothing reads. It returns nil for other nodes.
func (in *input) findDropped(l *loop, n ast.Node) *ast.CallExpr {
	switch n := n.(type) {
	case *ast.ExprStmt:
		if call, ok := n.X.(*ast.CallExpr); ok && errorIndex(in.pass.TypesInfo, call) >= 0 {
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
		i := errorIndex(in.pass.TypesInfo, call)
		if i < 0 || i >= len(n.Lhs) {
			return nil
		}
		id, ok := n.Lhs[i].(*ast.Ident)
		if !ok {
			return nil
		}
		// The compiler rejects a variable declared by := that nothing reads.
		isUnread := n.Tok == token.ASSIGN && !in.isRead(l.owner.decl, in.variable(id))
		if id.Name == "_" || isUnread {
			return call
		}
	}
	return nil
}

// errorIndex returns the index of the error among the results of a call, -1 if its last
// result is not an error.
func errorIndex(info *types.Info, call *ast.CallExpr) int {
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

// isRead reports whether a local variable is read below root other than by _ = v. It
// returns true for a nil v and for a variable of a package, which other code may read.
func (in *input) isRead(root ast.Node, v *types.Var) bool {
	if !in.isLocal(v) {
		return true
	}
	found := false
	in.inspectUses(root, v, func(id *ast.Ident, path []ast.Node) {
		a, isAssign := parent(path, 1).(*ast.AssignStmt)
		if !isAssign {
			found = true
			return
		}
		for i, rhs := range a.Rhs {
			if rhs != ast.Expr(id) {
				continue
			}
			if target, ok := a.Lhs[i].(*ast.Ident); !ok || target.Name != "_" {
				found = true
			}
		}
	})
	return found
}

// isChecked reports whether a test file of the package checks the error of a function.
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

// addChecked records the functions whose error a file reads.
func (in *input) addChecked(root ast.Node) {
	inspectPath(root, func(n ast.Node, path []ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		i := errorIndex(in.pass.TypesInfo, call)
		if i < 0 {
			return true
		}
		fn := in.callee(call)
		switch p := parent(path, 1).(type) {
		case *ast.ExprStmt, *ast.GoStmt, *ast.DeferStmt:
			// The statement drops the error.
		case *ast.AssignStmt:
			id, isIdent := p.Lhs[min(i, len(p.Lhs)-1)].(*ast.Ident)
			if !isIdent || id.Name != "_" && in.isRead(root, in.variable(id)) {
				in.suite.checked[fn] = true
			}
		default: // an argument, a condition, a return
			in.suite.checked[fn] = true
		}
		return true
	})
}

// isHarmless reports whether the error of a function is usually ignored for good reason:
// it is always nil, as in writers to memory, or about output, as in printing and closing.
func isHarmless(fn *types.Func) bool {
	if fn.Pkg() == nil || isFunc(fn, "fmt") || isFunc(fn, "crypto/rand") || isFunc(fn, "math/rand") {
		return true
	}
	if strings.HasPrefix(fn.Name(), "Close") || strings.HasPrefix(fn.Name(), "Write") {
		return true
	}
	if isOneOf(fn.Name(), []string{"Flush", "Sync", "Shutdown", "Seek", "Reset"}) {
		return true
	}
	if recv := fn.Signature().Recv(); recv != nil {
		if t := recv.Type(); isNamed(t, "bytes") || isNamed(t, "strings") || isNamed(t, "math/rand", "Rand") || isNamed(t, "bufio", "Writer") {
			return true
		}
	}
	return isFunc(fn, "io", "WriteString")
}
