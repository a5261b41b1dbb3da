package gobench

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/tarebench/tare/cmd/tare/internal/audit/gobench/flow"
	"github.com/tarebench/tare/internal/lazyregexp"
)

// This file finds the sub-benchmarks of a benchmark and the variables that they share, for the rule
// shared-state. In this example, the sub-benchmarks "put" and "get" share the variable store:
//
//	store := newStore()
//	b.Run("put", func(b *testing.B) { … })
//	b.Run("get", func(b *testing.B) { … })
//
// A case is one entry of a table over which a loop calls b.Run. A binding has the arguments of the
// calls that lead to an expression, by parameter. Below, outer is the benchmark around the
// sub-benchmarks. The sub-benchmark writer changes a variable, and reader runs later. A frame is
// the body that is searched: the loop, or a function of the test files that the loop calls.

// subBenchmark is a call of b.Run with a function that it runs.
type subBenchmark struct {
	call     *ast.CallExpr
	function flow.Function
	loops    []*loop // of the function
	isCase   bool    // in a loop over cases, so it runs several times
}

// findSubBenchmarks returns the sub-benchmarks of a benchmark in the order of their calls.
func (in *input) findSubBenchmarks(outer *benchmark) []subBenchmark {
	var subs []subBenchmark
	inspectPath(outer.body, func(n ast.Node, path []ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || !isMethodOf(in.callee(call), "testing", "B", "Run") || len(call.Args) != 2 {
			return true
		}
		for _, f := range in.flowGraph().Functions(call.Args[1], nil) {
			if f.Body == nil { // a function of another package
				continue
			}
			s := subBenchmark{call: call, function: f, isCase: outermostLoop(path) != nil}
			for _, b := range in.suite.benchmarks {
				if b.node == f.Node {
					s.loops = b.loops
				}
			}
			subs = append(subs, s)
		}
		return false
	})
	return subs
}

// outermostLoop returns the first loop on a path, or nil.
func outermostLoop(path []ast.Node) ast.Node {
	if i := slices.IndexFunc(path, isLoop); i >= 0 {
		return path[i]
	}
	return nil
}

// varPath is a variable or a field of one. s.store has the root s and the fields ".store".
type varPath struct {
	root   *types.Var
	fields string // "" for the variable itself
}

// String returns the source text of the path, such as s.store.
func (p varPath) String() string { return p.root.Name() + p.fields }

// pathOf returns the variable or field that an expression names. ok is false for expressions that
// name none, such as a call.
func (in *input) pathOf(e ast.Expr, binding flow.Binding) (p varPath, ok bool) {
	root, fields := in.flowGraph().Path(e, binding)
	return varPath{root: root, fields: fields}, root != nil
}

// isCarriedOver reports whether a sub-benchmark runs once for each case with the same variable p,
// which is declared before the loop over the cases.
func (in *input) isCarriedOver(outer *benchmark, s subBenchmark, p varPath) bool {
	if !s.isCase {
		return false
	}
	casesPos := s.call.Pos()
	inspectPath(outer.body, func(n ast.Node, path []ast.Node) bool {
		if n == ast.Node(s.call) {
			if cases := outermostLoop(path); cases != nil {
				casesPos = cases.Pos()
			}
		}
		return true
	})
	return p.root.Pos() < casesPos
}

// isShared reports whether p is declared in outer, but not in its sub-benchmark s.
func (s subBenchmark) isShared(outer *benchmark, p varPath) bool {
	return isPosIn(p.root.Pos(), outer.body) && !isPosIn(p.root.Pos(), s.function.Node)
}

// isOverlapping reports whether changing an expression changes p. It names p, a part of p, or a
// variable that p is a part of.
func (in *input) isOverlapping(e ast.Expr, p varPath) bool {
	other, ok := in.pathOf(e, nil)
	isPart := strings.HasPrefix(other.fields+".", p.fields+".") || strings.HasPrefix(p.fields+".", other.fields+".")
	return ok && other.root == p.root && isPart
}

