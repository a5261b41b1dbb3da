package gobench

import (
	"cmp"
	"go/ast"
	"go/token"
	"go/types"
	"path"
	"slices"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
	"github.com/tarebench/tare/cmd/tare/internal/audit/gobench/flow"
)

// errorDiscarded finds calls in timed regions that discard an error:
//
//	for b.Loop() { json.Unmarshal(data, &v) }
//
// A test file may check the error of the same function, which suffices. Code that does so is called
// a checker below.
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
				if call != nil && !in.neverFails(call) {
					in.reportDiscarded(l, n, call, in.findFailing(call, f.binding, 0))
				}
				return true
			})
		})
	}}
}

// reportDiscarded reports a call at n that discards its error. failing has the functions that may
// return the error. It is only a note if each of them has a checker, but with other input.
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
		if unread := cmp.Or(in.findUncheckedFile(l, fn), in.findUncheckedInput(l, call, fn)); unread != "" {
			in.reportAs(tare.Note, n, "the error of %s is discarded in the loop, and no function that checks it reads %s", name, unread)
			return
		}
	}
}

// findUncheckedFile returns the name of a file that the benchmark reads and no checker of fn
// mentions. It returns "" if there is none. On this file fn may fail.
func (in *input) findUncheckedFile(l *loop, fn *types.Func) string {
	for call := range nodesOf[*ast.CallExpr](l.owner.decl) {
		if !in.opensFile(call) {
			continue
		}
		var texts []string
		for _, arg := range call.Args {
			texts = append(texts, stringLiterals(arg)...)
		}
		if len(texts) == 0 {
			continue
		}
		name := texts[len(texts)-1] // as in filepath.Join("testdata", "large.json")
		base := path.Base(strings.Trim(name, "\"`"))
		mentions := func(decl *ast.FuncDecl) bool {
			mayMatch := func(text string) bool { return strings.Contains(text, base) || strings.Contains(text, "*") }
			return slices.ContainsFunc(stringLiterals(decl), mayMatch) || hasCall(decl, func(name string) bool {
				return isOneOf(name, []string{"ReadDir", "Glob", "WalkDir", "Walk", "ReadFile", "Open"})
			})
		}
		if !in.isMentionedByChecker(fn, mentions) {
			return name
		}
	}
	return ""
}

// findUncheckedInput describes an argument that no checker of fn uses, or returns "".
func (in *input) findUncheckedInput(l *loop, call *ast.CallExpr, fn *types.Func) string {
	for _, arg := range inputsOf(call) {
		if description := in.describeUnchecked(l, arg, fn); description != "" {
			return description
		}
	}
	return ""
}

// inputsOf returns the arguments of a call and of the calls in its receiver: data for
// NewDecoder(data).ReadAll().
func inputsOf(call *ast.CallExpr) []ast.Expr {
	args := slices.Clone(call.Args)
	if sel, ok := call.Fun.(*ast.SelectorExpr); ok {
		if made, ok := sel.X.(*ast.CallExpr); ok {
			args = append(args, inputsOf(made)...)
		}
	}
	return args
}

// describeUnchecked describes an argument that no checker of fn mentions, or returns "". The
// argument may be a text in a table of the benchmark. It may be the result of a function of the
// test files, or a constant variable of them.
func (in *input) describeUnchecked(l *loop, arg ast.Expr, fn *types.Func) string {
	if call, ok := arg.(*ast.CallExpr); ok {
		if called := in.callee(call); isFunc(called, "strings", "NewReader") || isFunc(called, "bytes", "NewReader", "NewBuffer", "NewBufferString") {
			arg = call.Args[0]
		}
	}
	v, _ := in.flowGraph().Path(stripConversion(in.pass.TypesInfo, arg), nil)
	if texts := in.tableTexts(l, v); len(texts) > 0 {
		mentionsText := func(decl *ast.FuncDecl) bool {
			isText := func(lit string) bool { return slices.Contains(texts, lit) }
			return decl != l.owner.decl && slices.ContainsFunc(stringLiterals(decl), isText)
		}
		if !in.isMentionedByChecker(fn, mentionsText) && in.isMentionedByChecker(fn, hasNoTable) {
			return "the texts of its table"
		}
	}
	for r := range nodesOf[*ast.RangeStmt](l.owner.decl) {
		if v != nil && r.Value != nil && in.variable(r.Value) == v { // an element of r.X
			v, _ = in.flowGraph().Path(r.X, nil)
		}
	}
	if v == nil || !isSliceOrString(v.Type()) {
		return ""
	}
	if in.isLocal(v) {
		maker := in.findMaker(v)
		if maker != nil && !in.isMadeForChecker(fn, maker) {
			return "what " + maker.Name() + " makes"
		}
		return ""
	}
	isSet, _ := in.readUses(v)
	if isSet || !strings.HasSuffix(in.pass.Fset.Position(v.Pos()).Filename, "_test.go") {
		return ""
	}
	if in.isMentionedByChecker(fn, func(decl *ast.FuncDecl) bool { return in.usesVariable(decl, v) }) {
		return ""
	}
	return v.Name()
}

