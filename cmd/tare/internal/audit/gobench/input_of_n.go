package gobench

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
)

// inputOfN finds inputs in loops over b.N whose size is b.N, or the number of the iteration.
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
				if r, ok := n.(*ast.RangeStmt); ok && in.isSizedByN(l, in.variable(r.X)) {
					in.report(r, "each iteration goes through %s, which has b.N elements", formatExpr(r.X))
				}
				call, ok := n.(*ast.CallExpr)
				if !ok {
					return true
				}
				if sized := in.sizedArgument(l, call); sized != nil {
					in.report(call, "each iteration works on %s, which has b.N elements", sized.Name())
				}
				if in.growsWithCounter(l, call) {
					in.report(call, "%s has an input as large as the iteration's number", formatExpr(call))
				}
				return true
			})
		})
		for _, b := range in.suite.benchmarks {
			if main := in.mainLoop(b); main != nil && main.kind != byLoop && main.timed {
				in.reportFilled(b, main)
			}
		}
	}}
}

// reportFilled reports the containers that a loop works on and that were filled with b.N entries
// before: by a function that gets b.N, or by another loop. Slices of which each iteration takes an
// element of its own are no containers.
func (in *input) reportFilled(b *benchmark, main *loop) {
	severity := in.rule.Severity
	in.rule.Severity = tare.Warn // an operation may take the same with any number of entries
	defer func() { in.rule.Severity = severity }()
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
			if v == nil || seen[v] || !in.isOutside(v, main) || !isContainer(v.Type()) {
				continue
			}
			seen[v] = true
			if in.isSizedByN(main, v) || in.isFilledByN(b, main, v) {
				in.report(e, "%s has b.N entries before the loop, so what an iteration takes depends on -benchtime", v.Name())
			}
		}
		return true
	})
}

// isContainer reports whether a type may hold any number of entries and is neither a slice or string
// nor made for other things, as are channels, functions and what package sync and testing have.
func isContainer(t types.Type) bool {
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem()
	}
	switch t.Underlying().(type) {
	case *types.Map:
		return true
	case *types.Struct, *types.Interface:
		isOther := isNamed(t, "sync", "WaitGroup", "Mutex", "RWMutex", "Pool", "Once") || isNamed(t, "testing") || isRand(t) || isNamed(t, "bytes") || isNamed(t, "strings") || isNamed(t, "time")
		return !isOther && !isError(t)
	case *types.Slice:
		named, ok := t.(*types.Named) // a heap
		return ok && named.NumMethods() > 0
	}
	return false
}

// isSizedByN reports whether the only value of a variable is made by a function of the package
// that repeats something as often as an argument says, and gets b.N for that, or is a container that
// is made of such a slice.
func (in *input) isSizedByN(l *loop, v *types.Var) bool {
	if v == nil || l.kind == byLoop {
		return false
	}
	if _, isSlice := v.Type().Underlying().(*types.Slice); isSlice && l.owner.sized[v] {
		return true
	}
	values := in.flowGraph().Values(v)
	if len(values) != 1 {
		return false
	}
	call, ok := ast.Unparen(values[0]).(*ast.CallExpr)
	return ok && (in.repeatsN(l.owner, call) || isContainer(v.Type()) && in.holdsSized(l, call))
}

// holdsSized reports whether a call gets a slice with b.N elements.
func (in *input) holdsSized(l *loop, call *ast.CallExpr) bool {
	return slices.ContainsFunc(call.Args, func(a ast.Expr) bool {
		arg := in.variable(a)
		if arg == nil {
			return false
		}
		_, isSlice := arg.Type().(*types.Slice)
		return isSlice && in.isSizedByN(l, arg)
	})
}

// repeatsN reports whether a call gets b.N, and runs a loop of the package as often.
func (in *input) repeatsN(b *benchmark, call *ast.CallExpr) bool {
	return in.runsAsOften(call, func(arg ast.Expr) bool { return b.dependsOnN(in.pass.TypesInfo, arg) })
}

