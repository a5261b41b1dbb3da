package gobench

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"github.com/tarebench/tare/cmd/tare/internal/audit/gobench/flow"
)

// This file is a part of the rule shared-state, which finds sub-benchmarks that find what another
// one left. Here a sub-benchmark adds an entry to a container in each iteration. A later one then
// works on as many entries as the first had iterations:
//
//	b.Run("append", func(b *testing.B) { for range b.N { list.Append(value) } })
//	b.Run("search", func(b *testing.B) { for range b.N { list.Search(value) } })
//
// The rule reads the code of methods such as Append. A case is one entry of a table over which a
// loop calls b.Run. A frame is the body that is searched: the loop, or a function of the test files
// that the loop calls.

// reportEntries reports a variable that the sub-benchmark writer makes larger in each iteration,
// and that a sub-benchmark in later uses. If writer runs for several cases, its next run counts as
// a later one.
func (in *input) reportEntries(outer *benchmark, writer subBenchmark, later []subBenchmark) {
	for p, addition := range in.findGrown(outer.body, writer) {
		if in.isCarriedOver(outer, writer, p) {
			in.report(addition, "%s gets an entry in each iteration, and the sub-benchmark of the next case begins with them", p)
		} else if use := in.findLaterUse(outer, writer, later, p); use != nil {
			in.report(use, "%s is used in this line, but another sub-benchmark adds an entry in each iteration, in line %d", p, in.lineOf(addition))
		}
	}
}

// findGrown returns the variables from outside a sub-benchmark to which it adds an entry in each
// iteration. The value is the statement that does so.
func (in *input) findGrown(outer ast.Node, s subBenchmark) map[varPath]ast.Node {
	grown := map[varPath]ast.Node{}
	statements := map[ast.Expr]bool{} // calls that are statements
	for _, l := range s.loops {
		in.inspectTimedDeep(l, func(n ast.Node, f *frame) bool {
			add := func(e ast.Expr) {
				p, ok := in.pathOf(e, f.binding)
				if !ok || isPosIn(p.root.Pos(), s.function.Node) || f.containsPos(p.root.Pos()) {
					return // p is local
				}
				if isPosIn(p.root.Pos(), outer) || !in.isLocal(p.root) {
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

// isGrowing reports whether each call of a method adds an entry to its receiver, and removes none.
// A method may return a function that removes the entry, which is not called if the call is a
// statement.
func (in *input) isGrowing(fn *types.Func, isStatement bool) bool {
	return in.isGrowingWithin(fn, isStatement, 0)
}

// isGrowingWithin is isGrowing for a method that others call. The depth counts those.
func (in *input) isGrowingWithin(fn *types.Func, isStatement bool, depth int) bool {
	if isMethodOf(fn, "container/list", "List", "PushBack", "PushFront") {
		return true
	}
	recv, body := in.methodBody(fn)
	if body == nil {
		return false
	}
	counted := in.findCounted(body, recv)
	grows, shrinks := depth < maxTimedDepth && in.callsGrowing(body, recv, depth), false
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

// callsGrowing reports whether a body always calls another method of the receiver that adds an
// entry, as Load does with Insert for each of its points. The depth is that of isGrowingWithin.
func (in *input) callsGrowing(body ast.Node, recv *types.Var, depth int) bool {
	found := false
	inspectPath(body, func(n ast.Node, path []ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || found || isConditional(path) {
			return !found
		}
		sel, ok := call.Fun.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		_, isOfReceiver := in.receiverPath(sel.X, recv)
		_, isStatement := parent(path, 1).(*ast.ExprStmt)
		found = isOfReceiver && in.isGrowingWithin(in.callee(call), isStatement, depth+1)
		return !found
	})
	return found
}

// findCounted returns the fields of a receiver that a body increments: ".next" for r.next++.
func (in *input) findCounted(body ast.Node, recv *types.Var) map[string]bool {
	counted := map[string]bool{}
	for n := range nodesOf[*ast.IncDecStmt](body) {
		if fields, ok := in.receiverPath(n.X, recv); ok && fields != "" && n.Tok == token.INC {
			counted[fields] = true
		}
	}
	return counted
}

// isCountedKey reports whether e is an entry m[key] of a map, and key is a field in counted.
func (in *input) isCountedKey(e ast.Expr, counted map[string]bool) bool {
	index, ok := e.(*ast.IndexExpr)
	if !ok || !isMap(in.pass.TypesInfo.TypeOf(index.X)) {
		return false
	}
	_, fields := in.flowGraph().Path(index.Index, nil)
	return counted[fields]
}

// isElementOf reports whether v points to a part of the receiver, as after e := &r.entries[i].
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

// reportEvicted reports a cache of fixed size that two sub-benchmarks use with different keys. The
// first may have removed the entries that the second needs.
func (in *input) reportEvicted(outer *benchmark, writer subBenchmark, later []subBenchmark) {
	for _, put := range in.findKeyedCalls(writer) {
		if !in.isEvicting(put.method) || isPosIn(put.receiver.root.Pos(), writer.function.Node) {
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

// findOtherKeys returns the slice of keys that a sub-benchmark uses on the receiver of put. It
// returns nil if there is none, or if it is the slice of put.
func (in *input) findOtherKeys(s subBenchmark, put keyedCall) *types.Var {
	var keys *types.Var
	for _, c := range in.findKeyedCalls(s) {
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

// keyedCall is a call whose first argument is an element of a slice, as in cache.Put(keys[i],
// value).
type keyedCall struct {
	call     *ast.CallExpr
	method   *types.Func // Put
	receiver varPath     // cache
	keys     *types.Var  // keys
}

// findKeyedCalls returns the calls in the loops of a sub-benchmark whose first argument is an
// element of a slice.
func (in *input) findKeyedCalls(s subBenchmark) []keyedCall {
	var out []keyedCall
	for _, l := range s.loops {
		in.inspectTimedDeep(l, func(n ast.Node, f *frame) bool {
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

// isEvicting reports whether a method adds an entry to a map and removes others, as fixed-size
// caches do.
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
