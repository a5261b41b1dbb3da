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

// inputInLoop finds inputs that each iteration makes again although they are always the same, and
// passes to the measured function: for b.Loop() { encode(newOrders(1000)) }.
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
			isInput := !isMeasured && (in.makesInput(fn) || in.makesReadOnly(l, call, fn)) || in.makesForOther(l, call, fn)
			if isInput && in.isInvariant(l, call) && in.isPassedOn(l, call) && !in.drawsFromOutside(fn) {
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

// drawsFromOutside reports whether a function takes random numbers from a source that neither it
// nor the functions of the package that it calls make, so that each call returns another value.
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
			case called == nil || called.Pkg() == nil:
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

// makesInput reports whether a function makes inputs: a slow one of the standard library,
// or a function of the test files with a name such as generateItems.
func (in *input) makesInput(fn *types.Func) bool {
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

// inputMakerName matches the names of functions that make values of any kind, generatorName those
// that make inputs.
var (
	inputMakerName = lazyregexp.New(`^(?i:make|build|new|create|gen|prepare|setup|example|test)[A-Z0-9_]`)
	generatorName  = lazyregexp.New(`^(?i:generate|gen|random|fake|mock|make(test|input|data|random|payload|big|large)|new(test|random|fake|sample)|create(test|sample|random|large|big)|build(test|sample|input|payload|large)|sample|fixture|load(fixture|testdata|sample))([A-Z0-9_]|[a-z]*$)`)
)

// makesReadOnly reports whether a call is of a function of the test files that makes a slice, a
// string or a struct in a loop, and the call that gets the value only reads it, so that one value
// would do for all iterations.
func (in *input) makesReadOnly(l *loop, call *ast.CallExpr, fn *types.Func) bool {
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
			isReadOnly = in.readsOnly(p, call, 0)
		case *ast.AssignStmt:
			if v := in.variable(p.Lhs[0]); in.isLocal(v) && !in.isOutside(v, l) {
				isReadOnly = in.isReadOnly(l.body, v, 0)
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

// makesForOther reports whether a call makes a slice, a string or a struct for the function after
// which the benchmark is named, which only reads it: newOrders(1000) for encode in BenchmarkEncode.
// The called function belongs to the package and has a loop.
func (in *input) makesForOther(l *loop, call *ast.CallExpr, fn *types.Func) bool {
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
	if in.isReadNested(l, call, benchmarkName) {
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
				isRead = in.isReadByNamed(id, path, benchmarkName)
			}
		})
		return uses == 1 && isRead
	}
	return false
}

// isReadByNamed reports whether a use of a variable is as the argument or receiver of a function
// that only reads it and whose name a benchmark contains.
func (in *input) isReadByNamed(id *ast.Ident, path []ast.Node, benchmarkName string) bool {
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
		return body != nil && in.isReadOnly(body, recv, 0)
	}
	return in.readsOnly(call, id, 0)
}

// isReadNested reports whether a call is within the arguments of a function whose name a benchmark
// contains, and which only reads the result: that is a string, or an argument itself.
func (in *input) isReadNested(l *loop, call *ast.CallExpr, benchmarkName string) bool {
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
			isString := isBasic(in.pass.TypesInfo.TypeOf(call))
			isRead = isString || i == len(path)-2 && in.readsOnly(outer, call, 0)
			return false
		}
		return false
	})
	return isRead
}

// isCalledBeforeLoop reports whether a benchmark calls a function outside of its loops.
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