// findMaker returns the function of the test files that makes the only value of v, or nil.
func (in *input) findMaker(v *types.Var) *types.Func {
	values := in.flowGraph().Values(v)
	if len(values) != 1 {
		return nil
	}
	call, ok := ast.Unparen(values[0]).(*ast.CallExpr)
	if !ok {
		return nil
	}
	fn := in.callee(call)
	if fn == nil || !in.isTestHelper(fn) {
		return nil
	}
	return fn
}

// tableTexts returns the string literals of a table with quotes, if v is the element in a loop over
// it.
func (in *input) tableTexts(l *loop, v *types.Var) []string {
	if v == nil || !in.isLocal(v) {
		return nil
	}
	for r := range nodesOf[*ast.RangeStmt](l.owner.decl) {
		if r.Value == nil || in.variable(r.Value) != v {
			continue
		}
		table, ok := r.X.(*ast.CompositeLit)
		if named := in.variable(r.X); in.isLocal(named) {
			if values := in.flowGraph().Values(named); len(values) == 1 {
				table, ok = values[0].(*ast.CompositeLit)
			}
		}
		if ok {
			return stringLiterals(table)
		}
	}
	return nil
}

// stringLiterals returns the string literals in root, with quotes.
func stringLiterals(root ast.Node) []string {
	var out []string
	for lit := range nodesOf[*ast.BasicLit](root) {
		if lit.Kind == token.STRING {
			out = append(out, lit.Value)
		}
	}
	return out
}

// hasNoTable reports whether a function has no range statement. It then checks only texts in its
// own code.
func hasNoTable(decl *ast.FuncDecl) bool {
	for range nodesOf[*ast.RangeStmt](decl) {
		return false
	}
	return true
}

// opensFile reports whether a call opens a file, directly or in a harness function.
func (in *input) opensFile(call *ast.CallExpr) bool {
	isOpener := func(fn *types.Func) bool {
		return isFunc(fn, "os", "ReadFile", "Open") || isFunc(fn, "io/ioutil", "ReadFile")
	}
	if isOpener(in.callee(call)) {
		return true
	}
	for _, f := range in.flowGraph().Called(call, nil) {
		if f.Body == nil || !in.isHarness(f.Node) {
			continue
		}
		for inner := range nodesOf[*ast.CallExpr](f.Body) {
			if isOpener(in.callee(inner)) {
				return true
			}
		}
	}
	return false
}

// isMentionedByChecker reports whether a checker of fn may use an input. mentions says whether a
// function mentions the input. Helpers may use any input.
func (in *input) isMentionedByChecker(fn *types.Func, mentions func(*ast.FuncDecl) bool) bool {
	for decl := range in.functions() {
		if !in.isHarness(decl) {
			continue
		}
		checked := map[*types.Func]bool{}
		in.addChecked(decl, checked)
		if checked[fn] && (isHelperName(decl.Name.Name) || mentions(decl) || in.callsHelper(decl)) {
			return true
		}
	}
	return false
}

// isMadeForChecker reports whether a checker of fn may use what maker makes. Helpers may use any
// input.
func (in *input) isMadeForChecker(fn, maker *types.Func) bool {
	for decl := range in.functions() {
		checked := map[*types.Func]bool{}
		if in.isHarness(decl) {
			in.addChecked(decl, checked)
		}
		if !checked[fn] {
			continue
		}
		callsMaker := isHelperName(decl.Name.Name)
		in.inspectCallsDeep(decl.Body, func(call *ast.CallExpr, _ flow.Binding) {
			callsMaker = callsMaker || in.callee(call) == maker
		})
		if callsMaker {
			return true
		}
	}
	return false
}

// isHelperName reports whether go test does not run functions with this name.
func isHelperName(name string) bool {
	return !hasAnyPrefix(name, "Test", "Benchmark", "Fuzz", "Example")
}

