package gobench

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
)

// sharedState finds sub-benchmarks that read what another one has filled.
func sharedState() rule {
	return rule{audit.Rule{
		ID: "shared-state", Severity: tare.Warn,
		Title:   "A sub-benchmark reads what another one wrote.",
		Why:     "How much is there depends on the b.N of the other, which differs from run to run. Run alone, by -bench or by a tool that measures one benchmark at a time, it finds nothing there.",
		Do:      "fill the state in each sub-benchmark, with a fixed number of entries",
		Command: compareRevisions,
		Seen:    []string{"tare: study users (the store of all benchmarks)"},
	}, func(in *input) {
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
				in.reportCarried(outer, sub)
			}
		}
	}}
}

// access says how a sub-benchmark uses a variable.
type access struct {
	writes, reads, fills ast.Node // the first of each; nil if there is none
}

// reportShared reports variables of a benchmark that one of its sub-benchmarks
// writes to in its loop and another reads in its own, if nothing else fills them.
func (in *input) reportShared(outer *benchmark, subs []*benchmark) {
	shared := map[*types.Var]bool{}
	ast.Inspect(outer.body, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			if v, ok := in.pass.TypesInfo.Defs[id].(*types.Var); ok && in.suite.findBenchmark(id) == outer && v != outer.b {
				shared[v] = true
			}
		}
		_, lit := n.(*ast.FuncLit)
		return !lit
	})
	for v := range shared {
		if in.accessOf(outer, v, subs).writes != nil {
			continue // filled before
		}
		var writer ast.Node
		for _, b := range subs {
			a := in.accessOf(b, v, nil)
			switch {
			case a.writes != nil && a.reads == nil:
				writer = a.writes
			case a.reads != nil && a.writes == nil && a.fills == nil && writer != nil:
				in.report(a.reads, "%s is read here, and what it holds was written by another sub-benchmark, in line %d", v.Name(), in.pass.Fset.Position(writer.Pos()).Line)
				writer = nil
			}
		}
	}
}

// reportCarried reports a variable from outside of a loop over cases to which the
// sub-benchmark of each case adds entries.
func (in *input) reportCarried(outer, sub *benchmark) {
	var cases ast.Node
	inspectPath(outer.body, func(n ast.Node, path []ast.Node) bool {
		if n == sub.node {
			for _, p := range path {
				switch p.(type) {
				case *ast.ForStmt, *ast.RangeStmt:
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
			if v == nil || counter == nil || !in.isLocal(v) || v.Pos() < outer.body.Pos() || v.Pos() > cases.Pos() {
				return true
			}
			call, ok := parent(path, 2).(*ast.CallExpr)
			if write, _ := usage(id, path); write && ok && len(call.Args) > 0 && in.isMade(call.Args[0], counter) {
				in.report(id, "%s gets entries from the sub-benchmark of each case, and the next case begins with them", v.Name())
			}
			return true
		})
	}
}

// isMade reports whether an expression contains a loop's counter, and does not
// bound it by % or &.
func (in *input) isMade(e ast.Expr, counter *types.Var) bool {
	contains, bounded := false, false
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			contains = contains || in.pass.TypesInfo.Uses[n] == counter
		case *ast.BinaryExpr:
			bounded = bounded || n.Op == token.REM || n.Op == token.AND
		case *ast.IndexExpr:
			bounded = true
		}
		return true
	})
	return contains && !bounded
}

// accessOf returns how a benchmark uses a variable, apart from sub-benchmarks.
func (in *input) accessOf(b *benchmark, v *types.Var, except []*benchmark) access {
	var a access
	in.uses(b.body, v, func(id *ast.Ident, path []ast.Node) {
		for _, sub := range except {
			if sub.node.Pos() <= id.Pos() && id.Pos() < sub.node.End() {
				return
			}
		}
		looped := len(except) > 0
		for _, l := range b.loops {
			looped = looped || l.body.Pos() <= id.Pos() && id.Pos() < l.body.End()
		}
		write, read := usage(id, path)
		switch {
		case !looped && !read:
			a.fills = id
		case write && a.writes == nil:
			a.writes = id
		case read && a.reads == nil:
			a.reads = id
		case !write && !read:
			a.fills = id
		}
	})
	return a
}

// usage reports by names whether a use of a variable changes what it holds, or
// reads it.
func usage(id *ast.Ident, path []ast.Node) (write, read bool) {
	switch p := parent(path, 1).(type) {
	case *ast.SelectorExpr:
		if _, ok := parent(path, 2).(*ast.CallExpr); !ok {
			return false, false
		}
		for _, verb := range []string{"Set", "Put", "Add", "Insert", "Store", "Push", "Create", "Register", "Enqueue", "Save"} {
			write = write || strings.HasPrefix(p.Sel.Name, verb)
		}
		for _, verb := range []string{"Get", "Load", "Find", "Lookup", "Contains", "Has", "List", "Pop", "Search", "Fetch"} {
			read = read || strings.HasPrefix(p.Sel.Name, verb)
		}
		return write, read && !write
	case *ast.IndexExpr:
		if a, ok := parent(path, 2).(*ast.AssignStmt); ok && a.Tok == token.ASSIGN && a.Lhs[0] == ast.Expr(p) {
			return true, false
		}
		return false, p.X == ast.Expr(id)
	}
	return false, false
}
