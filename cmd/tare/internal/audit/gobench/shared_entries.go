package gobench

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"github.com/tarebench/tare/cmd/tare/internal/audit/gobench/flow"
)

// reportEntries reports a variable to which a sub-benchmark adds an entry in each iteration, if a
// later one or that of the next case uses it: its size depends on b.N, also if it was filled
// before.
func (in *input) reportEntries(outer *benchmark, writer subBenchmark, later []subBenchmark) {
	for p, addition := range in.findGrown(outer.body, writer) {
		if in.isCarriedOver(outer, writer, p) {
			in.report(addition, "%s gets an entry in each iteration, and the sub-benchmark of the next case begins with them", p)
		} else if use := in.findLaterUse(outer, writer, later, p); use != nil {
			in.report(use, "%s is used in this line, but another sub-benchmark adds an entry in each iteration, in line %d", p, in.lineOf(addition))
		}
	}
}

// findGrown returns the variables and fields of the outer benchmark, or of the package, to which a
// sub-benchmark adds an entry in each iteration, and that it does not reset. The value adds it.
func (in *input) findGrown(outer ast.Node, s subBenchmark) map[varPath]ast.Node {
	grown := map[varPath]ast.Node{}
	statements := map[ast.Expr]bool{} // calls that are statements
	for _, l := range s.loops {
		in.inspectTimedCalls(l, func(n ast.Node, f *frame) bool {
			add := func(e ast.Expr) {
				p, ok := in.pathOf(e, f.binding)
				if !ok || isWithinPos(p.root.Pos(), s.function.Node) || f.isIn(p.root.Pos()) {
					return
				}
				if isWithinPos(p.root.Pos(), outer) || !in.isLocal(p.root) {
					grown[p] = n
				}
			}
			switch n := n.(type) {
			case *ast.AssignStmt:
				if f.callDepth() == 0 && len(n.Lhs) == 1 && len(n.Rhs) == 1 && in.isAppendTo(n.Lhs[0], n.Rhs[0]) {
					add(n.Lhs[0])
				}
			case *ast.ExprStmt:
				statements[n.X] = true
			case *ast.CallExpr:
				for _, called := range in.flowGraph().Called(n, f.binding) {
					if called.Receiver != nil && in.isGrowing(called.Object, statements[n]) {
						add(called.Receiver)
					}
				}
			}
			return true
		})
	}
	for p := range grown {
		if in.mayReset(s, p, nil) {
			delete(grown, p)
		}
	}
	return grown
}

// isGrowing reports whether a method of the package adds an entry to its receiver whenever it is
// called, and removes none. It adds one if it appends to or inserts into a slice, puts a value into
// a map under a number that it counts up, or pushes to a heap or list. A method that returns a
// function to remove the entry only counts if it is called as a statement.
func (in *input) isGrowing(fn *types.Func, isStatement bool) bool {
	if isMethodOf(fn, "container/list", "List", "PushBack", "PushFront") {
		return true
	}
	recv, body := in.methodBody(fn)
	if body == nil {
		return false
	}
	counted := in.findCounted(body, recv)
	grows, shrinks := false, false
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return !isStatement
		case *ast.AssignStmt:
			if len(n.Lhs) != len(n.Rhs) {
				break
			}
			for i, lhs := range n.Lhs {
				root, _ := in.flowGraph().Path(lhs, flow.Binding{recv: nil})
				if root != recv && !in.isElementOf(root, recv) {
					continue
				}
				grows = grows || in.isCountedKey(lhs, counted)
				switch rhs := ast.Unparen(n.Rhs[i]).(type) {
				case *ast.CallExpr:
					grows = grows || in.isAppend(rhs) || isFunc(in.callee(rhs), "slices", "Insert")
				case *ast.SliceExpr:
					shrinks = true
				}
			}
		case *ast.CallExpr:
			grows = grows || isFunc(in.callee(n), "container/heap", "Push") || isMethodOf(in.callee(n), "container/list", "List", "PushBack", "PushFront")
			shrinks = shrinks || isBuiltin(in.pass.TypesInfo, n, "delete") || isBuiltin(in.pass.TypesInfo, n, "clear") || shrinkingName.MatchString(calledName(n))
		}
		return true
	})
	return grows && !shrinks
}

