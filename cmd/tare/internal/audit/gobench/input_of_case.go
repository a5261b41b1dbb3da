package gobench

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"github.com/tarebench/tare/cmd/tare/internal/audit/gobench/flow"
	"github.com/tarebench/tare/internal/lazyregexp"
)

// This file is a part of the rule input-in-loop, which finds an input that each iteration makes
// again. Here a method or a function in a variable makes it. In this example, the table has a
// function for each case, and body marshals the same 500 items each time:
//
//	for _, c := range []testCase{{"small", smallBody}, {"large", largeBody}} {
//		for b.Loop() { Decode(c.body(b)) }
//	}
//
// The call c.body(b) is the maker of the input, and Decode is its consumer. A test helper is a
// function of the test files, such as largeBody. The rule reads the helpers that c.body may be. One
// of them must be costly, and all must return the same for the same arguments.

// makesInputIndirectly reports whether a call makes a costly input for the measured code, which is
// the same in each iteration. The call is of a method, or of a function in a variable or a table.
func (in *input) makesInputIndirectly(l *loop, call *ast.CallExpr) bool {
	if fn := in.callee(call); fn != nil && fn.Signature().Recv() == nil {
		return false // a declared function
	}
	root, _ := in.flowGraph().Path(call.Fun, flow.Binding{})
	if root == nil || !in.isDeclaredOutside(root, l) || in.maySet(l, root) {
		return false
	}
	if !in.hasSameArguments(l, call) && !in.hasBoundedArguments(l, call) {
		return false
	}
	makers := in.flowGraph().Called(call, nil)
	isOther := func(f flow.Function) bool { return f.Body == nil || !in.isTestCode(f.Node) || in.hasState(f, 0) }
	isCostly := func(f flow.Function) bool { return in.isCostly(f, 0) }
	if slices.ContainsFunc(makers, isOther) || !slices.ContainsFunc(makers, isCostly) {
		return false
	}
	consumer := in.findConsumer(l, call)
	return consumer != nil && in.isTested(l, consumer) && in.keepsArgument(l, consumer, call)
}

// hasBoundedArguments reports whether the arguments of a call repeat after some iterations. They
// contain the counter i of the loop, but only as in i % n and i & 1023.
func (in *input) hasBoundedArguments(l *loop, call *ast.CallExpr) bool {
	counter := in.counter(l)
	if counter == nil {
		return false
	}
	isBounded, isCounted := true, false
	for _, arg := range call.Args {
		limit, isBinary := ast.Unparen(arg).(*ast.BinaryExpr)
		if isBinary && (limit.Op == token.REM || limit.Op == token.AND) && in.variable(limit.X) == counter && !in.isOrContains(limit.Y, counter) {
			isCounted = true
			continue
		}
		isBounded = isBounded && in.hasSameArguments(l, &ast.CallExpr{Args: []ast.Expr{arg}})
	}
	return isBounded && isCounted
}

// hasState reports whether two calls of a function with the same arguments may have different
// results. The function then sets variables of others, takes random numbers or receives from a
// channel. The depth counts the calls around it.
func (in *input) hasState(f flow.Function, depth int) bool {
	if depth > maxTimedDepth {
		return true
	}
	isOuter := func(e ast.Expr) bool {
		root, fields := in.flowGraph().Path(e, nil)
		_, isDereferenced := ast.Unparen(e).(*ast.StarExpr)
		isLocal := root != nil && isPosIn(root.Pos(), f.Node)
		isParam := root != nil && isPosIn(root.Pos(), f.Node) && !isPosIn(root.Pos(), f.Body)
		return !isLocal || isParam && (fields != "" || isDereferenced)
	}
	found := false
	ast.Inspect(f.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, lhs := range n.Lhs {
				id, isIdent := lhs.(*ast.Ident)
				isNew := n.Tok == token.DEFINE || isIdent && isBlank(id)
				found = found || !isNew && isOuter(lhs)
			}
		case *ast.IncDecStmt:
			found = found || isOuter(n.X)
		case *ast.UnaryExpr:
			found = found || n.Op == token.ARROW
		case *ast.CallExpr:
			fn := in.callee(n)
			found = found || fn != nil && fn.Pkg() != nil && isOneOf(fn.Pkg().Path(), randomPackages) && !makerName.MatchString(fn.Name())
			for _, called := range in.flowGraph().Called(n, nil) {
				if called.Body != nil && called.Node != f.Node && in.isTestCode(called.Node) {
					found = found || in.hasState(called, depth+1)
				}
			}
		}
		return !found
	})
	return found
}

// isCostly reports whether a test helper has a loop, or calls a slow function. The depth counts the
// calls around it.
func (in *input) isCostly(f flow.Function, depth int) bool {
	if f.Body == nil || depth > maxTimedDepth || !in.isTestCode(f.Node) {
		return false
	}
	return hasNode(f.Body, func(n ast.Node) bool {
		if isLoop(n) {
			return true
		}
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return false
		}
		if fn := in.callee(call); fn != nil && (isLibraryMaker(fn) || isBulky(fn) || isFixture(fn)) {
			return true
		}
		return slices.ContainsFunc(in.flowGraph().Called(call, nil), func(inner flow.Function) bool { return inner.Node != f.Node && in.isCostly(inner, depth+1) })
	})
}

