package gobench

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
)

// sharedState finds sub-benchmarks that work on a variable to which another sub-benchmark, or the
// one of the previous case, has added entries:
//
//	b.Run("put", func(b *testing.B) { for i := range b.N { store.Put(i, value) } })
//	b.Run("get", func(b *testing.B) { for i := range b.N { store.Get(i) } })
//
// This file knows methods by their names only; shared_entries.go and shared_setup.go read what the
// methods of the package do.
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
			var subs []*benchmark // literals that outer passes to b.Run
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
			for i, writer := range calls {
				later := calls[i+1:]
				in.reportEntries(outer, writer, later)
				in.reportEvicted(outer, writer, later)
				in.reportMemoized(outer, writer, later)
				in.reportProperty(outer, writer, later)
				in.reportSetUp(outer, writer)
			}
		}
	}}
}

// access holds the uses of a variable by a benchmark; a field is nil without such a use.
type access struct {
	writes ast.Node // first write in a loop over the iterations, such as store.Put(i, value)
	reads  ast.Node // first read, such as store.Get(i)
	fills  ast.Node // a use outside of these loops that may fill the variable, or an unknown use
}

// usage is the way in which one identifier uses a variable.
type usage int

const (
	unknownUse usage = iota // as an argument, or by a method with another name
	writeUse                // store.Put(key, value), m[key] = value
	readUse                 // store.Get(key), m[key]
)

// reportShared reports a variable of the benchmark outer if one of its sub-benchmarks writes to the
// variable in its loop, a later one reads the variable, and outer itself does not fill it.
func (in *input) reportShared(outer *benchmark, subs []*benchmark) {
	declared := map[*types.Var]bool{} // variables that outer declares outside of literals
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

// reportKeyed reports a variable that the benchmark outer declares before a loop over cases, if the
// sub-benchmark of each case adds entries to the variable under the number of the iteration.
func (in *input) reportKeyed(outer, sub *benchmark) {
	var cases ast.Node // innermost loop around the sub-benchmark
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

// growsWithCounter reports whether an expression contains the counter of a loop, and does not limit it by
// %, & or as an index: i and 2*i, but not i%100 or keys[i].
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

// accessOf returns the uses of a variable by a benchmark, without the uses in the sub-benchmarks subs. If
// there are subs, all other uses count as if they were in a loop.
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

// usageOf tells by the name of the called method or by an index how the last node of a path, the
// identifier id, uses its variable.
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
