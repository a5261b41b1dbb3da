package gobench

import (
	"cmp"
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
	"github.com/tarebench/tare/cmd/tare/internal/audit/gobench/flow"
)

// This file has the rule error-discarded. It finds a benchmark that discards the error of the code
// that it measures. If each call fails, the benchmark measures a quick failure:
//
//	func BenchmarkDecode(b *testing.B) {
//		for b.Loop() {
//			json.Unmarshal(data, &v)
//		}
//	}
//
// The rule accepts such a call if a test or benchmark calls the same function and reads its error.
// This code is named a checker below and in the files error_*.go. If no checker has the same input,
// the rule reports a note. A frame is the body that is searched: the loop, or a function of the
// test files that the loop calls.

// errorDiscarded returns the rule error-discarded.
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
			in.inspectTimedDeep(l, func(n ast.Node, f *frame) bool {
				call := in.findDiscarded(l, n, f)
				if call != nil && (in.reportFilling(l, n, call, f) || in.reportShort(l, n, call, f)) {
					return true
				}
				if call != nil && !in.neverFails(call) {
					in.reportDiscarded(l, n, call, in.findFailing(call, f.binding, 0))
				}
				return true
			})
		})
	}}
}

// reportDiscarded reports a call at n that discards the error of one of the functions in failing.
// If each of them has a checker, but with other input, it is only a note.
func (in *input) reportDiscarded(l *loop, n ast.Node, call *ast.CallExpr, failing []*types.Func) {
	for _, fn := range failing {
		name := formatExpr(call.Fun)
		if fn.Name() != calledName(call) {
			name += ", which may be " + fn.Name() + ","
		}
		if !in.isChecked(fn) {
			in.report(n, "the error of %s is discarded in the loop, and no test or benchmark of the package checks it", name)
			return
		}
		if made := in.findUncheckedReceiver(call, fn); made != "" {
			in.report(n, "the error of %s is discarded in the loop, and a test expects one of what %s makes", name, made)
			return
		}
		if unread := cmp.Or(in.findUncheckedFile(l, fn), in.findUncheckedInput(l, call, fn)); unread != "" {
			in.reportAs(tare.Note, n, "the error of %s is discarded in the loop, and no function that checks it reads %s", name, unread)
			return
		}
	}
}

// findDiscarded returns the call whose error a statement n discards, or nil. The frame f has the
// body in which n is: the loop, or a function of the test files that it calls.
func (in *input) findDiscarded(l *loop, n ast.Node, f *frame) *ast.CallExpr {
	switch n := n.(type) {
	case *ast.ExprStmt:
		if call, ok := n.X.(*ast.CallExpr); ok && errorIndex(in.pass.TypesInfo, call) >= 0 {
			return call
		}
	case *ast.CallExpr:
		return in.findIgnoredArgument(n)
	case *ast.IfStmt:
		return in.findSkipped(n, f)
	case *ast.AssignStmt:
		decl := l.owner.decl // the function around n
		if inner, ok := f.node.(*ast.FuncDecl); ok {
			decl = inner
		}
		return in.findUnreadResult(n, decl)
	}
	return nil
}

// findIgnoredArgument returns f(x) of ignore(f(x)) if ignore does nothing with the error, or nil.
func (in *input) findIgnoredArgument(outer *ast.CallExpr) *ast.CallExpr {
	for i, a := range outer.Args {
		call, ok := a.(*ast.CallExpr)
		if !ok {
			continue
		}
		if index := errorIndex(in.pass.TypesInfo, call); index >= 0 && in.ignoresArgument(outer, i+index) {
			return call
		}
	}
	return nil
}

// findUnreadResult returns the call in an assignment if decl does not read its error, or nil.
func (in *input) findUnreadResult(a *ast.AssignStmt, decl *ast.FuncDecl) *ast.CallExpr {
	if len(a.Rhs) != 1 {
		return nil
	}
	call, ok := a.Rhs[0].(*ast.CallExpr)
	if !ok {
		return nil
	}
	i := errorIndex(in.pass.TypesInfo, call)
	if i < 0 || i >= len(a.Lhs) {
		return nil
	}
	id, ok := a.Lhs[i].(*ast.Ident)
	if !ok {
		return nil
	}
	// The compiler rejects := for an unread variable.
	isUnread := a.Tok == token.ASSIGN && !isNamedResult(decl, in.variable(id)) && !in.isRead(decl, in.variable(id))
	if id.Name != "_" && !isUnread {
		return nil
	}
	return call
}

// findSkipped returns the call whose error only continues the loop, or nil:
//
//	err := f(); if err != nil { continue }
func (in *input) findSkipped(s *ast.IfStmt, f *frame) *ast.CallExpr {
	v := in.findSkippedError(s)
	if v == nil || f.callDepth() > 0 {
		return nil
	}
	init, _ := in.initOf(f.body, v).(*ast.CallExpr)
	return init
}

// findSkippedError returns the variable err of "if err != nil { continue }", or nil. The body may
// also be empty.
func (in *input) findSkippedError(s *ast.IfStmt) *types.Var {
	cond, ok := s.Cond.(*ast.BinaryExpr)
	if !ok || cond.Op != token.NEQ || s.Else != nil || len(s.Body.List) > 1 {
		return nil
	}
	if len(s.Body.List) == 1 {
		if branch, ok := s.Body.List[0].(*ast.BranchStmt); !ok || branch.Tok != token.CONTINUE {
			return nil
		}
	}
	v := in.variable(cond.X)
	if v == nil || !isError(v.Type()) || !in.pass.TypesInfo.Types[cond.Y].IsNil() {
		return nil
	}
	return v
}