// callsHelper reports whether a function calls a harness function.
func (in *input) callsHelper(decl *ast.FuncDecl) bool {
	for call := range nodesOf[*ast.CallExpr](decl) {
		for _, f := range in.flowGraph().Called(call, nil) {
			if f.Body != nil && f.Object != nil && in.isHarness(f.Node) {
				return true
			}
		}
	}
	return false
}

// findDiscarded returns the call whose error a statement n discards, or nil.
func (in *input) findDiscarded(l *loop, n ast.Node, f *frame) *ast.CallExpr {
	root := l.owner.decl // the function around n
	if f.callDepth() > 0 {
		if decl, ok := f.node.(*ast.FuncDecl); ok {
			root = decl
		}
	}
	switch n := n.(type) {
	case *ast.ExprStmt:
		call, ok := n.X.(*ast.CallExpr)
		if !ok {
			return nil
		}
		if errorIndex(in.pass.TypesInfo, call) >= 0 {
			return call
		}
	case *ast.CallExpr:
		for i, a := range n.Args { // ignore(json.Unmarshal(data, &v))
			inner, ok := a.(*ast.CallExpr)
			if !ok {
				continue
			}
			if index := errorIndex(in.pass.TypesInfo, inner); index >= 0 && in.ignoresArgument(n, i+index) {
				return inner
			}
		}
	case *ast.IfStmt:
		return in.findSkipped(n, f)
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
		// The compiler rejects := for an unread variable.
		isUnread := n.Tok == token.ASSIGN && !isNamedResult(root, in.variable(id)) && !in.isRead(root, in.variable(id))
		if id.Name == "_" || isUnread {
			return call
		}
	}
	return nil
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

// isNamedResult reports whether v is a named result of a function in root.
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

// findFailing returns the functions whose error a call may return, without harmless ones. It looks
// for them in harness functions, too. depth is the number of such functions around the call.
func (in *input) findFailing(call *ast.CallExpr, binding flow.Binding, depth int) []*types.Func {
	var out []*types.Func
	for _, f := range in.flowGraph().Called(call, binding) {
		if f.Body == nil || !in.isHarness(f.Node) {
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
			for _, r := range in.flowGraph().Results(f, index) {
				sources := []ast.Expr{r}
				if v := in.variable(r); v != nil {
					sources = in.flowGraph().Values(v)
				}
				for _, source := range sources {
					if c, ok := ast.Unparen(source).(*ast.CallExpr); ok {
						out = append(out, in.findFailing(c, inner, depth+1)...)
					}
				}
			}
		}
	}
	return out
}

// errorResult returns the index of the error in the results of a function type, or -1.
func errorResult(t types.Type) int {
	if sig, ok := t.Underlying().(*types.Signature); ok {
		return lastError(sig.Results())
	}
	return -1
}

// errorIndex returns the index of the error in the results of a call, or -1.
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

// isChecked reports whether a test file checks the error of a function.
func (in *input) isChecked(fn *types.Func) bool {
	if in.suite.checked == nil {
		in.suite.checked = map[*types.Func]bool{}
		for _, file := range in.pass.Files {
			if strings.HasSuffix(in.pass.Fset.Position(file.FileStart).Filename, "_test.go") {
				in.addChecked(file, in.suite.checked)
			}
		}
	}
	return in.suite.checked[fn]
}

// addChecked adds to checked the functions whose errors root reads.
func (in *input) addChecked(root ast.Node, checked map[*types.Func]bool) {
	inspectPath(root, func(n ast.Node, path []ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		i := errorIndex(in.pass.TypesInfo, call)
		if i < 0 {
			return true
		}
		check := func() {
			for _, fn := range in.findFailing(call, nil, 0) {
				checked[fn] = true
			}
		}
		switch p := parent(path, 1).(type) {
		case *ast.ExprStmt, *ast.GoStmt, *ast.DeferStmt:
			// The statement discards the error.
		case *ast.AssignStmt:
			id, isIdent := p.Lhs[min(i, len(p.Lhs)-1)].(*ast.Ident)
			if s, ok := parent(path, 2).(*ast.IfStmt); ok && isIdent && s.Init == ast.Stmt(p) && in.findSkippedError(s) == in.variable(id) {
				return true
			}
			if !isIdent || id.Name != "_" && in.isRead(root, in.variable(id)) {
				check()
			}
		case *ast.ReturnStmt:
			// findFailing finds this call in the callers.
		case *ast.CallExpr:
			index := slices.Index(p.Args, ast.Expr(call))
			if index < 0 || !in.ignoresArgument(p, index+i) { // keep(parse(text)) passes on all results
				check()
			}
		default: // a condition
			check()
		}
		return true
	})
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
