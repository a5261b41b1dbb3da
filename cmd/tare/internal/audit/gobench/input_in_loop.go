package gobench

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
	"github.com/tarebench/tare/cmd/tare/internal/audit/gobench/flow"
	"github.com/tarebench/tare/internal/lazyregexp"
)

// This file has the rule input-in-loop. It finds a benchmark that makes the same input again in
// each iteration. The time of making it is in the result:
//
//	func BenchmarkEncode(b *testing.B) {
//		for b.Loop() {
//			encode(newOrders(1000))
//		}
//	}
//
// Here encode is the measured function, because its name is in that of the benchmark. The function
// newOrders is a maker, which makes an input. The rule reports a maker that gets the same arguments
// each time, if the measured function gets its result and does not change it.

// inputInLoop returns the rule input-in-loop.
func inputInLoop() rule {
	return rule{Rule: audit.Rule{
		ID: "input-in-loop", Severity: tare.Warn,
		Title:   "Each iteration makes its input again.",
		Why:     "The time and the allocations of making it are in the figure. If two functions take a and b, their comparison shows (input + a) / (input + b), which is nearer to 1 than a / b.",
		Do:      "make it once before the loop",
		Command: compareRevisions,
		Seen:    []string{"https://github.com/tinylib/msgp/blob/v1.6.5/msgp/extension_test.go#L187"},
	}, find: func(in *input) {
		in.eachTimedLoop(func(l *loop) {
			in.inspectTimedDeep(l, func(n ast.Node, f *frame) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok {
					return true
				}
				if inner := in.repeatedBody(f, call); inner != nil && in.makesSameInput(inner, call) {
					in.report(call, "%s makes the same input again in each iteration", formatExpr(call))
				}
				return true
			})
			for _, s := range l.body.List {
				if v := in.findFilledSlice(l, s); v != nil {
					in.report(s, "%s is filled again in each iteration, and then passed to a call", v.Name())
				}
			}
		})
	}}
}

// makesSameInput reports whether a call makes an input that is the same in each iteration.
func (in *input) makesSameInput(l *loop, call *ast.CallExpr) bool {
	if fn := in.callee(call); fn != nil && in.makesInput(l, call, fn) && in.hasSameArguments(l, call) && !in.drawsFromOutside(fn) && in.isPassedOn(l, call) {
		return true
	}
	return in.makesInputIndirectly(l, call)
}

// makesInput reports whether a call of fn makes an input, and is not the measured call itself.
// There are four kinds of makers:
//
//	os.ReadFile("a.json")     a slow function of the standard library (isLibraryMaker)
//	generateItems(100)        a function of the test files named like this (isGenerator)
//	sum(newTree(1000))        a function of the test files; sum only reads the tree (isMadeByHelper)
//	encode(NewOrders(1000))   any function of the package, in BenchmarkEncode (isMadeForMeasured)
func (in *input) makesInput(l *loop, call *ast.CallExpr, fn *types.Func) bool {
	if in.isMadeForMeasured(l, call, fn) {
		return true
	}
	isMeasured := in.mayMeasure(l.owner, fn) && !in.isTestHelper(fn)
	return !isMeasured && (isLibraryMaker(fn) || in.isGenerator(fn) || in.isMadeByHelper(l, call, fn))
}

// isLibraryMaker reports whether fn is a function of the standard library that takes long to make a
// value.
func isLibraryMaker(fn *types.Func) bool {
	return isFunc(fn, "strings", "Repeat") || isFunc(fn, "bytes", "Repeat") ||
		isFunc(fn, "regexp", "MustCompile", "Compile") ||
		isFunc(fn, "os", "ReadFile") || isFunc(fn, "io/ioutil", "ReadFile") ||
		isFunc(fn, "crypto/rsa", "GenerateKey") || isFunc(fn, "crypto/ecdsa", "GenerateKey") ||
		isFunc(fn, "time", "LoadLocation") || isFunc(fn, "math/rand", "Perm")
}