// findCounted returns the fields of a receiver that a body counts up by ++, as ".next" of r.next++.
func (in *input) findCounted(body ast.Node, recv *types.Var) map[string]bool {
	counted := map[string]bool{}
	for n := range nodesOf[*ast.IncDecStmt](body) {
		if fields, ok := in.receiverPath(n.X, recv); ok && fields != "" && n.Tok == token.INC {
			counted[fields] = true
		}
	}
	return counted
}

// isCountedKey reports whether an expression is an entry of a map whose key is one of the counted
// fields, or a variable with the value of one.
func (in *input) isCountedKey(e ast.Expr, counted map[string]bool) bool {
	index, ok := e.(*ast.IndexExpr)
	if !ok || !isMap(in.pass.TypesInfo.TypeOf(index.X)) {
		return false
	}
	_, fields := in.flowGraph().Path(index.Index, nil)
	return counted[fields]
}

// isElementOf reports whether the only value of a variable is the address of a part of a receiver.
func (in *input) isElementOf(v, recv *types.Var) bool {
	if v == nil {
		return false
	}
	values := in.flowGraph().Values(v)
	if len(values) != 1 {
		return false
	}
	_, ok := in.receiverPath(values[0], recv)
	return ok
}

// reportEvicted reports a cache into which a sub-benchmark puts entries that take the place of
// others, if a later one uses it with other keys: how many of them it finds depends on the first.
func (in *input) reportEvicted(outer *benchmark, writer subBenchmark, later []subBenchmark) {
	for _, put := range in.keyedCalls(writer) {
		if !in.isEvicting(put.method) || isWithinPos(put.receiver.root.Pos(), writer.function.Node) {
			continue
		}
		for _, reader := range later {
			use, keys := in.findUseAfter(outer, writer, reader, put.receiver), in.findOtherKeys(reader, put)
			if use != nil && keys != nil {
				in.report(use, "%s is used with keys of %s, but another sub-benchmark puts those of %s in their place, in line %d", put.receiver, keys.Name(), put.keys.Name(), in.lineOf(put.call))
				break
			}
		}
	}
}

// findOtherKeys returns a variable from which a sub-benchmark takes keys for the receiver of put,
// nil if there is none or the sub-benchmark also takes those of put.
func (in *input) findOtherKeys(s subBenchmark, put keyedCall) *types.Var {
	var keys *types.Var
	for _, c := range in.keyedCalls(s) {
		if c.receiver != put.receiver {
			continue
		}
		if c.keys == put.keys {
			return nil
		}
		keys = c.keys
	}
	return keys
}

// keyedCall is a call of a method whose first argument is an element of a slice or array:
// cache.Put(keys[i], value).
type keyedCall struct {
	call     *ast.CallExpr
	method   *types.Func
	receiver varPath
	keys     *types.Var
}

// keyedCalls returns the keyed calls in the loops of a sub-benchmark.
func (in *input) keyedCalls(s subBenchmark) []keyedCall {
	var out []keyedCall
	for _, l := range s.loops {
		in.inspectTimedCalls(l, func(n ast.Node, f *frame) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) == 0 {
				return true
			}
			index, ok := ast.Unparen(call.Args[0]).(*ast.IndexExpr)
			if !ok {
				return true
			}
			keys, _ := in.flowGraph().Path(index.X, f.binding)
			for _, called := range in.flowGraph().Called(call, f.binding) {
				if called.Receiver == nil || called.Object == nil || keys == nil {
					continue
				}
				if p, ok := in.pathOf(called.Receiver, f.binding); ok {
					out = append(out, keyedCall{call: call, method: called.Object, receiver: p, keys: keys})
				}
			}
			return true
		})
	}
	return out
}

