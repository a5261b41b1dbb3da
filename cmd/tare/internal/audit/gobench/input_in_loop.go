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

// inputInLoop finds inputs that each iteration makes again although they are always the same:
//
//	for b.Loop() { encode(newOrders(1000)) }
//
// The "measured function", here encode, is the function after which the benchmark is named.
func inputInLoop() rule {
	return rule{Rule: audit.Rule{
		ID: "input-in-loop", Severity: tare.Warn,
		Title:   "Each iteration makes its input again.",
		Why:     "The time and the allocations of making it are in the figure. The comparison of two functions then shows less than they differ by: (input + a) / (input + b).",
		Do:      "make it once before the loop",
		Command: compareRevisions,
		Seen:    []string{"https://github.com/tinylib/msgp/blob/v1.6.5/msgp/extension_test.go#L187"},
	}, find: func(in *input) {
		in.eachTimedCall(func(l *loop, call *ast.CallExpr, fn *types.Func) {
			isMeasured := in.isAbout(l.owner, fn) && !in.isTestHelper(fn)
			makesInput := !isMeasured && (in.isInputMaker(fn) || in.makesReusableInput(l, call, fn))
			makesInput = makesInput || in.makesInputForMeasured(l, call, fn)
			if makesInput && in.hasSameArguments(l, call) && in.isPassedOn(l, call) && !in.drawsFromOutside(fn) {
				in.report(call, "%s makes the same input again in each iteration", formatExpr(call))
			}
		})
		in.eachTimedLoop(func(l *loop) {
			for _, s := range l.body.List {
				if v := in.findFilledSlice(l, s); v != nil {
					in.report(s, "%s is filled again in each iteration, and then passed to a call", v.Name())
				}
			}
		})
	}}
}

// drawsFromOutside reports whether a function takes random numbers from a source that it does not make,
// so that each call returns another value. It also reads the functions of the package that fn calls.
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

// isInputMaker reports whether a function makes inputs: it is a slow function of the standard library,
// or a function of the test files with a name such as generateItems.
func (in *input) isInputMaker(fn *types.Func) bool {
	switch {
	case isFunc(fn, "strings", "Repeat"), isFunc(fn, "bytes", "Repeat"),
		isFunc(fn, "regexp", "MustCompile", "Compile"),
		isFunc(fn, "os", "ReadFile"), isFunc(fn, "io/ioutil", "ReadFile"),
		isFunc(fn, "crypto/rsa", "GenerateKey"), isFunc(fn, "crypto/ecdsa", "GenerateKey"),
		isFunc(fn, "time", "LoadLocation"), isFunc(fn, "math/rand", "Perm"):
		return true
	}
	return in.isTestHelper(fn) && generatorName.MatchString(fn.Name()) && fn.Signature().Results().Len() > 0
}

// inputMakerName matches the names of functions that make values of any kind, such as newOrder, and
// generatorName the names of functions that make inputs, such as randomOrders.
var (
	inputMakerName = lazyregexp.New(`^(?i:make|build|new|create|gen|prepare|setup|example|test)[A-Z0-9_]`)
	generatorName  = lazyregexp.New(`^(?i:generate|gen|random|fake|mock|make(test|input|data|random|payload|big|large)|new(test|random|fake|sample)|create(test|sample|random|large|big)|build(test|sample|input|payload|large)|sample|fixture|load(fixture|testdata|sample))([A-Z0-9_]|[a-z]*$)`)
)

// makesReusableInput reports whether one value would suffice for all iterations: the call is of a
// function of the test files that makes a slice, a string or a struct in a loop, and the function to
// which the value is passed only reads it.
func (in *input) makesReusableInput(l *loop, call *ast.CallExpr, fn *types.Func) bool {
	if !in.isTestHelper(fn) || !inputMakerName.MatchString(fn.Name()) && !in.isCalledBeforeLoop(fn) {
		return false
	}
	// A function without a loop, e.g. one that returns a constant, costs little.
	f := in.flowGraph().Declared(fn)
	if f.Body == nil || !in.isLargeValue(call) || !slices.ContainsFunc(f.Body.List, func(s ast.Stmt) bool { return loopBound(s) != nil }) {
		return false
	}
	isReadOnly := false
	inspectPath(l.body, func(n ast.Node, path []ast.Node) bool {
		if n != ast.Node(call) {
			return true
		}
		switch p := parent(path, 1).(type) {
		case *ast.CallExpr:
			isReadOnly = in.onlyReadsArgument(p, call, 0)
		case *ast.AssignStmt:
			if v := in.variable(p.Lhs[0]); in.isLocal(v) && !in.isOutside(v, l) {
				isReadOnly = in.onlyReadsVariable(l.body, v, 0)
			}
		}
		return false
	})
	return isReadOnly
}

// isLargeValue reports whether the result of a call is a slice, a string or a pointer to a struct.
func (in *input) isLargeValue(call *ast.CallExpr) bool {
	t := in.pass.TypesInfo.TypeOf(call)
	return t != nil && (isSliceOrString(t) || isStructPointer(t))
}

