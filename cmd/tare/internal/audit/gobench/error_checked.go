package gobench

import (
	"go/ast"
	"go/token"
	"go/types"
	"path"
	"slices"
	"strings"

	"github.com/tarebench/tare/cmd/tare/internal/audit/gobench/flow"
)

// This file is a part of the rule error-discarded, which reports a benchmark that discards the error
// of a function. The rule accepts that if there is a checker: another function of the test files
// that calls the same function and reads its error. Two checkers of json.Unmarshal:
//
//	err := json.Unmarshal(data, &v)
//	if err != nil { t.Fatal(err) }
//
//	if err := decode(data); err != nil { t.Fatal(err) } // decode returns the error of json.Unmarshal
//
// A checker with other input than the benchmark shows nothing, because the function may fail with
// the input of the benchmark only. So this file also compares the inputs.

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

// addChecked adds to checked the functions that root calls and whose errors it reads.
func (in *input) addChecked(root ast.Node, checked map[*types.Func]bool) {
	inspectPath(root, func(n ast.Node, path []ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		errorAt := errorIndex(in.pass.TypesInfo, call)
		if errorAt < 0 {
			return true
		}
		addCall := func() { // the error is read, so add what the call may run
			for _, fn := range in.findFailing(call, nil, 0) {
				checked[fn] = true
			}
		}
		switch p := parent(path, 1).(type) {
		case *ast.ExprStmt, *ast.GoStmt, *ast.DeferStmt:
			// The statement discards the error.
		case *ast.AssignStmt:
			last := len(p.Lhs) - 1 // errorAt is larger only in code that does not compile
			id, isIdent := p.Lhs[min(errorAt, last)].(*ast.Ident)
			if s, ok := parent(path, 2).(*ast.IfStmt); ok && isIdent && s.Init == ast.Stmt(p) && in.findSkippedError(s) == in.variable(id) {
				return true
			}
			if !isIdent || id.Name != "_" && in.isRead(root, in.variable(id)) {
				addCall()
			}
		case *ast.ReturnStmt:
			// findFailing finds this call in the callers.
		case *ast.CallExpr:
			index := slices.Index(p.Args, ast.Expr(call))
			if index < 0 || !in.ignoresArgument(p, index+errorAt) { // keep(parse(text)) passes on all results
				addCall()
			}
		default: // a condition
			addCall()
		}
		return true
	})
}

// findUncheckedFile returns the name of a file that the benchmark reads and no checker of fn reads, or
// "". The function fn may fail on this file.
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
		mayRead := func(decl *ast.FuncDecl) bool {
			mayMatch := func(text string) bool { return strings.Contains(text, base) || strings.Contains(text, "*") }
			return slices.ContainsFunc(stringLiterals(decl), mayMatch) || hasCall(decl, func(name string) bool {
				return isOneOf(name, []string{"ReadDir", "Glob", "WalkDir", "Walk", "ReadFile", "Open"})
			})
		}
		if !in.hasChecker(fn, mayRead) {
			return name
		}
	}
	return ""
}