// isEvicting reports whether a method of the package adds an entry to a map or list, and removes
// others: a cache of fixed size.
func (in *input) isEvicting(fn *types.Func) bool {
	f := in.flowGraph().Declared(fn)
	if f.Body == nil {
		return false
	}
	adds, removes := false, false
	ast.Inspect(f.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, lhs := range n.Lhs {
				index, ok := lhs.(*ast.IndexExpr)
				adds = adds || ok && isMap(in.pass.TypesInfo.TypeOf(index.X))
			}
		case *ast.CallExpr:
			removes = removes || isBuiltin(in.pass.TypesInfo, n, "delete") || isMethodOf(in.callee(n), "container/list", "List", "Remove")
			removes = removes || strings.HasPrefix(strings.ToLower(calledName(n)), "evict")
		}
		return true
	})
	return adds && removes
}

// reportMemoized reports a value with a memoizing method that a sub-benchmark calls, if the
// sub-benchmark of the next case, or a later one, uses the value: it looks up known results.
func (in *input) reportMemoized(outer *benchmark, writer subBenchmark, later []subBenchmark) {
	for p, call := range in.findMemoized(outer, writer) {
		if in.isCarriedOver(outer, writer, p) {
			in.report(call, "%s remembers what it was asked for, and the sub-benchmark of the next case finds it there", p)
		} else if use := in.findLaterUse(outer, writer, later, p); use != nil {
			in.report(use, "%s remembers what another sub-benchmark asked it for, in line %d", p, in.lineOf(call))
		}
	}
}

// findMemoized returns the variables and fields of the outer benchmark on which a sub-benchmark
// calls a memoizing method, each with the first such call, without those that it resets.
func (in *input) findMemoized(outer *benchmark, s subBenchmark) map[varPath]*ast.CallExpr {
	memoized := map[varPath]*ast.CallExpr{}
	for _, l := range s.loops {
		in.inspectTimedCalls(l, func(n ast.Node, f *frame) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			for _, called := range in.flowGraph().Called(call, f.binding) {
				if called.Receiver == nil || !in.isMemoizing(called.Object) {
					continue
				}
				p, ok := in.pathOf(called.Receiver, f.binding)
				if ok && memoized[p] == nil && s.isShared(outer, p) && !in.mayReset(s, p, nil) {
					memoized[p] = call
				}
			}
			return true
		})
	}
	return memoized
}

// isMemoizing reports whether a method returns what it finds in a map of its receiver, and
// otherwise stores its result there.
func (in *input) isMemoizing(fn *types.Func) bool {
	recv, body := in.methodBody(fn)
	if body == nil {
		return false
	}
	isEntry := func(e ast.Expr) bool { // of a map of the receiver
		index, ok := ast.Unparen(e).(*ast.IndexExpr)
		if !ok || !isMap(in.pass.TypesInfo.TypeOf(index.X)) {
			return false
		}
		_, ok = in.receiverPath(index.X, recv)
		return ok
	}
	finds, stores := false, false
	for n := range ast.Preorder(body) {
		switch n := n.(type) {
		case *ast.IfStmt: // if v, ok := r.known[key]; ok { return v }
			init, ok := n.Init.(*ast.AssignStmt)
			isLookup := ok && len(init.Lhs) == 2 && len(init.Rhs) == 1 && isEntry(init.Rhs[0])
			if isLookup && in.variable(n.Cond) == in.variable(init.Lhs[1]) {
				for range nodesOf[*ast.ReturnStmt](n.Body) {
					finds = true
				}
			}
		case *ast.AssignStmt:
			stores = stores || len(n.Lhs) == 1 && isEntry(n.Lhs[0])
		}
	}
	return finds && stores
}
