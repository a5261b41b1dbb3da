package gobench

import (
	"go/ast"
	"go/types"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
)

// This file has the rule unlike-work. It finds a comparison in which one side does less work than
// another. The comparison is then of different things:
//
//	func BenchmarkEncode(b *testing.B) {
//		b.Run("std", func(b *testing.B) { for b.Loop() { json.NewEncoder(w).Encode(v) } })
//		b.Run("fast", func(b *testing.B) { for b.Loop() { fast.NewEncoder(w) } }) // encodes nothing
//	}
//
// The sides are sub-benchmarks, the functions in a table over which a benchmark loops, or the
// benchmarks of a file. This file finds the sides. The files *_sides.go and kept_result.go judge
// their work by the names of the functions that they call.

// unlikeWork returns the rule unlike-work.
func unlikeWork() rule {
	return rule{Rule: audit.Rule{
		ID: "unlike-work", Severity: tare.Warn,
		Title:   "The sides of a comparison do different work.",
		Why:     "The ratio of a side that encodes to one that only allocates describes neither.",
		Do:      "let each side begin with the same input and end with an equal output, and check that once",
		Command: compareCodecs,
		Seen:    []string{"tare: studies json-encode, ffi"},
	}, find: func(in *input) {
		byOuter, byFile := in.groupMainLoops()
		for outer, loops := range byOuter {
			if len(loops) > 1 {
				in.compareSubBenchmarks(outer, loops)
			}
		}
		for _, loops := range byFile {
			if len(loops) > 1 {
				isWork := func(*ast.CallExpr) bool { return false } // only the name counts
				in.reportMakers(loops, isWork)
			}
		}
		in.eachTimedLoop(func(l *loop) {
			inspectTimedNodes(in, l, func(call *ast.CallExpr) {
				in.reportPartial(in.tableSides(call))
				in.reportEmptyOutput(in.calledSides(call))
				in.reportCounted(in.countedSides(call))
				in.reportUnstarted(in.calledSides(call))
				in.reportLazy(in.findOwnSides(l, call))
				in.reportKept(l, call)
			})
		})
	}}
}

// groupMainLoops returns the loops to compare: those of sub-benchmarks by the outer benchmark, and
// others by file.
func (in *input) groupMainLoops() (byOuter map[*benchmark][]*loop, byFile map[string][]*loop) {
	byOuter, byFile = map[*benchmark][]*loop{}, map[string][]*loop{}
	for _, b := range in.suite.benchmarks {
		main := b.mainLoop()
		switch {
		case main == nil || !main.timed: // nothing to compare
		case b.outer != nil:
			byOuter[b.outer] = append(byOuter[b.outer], main)
		case strings.HasPrefix(b.name, "Benchmark"):
			file := in.pass.Fset.Position(b.decl.Pos()).Filename
			byFile[file] = append(byFile[file], main)
		}
	}
	return byOuter, byFile
}

// compareSubBenchmarks compares the sub-benchmarks of outer. loops has the main loop of each.
func (in *input) compareSubBenchmarks(outer *benchmark, loops []*loop) {
	isWork := in.repeatsWork
	if workBenchmarkName.MatchString(outer.name) {
		isWork = func(*ast.CallExpr) bool { return true }
	}
	in.reportMakers(loops, isWork)
	in.reportUnfinished(loops)
	var sides []side
	for _, l := range loops {
		sides = append(sides, side{node: l.node, body: l.body, name: in.subName(l.owner)})
	}
	in.reportPartial(sides)
	in.reportEmptyOutput(sides)
	in.reportCounted(sides)
	in.reportLazy(sides)
}

// side is a side of a comparison: the loop of a sub-benchmark, or a function in a table.
type side struct {
	node     ast.Node       // the loop, literal or declaration; a finding is reported here
	body     *ast.BlockStmt // may be nil for a function of another package
	function *ast.FuncType  // nil for a loop
	object   *types.Func    // nil for a loop or a literal
	name     string         // source text of its name; "" if it has none
}

