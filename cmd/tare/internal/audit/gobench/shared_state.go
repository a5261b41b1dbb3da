package gobench

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
)

// This file has the rule shared-state. It finds a sub-benchmark that reads what another one wrote.
// How much is there depends on the b.N of the other:
//
//	func BenchmarkStore(b *testing.B) {
//		store := newStore()
//		b.Run("put", func(b *testing.B) { for i := range b.N { store.Put(i, value) } })
//		b.Run("get", func(b *testing.B) { for i := range b.N { store.Get(i) } })
//	}
//
// This file judges methods by their names only: Put writes, and Get reads. The files shared_*.go
// read their code. A case is one entry of a table over which a loop calls b.Run.

// sharedState returns the rule shared-state.
func sharedState() rule {
	return rule{Rule: audit.Rule{
		ID: "shared-state", Severity: tare.Warn,
		Title:   "A sub-benchmark reads what another one wrote.",
		Why:     "How much is there depends on the b.N of the other, which differs from run to run. Run alone, by -bench or by a tool that measures one benchmark at a time, it finds nothing there.",
		Do:      "fill the state in each sub-benchmark, with a fixed number of entries",
		Command: compareRevisions,
		Seen:    []string{"tare: study users (the store of all benchmarks)"},
	}, find: func(in *input) {
		for _, outer := range in.suite.benchmarks {
			var subs []*benchmark
			for _, b := range in.suite.benchmarks {
				if b.outer == outer {
					subs = append(subs, b)
				}
			}
			if len(subs) > 1 {
				in.reportShared(outer, subs)
			}
			for _, sub := range subs {
				in.reportKeyed(outer, sub)
			}
			calls := in.findSubBenchmarks(outer)
			in.reportTwins(outer)
			for i, writer := range calls {
				later := calls[i+1:]
				in.reportEntries(outer, writer, later)
				in.reportEvicted(outer, writer, later)
				in.reportMemoized(outer, writer, later)
				in.reportProperty(outer, writer, later)
				in.reportSetUp(outer, writer)
				in.reportFilledBetween(outer, writer)
			}
		}
	}}
}

// access has the uses of a variable by a benchmark, nil if there is none.
type access struct {
	writes ast.Node // first write in a loop, such as store.Put(i, value)
	reads  ast.Node // first read, such as store.Get(i)
	fills  ast.Node // a write outside of loops, or an unknown use
}

// usage says how one identifier uses a variable.
type usage int

const (
	unknownUse usage = iota
	writeUse         // store.Put(key, value), m[key] = value
	readUse          // store.Get(key), m[key]
)

// reportShared reports variables of the benchmark outer that one sub-benchmark writes and a later
// one reads. It omits variables that outer fills itself.
func (in *input) reportShared(outer *benchmark, subs []*benchmark) {
	declared := map[*types.Var]bool{} // by outer itself
	ast.Inspect(outer.body, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			v, isVariable := in.pass.TypesInfo.Defs[id].(*types.Var)
			if isVariable && v != outer.b && in.suite.findBenchmark(id) == outer {
				declared[v] = true
			}
		}
		_, isLiteral := n.(*ast.FuncLit)
		return !isLiteral
	})
	for v := range declared {
		if in.accessOf(outer, v, subs).writes != nil {
			continue // filled before the sub-benchmarks
		}
		var writer ast.Node
		for _, b := range subs {
			a := in.accessOf(b, v, nil)
			onlyWrites := a.writes != nil && a.reads == nil
			onlyReads := a.reads != nil && a.writes == nil && a.fills == nil
			switch {
			case onlyWrites:
				writer = a.writes
			case onlyReads && writer != nil:
				in.report(a.reads, "%s is read in this line, but its content was written by another sub-benchmark, in line %d", v.Name(), in.lineOf(writer))
				writer = nil
			}
		}
	}
}

