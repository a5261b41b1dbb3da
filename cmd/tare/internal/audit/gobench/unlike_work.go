package gobench

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
	"github.com/tarebench/tare/internal/lazyregexp"
)

// unlikeWork finds sides of a comparison that only make values if another side works on
// them. The sides are the sub-benchmarks of a benchmark, or the benchmarks of a file.
func unlikeWork() rule {
	return rule{Rule: audit.Rule{
		ID: "unlike-work", Severity: tare.Warn,
		Title:   "The sides of a comparison do different work.",
		Why:     "The ratio of a side that encodes to one that only allocates describes neither.",
		Do:      "let each side begin with the same input and end with an equal output, and check that once",
		Command: compareCodecs,
		Seen:    []string{"tare: studies json-encode, ffi"},
	}, find: func(in *input) {
		for _, outer := range in.suite.benchmarks {
			var sides []*loop
			for _, b := range in.suite.benchmarks {
				if main := in.mainLoop(b); b.outer == outer && main != nil && main.timed {
					sides = append(sides, main)
				}
			}
			if len(sides) > 1 {
				in.reportUnlike(sides)
			}
		}
		byFile := map[string][]*loop{}
		for _, b := range in.suite.benchmarks {
			main := in.mainLoop(b)
			if b.outer == nil && strings.HasPrefix(b.name, "Benchmark") && main != nil && main.timed {
				file := in.pass.Fset.Position(b.decl.Pos()).Filename
				byFile[file] = append(byFile[file], main)
			}
		}
		for _, sides := range byFile {
			if len(sides) > 1 {
				in.reportUnlike(sides)
			}
		}
	}}
}

var (
	// maker matches the names of functions that only make a value.
	maker = lazyregexp.New(`^(New[A-Z]?|new[A-Z]?|make$|new$|Make[A-Z]|make[A-Z])`)
	// worker matches the names of functions that work on a value.
	worker = lazyregexp.New(`^(Marshal|Unmarshal|Encode|Decode|Write|Read|Parse|Serialize|Deserialize|Compress|Copy|Hash|Sum|Format|Validate)`)
	// declaredMaker matches the names of benchmarks that say that they only make values.
	declaredMaker = lazyregexp.New(`(?i)new|alloc|make|create|init|empty|noop|baseline|overhead|construct`)
)

// reportUnlike reports the sides that only make values if another one works on them.
func (in *input) reportUnlike(sides []*loop) {
	if !slices.ContainsFunc(sides, func(l *loop) bool { return in.hasCall(l.body, worker.MatchString) }) {
		return
	}
	for _, l := range sides {
		values, onlyMakes := 0, true
		in.inspectTimed(l, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				if in.pass.TypesInfo.Types[n.Fun].IsType() {
					return true // a conversion
				}
				values++
				onlyMakes = onlyMakes && maker.MatchString(calledName(n)) && !isCallOfValue(in, n)
			case *ast.CompositeLit:
				values++
			case *ast.BinaryExpr, *ast.RangeStmt, *ast.SendStmt, *ast.IndexExpr:
				onlyMakes = false
			}
			return true
		})
		isDeclared := declaredMaker.MatchString(l.owner.name) || declaredMaker.MatchString(in.subName(l.owner))
		if values > 0 && onlyMakes && !isDeclared {
			in.report(l.node, "this side of the comparison only makes values, but another side also works on them")
		}
	}
}

// isCallOfValue reports whether a call calls a variable, which may hold any function.
func isCallOfValue(in *input, call *ast.CallExpr) bool {
	id, ok := ast.Unparen(call.Fun).(*ast.Ident)
	if !ok {
		return false
	}
	_, isVar := in.pass.TypesInfo.Uses[id].(*types.Var)
	return isVar
}

// subName returns the source text of the name that a sub-benchmark is run under, and ""
// for a benchmark that is a declared function.
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
