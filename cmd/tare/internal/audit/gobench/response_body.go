package gobench

import (
	"go/ast"
	"go/types"
	"slices"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
	"github.com/tarebench/tare/cmd/tare/internal/audit/gobench/flow"
)

// This file has the rule response-body. It finds a benchmark that does not read or not close the
// body of an HTTP response. Its connection is not used again, so each iteration opens another one:
//
//	func BenchmarkGet(b *testing.B) {
//		for b.Loop() {
//			resp, _ := http.Get(server.URL)
//			checkStatus(resp.StatusCode)
//		}
//	}
//
// The rule finds calls in the loop that return a response, and follows the variable that gets it.
// The file response_leak.go finds ways through the code that skip the reading. The file
// unread_reader.go finds other readers that nothing reads. A frame is the body that is searched:
// the loop, or a function of the test files that the loop calls.

// responseBody returns the rule response-body.
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
			in.inspectTimedDeep(l, func(n ast.Node, f *frame) bool {
				switch n := n.(type) {
				case *ast.AssignStmt:
					in.reportAssigned(f, n)
				case *ast.ExprStmt: // client.Get(url)
					if call, ok := n.X.(*ast.CallExpr); ok && in.returnsBody(call, f) {
						in.reportUse(n, call, false, false)
					}
				case *ast.CallExpr:
					in.reportPassed(f, n)
				}
				return true
			})
		})
	}}
}

// reportAssigned reports an assignment such as resp, err := http.Get(url) if the body of resp is
// not read or not closed. The frame f has the body in which the assignment is: the loop, or a
// function of the test files that it calls.
func (in *input) reportAssigned(f *frame, a *ast.AssignStmt) {
	if len(a.Lhs) == 0 || len(a.Rhs) != 1 {
		return
	}
	call, ok := a.Rhs[0].(*ast.CallExpr)
	if !ok || !in.returnsBody(call, f) {
		return
	}
	if response, ok := a.Lhs[0].(*ast.Ident); ok {
		in.reportResponse(f, a, call, in.variable(response))
	}
}

// reportPassed reports a call such as check(client.Do(request)) if check does not read or not close
// the body.
func (in *input) reportPassed(f *frame, call *ast.CallExpr) {
	for _, arg := range call.Args {
		if request, ok := ast.Unparen(arg).(*ast.CallExpr); ok && in.returnsBody(request, f) {
			read, closed := in.argumentUse(call, arg, 0)
			in.reportUse(call, request, read, closed)
		}
	}
}

// returnsBody reports whether a call sends a request and returns its response with an open body.
func (in *input) returnsBody(call *ast.CallExpr, f *frame) bool {
	return isResponse(in.pass.TypesInfo.TypeOf(call)) && in.isRequest(call, 0) && !in.asksForHead(call, f.binding)
}

// asksForHead reports whether a call makes or sends a request with the method HEAD. Its response
// has no body.
func (in *input) asksForHead(call *ast.CallExpr, binding flow.Binding) bool {
	if calledName(call) == "Head" {
		return true
	}
	isHead := func(source ast.Expr) bool {
		made, isCall := source.(*ast.CallExpr)
		if isCall && hasAnyPrefix(calledName(made), "NewRequest") {
			return in.asksForHead(made, binding)
		}
		value := in.pass.TypesInfo.Types[source].Value
		return value != nil && value.ExactString() == `"HEAD"`
	}
	for _, arg := range call.Args {
		sources := in.flowGraph().Sources(arg, binding)
		mayBeMethod := func(source ast.Expr) bool {
			t := firstResult(in.pass.TypesInfo.TypeOf(source))
			return isNamed(t, "net/http", "Request") || isBasic(t)
		}
		sources = slices.DeleteFunc(sources, func(source ast.Expr) bool { return !mayBeMethod(source) })
		isOther := func(source ast.Expr) bool { return !isHead(source) }
		if len(sources) > 0 && !slices.ContainsFunc(sources, isOther) {
			return true
		}
	}
	return false
}

// reportResponse reports an assignment of a response to v if its body is not read or not closed.
// The variable may be nil.
func (in *input) reportResponse(f *frame, a *ast.AssignStmt, request *ast.CallExpr, v *types.Var) {
	read, closed := in.bodyUse(f.body, v, 0)
	in.reportUse(a, request, read, closed)
	if read && closed {
		if line := in.findLeak(f, a, v); line > 0 {
			in.report(a, "the body of the response to %s is neither read nor closed on a path to line %d", formatExpr(request.Fun), line)
		}
	}
}

