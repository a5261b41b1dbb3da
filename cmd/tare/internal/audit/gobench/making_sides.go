package gobench

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"github.com/tarebench/tare/internal/lazyregexp"
)

// This file is a part of the rule unlike-work, which finds comparisons whose sides do different
// work. Here one side only makes a value, and another works on it:
//
//	b.Run("std", func(b *testing.B) { for b.Loop() { json.NewEncoder(w).Encode(v) } })
//	b.Run("fast", func(b *testing.B) { for b.Loop() { fast.NewEncoder(w) } })
//
// A maker is a function such as NewEncoder, and a worker one such as Encode. A finisher is a method
// such as Bytes, which makes a result of what was collected. The rule knows all of them by their
// names. A test helper is a function of the test files that the benchmark calls.

// reportMakers reports loops that only make values, if another loop works on values. A call is work
// if its name is that of a worker, or if isWork returns true.
func (in *input) reportMakers(loops []*loop, isWork func(*ast.CallExpr) bool) {
	hasWork := slices.ContainsFunc(loops, func(l *loop) bool {
		for call := range nodesOf[*ast.CallExpr](l.body) {
			if workerName.MatchString(calledName(call)) || isWork(call) {
				return true
			}
		}
		return false
	})
	if !hasWork {
		return
	}
	for _, l := range loops {
		isDeclared := declaredMakerName.MatchString(l.owner.name) || declaredMakerName.MatchString(in.subName(l.owner))
		switch {
		case isDeclared:
			// The side is meant to only make values.
		case in.onlyMakes(l):
			in.report(l.node, "this side of the comparison only makes values, but another side also works on them")
		case in.onlyReserves(l):
			in.report(l.node, "this side of the comparison only makes room for values, but another side also works on them")
		}
	}
}

var (
	// makerName matches functions that only make a value, such as NewEncoder.
	makerName = lazyregexp.New(`^(New[A-Z]?|new[A-Z]?|make$|new$|Make[A-Z]|make[A-Z])`)
	// workerName matches functions that work on a value.
	workerName = lazyregexp.New(`^(Marshal|Unmarshal|Encode|Decode|Write|Read|Parse|Serialize|Deserialize|` +
		`Compress|Copy|Hash|Sum|Format|Validate)`)
	// workBenchmarkName matches benchmarks in which all sides work on values.
	workBenchmarkName = lazyregexp.New(`^Benchmark(Marshal|Unmarshal|Encod|Decod|Serializ|Deserializ|Compress|Pars|Format)`)
	// declaredMakerName matches benchmarks that are meant to only make values.
	declaredMakerName = lazyregexp.New(`(?i)new|alloc|make|create|init|empty|noop|baseline|overhead|construct`)
)

// onlyMakes reports whether a loop only makes values, by literals or makers.
func (in *input) onlyMakes(l *loop) bool {
	values, onlyMakes := 0, true
	in.inspectTimed(l, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			if in.pass.TypesInfo.Types[n.Fun].IsType() {
				return true
			}
			values++
			isMaker := makerName.MatchString(calledName(n)) && !in.isCallOfValue(n)
			onlyMakes = onlyMakes && isMaker
			return !isMaker // the arguments of a maker are no work
		case *ast.CompositeLit:
			values++
		case *ast.BinaryExpr:
			onlyMakes = onlyMakes && formatExpr(n.Y) == "nil" // err != nil is not work
		case *ast.RangeStmt, *ast.SendStmt, *ast.IndexExpr:
			onlyMakes = false
		}
		return true
	})
	return values > 0 && onlyMakes
}

// isCallOfValue reports whether a call is of a function in a variable.
func (in *input) isCallOfValue(call *ast.CallExpr) bool {
	id, ok := ast.Unparen(call.Fun).(*ast.Ident)
	if !ok {
		return false
	}
	_, isVar := in.pass.TypesInfo.Uses[id].(*types.Var)
	return isVar
}