// fixturePath matches the paths of packages that make inputs of tests, such as
// example.com/shop/testdata.
var fixturePath = lazyregexp.New(`(?i)(^|/|_|-)(fixtures?|testdata|test_?(util|help|gen|input)\w*|` +
	`corpus|fakes?|gen(erator)?|samples?)$`)

// isFixture reports whether a function belongs to a package that makes inputs of tests.
func isFixture(fn *types.Func) bool {
	return fn.Pkg() != nil && fixturePath.MatchString(fn.Pkg().Path()) && fn.Signature().Results().Len() > 0
}

// findConsumer returns the call that gets the result of maker, or nil. The result may be in a variable
// first, if nothing else uses this.
func (in *input) findConsumer(l *loop, maker *ast.CallExpr) *ast.CallExpr {
	path := pathTo(l.body, maker)
	switch p := parent(path, 1).(type) {
	case *ast.CallExpr:
		if p.Fun != ast.Expr(maker) {
			return p
		}
	case *ast.SelectorExpr: // c.build().Encode()
		return calledMethod(path)
	case *ast.AssignStmt:
		v := in.variable(p.Lhs[0])
		if len(p.Rhs) != 1 || v == nil || in.isDeclaredOutside(v, l) {
			return nil
		}
		var consumer *ast.CallExpr
		uses := 0
		in.inspectUses(l.body, v, func(id *ast.Ident, path []ast.Node) {
			uses++
			level := 1
			if address, ok := parent(path, 1).(*ast.UnaryExpr); ok && address.Op == token.AND {
				level = 2 // encode(&v)
			}
			if c, ok := parent(path, level).(*ast.CallExpr); ok && c.Fun != ast.Expr(id) {
				consumer = c
			} else if c := calledMethod(path); c != nil {
				consumer = c
			}
		})
		if uses == 1 {
			return consumer
		}
	}
	return nil
}

// calledMethod returns the call x.f() if the last node of a path is x, or nil.
func calledMethod(path []ast.Node) *ast.CallExpr {
	sel, ok := parent(path, 1).(*ast.SelectorExpr)
	call, isCall := parent(path, 2).(*ast.CallExpr)
	if !ok || !isCall || call.Fun != ast.Expr(sel) {
		return nil
	}
	return call
}

// isTested reports whether a call may run the code that a benchmark is about, not a test helper.
func (in *input) isTested(l *loop, call *ast.CallExpr) bool {
	isMeasured := func(f flow.Function) bool {
		return f.Object != nil && in.mayMeasure(l.owner, f.Object) && !in.isTestHelper(f.Object)
	}
	return slices.ContainsFunc(in.flowGraph().Called(call, nil), isMeasured)
}

// Functions with readingName do not change the bytes they read. Those with outputName do not change
// the values they write.
var (
	readingName = lazyregexp.New(`^(Unmarshal|Decode|Parse|Read|Scan|Valid|Hash|Sum|Encode|Marshal|Compress|` +
		`Count|Index|Match|Render|Format|Lex|Tokeni[sz]e|Compile)`)
	outputName = lazyregexp.New(`^(Append|Encode|Marshal|Write|Render|Format|Hash|Size|Valid|Print|Pack|Serialize)`)
)

// keepsArgument reports whether the call consumer leaves its argument as it is, so that one input
// would do for all iterations. The argument is the result of the call maker.
func (in *input) keepsArgument(l *loop, consumer, maker *ast.CallExpr) bool {
	t := firstResult(in.pass.TypesInfo.TypeOf(maker))
	if t == nil {
		return false
	}
	if sel, ok := consumer.Fun.(*ast.SelectorExpr); ok && (sel.X == ast.Expr(maker) || in.isInitialValue(l, sel.X, maker)) {
		return in.methodOnlyReads(in.callee(consumer), 0)
	}
	isReader := types.NewMethodSet(t).Lookup(nil, "Read") != nil
	if isReader || isBasic(t) || isBytes(t) && readingName.MatchString(calledName(consumer)) {
		return true
	}
	arg := ast.Expr(maker)
	if i := slices.IndexFunc(consumer.Args, func(a ast.Expr) bool { return in.isInitialValue(l, a, maker) }); i >= 0 {
		arg = consumer.Args[i]
	}
	if _, isAddress := arg.(*ast.UnaryExpr); !isAddress && isCopied(t) {
		return true
	}
	isDestination := len(consumer.Args) > 1 && consumer.Args[0] == arg // as in Append(dst, value)
	if outputName.MatchString(calledName(consumer)) && !isDestination {
		return true
	}
	return (isSliceOrString(t) || isStructPointer(t)) && in.callOnlyReads(consumer, arg, 0)
}

// isCopied reports whether t is a struct without references. A function that gets one as its
// argument cannot change the value of the caller.
func isCopied(t types.Type) bool {
	s, ok := t.Underlying().(*types.Struct)
	if !ok {
		return false
	}
	for field := range s.Fields() {
		if !isBasic(field.Type()) && !isCopied(field.Type()) {
			return false
		}
	}
	return true
}

// isInitialValue reports whether e is a variable of the loop whose initial value is this call.
func (in *input) isInitialValue(l *loop, e ast.Expr, call *ast.CallExpr) bool {
	v := in.variable(e)
	return v != nil && in.initOf(l.body, v) == ast.Expr(call)
}