// makesInputForMeasured reports whether a call makes a slice, a string or a struct for the measured
// function, which only reads it: newOrders(1000) for encode in BenchmarkEncode. The called function
// must belong to the package and have a loop.
func (in *input) makesInputForMeasured(l *loop, call *ast.CallExpr, fn *types.Func) bool {
	benchmarkName := l.owner.name
	if fn.Pkg() != in.pass.Pkg || fn.Signature().Recv() != nil || containsWord(benchmarkName, fn.Name()) || !in.isLargeValue(call) {
		return false
	}
	f := in.flowGraph().Declared(fn)
	if f.Body == nil {
		return false
	}
	if hasLoop, _ := in.readWork(f.Body, 0); !hasLoop {
		return false
	}
	if in.isNestedInMeasured(l, call, benchmarkName) {
		return true
	}
	for a := range nodesOf[*ast.AssignStmt](l.body) {
		if len(a.Rhs) != 1 || a.Rhs[0] != ast.Expr(call) || a.Tok != token.DEFINE {
			continue
		}
		uses, isRead := 0, false
		in.inspectUses(l.body, in.variable(a.Lhs[0]), func(id *ast.Ident, path []ast.Node) {
			if id != a.Lhs[0] {
				uses++
				isRead = in.isReadByMeasured(id, path, benchmarkName)
			}
		})
		return uses == 1 && isRead
	}
	return false
}

// isReadByMeasured reports whether id, a use of a variable, is the argument or receiver of the measured
// function, and that function only reads it. The name of the benchmark contains the function's name.
func (in *input) isReadByMeasured(id *ast.Ident, path []ast.Node, benchmarkName string) bool {
	sel, isReceiver := parent(path, 1).(*ast.SelectorExpr)
	call, _ := parent(path, 1).(*ast.CallExpr)
	if isReceiver {
		call, _ = parent(path, 2).(*ast.CallExpr)
	}
	if call == nil || isReceiver && call.Fun != ast.Expr(sel) {
		return false
	}
	fn := in.callee(call)
	if fn == nil || !containsWord(benchmarkName, fn.Name()) {
		return false
	}
	if isReceiver {
		recv, body := in.methodBody(fn)
		return body != nil && in.onlyReadsVariable(body, recv, 0)
	}
	return in.onlyReadsArgument(call, id, 0)
}

// isNestedInMeasured reports whether a call is within the arguments of the measured function, as in
// encode(newOrders(1000)), and that function only reads the result. The result must be of a basic type
// such as string, or be an argument itself.
func (in *input) isNestedInMeasured(l *loop, call *ast.CallExpr, benchmarkName string) bool {
	isRead := false
	inspectPath(l.body, func(n ast.Node, path []ast.Node) bool {
		if n != ast.Node(call) {
			return true
		}
		for i := len(path) - 2; i >= 0; i-- {
			outer, ok := path[i].(*ast.CallExpr)
			if !ok {
				return false
			}
			fn := in.callee(outer)
			if fn == nil || !containsWord(benchmarkName, fn.Name()) {
				continue
			}
			isConstant := isBasic(in.pass.TypesInfo.TypeOf(call)) // e.g. a string, which nothing can change
			isRead = isConstant || i == len(path)-2 && in.onlyReadsArgument(outer, call, 0)
			return false
		}
		return false
	})
	return isRead
}

// isCalledBeforeLoop reports whether any benchmark calls a function outside its loops.
func (in *input) isCalledBeforeLoop(fn *types.Func) bool {
	for _, b := range in.suite.benchmarks {
		for call := range nodesOf[*ast.CallExpr](b.body) {
			isInLoop := slices.ContainsFunc(b.loops, func(l *loop) bool { return isWithin(call, l.node) })
			if in.callee(call) == fn && !isInLoop && in.suite.findBenchmark(call) == b {
				return true
			}
		}
	}
	return false
}

// onlyReadsArgument reports whether all functions that a call may run belong to the package and only
// read the argument arg. depth is the number of calls through which the argument was followed.
func (in *input) onlyReadsArgument(call *ast.CallExpr, arg ast.Expr, depth int) bool {
	info := in.pass.TypesInfo
	if isBuiltin(info, call, "len") || isBuiltin(info, call, "cap") || isBasic(info.TypeOf(arg)) {
		return true
	}
	if isBuiltin(info, call, "append") || isBuiltin(info, call, "copy") {
		t, ok := info.TypeOf(arg).Underlying().(*types.Slice)
		return call.Args[0] != arg && ok && isBasic(t.Elem())
	}
	called := in.flowGraph().Called(call, nil)
	for _, f := range called {
		if f.Body == nil || depth == maxTimedDepth {
			return false
		}
		isBound := false
		for param, value := range in.flowGraph().Bind(call, f) {
			if value == arg {
				isBound = true
				if !in.onlyReadsVariable(f.Body, param, depth+1) {
					return false
				}
			}
		}
		if !isBound {
			return false
		}
	}
	return len(called) > 0
}

