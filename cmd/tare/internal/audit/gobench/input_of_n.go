package gobench

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
)

// This file has the rule input-of-n. It finds a benchmark whose input grows with b.N, the number of
// iterations. An iteration then takes longer the more of them there are:
//
//	func BenchmarkSum(b *testing.B) {
//		data := make([]int, b.N)
//		for range b.N {
//			sum(data)
//		}
//	}
//
// The rule finds variables with b.N elements by the code that makes or fills them. It reports the
// loop if it passes such a variable to a call or ranges over it. It also reports an input that
// grows with the counter of the loop, such as data[:i].

// inputOfN returns the rule input-of-n.
func inputOfN() rule {
	return rule{Rule: audit.Rule{
		ID: "input-of-n", Severity: tare.Void,
		Title:   "The size of the input grows with b.N.",
		Why:     "go test chooses b.N so that the benchmark takes a second, and expects each iteration to take the same. Where an iteration works on b.N elements, or on as many as there were iterations, ns/op is a mean over sizes that the author did not choose, and depends on -benchtime.",
		Do:      "take inputs of fixed sizes, one sub-benchmark each",
		Command: compareRevisions,
	}, find: func(in *input) {
		in.eachTimedLoop(func(l *loop) {
			if l.kind != overN {
				return
			}
			in.inspectTimed(l, func(n ast.Node) bool {
				if r, ok := n.(*ast.RangeStmt); ok && in.hasNElements(l, in.variable(r.X)) {
					in.report(r, "each iteration goes through %s, which has b.N elements", formatExpr(r.X))
				}
				call, ok := n.(*ast.CallExpr)
				if !ok {
					return true
				}
				if sized := in.findNElementArgument(l, call); sized != nil {
					in.report(call, "each iteration works on %s, which has b.N elements", sized.Name())
				}
				if in.hasGrowingInput(l, call) {
					in.report(call, "%s has an input as large as the iteration's number", formatExpr(call))
				}
				return true
			})
		})
		for _, b := range in.suite.benchmarks {
			if main := b.mainLoop(); main != nil && main.kind != byLoop && main.timed {
				in.reportFilled(b, main)
			}
		}
	}}
}

// reportFilled reports maps and other containers that have b.N entries when the main loop begins.
// It omits plain slices, because an iteration often takes one element only.
func (in *input) reportFilled(b *benchmark, main *loop) {
	seen := map[*types.Var]bool{}
	in.inspectTimed(main, func(n ast.Node) bool {
		var operands []ast.Expr
		switch n := n.(type) {
		case *ast.CallExpr:
			if sel, ok := n.Fun.(*ast.SelectorExpr); ok {
				operands = append(operands, sel.X)
			}
			operands = append(operands, n.Args...)
		case *ast.IndexExpr:
			operands = []ast.Expr{n.X}
		}
		for _, e := range operands {
			v := in.variable(e)
			if v == nil || seen[v] || !in.isDeclaredOutside(v, main) || !isContainer(v.Type()) {
				continue
			}
			seen[v] = true
			if in.hasNElements(main, v) || in.isFilledNTimes(b, main, v) {
				// This is only a warning: the number of entries may not matter.
				in.reportAs(tare.Warn, e, "%s has b.N entries before the loop, so what an iteration takes depends on -benchtime", v.Name())
			}
		}
		return true
	})
}

// isContainer reports whether a type may store any number of entries. A slice needs methods for
// this.
func isContainer(t types.Type) bool {
	t = pointee(t)
	switch t.Underlying().(type) {
	case *types.Map:
		return true
	case *types.Struct, *types.Interface:
		isOther := isNamed(t, "sync", "WaitGroup", "Mutex", "RWMutex", "Pool", "Once") || isRand(t) ||
			isNamed(t, "testing") || isNamed(t, "bytes") || isNamed(t, "strings") || isNamed(t, "time")
		return !isOther && !isError(t)
	case *types.Slice:
		named, ok := t.(*types.Named) // such as a heap
		return ok && named.NumMethods() > 0
	}
	return false
}

// hasNElements reports whether a variable has b.N elements, by the way it is made:
//
//	data := make([]int, b.N)
//	keys := makeKeys(b.N)
//	tree := newTree(keys)
func (in *input) hasNElements(l *loop, v *types.Var) bool {
	if v == nil || l.kind == byLoop {
		return false
	}
	if isSlice(v.Type()) && l.owner.sizedByN[v] {
		return true
	}
	values := in.flowGraph().Values(v)
	if len(values) != 1 {
		return false
	}
	call, ok := ast.Unparen(values[0]).(*ast.CallExpr)
	if !ok {
		return false
	}
	isFilled := in.loopsNTimes(l.owner, call)                        // makeKeys(b.N)
	isCopy := isContainer(v.Type()) && in.isMadeOfNElements(l, call) // newTree(keys)
	return isFilled || isCopy
}

// isMadeOfNElements reports whether an argument of a call is a slice with b.N elements, such as
// keys in newTree(keys).
func (in *input) isMadeOfNElements(l *loop, call *ast.CallExpr) bool {
	return slices.ContainsFunc(call.Args, func(a ast.Expr) bool {
		arg := in.variable(a)
		if arg == nil {
			return false
		}
		_, isUnnamedSlice := arg.Type().(*types.Slice)
		return isUnnamedSlice && in.hasNElements(l, arg)
	})
}