// shrinkingName matches methods that remove entries, such as Reset and Pop.
var shrinkingName = lazyregexp.New(`^(Reset|Clear|Truncate|Delete|Remove|Pop|Dequeue|Drain|Evict|Flush|Close|` +
	`Next|Take|Shift|Trim|Discard|Un(subscribe|register|link|watch))`)

// mayReset reports whether a sub-benchmark assigns to p or may remove entries of p. It skips calls
// that isIgnored selects, if this is not nil.
func (in *input) mayReset(s subBenchmark, p varPath, isIgnored func(call *ast.CallExpr) bool) bool {
	found := false
	ast.Inspect(s.function.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			if sel, ok := n.Fun.(*ast.SelectorExpr); ok && in.isOverlapping(sel.X, p) {
				found = found || shrinkingName.MatchString(sel.Sel.Name) && (isIgnored == nil || !isIgnored(n))
			}
		case *ast.AssignStmt:
			for i, lhs := range n.Lhs {
				isGrown := len(n.Lhs) == len(n.Rhs) && in.isAppendTo(lhs, n.Rhs[i])
				found = found || !isGrown && in.isOverlapping(lhs, p)
			}
		}
		return !found
	})
	return found
}

// isAppendTo reports whether target = value has the form x = append(x, …).
func (in *input) isAppendTo(target, value ast.Expr) bool {
	call, ok := value.(*ast.CallExpr)
	return ok && isBuiltin(in.pass.TypesInfo, call, "append") && formatExpr(call.Args[0]) == formatExpr(target)
}

// isResetBetween reports whether outer assigns to p or empties p between two positions.
func (in *input) isResetBetween(outer *benchmark, p varPath, start, end token.Pos) bool {
	found := false
	ast.Inspect(outer.body, func(n ast.Node) bool {
		if n == nil || n.Pos() < start || n.Pos() > end {
			return n == nil || n.Pos() <= end
		}
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, lhs := range n.Lhs {
				found = found || in.isOverlapping(lhs, p)
			}
		case *ast.CallExpr:
			if sel, ok := n.Fun.(*ast.SelectorExpr); ok && shrinkingName.MatchString(sel.Sel.Name) {
				found = found || in.isOverlapping(sel.X, p)
			}
		}
		return !found
	})
	return found
}

// findLaterUse returns the first use of p in the sub-benchmarks later, which run after writer. It
// returns nil if there is none.
func (in *input) findLaterUse(outer *benchmark, writer subBenchmark, later []subBenchmark, p varPath) ast.Node {
	for _, reader := range later {
		if use := in.findUseAfter(outer, writer, reader, p); use != nil {
			return use
		}
	}
	return nil
}

// findUseAfter returns the first use of p in reader, which runs after writer. It returns nil if p
// is reset between the two, or if both run the same function.
func (in *input) findUseAfter(outer *benchmark, writer, reader subBenchmark, p varPath) ast.Node {
	isReset := in.mayReset(reader, p, nil) || in.isResetBetween(outer, p, writer.call.End(), reader.call.Pos())
	if isReset || reader.function.Node == writer.function.Node {
		return nil
	}
	return in.findFirstUse(reader, p)
}

// findFirstUse returns the first node in the loops of a sub-benchmark that uses p, or nil.
func (in *input) findFirstUse(s subBenchmark, p varPath) ast.Node {
	var first ast.Node
	for _, l := range s.loops {
		in.inspectTimedDeep(l, func(n ast.Node, f *frame) bool {
			var operands []ast.Expr
			switch n := n.(type) {
			case *ast.CallExpr:
				operands = append(operands, n.Args...)
				if sel, ok := n.Fun.(*ast.SelectorExpr); ok {
					operands = append(operands, sel.X)
				}
			case *ast.RangeStmt:
				operands = append(operands, n.X)
			case *ast.IndexExpr:
				operands = append(operands, n.X)
			}
			for _, e := range operands {
				if used, _ := in.pathOf(e, f.binding); first == nil && used == p {
					first = n
				}
			}
			return true
		})
	}
	return first
}