// reportUse reports the response to a request at node if its body was not read or not closed.
func (in *input) reportUse(node ast.Node, request *ast.CallExpr, read, closed bool) {
	name := formatExpr(request.Fun)
	switch {
	case !read && !closed:
		in.report(node, "the body of the response to %s is neither read nor closed", name)
	case !closed:
		in.report(node, "the body of the response to %s is not closed in the loop", name)
	case !read:
		in.report(node, "the body of the response to %s is closed unread: unless it is empty, its connection is not used again", name)
	}
}

// isRequest reports whether a call sends a request by net/http, itself or in a function of the
// package. That function must not handle the body.
func (in *input) isRequest(call *ast.CallExpr, depth int) bool {
	for _, f := range in.flowGraph().Called(call, nil) {
		if f.Object != nil && f.Object.Pkg() != nil && f.Object.Pkg().Path() == "net/http" {
			return true
		}
		if f.Body == nil || depth == maxTimedDepth || in.handlesBody(f.Body, 0) {
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

// handlesBody reports whether a function may use the body of a response.
func (in *input) handlesBody(root ast.Node, depth int) bool {
	info := in.pass.TypesInfo
	found := false
	ast.Inspect(root, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BlockStmt:
			return n == root || !returnsNil(n) // the caller gets no response
		case *ast.SelectorExpr:
			found = found || n.Sel.Name == "Body" && isResponse(info.TypeOf(n.X))
		case *ast.CallExpr:
			if !slices.ContainsFunc(n.Args, func(a ast.Expr) bool { return isResponse(info.TypeOf(a)) }) {
				return !found
			}
			called := in.flowGraph().Called(n, nil)
			found = found || len(called) == 0
			for _, f := range called {
				found = found || f.Body == nil || depth == maxTimedDepth || in.handlesBody(f.Body, depth+1)
			}
		}
		return !found
	})
	return found
}

// returnsNil reports whether a block ends with return nil, ….
func returnsNil(b *ast.BlockStmt) bool {
	if len(b.List) == 0 {
		return false
	}
	r, ok := b.List[len(b.List)-1].(*ast.ReturnStmt)
	return ok && len(r.Results) > 1 && formatExpr(r.Results[0]) == "nil"
}

// isResponse reports whether the type t of a call is *http.Response, or several results that begin
// with one.
func isResponse(t types.Type) bool { return isNamed(firstResult(t), "net/http", "Response") }

// bodyUse reports whether root may read the body of v, and whether it may close it. Unknown
// functions may do both. The depth counts the functions that have passed v on.
func (in *input) bodyUse(root ast.Node, v *types.Var, depth int) (read, closed bool) {
	if v == nil || v.Name() == "_" {
		return false, false
	}
	in.inspectUses(root, v, func(id *ast.Ident, path []ast.Node) {
		sel, ok := parent(path, 1).(*ast.SelectorExpr)
		if !ok {
			switch p := parent(path, 1).(type) {
			case *ast.AssignStmt:
				// v is set.
			case *ast.CallExpr:
				argRead, argClosed := in.argumentUse(p, id, depth)
				read, closed = read || argRead, closed || argClosed
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
			if !isCall || !readsWithoutClosing(in.callee(call)) {
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

// argumentUse is bodyUse for the argument of a call.
func (in *input) argumentUse(call *ast.CallExpr, arg ast.Expr, depth int) (read, closed bool) {
	called := in.flowGraph().Called(call, nil)
	for _, f := range called {
		if f.Body == nil || depth == maxTimedDepth {
			return true, true
		}
		for param, value := range in.flowGraph().Bind(call, f) {
			if value == arg {
				paramRead, paramClosed := in.bodyUse(f.Body, param, depth+1)
				read, closed = read || paramRead, closed || paramClosed
			}
		}
	}
	return read || len(called) == 0, closed || len(called) == 0
}

// readsWithoutClosing reports whether a function of the standard library reads a body and does not
// close it.
func readsWithoutClosing(fn *types.Func) bool {
	return fn != nil && fn.Pkg() != nil && isOneOf(fn.Pkg().Path(), []string{"io", "io/ioutil", "encoding/json", "encoding/xml", "bufio"})
}
