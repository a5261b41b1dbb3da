package gobench

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"github.com/tarebench/tare/cmd/tare/internal/audit/gobench/flow"
	"github.com/tarebench/tare/internal/lazyregexp"
)

// This file is a part of the rule input-in-loop. Here a method, a closure or a function of a table
// makes the input. In this example c.body marshals 500 items, each time the same:
//
//	for b.Loop() { Decode(c.body(b)) }

// isMadeByCase reports whether a call makes a costly input for the tested code. The input is the
// same in each iteration. The call is of a method, a closure or a function of a table.
func (in *input) isMadeByCase(l *loop, call *ast.CallExpr) bool {
	if fn := in.callee(call); fn != nil && fn.Signature().Recv() == nil {
		return false // a declared function
	}
	root, _ := in.flowGraph().Path(call.Fun, flow.Binding{})
	if root == nil || !in.isDeclaredOutside(root, l) || in.maySet(l, root) || !in.hasSameArguments(l, call) && !in.hasBoundedArguments(l, call) {
		return false
	}
	made := in.flowGraph().Called(call, nil)
	isMaker := func(f flow.Function) bool { return f.Body != nil && in.isHarness(f.Node) && !in.hasState(f, 0) }
	isCostly := func(f flow.Function) bool { return in.isCostly(f, 0) }
	if len(made) == 0 || slices.ContainsFunc(made, func(f flow.Function) bool { return !isMaker(f) }) || !slices.ContainsFunc(made, isCostly) {
		return false
	}
	user := in.findUser(l, call)
	return user != nil && in.isTested(l, user) && in.keepsArgument(l, user, call)
}

// hasBoundedArguments reports whether the arguments of a call have a limited number of values. They
// may contain the counter of the loop as in i % n and i & 1023.
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

// hasState reports whether calls of a function may have different results. It then sets outer
// variables, takes random numbers or receives from a channel. The depth counts the calls around it.
func (in *input) hasState(f flow.Function, depth int) bool {
	if depth > maxTimedDepth {
		return true
	}
	isForeign := func(e ast.Expr) bool {
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
				found = found || !isNew && isForeign(lhs)
			}
		case *ast.IncDecStmt:
			found = found || isForeign(n.X)
		case *ast.UnaryExpr:
			found = found || n.Op == token.ARROW
		case *ast.CallExpr:
			fn := in.callee(n)
			found = found || fn != nil && fn.Pkg() != nil && isOneOf(fn.Pkg().Path(), randomPackages) && !makerName.MatchString(fn.Name())
			for _, called := range in.flowGraph().Called(n, nil) {
				if called.Body != nil && called.Node != f.Node && in.isHarness(called.Node) {
					found = found || in.hasState(called, depth+1)
				}
			}
		}
		return !found
	})
	return found
}

// isCostly reports whether a test helper has a loop, or calls a slow function.
func (in *input) isCostly(f flow.Function, depth int) bool {
	if f.Body == nil || depth > maxTimedDepth || !in.isHarness(f.Node) {
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
		return slices.ContainsFunc(in.flowGraph().Called(call, nil), func(g flow.Function) bool { return g.Node != f.Node && in.isCostly(g, depth+1) })
	})
}

// fixturePath matches the paths of packages that make inputs of tests, such as
// example.com/shop/testdata.
var fixturePath = lazyregexp.New(`(?i)(^|/|_|-)(fixtures?|testdata|test_?(util|help|gen|input)\w*|` +
	`corpus|fakes?|gen(erator)?|samples?)$`)

func isFixture(fn *types.Func) bool {
	return fn.Pkg() != nil && fixturePath.MatchString(fn.Pkg().Path()) && fn.Signature().Results().Len() > 0
}

// findUser returns the call that gets the result of call, or nil. The result may be in a variable
// with no other use.
func (in *input) findUser(l *loop, call *ast.CallExpr) *ast.CallExpr {
	switch p := parent(pathTo(l.body, call), 1).(type) {
	case *ast.CallExpr:
		if p.Fun != ast.Expr(call) {
			return p
		}
	case *ast.AssignStmt:
		v := in.variable(p.Lhs[0])
		if len(p.Rhs) != 1 || v == nil || in.isDeclaredOutside(v, l) {
			return nil
		}
		var user *ast.CallExpr
		uses := 0
		in.inspectUses(l.body, v, func(id *ast.Ident, path []ast.Node) {
			uses++
			level := 1
			if address, ok := parent(path, 1).(*ast.UnaryExpr); ok && address.Op == token.AND {
				level = 2 // encode(&v)
			}
			if c, ok := parent(path, level).(*ast.CallExpr); ok && c.Fun != ast.Expr(id) {
				user = c
			}
		})
		if uses == 1 {
			return user
		}
	}
	return nil
}

func (in *input) isTested(l *loop, call *ast.CallExpr) bool {
	isTested := func(f flow.Function) bool {
		return f.Object != nil && in.isAbout(l.owner, f.Object) && !in.isTestHelper(f.Object)
	}
	return slices.ContainsFunc(in.flowGraph().Called(call, nil), isTested)
}

// Functions with readingName do not change the bytes they read. Those with outputName do not change
// the values they write.
var (
	readingName = lazyregexp.New(`^(Unmarshal|Decode|Parse|Read|Scan|Valid|Hash|Sum|Encode|Marshal|Compress|` +
		`Count|Index|Match|Render|Format|Lex|Tokeni[sz]e|Compile)`)
	outputName = lazyregexp.New(`^(Append|Encode|Marshal|Write|Render|Format|Hash|Size|Valid|Print|Pack|Serialize)`)
)

// keepsArgument reports whether the call user does not change its argument, the result of made.
func (in *input) keepsArgument(l *loop, user, made *ast.CallExpr) bool {
	t := firstResult(in.pass.TypesInfo.TypeOf(made))
	if t == nil {
		return false
	}
	isReader := types.NewMethodSet(t).Lookup(nil, "Read") != nil
	if isReader || isBasic(t) || isBytes(t) && readingName.MatchString(calledName(user)) {
		return true
	}
	arg := ast.Expr(made)
	if i := slices.IndexFunc(user.Args, func(a ast.Expr) bool { return in.isInitialValue(l, a, made) }); i >= 0 {
		arg = user.Args[i]
	}
	isDestination := len(user.Args) > 1 && user.Args[0] == arg // as in Append(dst, value)
	if outputName.MatchString(calledName(user)) && !isDestination {
		return true
	}
	return (isSliceOrString(t) || isStructPointer(t)) && in.callOnlyReads(user, arg, 0)
}

// isInitialValue reports whether e is a variable of the loop with a call as initial value.
func (in *input) isInitialValue(l *loop, e ast.Expr, call *ast.CallExpr) bool {
	v := in.variable(e)
	return v != nil && in.initOf(l.body, v) == ast.Expr(call)
}
