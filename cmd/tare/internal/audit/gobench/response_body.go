package gobench

import (
	"go/ast"
	"go/types"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
)

// responseBody finds responses of HTTP clients whose body a loop does not read or
// not close.
func responseBody() rule {
	return rule{audit.Rule{
		ID: "response-body", Severity: tare.Warn,
		Title:   "The body of a response is not read to its end, or not closed.",
		Why:     "A connection is used again only if the body was read to its end and closed. Otherwise each iteration opens a connection, and the figure is mostly that of TCP and TLS handshakes.",
		Do:      "io.Copy(io.Discard, resp.Body), then resp.Body.Close()",
		Command: loadServer,
		Seen:    []string{"tare: study users"},
	}, func(in *input) {
		in.timedLoops(func(l *loop) {
			in.inspectTimed(l, func(n ast.Node) bool {
				a, ok := n.(*ast.AssignStmt)
				if !ok || len(a.Lhs) == 0 || len(a.Rhs) != 1 {
					return true
				}
				call, ok := a.Rhs[0].(*ast.CallExpr)
				if !ok || !isResponse(in.pass.TypesInfo.TypeOf(call)) {
					return true
				}
				fn := in.callee(call)
				if fn == nil || fn.Pkg() == nil || fn.Pkg().Path() != "net/http" {
					return true
				}
				name, isName := a.Lhs[0].(*ast.Ident)
				if !isName {
					return true
				}
				v := in.variable(name)
				switch read, closed := in.bodyUse(l, v); {
				case !read && !closed:
					in.report(n, "the body of the response to %s is neither read nor closed", show(call.Fun))
				case !closed:
					in.report(n, "the body of the response to %s is not closed in the loop", show(call.Fun))
				case !read:
					in.report(n, "the body of the response to %s is closed unread: unless it is empty, its connection is not used again", show(call.Fun))
				}
				return true
			})
		})
	}}
}

// isResponse reports whether a call returns a *http.Response, alone or first.
func isResponse(t types.Type) bool {
	if tuple, ok := t.(*types.Tuple); ok {
		if tuple.Len() == 0 {
			return false
		}
		t = tuple.At(0).Type()
	}
	return isNamed(t, "net/http", "Response")
}

// bodyUse reports whether a loop reads the body of a response and whether it
// closes it. A function that gets the response or its body may do both.
func (in *input) bodyUse(l *loop, v *types.Var) (read, closed bool) {
	if v == nil || v.Name() == "_" {
		return false, false
	}
	in.uses(l.body, v, func(id *ast.Ident, path []ast.Node) {
		sel, ok := parent(path, 1).(*ast.SelectorExpr)
		if !ok {
			if _, assigned := parent(path, 1).(*ast.AssignStmt); !assigned {
				read, closed = true, true
			}
			return
		}
		if sel.Sel.Name != "Body" {
			return
		}
		method, ok := parent(path, 2).(*ast.SelectorExpr)
		switch {
		case !ok:
			read = true
			if call, ok := parent(path, 2).(*ast.CallExpr); ok {
				closed = closed || !isFromStandard(in.callee(call))
			} else {
				closed = true
			}
		case method.Sel.Name == "Close":
			closed = true
		default:
			read = true
		}
	})
	return read, closed
}

// isFromStandard reports whether a function is one of packages that read and do not close.
func isFromStandard(fn *types.Func) bool {
	return fn != nil && fn.Pkg() != nil && hasName(fn.Pkg().Path(), []string{"io", "io/ioutil", "encoding/json", "encoding/xml", "bufio"})
}