// reportKeyed reports a variable to which the sub-benchmark of each case adds entries. It is
// declared before the loop over the cases, so the next case finds the entries. The key must contain
// the number of the iteration, or else each iteration writes the same entry.
func (in *input) reportKeyed(outer, sub *benchmark) {
	var cases ast.Node // the loop over cases
	inspectPath(outer.body, func(n ast.Node, path []ast.Node) bool {
		if n == sub.node {
			for _, p := range path {
				if isLoop(p) {
					cases = p
				}
			}
		}
		return cases == nil
	})
	if cases == nil {
		return
	}
	for _, l := range sub.loops {
		in.reportCarriedCounter(l, outer.body.Pos(), cases.Pos())
		counter := in.counter(l)
		inspectPath(l.body, func(n ast.Node, path []ast.Node) bool {
			id, ok := n.(*ast.Ident)
			if !ok {
				return true
			}
			v, _ := in.pass.TypesInfo.Uses[id].(*types.Var)
			if counter == nil || !in.isLocal(v) {
				return true
			}
			isBeforeCases := outer.body.Pos() <= v.Pos() && v.Pos() <= cases.Pos()
			if !isBeforeCases {
				return true
			}
			// The key is the first argument: store.Set(i, value).
			call, isCall := parent(path, 2).(*ast.CallExpr)
			hasKey := isCall && len(call.Args) > 0
			if hasKey && usageOf(id, path) == writeUse && in.growsWithCounter(call.Args[0], counter) {
				in.report(id, "%s gets entries from the sub-benchmark of each case, and the next case begins with them", v.Name())
			}
			return true
		})
	}
}

// growsWithCounter reports whether an expression grows with the counter of a loop. It does in 2*i,
// but not in i%100 or keys[i].
func (in *input) growsWithCounter(e ast.Expr, counter *types.Var) bool {
	contains, limited := false, false
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			contains = contains || in.pass.TypesInfo.Uses[n] == counter
		case *ast.BinaryExpr:
			limited = limited || n.Op == token.REM || n.Op == token.AND
		case *ast.IndexExpr:
			limited = true
		}
		return true
	})
	return contains && !limited
}

// accessOf returns the uses of a variable by a benchmark, without those in subs. If there are subs,
// other uses count as if in a loop.
func (in *input) accessOf(b *benchmark, v *types.Var, subs []*benchmark) access {
	var a access
	in.inspectUses(b.body, v, func(id *ast.Ident, path []ast.Node) {
		for _, sub := range subs {
			if isNodeIn(id, sub.node) {
				return
			}
		}
		isInLoop := len(subs) > 0
		for _, l := range b.loops {
			isInLoop = isInLoop || isNodeIn(id, l.body)
		}
		switch use := usageOf(id, path); {
		case use == unknownUse || use == writeUse && !isInLoop:
			a.fills = id
		case use == writeUse && a.writes == nil:
			a.writes = id
		case use == readUse && a.reads == nil:
			a.reads = id
		}
	})
	return a
}

// usageOf returns how an identifier, the last node of a path, uses its variable.
func usageOf(id *ast.Ident, path []ast.Node) usage {
	switch p := parent(path, 1).(type) {
	case *ast.SelectorExpr:
		_, isCall := parent(path, 2).(*ast.CallExpr)
		switch name := p.Sel.Name; {
		case !isCall:
			return unknownUse
		case hasAnyPrefix(name, "Set", "Put", "Add", "Insert", "Store", "Push", "Create", "Register", "Enqueue", "Save"):
			return writeUse
		case hasAnyPrefix(name, "Get", "Load", "Find", "Lookup", "Contains", "Has", "List", "Pop", "Search", "Fetch"):
			return readUse
		}
	case *ast.IndexExpr:
		a, isAssign := parent(path, 2).(*ast.AssignStmt)
		switch isTarget := isAssign && a.Tok == token.ASSIGN && a.Lhs[0] == ast.Expr(p); {
		case isTarget:
			return writeUse
		case p.X == ast.Expr(id):
			return readUse
		}
	}
	return unknownUse
}
