package gobench

import (
	"go/ast"
	"go/types"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
)

// responseBody finds responses from functions of net/http whose body a loop does not
// read or does not close.
func responseBody() rule {
	return rule{Rule: audit.Rule{
		ID: "response-body", Severity: tare.Warn,
		Title:   "The body of a response is not read to its end, or not closed.",
		Why:     "A connection is used again only if the body was read to its end and closed. Otherwise each iteration opens a connection, and the figure is mostly that of TCP and TLS handshakes.",
		Do:      "io.Copy(io.Discard, resp.Body), then resp.Body.Close()",
		Command: loadServer,
		Seen:    []string{"tare: study users"},
	}, find: func(in *input) {
		in.eachTimedLoop(func(l *loop) {
			inspectTimedNodes(in, l, func(a *ast.AssignStmt) {
				if len(a.Lhs) == 0 || len(a.Rhs) != 1 {
					return
				}
				call, ok := a.Rhs[0].(*ast.CallExpr)
				if !ok || !isResponse(in.pass.TypesInfo.TypeOf(call)) || !isFuncOrMethod(in.callee(call), "net/http") {
					return
				}
				name, isName := a.Lhs[0].(*ast.Ident)
				if !isName {
					return
				}
				switch read, closed := in.bodyUse(l, in.variable(name)); {
				case !read && !closed:
					in.report(a, "the body of the response to %s is neither read nor closed", formatExpr(call.Fun))
				case !closed:
					in.report(a, "the body of the response to %s is not closed in the loop", formatExpr(call.Fun))
				case !read:
					in.report(a, "the body of the response to %s is closed unread: unless it is empty, its connection is not used again", formatExpr(call.Fun))
				}
			})
		})
	}}
}

// isResponse reports whether t, the type of a call, is *http.Response or a tuple that
// begins with it.
func isResponse(t types.Type) bool { return isNamed(firstResult(t), "net/http", "Response") }

// firstResult returns the type of the first result of a call whose type is t. It returns
// nil if the call has no results.
func firstResult(t types.Type) types.Type {
	tuple, isTuple := t.(*types.Tuple)
	if !isTuple {
		return t
	}
	if tuple.Len() == 0 {
		return nil
	}
	return tuple.At(0).Type()
}

// bodyUse reports whether a loop reads the body of a response v, and whether it closes the body. A
// function that gets the response, or its body unless isReader knows the function, may do both.
func (in *input) bodyUse(l *loop, v *types.Var) (read, closed bool) {
	if v == nil || v.Name() == "_" {
		return false, false
	}
	in.inspectUses(l.body, v, func(id *ast.Ident, path []ast.Node) {
		sel, ok := parent(path, 1).(*ast.SelectorExpr)
		if !ok {
			if _, isAssign := parent(path, 1).(*ast.AssignStmt); !isAssign {
				read, closed = true, true
			}
			return
		}
		if sel.Sel.Name != "Body" {
			return
		}
		method, isMethod := parent(path, 2).(*ast.SelectorExpr)
		switch {
		case !isMethod: // resp.Body is an argument or a value
			read = true
			call, isCall := parent(path, 2).(*ast.CallExpr)
			if !isCall || !isReader(in.callee(call)) {
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

// isReader reports whether a function belongs to a package of the standard library whose
// functions read a body and do not close it.
func isReader(fn *types.Func) bool {
	return isFuncOrMethod(fn, "io", "io/ioutil", "encoding/json", "encoding/xml", "bufio")
}

// isFuncOrMethod reports whether fn belongs to one of the packages.
func isFuncOrMethod(fn *types.Func, pkgs ...string) bool {
	return fn != nil && fn.Pkg() != nil && isOneOf(fn.Pkg().Path(), pkgs)
}
