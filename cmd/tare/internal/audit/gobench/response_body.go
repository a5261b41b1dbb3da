package gobench

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/cfg"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
)

// responseBody finds responses from functions of net/http whose body a loop does not
// read or does not close, and readers that it opens and does not read.
func responseBody() rule {
	return rule{Rule: audit.Rule{
		ID: "response-body", Severity: tare.Warn,
		Title:   "The body of a response, or a reader, is not read to its end, or not closed.",
		Why:     "What is not read is not received, unpacked or decoded. A connection is used again only if the body was read to its end and closed. Otherwise each iteration opens a connection, and the figure is mostly that of TCP and TLS handshakes.",
		Do:      "io.Copy(io.Discard, resp.Body), then resp.Body.Close()",
		Command: loadServer,
		Seen:    []string{"tare: study users"},
	}, find: func(in *input) {
		in.eachTimedLoop(func(l *loop) {
			in.reportUnread(l)
			in.inspectTimedCalls(l, func(n ast.Node, f *frame) bool {
				a, ok := n.(*ast.AssignStmt)
				if !ok || len(a.Lhs) == 0 || len(a.Rhs) != 1 {
					return true
				}
				call, ok := a.Rhs[0].(*ast.CallExpr)
				if !ok || !isResponse(in.pass.TypesInfo.TypeOf(call)) || !in.isRequest(call, 0) {
					return true
				}
				name, isName := a.Lhs[0].(*ast.Ident)
				if !isName {
					return true
				}
				v := in.variable(name)
				read, closed := in.bodyUse(f.body, v, 0)
				switch {
				case !read && !closed:
					in.report(n, "the body of the response to %s is neither read nor closed", formatExpr(call.Fun))
				case !closed:
					in.report(n, "the body of the response to %s is not closed in the loop", formatExpr(call.Fun))
				case !read:
					in.report(n, "the body of the response to %s is closed unread: unless it is empty, its connection is not used again", formatExpr(call.Fun))
				default:
					if line := in.findLeak(f, a, v); line > 0 {
						in.report(n, "the body of the response to %s is neither read nor closed on a path to line %d", formatExpr(call.Fun), line)
					}
				}
				return true
			})
		})
	}}
}

// isRequest reports whether a call sends a request by a function of net/http, itself or in a
// function of the package that it calls and that leaves the body of the response to its caller.
func (in *input) isRequest(call *ast.CallExpr, depth int) bool {
	for _, f := range in.flowGraph().Called(call, nil) {
		if f.Object != nil && f.Object.Pkg() != nil && f.Object.Pkg().Path() == "net/http" {
			return true
		}
		if f.Body == nil || depth == maxTimedDepth || in.touchesBody(f.Body, 0) {
			continue
		}
		for _, r := range in.flowGraph().Results(f, 0) {
			for _, source := range in.flowGraph().Sources(r, nil) {
				if c, ok := source.(*ast.CallExpr); ok && in.isRequest(c, depth+1) {
					return true
				}
			}
		}
	}
	return false
}

// touchesBody reports whether a function mentions the body of a response, or passes a response to a
// function that may do so.
func (in *input) touchesBody(root ast.Node, depth int) bool {
	info := in.pass.TypesInfo
	found := false
	ast.Inspect(root, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			found = found || n.Sel.Name == "Body" && isResponse(info.TypeOf(n.X))
		case *ast.CallExpr:
			if !slices.ContainsFunc(n.Args, func(a ast.Expr) bool { return isResponse(info.TypeOf(a)) }) {
				return !found
			}
			called := in.flowGraph().Called(n, nil)
			found = found || len(called) == 0
			for _, f := range called {
				found = found || f.Body == nil || depth == maxTimedDepth || in.touchesBody(f.Body, depth+1)
			}
		}
		return !found
	})
	return found
}

// findLeak returns the line in which a function or an iteration ends, without an error, although no
// statement on the way there mentions the body of the response v, which the assignment a sets. It
// returns 0 without such a path.
func (in *input) findLeak(f *frame, a *ast.AssignStmt, v *types.Var) int {
	body := f.body
	if f.node == nil { // in a loop, continue and the end lead to the next iteration
		body = &ast.BlockStmt{List: []ast.Stmt{&ast.ForStmt{Body: f.body}}}
	}
	graph := cfg.New(body, func(call *ast.CallExpr) bool {
		name := calledName(call)
		return name != "panic" && name != "Exit" && !strings.HasPrefix(name, "Fatal") && !strings.HasPrefix(name, "Skip") && name != "FailNow"
	})
	var err *types.Var
	if len(a.Lhs) > 1 {
		err = in.variable(a.Lhs[len(a.Lhs)-1])
	}
	seen := map[*cfg.Block]bool{}
	var search func(b *cfg.Block, nodes []ast.Node) int
	search = func(b *cfg.Block, nodes []ast.Node) int {
		for _, n := range nodes {
			if n == ast.Node(a) {
				return in.pass.Fset.Position(f.body.Rbrace).Line // the next iteration
			}
			if in.usesBody(n, v) || in.reportsFailure(n) {
				return 0
			}
			if r, ok := n.(*ast.ReturnStmt); ok {
				return in.lineOfSuccess(r)
			}
		}
		succs := b.Succs
		if len(succs) == 2 && len(b.Nodes) > 0 {
			// The response is nil where the error is not.
			if cond, ok := b.Nodes[len(b.Nodes)-1].(*ast.BinaryExpr); ok && err != nil && in.variable(cond.X) == err {
				switch cond.Op {
				case token.NEQ:
					succs = succs[1:]
				case token.EQL:
					succs = succs[:1]
				}
			}
		}
		for _, next := range succs {
			if seen[next] {
				continue
			}
			seen[next] = true
			if line := search(next, next.Nodes); line > 0 {
				return line
			}
		}
		if len(b.Succs) == 0 && b.Live && b.Kind != cfg.KindUnreachable && !endsInCall(b) {
			return in.pass.Fset.Position(f.body.Rbrace).Line
		}
		return 0
	}
	for _, b := range graph.Blocks {
		for i, n := range b.Nodes {
			if n == ast.Node(a) {
				return search(b, b.Nodes[i+1:])
			}
		}
	}
	return 0
}