// loopsNTimes reports whether a call such as fill(m, b.N) runs a loop b.N times.
func (in *input) loopsNTimes(b *benchmark, call *ast.CallExpr) bool {
	return in.loopsUpToArgument(call, func(arg ast.Expr) bool { return b.dependsOnN(in.pass.TypesInfo, arg) })
}

// loopsUpToArgument reports whether a call runs a loop as often as one of its arguments tells it to.
// The function isCount selects the arguments to consider. Only functions of this package are known.
func (in *input) loopsUpToArgument(call *ast.CallExpr, isCount func(arg ast.Expr) bool) bool {
	for _, f := range in.flowGraph().Called(call, nil) {
		for param, arg := range in.flowGraph().Bind(call, f) {
			if f.Body != nil && isCount(arg) && in.loopsUpToParam(f.Body, param) {
				return true
			}
		}
	}
	return false
}

// loopsUpToParam is loopsUpToArgument for the body of the called function and one of its parameters. A
// slice or map of this size counts, too.
func (in *input) loopsUpToParam(body ast.Node, param *types.Var) bool {
	for n := range ast.Preorder(body) {
		if call, ok := n.(*ast.CallExpr); ok && isMake(in.pass.TypesInfo, call) && len(call.Args) == 2 && in.variable(call.Args[1]) == param {
			return true
		}
		s, ok := n.(ast.Stmt)
		if !ok {
			continue
		}
		limit := loopBound(s)
		if f, ok := s.(*ast.ForStmt); ok && f.Init == nil && f.Post == nil { // for t.Len() < n
			if cond, ok := f.Cond.(*ast.BinaryExpr); ok && (cond.Op == token.LSS || cond.Op == token.LEQ) {
				limit = cond.Y
			}
		}
		if limit == nil {
			continue
		}
		for id := range nodesOf[*ast.Ident](limit) {
			if in.pass.TypesInfo.Uses[id] == param {
				return true
			}
		}
	}
	return false
}

// isFilledNTimes reports whether the benchmark adds b.N entries to v before the main loop. It does so
// in another loop, or by a call such as fill(v, b.N).
func (in *input) isFilledNTimes(b *benchmark, main *loop, v *types.Var) bool {
	if in.hasCapacity(v) {
		return false
	}
	for _, s := range statementsOf(main.block()) { // fill(v, b.N)
		if e, ok := s.(*ast.ExprStmt); ok && s.Pos() < main.node.Pos() {
			call, isCall := e.X.(*ast.CallExpr)
			if isCall && in.loopsNTimes(b, call) && slices.ContainsFunc(call.Args, func(a ast.Expr) bool { return in.variable(a) == v }) {
				return true
			}
		}
	}
	for _, l := range b.loops {
		isBefore := l.node.Pos() < main.node.Pos() && l.block() == main.block()
		if !isBefore || l.timed || l.kind != overN {
			continue
		}
		found := false
		in.inspectUses(l.body, v, func(id *ast.Ident, path []ast.Node) {
			isWrite := usageOf(id, path) == writeUse
			if call, ok := parent(path, 2).(*ast.CallExpr); ok && !isWrite {
				isWrite = isFunc(in.callee(call), "container/heap", "Push") || in.isGrowing(in.callee(call), false)
			}
			found = found || isWrite
		})
		if found {
			return true
		}
	}
	return false
}

// findNElementArgument returns the first argument of a call that is a slice with b.N elements, or
// nil.
func (in *input) findNElementArgument(l *loop, call *ast.CallExpr) *types.Var {
	if in.callee(call) == nil {
		return nil
	}
	for _, a := range call.Args {
		if v := in.variable(a); in.hasNElements(l, v) && isSlice(v.Type()) {
			return v
		}
	}
	return nil
}

// hasGrowingInput reports whether the work of a call grows with i, the number of the iteration.
// Examples are f(data[:i]), fill(v, i) and strings.Repeat(s, i).
func (in *input) hasGrowingInput(l *loop, call *ast.CallExpr) bool {
	counter := in.counter(l)
	if counter == nil {
		return false
	}
	for _, a := range call.Args { // f(data[:i])
		if s, ok := a.(*ast.SliceExpr); ok && s.Low == nil && s.High != nil && in.growsWithCounter(s.High, counter) {
			return true
		}
	}
	if len(call.Args) < 2 {
		return false
	}
	for _, a := range call.Args { // fill(v, i)
		if in.variable(stripConversion(in.pass.TypesInfo, a)) == counter && in.loopsUpToArgument(call, func(arg ast.Expr) bool { return arg == a }) {
			return true
		}
	}
	fn := in.callee(call)
	hasSize := isMake(in.pass.TypesInfo, call) || isFunc(fn, "strings", "Repeat") || isFunc(fn, "bytes", "Repeat")
	if !hasSize {
		return false
	}
	return in.variable(stripConversion(in.pass.TypesInfo, call.Args[1])) == counter
}

// hasCapacity reports whether a number may limit the entries of v, as in newCache(1000).
func (in *input) hasCapacity(v *types.Var) bool {
	for _, e := range in.flowGraph().Values(v) {
		call, ok := ast.Unparen(e).(*ast.CallExpr)
		if !ok {
			continue
		}
		for _, a := range call.Args {
			if size, ok := in.flowGraph().MaxConstant(a, nil); ok && size > 1 {
				return true
			}
		}
	}
	return false
}