// readsOnly reports whether the functions that a call may run belong to the package, and only read
// an argument of it. depth is the number of calls that the argument was followed through.
func (in *input) readsOnly(call *ast.CallExpr, arg ast.Expr, depth int) bool {
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
				if !in.isReadOnly(f.Body, param, depth+1) {
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

// isReadOnly reports whether the statements below root only read a variable and what it refers to:
// they do not set a part of it, return it, store it or pass it to a function that may do so.
func (in *input) isReadOnly(root ast.Node, v *types.Var, depth int) bool {
	if v == nil || depth > maxTimedDepth {
		return false
	}
	readOnly := true
	in.inspectUses(root, v, func(id *ast.Ident, path []ast.Node) {
		readOnly = readOnly && in.isReadingUse(root, id, path, depth)
	})
	return readOnly
}

// isReadingUse reports whether one use of a variable, with its path from below root, only reads it.
func (in *input) isReadingUse(root ast.Node, id *ast.Ident, path []ast.Node, depth int) bool {
	info := in.pass.TypesInfo
	part, i := ast.Expr(id), len(path)-2 // the part of the variable that is used, and its parent in path
	for i >= 0 && in.isPartOf(path[i], part) {
		part = path[i].(ast.Expr)
		i--
	}
	if i < 0 {
		return false
	}
	switch p := path[i].(type) {
	case *ast.SelectorExpr: // a method
		return false
	case *ast.IndexExpr, *ast.SliceExpr, *ast.UnaryExpr, *ast.BinaryExpr: // an index of another value, or an operand
		return true
	case *ast.AssignStmt:
		j := slices.Index(p.Rhs, part)
		if j < 0 {
			return false
		}
		alias := in.variable(p.Lhs[min(j, len(p.Lhs)-1)])
		return isBasic(info.TypeOf(part)) || p.Tok == token.DEFINE && in.isLocal(alias) && in.isReadOnly(root, alias, depth+1)
	case *ast.RangeStmt:
		if p.X != part {
			return false
		}
		if p.Value == nil {
			return true
		}
		element := in.variable(p.Value)
		return element != nil && (element.Name() == "_" || in.isReadOnly(root, element, depth+1))
	case *ast.CallExpr:
		return p.Fun != part && in.readsOnly(p, part, depth)
	case *ast.IncDecStmt:
		return false
	}
	return isBasic(info.TypeOf(part))
}

// isPartOf reports whether a node is a part of the expression x, or its address: x.field, x[i],
// x[i:j], (x) or &x.
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

// findFilledSlice returns the slice that a statement s of a loop's body fills: s is an inner
// loop whose only statement sets an element of a slice, the body makes the slice by make,
// and a call after s gets the slice. It returns nil for other statements.
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

// isInvariant reports whether a call has the same arguments in each iteration: they
// contain no variable that the loop declares or sets, no random source, and no call
// other than conversions and len.
func (in *input) isInvariant(l *loop, call *ast.CallExpr) bool {
	info := in.pass.TypesInfo
	isInvariant := true
	for _, a := range call.Args {
		ast.Inspect(a, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncLit:
				isInvariant = false
			case *ast.CallExpr:
				isConversion := info.Types[n.Fun].IsType()
				if !isConversion && !isBuiltin(info, n, "len") {
					isInvariant = false
				}
			case *ast.Ident:
				v, ok := info.Uses[n].(*types.Var)
				if !ok || v.IsField() {
					return true
				}
				if !in.isOutside(v, l) || in.isSet(l, v) || isRand(v.Type()) {
					isInvariant = false
				}
			}
			return isInvariant
		})
	}
	return isInvariant
}

// isSet reports whether a loop may set a variable: it assigns to it, counts it or takes its
// address.
func (in *input) isSet(l *loop, v *types.Var) bool {
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

// isPassedOn reports whether the result of a call is an argument or the receiver of a
// measured call in the loop, directly or by a variable that the loop declares and does
// not change. Calls of unknown functions and of test helpers are not measured.
func (in *input) isPassedOn(l *loop, call *ast.CallExpr) bool {
	isMeasured := func(outer ast.Node) bool {
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
			found = isMeasured(outer)
		case *ast.SelectorExpr: // the result is the receiver
			found = isMeasured(parent(path, 2))
		case *ast.AssignStmt:
			v := in.variable(p.Lhs[0])
			if v == nil || in.isOutside(v, l) {
				return false
			}
			isChanged := false
			in.inspectUses(l.body, v, func(_ *ast.Ident, path []ast.Node) {
				switch user := parent(path, 1).(type) {
				case *ast.CallExpr:
					found = found || isMeasured(user)
				case *ast.SelectorExpr:
					found = found || isMeasured(parent(path, 2))
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