// neverFails reports whether an argument is a function that always returns a nil error. Functions
// such as tree.Walk fail only if this argument does.
func (in *input) neverFails(call *ast.CallExpr) bool {
	for _, a := range call.Args {
		lit, ok := a.(*ast.FuncLit)
		if !ok {
			continue
		}
		index := errorResult(in.pass.TypesInfo.TypeOf(lit))
		if index < 0 {
			continue
		}
		results := in.flowGraph().Results(flow.Function{Body: lit.Body}, index)
		if !slices.ContainsFunc(results, func(e ast.Expr) bool { return !in.pass.TypesInfo.Types[e].IsNil() }) {
			return true
		}
	}
	return false
}

// isNamedResult reports whether v is a named result of a function in root, which a caller may read.
func isNamedResult(root ast.Node, v *types.Var) bool {
	found := false
	ast.Inspect(root, func(n ast.Node) bool {
		if t, ok := n.(*ast.FuncType); ok && v != nil && t.Results != nil {
			found = found || isPosIn(v.Pos(), t.Results)
		}
		return !found
	})
	return found
}

// ignoresArgument reports whether all functions that a call may run ignore the argument with this
// index. They may use it in _ = x. Their code must be in the package.
func (in *input) ignoresArgument(call *ast.CallExpr, index int) bool {
	called := in.flowGraph().Called(call, nil)
	for _, f := range called {
		if f.Body == nil || f.Object != nil && hasDirective(f.Node.(*ast.FuncDecl)) {
			return false
		}
		params := flow.Params(f.Type)
		if index >= len(params) {
			return false
		}
		if name := params[index].Name; name != nil {
			v, _ := in.pass.TypesInfo.Defs[name].(*types.Var)
			if v != nil && in.isRead(f.Body, v) {
				return false
			}
		}
	}
	return len(called) > 0
}

// findFailing returns the functions whose error a call may return, without harmless ones. If the
// call runs a test helper, a function of the test files, it returns the functions whose error the
// helper returns. The depth counts the helpers around the call.
func (in *input) findFailing(call *ast.CallExpr, binding flow.Binding, depth int) []*types.Func {
	var out []*types.Func
	for _, f := range in.flowGraph().Called(call, binding) {
		if f.Body == nil || !in.isTestCode(f.Node) {
			if f.Object != nil && !isHarmless(f.Object) {
				out = append(out, f.Object)
			}
			continue
		}
		if depth == maxTimedDepth {
			continue
		}
		inner := in.flowGraph().Bind(call, f)
		if index := errorResult(in.pass.TypesInfo.TypeOf(call.Fun)); index >= 0 {
			for _, c := range in.findReturned(f, index) {
				out = append(out, in.findFailing(c, inner, depth+1)...)
			}
		}
	}
	return out
}

// findReturned returns the calls whose error f may return as its result with that index. The error
// may be wrapped by fmt.Errorf.
func (in *input) findReturned(f flow.Function, index int) []*ast.CallExpr {
	var out []*ast.CallExpr
	var visit func(e ast.Expr, depth int)
	visit = func(e ast.Expr, depth int) {
		sources := []ast.Expr{e}
		if v := in.variable(e); v != nil {
			sources = in.flowGraph().Values(v)
		}
		for _, source := range sources {
			c, ok := ast.Unparen(source).(*ast.CallExpr)
			switch {
			case !ok:
			case isFunc(in.callee(c), "fmt", "Errorf") && depth == 0:
				for _, arg := range c.Args {
					if isError(in.pass.TypesInfo.TypeOf(arg)) {
						visit(arg, depth+1)
					}
				}
			default:
				out = append(out, c)
			}
		}
	}
	for _, r := range in.flowGraph().Results(f, index) {
		visit(r, 0)
	}
	return out
}

// errorResult returns the index of the error in the results of a function type, or -1 if there is
// none.
func errorResult(t types.Type) int {
	if sig, ok := t.Underlying().(*types.Signature); ok {
		return lastError(sig.Results())
	}
	return -1
}

// errorIndex returns the index of the error in the results of a call, or -1 if there is none.
func errorIndex(info *types.Info, call *ast.CallExpr) int {
	switch t := info.TypeOf(call).(type) {
	case *types.Tuple:
		return lastError(t)
	case types.Type:
		if isError(t) {
			return 0
		}
	}
	return -1
}

// lastError returns the index of the last result if this is an error, or -1.
func lastError(results *types.Tuple) int {
	if last := results.Len() - 1; last >= 0 && isError(results.At(last).Type()) {
		return last
	}
	return -1
}

// isRead reports whether root reads a variable, other than by _ = v. It is true for package
// variables, because other code may read them, and for nil.
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
		if i := slices.Index(a.Rhs, ast.Expr(id)); i >= 0 {
			found = found || formatExpr(a.Lhs[i]) != "_"
		}
	})
	return found
}

// isHarmless reports whether programs ignore the error of a function for good reason. Writers to
// memory never fail, and errors of printing or closing matter little.
func isHarmless(fn *types.Func) bool {
	if fn.Pkg() == nil || isFunc(fn, "fmt") || isFunc(fn, "crypto/rand") || isFunc(fn, "math/rand") {
		return true
	}
	if hasAnyPrefix(fn.Name(), "Close", "Write") || isOneOf(fn.Name(), []string{"Flush", "Sync", "Shutdown", "Seek", "Reset"}) {
		return true
	}
	if recv := fn.Signature().Recv(); recv != nil {
		if t := recv.Type(); isNamed(t, "bytes") || isNamed(t, "strings") || isNamed(t, "math/rand", "Rand") || isNamed(t, "bufio", "Writer") {
			return true
		}
	}
	return isFunc(fn, "io", "WriteString")
}