var (
	// reserverName matches methods for reserving memory, such as Grow. The name of a getter is
	// Bytes or Len, for example.
	reserverName = lazyregexp.New(`^(Reserve|Grow|Ensure|Prealloc|Resize)`)
	getterName   = lazyregexp.New(`^(Bytes|String|Len|Cap|Size|Reset|Result|Buffer)$`)
)

// onlyReserves reports whether a loop only reserves memory, as buf.Grow(n) does.
func (in *input) onlyReserves(l *loop) bool {
	reserves, hasOther := false, false
	inspectTimedNodes(in, l, func(call *ast.CallExpr) {
		if t := in.pass.TypesInfo.Types[call.Fun]; t.IsType() || t.IsBuiltin() {
			return
		}
		name := calledName(call)
		reserves = reserves || reserverName.MatchString(name)
		hasOther = hasOther || !reserverName.MatchString(name) && !getterName.MatchString(name)
	})
	return reserves && !hasOther
}

// repeatsWork reports whether a call runs a function of the package with a loop. Test helpers and
// makers do not count.
func (in *input) repeatsWork(call *ast.CallExpr) bool {
	fn := in.callee(call)
	if fn == nil || in.isTestHelper(fn) || makerName.MatchString(fn.Name()) {
		return false
	}
	f := in.flowGraph().Declared(fn)
	if f.Body == nil {
		return false
	}
	hasLoop, _ := in.readWork(f.Body, 0)
	return hasLoop
}

// reportUnfinished reports loops that only make a reader. It also reports loops that collect values
// without calling a finisher.
func (in *input) reportUnfinished(loops []*loop) {
	for _, l := range loops {
		if len(l.body.List) == 1 {
			if a, ok := l.body.List[0].(*ast.AssignStmt); ok && len(a.Rhs) == 1 && isNamed(in.pass.TypesInfo.TypeOf(a.Rhs[0]), "io", "Reader", "ReadCloser") {
				in.report(l.node, "this side of the comparison makes a reader, and nothing reads from it")
			}
		}
		for a := range nodesOf[*ast.AssignStmt](l.body) {
			if a.Tok != token.DEFINE || len(a.Lhs) != 1 {
				continue
			}
			v := in.variable(a.Lhs[0])
			if finish := in.findFinisher(v); finish != nil && in.onlyCollects(l, v, a.Lhs[0]) {
				in.report(l.node, "this side of the comparison never calls %s.%s, which makes the result of what it collects", v.Name(), finish.Name())
			}
		}
	}
}

// onlyCollects reports whether a loop calls methods of v, but no finisher. The identifier declared
// is that of v in its declaration.
func (in *input) onlyCollects(l *loop, v *types.Var, declared ast.Expr) bool {
	collects, mayFinish := false, false
	in.inspectUses(l.body, v, func(id *ast.Ident, path []ast.Node) {
		if id == declared {
			return
		}
		sel, isSelector := parent(path, 1).(*ast.SelectorExpr)
		_, isStored := parent(path, 1).(*ast.AssignStmt)
		switch {
		case isSelector && finisherName.MatchString(sel.Sel.Name):
			mayFinish = true
		case isSelector:
			collects = true
		case !isStored:
			mayFinish = true // the variable is passed on
		}
	})
	return collects && !mayFinish
}

// finisherName matches methods that make the result of collected values. An example is enc.Bytes()
// after calls of enc.AddString.
var finisherName = lazyregexp.New(`^(Bytes|Encode|Marshal|Build|Finish|Render|Sum|Close|Flush)$`)

// findFinisher returns a finisher among the methods of v, or nil. It must have a loop.
func (in *input) findFinisher(v *types.Var) *types.Func {
	if v == nil {
		return nil
	}
	methods := types.NewMethodSet(v.Type())
	for i := range methods.Len() {
		fn, ok := methods.At(i).Obj().(*types.Func)
		if !ok || fn.Pkg() != in.pass.Pkg || !finisherName.MatchString(fn.Name()) {
			continue
		}
		if f := in.flowGraph().Declared(fn); f.Body != nil {
			if hasLoop, _ := in.readWork(f.Body, 0); hasLoop {
				return fn
			}
		}
	}
	return nil
}