// tableSides returns the functions that a call such as c.encode(v) may run, if all are in one
// table. Here c is an entry of the table.
func (in *input) tableSides(call *ast.CallExpr) []side {
	if in.callee(call) != nil {
		return nil
	}
	var sides []side
	var table ast.Node
	for _, f := range in.flowGraph().Called(call, nil) {
		lit, ok := f.Node.(*ast.FuncLit)
		if !ok || !in.isTestCode(lit) {
			continue
		}
		inTable, name := in.findCase(lit)
		if inTable == nil || table != nil && table != inTable {
			return nil
		}
		table = inTable
		sides = append(sides, side{node: lit, body: lit.Body, function: lit.Type, name: name})
	}
	return sides
}

// findCase returns the table around a function literal, and the name of its entry. The table is the
// outermost composite literal, nil if there is none. The name "std" of {"std", func() { … }} is
// made of the constants next to the function.
func (in *input) findCase(lit *ast.FuncLit) (table ast.Node, name string) {
	for _, file := range in.pass.Files {
		if !isNodeIn(lit, file) {
			continue
		}
		ast.Inspect(file, func(n ast.Node) bool {
			c, ok := n.(*ast.CompositeLit)
			if !ok || !isNodeIn(lit, c) {
				return n != nil && isNodeIn(lit, n)
			}
			if table == nil {
				table = c
			}
			for _, e := range c.Elts {
				if kv, ok := e.(*ast.KeyValueExpr); ok {
					if isNodeIn(lit, kv.Value) {
						name += " " + formatExpr(kv.Key)
					}
					e = kv.Value
				}
				if value := in.pass.TypesInfo.Types[e].Value; value != nil {
					name += " " + value.String()
				}
			}
			return true
		})
	}
	return table, name
}

// calledSides returns the functions that a call of a variable may run. Unlike tableSides, it also
// returns declared functions.
func (in *input) calledSides(call *ast.CallExpr) []side {
	if in.callee(call) != nil {
		return nil
	}
	var sides []side
	for _, f := range in.flowGraph().Called(call, nil) {
		if f.Body == nil {
			return nil
		}
		name := ""
		if lit, ok := f.Node.(*ast.FuncLit); ok {
			if !in.isTestCode(lit) {
				return nil
			}
			_, name = in.findCase(lit)
		}
		sides = append(sides, side{node: f.Node, body: f.Body, function: f.Type, name: name})
	}
	return sides
}

// maxWrapperStatements is the maximum number of statements of a function that only calls others.
const maxWrapperStatements = 3

// readWork returns whether a body has a loop, and the names of the functions that it calls. At
// depth 0 it also returns the names in short wrappers.
func (in *input) readWork(body ast.Node, depth int) (hasLoop bool, names []string) {
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ForStmt, *ast.RangeStmt:
			hasLoop = true
		case *ast.CallExpr:
			if in.pass.TypesInfo.Types[n.Fun].IsType() || in.pass.TypesInfo.Types[n.Fun].IsBuiltin() {
				return true
			}
			names = append(names, calledName(n))
			if fn := in.callee(n); fn != nil && depth == 0 {
				if f := in.flowGraph().Declared(fn); f.Body != nil && len(f.Body.List) <= maxWrapperStatements {
					_, inner := in.readWork(f.Body, depth+1)
					names = append(names, inner...)
				}
			}
		}
		return true
	})
	return hasLoop, names
}

// subName returns the source text of the name of a sub-benchmark in b.Run, else "".
func (in *input) subName(b *benchmark) string {
	if b.outer == nil {
		return ""
	}
	name := ""
	for call := range nodesOf[*ast.CallExpr](b.outer.body) {
		if len(call.Args) == 2 && call.Args[1] == b.node {
			name = formatExpr(call.Args[0])
		}
	}
	return name
}