// onlyReadsVariable reports whether the statements in root only read v and the memory that v refers to:
// they do not set a part of v, return v, store v or pass v to a function that may do so.
func (in *input) onlyReadsVariable(root ast.Node, v *types.Var, depth int) bool {
	if v == nil || depth > maxTimedDepth {
		return false
	}
	readOnly := true
	in.inspectUses(root, v, func(id *ast.Ident, path []ast.Node) {
		readOnly = readOnly && in.isReadingUse(root, id, path, depth)
	})
	return readOnly
}

// isReadingUse reports whether id, a use of a variable in root, only reads the variable. path has the
// nodes from root to id.
func (in *input) isReadingUse(root ast.Node, id *ast.Ident, path []ast.Node, depth int) bool {
	info := in.pass.TypesInfo
	part, i := ast.Expr(id), len(path)-2 // part is the used part, e.g. v.items[0]; path[i] is its parent
	for i >= 0 && in.isPartOf(path[i], part) {
		part = path[i].(ast.Expr)
		i--
	}
	if i < 0 {
		return false
	}
	switch p := path[i].(type) {
	case *ast.SelectorExpr: // a method, which may change the variable
		return false
	case *ast.IndexExpr, *ast.SliceExpr, *ast.UnaryExpr, *ast.BinaryExpr: // an index or an operand
		return true
	case *ast.AssignStmt:
		j := slices.Index(p.Rhs, part)
		if j < 0 {
			return false
		}
		alias := in.variable(p.Lhs[min(j, len(p.Lhs)-1)])
		isReadAlias := p.Tok == token.DEFINE && in.isLocal(alias) && in.onlyReadsVariable(root, alias, depth+1)
		return isBasic(info.TypeOf(part)) || isReadAlias
	case *ast.RangeStmt:
		if p.X != part {
			return false
		}
		if p.Value == nil {
			return true
		}
		element := in.variable(p.Value)
		return element != nil && (element.Name() == "_" || in.onlyReadsVariable(root, element, depth+1))
	case *ast.CallExpr:
		return p.Fun != part && in.onlyReadsArgument(p, part, depth)
	case *ast.IncDecStmt:
		return false
	}
	return isBasic(info.TypeOf(part))
}

// isPartOf reports whether a node, the parent of the expression x, is a part of x or the address of x:
// x.field, x[i], x[i:j], (x) or &x.
func (in *input) isPartOf(n ast.Node, x ast.Expr) bool {
	switch n := n.(type) {
	case *ast.SelectorExpr:
		s := in.pass.TypesInfo.Selections[n]
		return s != nil && s.Kind() == types.FieldVal
	case *ast.IndexExpr:
		return n.X == x
	case *ast.SliceExpr:
		return n.X == x
	case *ast.ParenExpr:
		return true
	case *ast.UnaryExpr:
		return n.Op == token.AND
	}
	return false
}

// findFilledSlice returns the slice that a statement s of a loop's body fills, as data in
//
//	data := make([]int, 1000)
//	for i := range data { data[i] = i } // s
//	sum(data)
//
// It returns nil for other statements.
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
	if v == nil || in.isOutside(v, l) {
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

// hasSameArguments reports whether a call has the same arguments in each iteration: they contain no
// variable that the loop declares or sets, no random source, and no call other than conversions and
// len.
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
				if !in.isOutside(v, l) || in.maySet(l, v) || isRand(v.Type()) {
					isSame = false
				}
			}
			return isSame
		})
	}
	return isSame
}

// maySet reports whether a loop may set v: it assigns to v, increments v or takes the address of v.
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

// isPassedOn reports whether the loop passes the result of a call to another function, as an argument or
// as the receiver, directly or through a variable that the loop declares and does not change. Unknown
// functions and functions of the test files do not count.
func (in *input) isPassedOn(l *loop, call *ast.CallExpr) bool {
	counts := func(outer ast.Node) bool {
		c, ok := outer.(*ast.CallExpr)
		if !ok || c == call {
			return false
		}
		fn := in.callee(c)
		return fn != nil && !in.isTestHelper(fn)
	}
	found := false
	inspectPath(l.body, func(n ast.Node, path []ast.Node) bool {
		if n != ast.Node(call) {
			return true
		}
		switch p := parent(path, 1).(type) {
		case *ast.CallExpr:
			outer := ast.Node(p)
			if in.pass.TypesInfo.Types[p.Fun].IsType() { // a conversion
				outer = parent(path, 2)
			}
			found = counts(outer)
		case *ast.SelectorExpr: // the result is the receiver
			found = counts(parent(path, 2))
		case *ast.AssignStmt:
			v := in.variable(p.Lhs[0])
			if v == nil || in.isOutside(v, l) {
				return false
			}
			isChanged := false
			in.inspectUses(l.body, v, func(_ *ast.Ident, path []ast.Node) {
				switch user := parent(path, 1).(type) {
				case *ast.CallExpr:
					found = found || counts(user)
				case *ast.SelectorExpr:
					found = found || counts(parent(path, 2))
				case *ast.AssignStmt:
					isChanged = true
				}
			})
			found = found && !isChanged
		}
		return false
	})
	return found
}