// generatorName matches functions that make inputs, such as randomOrders. valueMakerName also matches
// functions that make other values, such as newOrder.
var (
	valueMakerName = lazyregexp.New(`^(?i:make|build|new|create|gen|prepare|setup|example|test)[A-Z0-9_]`)
	generatorName  = lazyregexp.New(`^(?i:generate|gen|random|fake|mock|` +
		`make(test|input|data|random|payload|big|large)|` + // makeLargeText
		`new(test|random|fake|sample)|create(test|sample|random|large|big)|` +
		`build(test|sample|input|payload|large)|` +
		`sample|fixture|load(fixture|testdata|sample))` + // loadFixture
		`([A-Z0-9_]|[a-z]*$)`)
)

// isGenerator reports whether fn is a function of the test files with a name such as generateItems.
func (in *input) isGenerator(fn *types.Func) bool {
	return in.isTestHelper(fn) && generatorName.MatchString(fn.Name()) && fn.Signature().Results().Len() > 0
}

// isMadeByHelper reports whether fn is a function of the test files that makes a large value in a
// loop. The function that gets the value may only read it, so that one value would do for all
// iterations.
func (in *input) isMadeByHelper(l *loop, call *ast.CallExpr, fn *types.Func) bool {
	if !in.isTestHelper(fn) || !in.isLargeValue(call) {
		return false
	}
	maker := in.flowGraph().Declared(fn)
	if maker.Body == nil {
		return false
	}
	isMaker := valueMakerName.MatchString(fn.Name()) || in.isCalledBeforeLoop(fn)
	if !isMaker { // the measured function may be in a test file, too
		consumer := in.findConsumer(l, call)
		isMaker = consumer != nil && in.isTested(l, consumer) && !isMeasuredBy(l.owner, fn) && !in.hasState(maker, 0)
	}
	if !isMaker {
		return false
	}
	isLoop := func(s ast.Stmt) bool { return loopBound(s) != nil }
	if !slices.ContainsFunc(maker.Body.List, isLoop) {
		return false // it costs little
	}
	path := pathTo(l.body, call)
	switch consumer := parent(path, 1).(type) {
	case *ast.CallExpr: // sum(newTree(1000))
		return in.callOnlyReads(consumer, call, 0)
	case *ast.SelectorExpr: // newTree(1000).sum()
		method := calledMethod(path)
		return method != nil && in.methodOnlyReads(in.callee(method), 0)
	case *ast.AssignStmt: // tree := newTree(1000)
		v := in.variable(consumer.Lhs[0])
		return in.isLocal(v) && !in.isDeclaredOutside(v, l) && in.codeOnlyReads(l.body, v, 0)
	}
	return false
}

// pathTo returns the nodes from a child of root to node, the last element.
func pathTo(root, node ast.Node) (found []ast.Node) {
	inspectPath(root, func(n ast.Node, path []ast.Node) bool {
		if n == node {
			found = slices.Clone(path)
		}
		return found == nil
	})
	return found
}

// isCalledBeforeLoop reports whether any benchmark calls a function outside its loops.
func (in *input) isCalledBeforeLoop(fn *types.Func) bool {
	for _, b := range in.suite.benchmarks {
		for call := range nodesOf[*ast.CallExpr](b.body) {
			isInLoop := slices.ContainsFunc(b.loops, func(l *loop) bool { return isNodeIn(call, l.node) })
			if in.callee(call) == fn && !isInLoop && in.suite.findBenchmark(call) == b {
				return true
			}
		}
	}
	return false
}

// isLargeValue reports whether a call returns a slice, a string or a pointer to a struct.
func (in *input) isLargeValue(call *ast.CallExpr) bool {
	t := in.pass.TypesInfo.TypeOf(call)
	return t != nil && (isSliceOrString(t) || isStructPointer(t))
}