// opensFile reports whether a call opens a file, itself or in a function of the test files that it
// runs.
func (in *input) opensFile(call *ast.CallExpr) bool {
	isOpener := func(fn *types.Func) bool {
		return isFunc(fn, "os", "ReadFile", "Open") || isFunc(fn, "io/ioutil", "ReadFile")
	}
	if isOpener(in.callee(call)) {
		return true
	}
	for _, f := range in.flowGraph().Called(call, nil) {
		if f.Body == nil || !in.isTestCode(f.Node) {
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

// findUncheckedInput describes an argument of a call that no checker of fn uses, or returns "".
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

// describeUnchecked describes an argument that no checker of fn uses, or returns "". It knows texts and
// constants in a table of the benchmark, results of functions of the test files, and variables of
// the test files that nothing sets after their declaration.
func (in *input) describeUnchecked(l *loop, arg ast.Expr, fn *types.Func) string {
	v, _ := in.flowGraph().Path(stripConversion(in.pass.TypesInfo, in.stripReader(arg)), nil)
	if texts := in.tableTexts(l, v); len(texts) > 0 {
		usesText := func(decl *ast.FuncDecl) bool {
			isText := func(lit string) bool { return slices.Contains(texts, lit) }
			return decl != l.owner.decl && slices.ContainsFunc(stringLiterals(decl), isText)
		}
		if !in.hasChecker(fn, usesText) && in.hasChecker(fn, hasNoTable) {
			return "the texts of its table"
		}
	}
	if constants := in.tableConstants(l, v); len(constants) > 0 {
		usesConstant := func(decl *ast.FuncDecl) bool {
			isListed := func(id *ast.Ident) bool { return constants[in.pass.TypesInfo.Uses[id]] }
			return decl != l.owner.decl && hasNode(decl, isListed) && !in.expectsOnlyErrors(decl)
		}
		if !in.hasChecker(fn, usesConstant) {
			return "the constants of its table"
		}
	}
	v = in.findList(l, v)
	switch {
	case v == nil || !isSliceOrString(v.Type()):
		return ""
	case in.isLocal(v):
		if maker := in.findMaker(v); maker != nil && !in.isMadeForChecker(fn, maker) {
			return "what " + maker.Name() + " makes"
		}
		return ""
	}
	isSet, _ := in.classifyUses(v)
	isInTestFile := strings.HasSuffix(in.pass.Fset.Position(v.Pos()).Filename, "_test.go")
	usesVariable := func(decl *ast.FuncDecl) bool { return in.usesVariable(decl, v) }
	if isSet || !isInTestFile || in.hasChecker(fn, usesVariable) {
		return ""
	}
	return v.Name()
}

// stripReader returns the text that a reader reads: text for strings.NewReader(text). It returns other
// expressions as they are.
func (in *input) stripReader(e ast.Expr) ast.Expr {
	if call, ok := e.(*ast.CallExpr); ok {
		if fn := in.callee(call); isFunc(fn, "strings", "NewReader") || isFunc(fn, "bytes", "NewReader", "NewBuffer", "NewBufferString") {
			return call.Args[0]
		}
	}
	return e
}

// findList returns the variable over which the benchmark ranges, if v has its elements: texts for v in
// "for _, v := range texts". Otherwise it returns v.
func (in *input) findList(l *loop, v *types.Var) *types.Var {
	for r := range nodesOf[*ast.RangeStmt](l.owner.decl) {
		if v != nil && r.Value != nil && in.variable(r.Value) == v {
			v, _ = in.flowGraph().Path(r.X, nil)
		}
	}
	return v
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

// tableTexts returns the string literals, with quotes, of the table over which the benchmark
// ranges. It returns nil if v is not the variable of that range statement.
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

// hasNoTable reports whether a function has no range statement, and so checks only texts in its own
// code.
func hasNoTable(decl *ast.FuncDecl) bool {
	for range nodesOf[*ast.RangeStmt](decl) {
		return false
	}
	return true
}

// hasChecker reports whether a checker of fn uses some input, or may use it. A checker may use any
// input if go test does not run it itself, because its callers choose the input, or if it calls a
// function of the test files, which may return the input.
func (in *input) hasChecker(fn *types.Func, usesInput func(*ast.FuncDecl) bool) bool {
	for decl := range in.functions() {
		if !in.isTestCode(decl) {
			continue
		}
		checked := map[*types.Func]bool{}
		in.addChecked(decl, checked)
		if checked[fn] && (isHelperName(decl.Name.Name) || usesInput(decl) || in.callsHelper(decl)) {
			return true
		}
	}
	return false
}

// isMadeForChecker reports whether a checker of fn may use what maker makes.
func (in *input) isMadeForChecker(fn, maker *types.Func) bool {
	for decl := range in.functions() {
		checked := map[*types.Func]bool{}
		if in.isTestCode(decl) {
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

// isHelperName reports whether a function with this name is not run by go test itself, as TestParse
// is.
func isHelperName(name string) bool {
	return !hasAnyPrefix(name, "Test", "Benchmark", "Fuzz", "Example")
}

// callsHelper reports whether a function calls another function of the test files.
func (in *input) callsHelper(decl *ast.FuncDecl) bool {
	for call := range nodesOf[*ast.CallExpr](decl) {
		for _, f := range in.flowGraph().Called(call, nil) {
			if f.Body != nil && f.Object != nil && in.isTestCode(f.Node) {
				return true
			}
		}
	}
	return false
}
