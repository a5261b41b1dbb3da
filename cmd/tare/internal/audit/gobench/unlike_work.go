package gobench

import (
	"go/ast"
	"go/types"
	"regexp"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
)

// unlikeWork finds sides of a comparison of which one works and another only makes
// values, or one runs in parallel and the other does not.
func unlikeWork() rule {
	return rule{audit.Rule{
		ID: "unlike-work", Severity: tare.Warn,
		Title:   "The sides of a comparison do different work.",
		Why:     "The ratio of a side that encodes to one that only allocates, or of a parallel loop to a serial one, says nothing about either.",
		Do:      "let each side begin with the same input and end with an equal output, and check that once",
		Command: compareCodecs,
		Seen:    []string{"tare: studies json-encode, ffi"},
	}, func(in *input) {
		for _, outer := range in.suite.benchmarks {
			var sides []*loop
			for _, b := range in.suite.benchmarks {
				if b.outer == outer && len(b.loops) > 0 && b.loops[len(b.loops)-1].timed {
					sides = append(sides, b.loops[len(b.loops)-1])
				}
			}
			if len(sides) > 1 {
				in.reportUnlike(sides)
			}
		}
		byFile := map[string][]*loop{}
		for _, b := range in.suite.benchmarks {
			if b.outer == nil && strings.HasPrefix(b.name, "Benchmark") && len(b.loops) > 0 && b.loops[len(b.loops)-1].timed {
				g := in.pass.Fset.Position(b.decl.Pos()).Filename
				byFile[g] = append(byFile[g], b.loops[len(b.loops)-1])
			}
		}
		for _, sides := range byFile {
			if len(sides) > 1 {
				in.reportUnlike(sides)
			}
		}
	}}
}

// makers are names of functions that only make a value, and of benchmarks that say
// so.
var (
	makers = regexp.MustCompile(`^(New[A-Z]?|new[A-Z]?|make$|new$|Make[A-Z]|make[A-Z])`)
	quiet  = regexp.MustCompile(`(?i)new|alloc|make|create|init|empty|noop|baseline|overhead|construct`)
	work   = regexp.MustCompile(`^(Marshal|Unmarshal|Encode|Decode|Write|Read|Parse|Serialize|Deserialize|Compress|Copy|Hash|Sum|Format|Validate)`)
)

// reportUnlike reports the sides that only make values if another one works.
func (in *input) reportUnlike(sides []*loop) {
	works := false
	for _, l := range sides {
		works = works || in.calls(l.body, work.MatchString)
	}
	if !works {
		return
	}
	for _, l := range sides {
		made, only := 0, true
		in.inspectTimed(l, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				if in.pass.TypesInfo.Types[n.Fun].IsType() {
					return true
				}
				made++
				only = only && makers.MatchString(calledName(n)) && !isCallOfValue(in, n)
			case *ast.CompositeLit:
				made++
			case *ast.BinaryExpr, *ast.RangeStmt, *ast.SendStmt, *ast.IndexExpr:
				only = false
			}
			return true
		})
		if made > 0 && only && !quiet.MatchString(l.owner.name) && !quiet.MatchString(in.subName(l.owner)) {
			in.report(l.node, "this side only makes values, and another one of the comparison works on them")
		}
	}
}

// isCallOfValue reports whether a call is of a variable, which may be anything.
func isCallOfValue(in *input, call *ast.CallExpr) bool {
	id, ok := ast.Unparen(call.Fun).(*ast.Ident)
	if !ok {
		return false
	}
	_, isVar := in.pass.TypesInfo.Uses[id].(*types.Var)
	return isVar
}

// subName returns the name of a sub-benchmark as it is written, "" for others.
func (in *input) subName(b *benchmark) string {
	if b.outer == nil {
		return ""
	}
	name := ""
	ast.Inspect(b.outer.body, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && len(call.Args) == 2 && call.Args[1] == b.node {
			name = show(call.Args[0])
		}
		return true
	})
	return name
}