// isMadeForMeasured reports whether a function of the package makes a large value in a loop. Only
// the measured function may get the value, and only to read it.
func (in *input) isMadeForMeasured(l *loop, call *ast.CallExpr, fn *types.Func) bool {
	isPackageFunction := fn.Pkg() == in.pass.Pkg && fn.Signature().Recv() == nil
	if !isPackageFunction || isMeasuredBy(l.owner, fn) || !in.isLargeValue(call) {
		return false
	}
	maker := in.flowGraph().Declared(fn)
	if maker.Body == nil {
		return false
	}
	if hasLoop, _ := in.readWork(maker.Body, 0); !hasLoop {
		return false
	}
	return in.isArgumentOfMeasured(l, call) || in.isVariableForMeasured(l, call)
}

// isMeasuredBy reports whether the name of a benchmark contains that of fn.
func isMeasuredBy(b *benchmark, fn *types.Func) bool {
	return fn != nil && containsWord(b.name, fn.Name())
}

// isArgumentOfMeasured reports whether a call is in the arguments of the measured function, as in
// encode(newOrders(1000)). That function must not change the result.
func (in *input) isArgumentOfMeasured(l *loop, call *ast.CallExpr) bool {
	path := pathTo(l.body, call)
	for level := 1; ; level++ {
		outer, ok := parent(path, level).(*ast.CallExpr)
		if !ok {
			return false
		}
		if isMeasuredBy(l.owner, in.callee(outer)) {
			isImmutable := isBasic(in.pass.TypesInfo.TypeOf(call))
			return isImmutable || level == 1 && in.callOnlyReads(outer, call, 0)
		}
	}
}

// isVariableForMeasured reports whether a call makes a variable that only the measured function
// reads:
//
//	orders := newOrders(1000)
//	encode(orders)
func (in *input) isVariableForMeasured(l *loop, call *ast.CallExpr) bool {
	a, ok := parent(pathTo(l.body, call), 1).(*ast.AssignStmt)
	if !ok || len(a.Rhs) != 1 || a.Tok != token.DEFINE {
		return false
	}
	uses, isRead := 0, false
	in.inspectUses(l.body, in.variable(a.Lhs[0]), func(id *ast.Ident, path []ast.Node) {
		if id != a.Lhs[0] {
			uses++
			isRead = in.isReadByMeasured(l.owner, id, path)
		}
	})
	return uses == 1 && isRead
}

// isReadByMeasured reports whether the measured function gets id, a use of a variable, and only
// reads it.
func (in *input) isReadByMeasured(b *benchmark, id *ast.Ident, path []ast.Node) bool {
	switch p := parent(path, 1).(type) {
	case *ast.CallExpr: // encode(orders)
		return isMeasuredBy(b, in.callee(p)) && in.callOnlyReads(p, id, 0)
	case *ast.SelectorExpr: // orders.encode()
		call, _ := parent(path, 2).(*ast.CallExpr)
		if call == nil || call.Fun != ast.Expr(p) {
			return false
		}
		method := in.callee(call)
		receiver, body := in.methodBody(method)
		return isMeasuredBy(b, method) && body != nil && in.codeOnlyReads(body, receiver, 0)
	}
	return false
}

// hasSameArguments reports whether a call surely has the same arguments in each iteration.
func (in *input) hasSameArguments(l *loop, call *ast.CallExpr) bool {
	info := in.pass.TypesInfo
	isSame := true
	for _, a := range call.Args {
		ast.Inspect(a, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncLit:
				isSame = false
			case *ast.CallExpr:
				isConversion := info.Types[n.Fun].IsType()
				if !isConversion && !isBuiltin(info, n, "len") {
					isSame = false
				}
			case *ast.Ident:
				v, ok := info.Uses[n].(*types.Var)
				if !ok || v.IsField() {
					return true
				}
				if !in.isDeclaredOutside(v, l) || in.maySet(l, v) || isRand(v.Type()) {
					isSame = false
				}
			}
			return isSame
		})
	}
	return isSame
}