// runsAsOften reports whether a call runs a loop of the package as often as an argument says that
// isCount accepts.
func (in *input) runsAsOften(call *ast.CallExpr, isCount func(arg ast.Expr) bool) bool {
	for _, f := range in.flowGraph().Called(call, nil) {
		for param, arg := range in.flowGraph().Bind(call, f) {
			if param == nil || !isCount(arg) || f.Body == nil {
				continue
			}
			found := false
			ast.Inspect(f.Body, func(n ast.Node) bool {
				if s, ok := n.(ast.Stmt); ok {
					limit := loopBound(s)
					if f, ok := s.(*ast.ForStmt); ok && f.Init == nil && f.Post == nil { // for t.Len() < n
						if cond, ok := f.Cond.(*ast.BinaryExpr); ok && (cond.Op == token.LSS || cond.Op == token.LEQ) {
							limit = cond.Y
						}
					}
					if limit != nil {
						ast.Inspect(limit, func(n ast.Node) bool {
							id, ok := n.(*ast.Ident)
							found = found || ok && in.pass.TypesInfo.Uses[id] == param
							return !found
						})
					}
				}
				if c, ok := n.(*ast.CallExpr); ok && isMake(in.pass.TypesInfo, c) && len(c.Args) == 2 {
					found = found || in.variable(c.Args[1]) == param
				}
				return !found
			})
			if found {
				return true
			}
		}
	}
	return false
}

// isFilledByN reports whether a loop over b.N before the main loop adds entries to a variable.
func (in *input) isFilledByN(b *benchmark, main *loop, v *types.Var) bool {
	if in.hasCapacity(v) {
		return false
	}
	for _, s := range statementsOf(main.block()) { // fill(v, b.N)
		if e, ok := s.(*ast.ExprStmt); ok && s.Pos() < main.node.Pos() {
			call, isCall := e.X.(*ast.CallExpr)
			if isCall && in.repeatsN(b, call) && slices.ContainsFunc(call.Args, func(a ast.Expr) bool { return in.variable(a) == v }) {
				return true
			}
		}
	}
	for _, l := range b.loops {
		if l == main || l.timed || l.kind != overN || l.node.Pos() > main.node.Pos() || l.block() != main.block() {
			continue
		}
		found := false
		in.inspectUses(l.body, v, func(id *ast.Ident, path []ast.Node) {
			write, _ := readUsage(id, path)
			if call, ok := parent(path, 2).(*ast.CallExpr); ok && !write {
				write = isFunc(in.callee(call), "container/heap", "Push") || in.isGrowing(in.callee(call), false)
			}
			found = found || write
		})
		if found {
			return true
		}
	}
	return false
}

// sizedArgument returns the first argument of a call that is a slice made with b.N
// elements, or nil without such an argument.
func (in *input) sizedArgument(l *loop, call *ast.CallExpr) *types.Var {
	if in.callee(call) == nil {
		return nil
	}
	for _, a := range call.Args {
		v := in.variable(a)
		if !in.isSizedByN(l, v) {
			continue
		}
		if _, ok := v.Type().Underlying().(*types.Slice); ok {
			return v
		}
	}
	return nil
}

// growsWithCounter reports whether a call of make or Repeat makes something as large as
// the counter of a loop.
func (in *input) growsWithCounter(l *loop, call *ast.CallExpr) bool {
	counter := in.counter(l)
	if counter == nil {
		return false
	}
	for _, a := range call.Args { // f(data[:i])
		if s, ok := a.(*ast.SliceExpr); ok && s.Low == nil && s.High != nil && in.growsWith(s.High, counter) {
			return true
		}
	}
	if len(call.Args) < 2 {
		return false
	}
	for _, a := range call.Args { // fill(v, i)
		if in.variable(stripConversion(in.pass.TypesInfo, a)) == counter && in.runsAsOften(call, func(arg ast.Expr) bool { return arg == a }) {
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

// hasCapacity reports whether a variable is made by a call with a constant of more than one, which
// may limit its entries, as that of a cache does.
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
