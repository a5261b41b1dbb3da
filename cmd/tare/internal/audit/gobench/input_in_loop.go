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

// inputInLoop finds inputs that each iteration makes again although they are always the
// same, and passes to the measured function.
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
			if isInput && in.isInvariant(l, call) && in.isPassedOn(l, call) && !in.drawsOn(fn) {
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

// drawsOn reports whether a function of the test files takes random numbers from a source that it does not
// make, so that each call returns another value.
func (in *input) drawsOn(fn *types.Func) bool {
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
	return in.isTestHelper(fn) && generators.MatchString(fn.Name()) && fn.Signature().Results().Len() > 0
}

// makers matches the names of functions that make values of any kind.
var makers = lazyregexp.New(`^(?i:make|build|new|create|gen|prepare|setup|example|test)[A-Z0-9_]`)

// makesReadOnly reports whether a call is of a function of the test files that makes a slice, a string or a
// struct, and the call that gets the value only reads it, so that one would do for all iterations.
func (in *input) makesReadOnly(l *loop, call *ast.CallExpr, fn *types.Func) bool {
	if !in.isTestHelper(fn) || !makers.MatchString(fn.Name()) && !in.isCalledBeforeLoop(fn) {
		return false
	}
	if t := in.pass.TypesInfo.TypeOf(call); t == nil || !isSliceOrString(t) && !isStructPointer(t) {
		return false
	}
	// The function computes something: one that returns a constant or a variable costs nothing.
	f := in.flowGraph().Declared(fn)
	if f.Body == nil || !slices.ContainsFunc(f.Body.List, func(s ast.Stmt) bool { return loopBound(s) != nil }) {
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

// makesForOther reports whether a call is of a function of the package that repeats something and makes a
// slice or a struct, in a benchmark that has the name of another function, which only reads it.
func (in *input) makesForOther(l *loop, call *ast.CallExpr, fn *types.Func) bool {
	outermost := l.owner.decl.Name.Name
	t := in.pass.TypesInfo.TypeOf(call)
	if fn.Pkg() != in.pass.Pkg || fn.Signature().Recv() != nil || containsWord(outermost, fn.Name()) || containsWord(l.owner.name, fn.Name()) || t == nil || !isSliceOrString(t) && !isStructPointer(t) {
		return false
	}
	f := in.flowGraph().Declared(fn)
	if f.Body == nil {
		return false
	}
	if hasLoop, _ := in.readWork(f.Body, 0); !hasLoop {
		return false
	}
	if in.isReadNested(l, call, outermost) {
		return true
	}
	reads := false
	for a := range nodesOf[*ast.AssignStmt](l.body) {
		if len(a.Rhs) != 1 || a.Rhs[0] != ast.Expr(call) || a.Tok != token.DEFINE {
			continue
		}
		v := in.variable(a.Lhs[0])
		uses := 0
		in.inspectUses(l.body, v, func(id *ast.Ident, path []ast.Node) {
			if id == a.Lhs[0] {
				return
			}
			uses++
			sel, isMethod := parent(path, 1).(*ast.SelectorExpr)
			consumer, _ := parent(path, 1).(*ast.CallExpr)
			if isMethod {
				consumer, _ = parent(path, 2).(*ast.CallExpr)
			}
			if consumer == nil || isMethod && consumer.Fun != ast.Expr(sel) {
				return
			}
			by := in.callee(consumer)
			if by == nil || !containsWord(outermost, by.Name()) {
				return
			}
			if !isMethod {
				reads = in.readsOnly(consumer, id, 0)
			} else if g := in.flowGraph().Declared(by); g.Body != nil {
				reads = in.isReadOnly(g.Body, by.Signature().Recv(), 0)
			}
		})
		reads = reads && uses == 1
	}
	return reads
}

// isReadNested reports whether a call is within the arguments of a function that is named, and only reads what
// the call makes: it makes a string, or is an argument itself.
func (in *input) isReadNested(l *loop, call *ast.CallExpr, named string) bool {
	reads := false
	inspectPath(l.body, func(n ast.Node, path []ast.Node) bool {
		if n != ast.Node(call) {
			return true
		}
		for i := len(path) - 2; i >= 0; i-- {
			outer, ok := path[i].(*ast.CallExpr)
			if !ok {
				return false
			}
			by := in.callee(outer)
			if by == nil || !containsWord(named, by.Name()) {
				continue
			}
			isString := isPlainOrString(in.pass.TypesInfo.TypeOf(call))
			reads = isString || i == len(path)-2 && in.readsOnly(outer, call, 0)
			return false
		}
		return false
	})
	return reads
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

// isSliceOrString reports whether a type is a slice or a string.
func isSliceOrString(t types.Type) bool {
	if _, ok := t.Underlying().(*types.Slice); ok {
		return true
	}
	basic, ok := t.Underlying().(*types.Basic)
	return ok && basic.Info()&types.IsString != 0
}

// isStructPointer reports whether a type is a pointer to a struct.
func isStructPointer(t types.Type) bool {
	p, ok := t.Underlying().(*types.Pointer)
	if ok {
		_, ok = p.Elem().Underlying().(*types.Struct)
	}
	return ok
}

// readsOnly reports whether the functions that a call may run belong to the package, and only read
// an argument of it.
func (in *input) readsOnly(call *ast.CallExpr, arg ast.Expr, depth int) bool {
	info := in.pass.TypesInfo
	if isBuiltin(info, call, "len") || isBuiltin(info, call, "cap") || isPlainOrString(info.TypeOf(arg)) {
		return true
	}
	if isBuiltin(info, call, "append") || isBuiltin(info, call, "copy") {
		t, ok := info.TypeOf(arg).Underlying().(*types.Slice)
		return call.Args[0] != arg && ok && isPlainOrString(t.Elem())
	}
	called := in.flowGraph().Called(call, nil)
	for _, f := range called {
		if f.Body == nil || depth == maxTimedDepth {
			return false
		}
		bound := false
		for param, value := range in.flowGraph().Bind(call, f) {
			if value == arg {
				bound = true
				if !in.isReadOnly(f.Body, param, depth+1) {
					return false
				}
			}
		}
		if !bound {
			return false
		}
	}
	return len(called) > 0
}

// isPlainOrString reports whether values of a type share no memory that can be changed.
func isPlainOrString(t types.Type) bool {
	if t == nil {
		return false
	}
	_, ok := t.Underlying().(*types.Basic)
	return ok
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

// isReadingUse does the work of isReadOnly for one use.
func (in *input) isReadingUse(root ast.Node, id *ast.Ident, path []ast.Node, depth int) bool {
	info := in.pass.TypesInfo
	part := ast.Expr(id) // id, or the part of it that is selected
	for i := len(path) - 2; i >= 0; i-- {
		switch p := path[i].(type) {
		case *ast.SelectorExpr:
			if s := info.Selections[p]; s == nil || s.Kind() != types.FieldVal {
				return false
			}
			part = p
			continue
		case *ast.IndexExpr:
			if p.X != part {
				return true // the index of another value
			}
			part = p
			continue
		case *ast.SliceExpr:
			if p.X != part {
				return true
			}
			part = p
			continue
		case *ast.ParenExpr:
			part = p
			continue
		case *ast.UnaryExpr:
			if p.Op != token.AND {
				return true
			}
			part = p
			continue
		case *ast.AssignStmt:
			for j, rhs := range p.Rhs {
				if rhs != part {
					continue
				}
				if isPlainOrString(info.TypeOf(part)) {
					return true
				}
				alias := in.variable(p.Lhs[min(j, len(p.Lhs)-1)])
				return p.Tok == token.DEFINE && in.isLocal(alias) && in.isReadOnly(root, alias, depth+1)
			}
			return false
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
		case *ast.BinaryExpr:
			return true
		default:
			return isPlainOrString(info.TypeOf(part)) && !isIncDec(p)
		}
	}
	return false
}

// isIncDec reports whether a node is x++ or x--.
func isIncDec(n ast.Node) bool {
	_, ok := n.(*ast.IncDecStmt)
	return ok
}

// findFilledSlice returns the slice that a statement s of a loop's body fills: s is an inner
// loop whose only statement sets an element of a slice, the body makes the slice by make,
// and a call after s gets the slice. It returns nil for other statements.
func (in *input) findFilledSlice(l *loop, s ast.Stmt) *types.Var {
	var body *ast.BlockStmt
	switch s := s.(type) {
	case *ast.ForStmt:
		body = s.Body
	case *ast.RangeStmt:
		body = s.Body
	default:
		return nil
	}
	if len(body.List) != 1 {
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

// generators matches the names of functions that make inputs.
var generators = lazyregexp.New(`^(?i:generate|gen|random|fake|mock|make(test|input|data|random|payload|big|large)|new(test|random|fake|sample)|create(test|sample|random|large|big)|build(test|sample|input|payload|large)|sample|fixture|load(fixture|testdata|sample))([A-Z0-9_]|[a-z]*$)`)

// isTestHelper reports whether a function, not a method, is declared in a test file of the package.
func (in *input) isTestHelper(fn *types.Func) bool {
	return fn.Pkg() == in.pass.Pkg && fn.Signature().Recv() == nil && strings.HasSuffix(in.pass.Fset.Position(fn.Pos()).Filename, "_test.go")
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

// isSet reports whether a loop may set a variable: it assigns to it, counts it or takes
// its address.
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
				switch q := parent(path, 1).(type) {
				case *ast.CallExpr:
					found = found || isMeasured(q)
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