// endsInCall reports whether a block ends by a call, such as b.Fatal, that does not return.
func endsInCall(b *cfg.Block) bool {
	if len(b.Nodes) == 0 {
		return false
	}
	s, ok := b.Nodes[len(b.Nodes)-1].(*ast.ExprStmt)
	if !ok {
		return false
	}
	_, ok = s.X.(*ast.CallExpr)
	return ok
}

// lineOf returns the line of a node.
func (in *input) lineOf(n ast.Node) int { return in.pass.Fset.Position(n.Pos()).Line }

// usesBody reports whether a node mentions the body of a response, or the response other than one of
// its fields.
func (in *input) usesBody(root ast.Node, v *types.Var) bool {
	found := false
	wrap := &ast.BlockStmt{List: []ast.Stmt{}}
	switch n := root.(type) {
	case ast.Stmt:
		wrap.List = append(wrap.List, n)
	case ast.Expr:
		wrap.List = append(wrap.List, &ast.ExprStmt{X: n})
	default:
		return false
	}
	in.inspectUses(wrap, v, func(id *ast.Ident, path []ast.Node) {
		sel, ok := parent(path, 1).(*ast.SelectorExpr)
		found = found || !ok || sel.Sel.Name == "Body"
	})
	return found
}

// reportsFailure reports whether a node calls a method such as b.Error.
func (in *input) reportsFailure(root ast.Node) bool {
	found := false
	ast.Inspect(root, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			fn := in.callee(call)
			isTesting := fn != nil && fn.Pkg() != nil && fn.Pkg().Path() == "testing"
			found = found || isTesting && (strings.HasPrefix(fn.Name(), "Error") || strings.HasPrefix(fn.Name(), "Fail"))
		}
		return !found
	})
	return found
}

// lineOfSuccess returns the line of a return statement, and 0 if it may return an error.
func (in *input) lineOfSuccess(r *ast.ReturnStmt) int {
	if len(r.Results) == 0 {
		return in.lineOf(r)
	}
	last := r.Results[len(r.Results)-1]
	if tv := in.pass.TypesInfo.Types[last]; !tv.IsNil() && isError(tv.Type) {
		return 0
	}
	return in.lineOf(r)
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

// bodyUse reports whether the statements below root read the body of a response v, and whether they
// close it. A function that gets the response, or its body unless isReader knows the function, may do both.
func (in *input) bodyUse(root ast.Node, v *types.Var, depth int) (read, closed bool) {
	if v == nil || v.Name() == "_" {
		return false, false
	}
	in.inspectUses(root, v, func(id *ast.Ident, path []ast.Node) {
		sel, ok := parent(path, 1).(*ast.SelectorExpr)
		if !ok {
			switch p := parent(path, 1).(type) {
			case *ast.AssignStmt:
				// The response itself is set.
			case *ast.CallExpr:
				r, c := in.argumentUse(p, id, depth)
				read, closed = read || r, closed || c
			default:
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

// argumentUse does the work of bodyUse for a response that is the argument of a call.
func (in *input) argumentUse(call *ast.CallExpr, arg *ast.Ident, depth int) (read, closed bool) {
	called := in.flowGraph().Called(call, nil)
	for _, f := range called {
		if f.Body == nil || depth == maxTimedDepth {
			return true, true
		}
		for param, value := range in.flowGraph().Bind(call, f) {
			if value == ast.Expr(arg) {
				r, c := in.bodyUse(f.Body, param, depth+1)
				read, closed = read || r, closed || c
			}
		}
	}
	return read || len(called) == 0, closed || len(called) == 0
}

// isReader reports whether a function belongs to a package of the standard library whose
// functions read a body and do not close it.
func isReader(fn *types.Func) bool {
	return fn != nil && fn.Pkg() != nil && isOneOf(fn.Pkg().Path(), []string{"io", "io/ioutil", "encoding/json", "encoding/xml", "bufio"})
}