// maySet reports whether a loop sets v or takes its address.
func (in *input) maySet(l *loop, v *types.Var) bool {
	found := false
	in.inspectUses(l.node, v, func(id *ast.Ident, path []ast.Node) {
		switch p := parent(path, 1).(type) {
		case *ast.AssignStmt:
			for _, lhs := range p.Lhs {
				found = found || lhs == ast.Expr(id)
			}
		case *ast.IncDecStmt, *ast.UnaryExpr:
			found = true
		}
	})
	return found
}

// drawsFromOutside reports whether fn takes random numbers from a source that it does not make.
// Each call then returns another value.
func (in *input) drawsFromOutside(fn *types.Func) bool {
	draws, makesSource := false, false
	seen := map[ast.Node]bool{}
	var visit func(f flow.Function)
	visit = func(f flow.Function) {
		if f.Body == nil || seen[f.Node] {
			return
		}
		seen[f.Node] = true
		for call := range nodesOf[*ast.CallExpr](f.Body) {
			called := in.callee(call)
			switch {
			case called == nil || called.Pkg() == nil: // unknown or builtin
			case !isOneOf(called.Pkg().Path(), randomPackages):
				visit(in.flowGraph().Declared(called))
			case strings.HasPrefix(called.Name(), "New"):
				makesSource = true
			default:
				draws = true
			}
		}
	}
	visit(in.flowGraph().Declared(fn))
	return draws && !makesSource
}

// isPassedOn reports whether the loop passes the result of a call to a function outside the test
// files. It may store the result in a variable first.
func (in *input) isPassedOn(l *loop, call *ast.CallExpr) bool {
	isWork := func(n ast.Node) bool {
		consumer, ok := n.(*ast.CallExpr)
		if !ok || consumer == call {
			return false
		}
		fn := in.callee(consumer)
		return fn != nil && !in.isTestHelper(fn)
	}
	path := pathTo(l.body, call)
	switch p := parent(path, 1).(type) {
	case *ast.CallExpr:
		if isConversion := in.pass.TypesInfo.Types[p.Fun].IsType(); isConversion {
			return isWork(parent(path, 2)) // sum(Tree(newNode(9)))
		}
		return isWork(p)
	case *ast.SelectorExpr: // the result is the receiver
		return isWork(parent(path, 2))
	case *ast.AssignStmt:
		v := in.variable(p.Lhs[0])
		if v == nil || in.isDeclaredOutside(v, l) {
			return false
		}
		isUsed, isChanged := false, false
		in.inspectUses(l.body, v, func(_ *ast.Ident, path []ast.Node) {
			switch consumer := parent(path, 1).(type) {
			case *ast.CallExpr:
				isUsed = isUsed || isWork(consumer)
			case *ast.SelectorExpr:
				isUsed = isUsed || isWork(parent(path, 2))
			case *ast.AssignStmt:
				isChanged = true
			}
		})
		return isUsed && !isChanged
	}
	return false
}

// findFilledSlice returns the slice that a statement s of a loop fills, or nil. Here this is data:
//
//	data := make([]int, 1000)
//	for i := range data { data[i] = i } // s
//	sum(data)
func (in *input) findFilledSlice(l *loop, s ast.Stmt) *types.Var {
	body := loopBody(s)
	if body == nil || len(body.List) != 1 {
		return nil
	}
	a, ok := body.List[0].(*ast.AssignStmt)
	if !ok || len(a.Lhs) != 1 {
		return nil
	}
	index, ok := a.Lhs[0].(*ast.IndexExpr)
	if !ok {
		return nil
	}
	v := in.variable(index.X)
	if v == nil || in.isDeclaredOutside(v, l) {
		return nil
	}
	init, ok := in.initOf(l.body, v).(*ast.CallExpr)
	if !ok || !isMake(in.pass.TypesInfo, init) {
		return nil
	}
	isPassedOn := false
	in.inspectUses(l.body, v, func(id *ast.Ident, path []ast.Node) {
		for _, p := range path {
			call, isCall := p.(*ast.CallExpr)
			if isCall && id.Pos() > s.End() && in.callee(call) != nil {
				isPassedOn = true
			}
		}
	})
	if !isPassedOn {
		return nil
	}
	return v
}
