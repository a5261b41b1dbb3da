package gobench

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
)

// This file has the rule globals-changed. It finds a test that changes a package variable that a
// benchmark reads. The command go test runs the tests first, in the same process. The benchmark
// below then measures a parser that stops after one byte:
//
//	func TestLimit(t *testing.T) { maxSize = 1; … } // does not restore it
//	func BenchmarkParse(b *testing.B) {
//		for b.Loop() { parse(text) } // reads maxSize
//	}
//
// The rule collects the variables that each benchmark reads, also in functions that it calls. It
// then searches the tests for assignments to them. A second assignment may restore the variable,
// and is accepted. The file registry_emptied.go finds tests that empty a table of a package.

// globalsChanged returns the rule globals-changed.
func globalsChanged() rule {
	return rule{Rule: audit.Rule{
		ID: "globals-changed", Severity: tare.Warn,
		Title:   "A test changes a package variable or a registry that a benchmark needs.",
		Why:     "go test -bench runs the tests first, in the same process. What they leave changed is what the benchmark finds: a published benchmark timed failing calls, as a test had emptied the registry that an init function had filled.",
		Do:      "restore it with t.Cleanup, or have the benchmark set up what it needs; until then run go test -run '^$' -bench",
		Command: compareRevisions,
		Seen:    []string{"tare: study ffi"},
	}, find: func(in *input) {
		reads := in.findGlobalReads()
		registries := in.findRegistries()
		for fn := range in.functions() {
			isTest := fn.Recv == nil && strings.HasPrefix(fn.Name.Name, "Test") && fn.Name.Name != "TestMain"
			if _, ok := paramOf(in.pass.TypesInfo, fn.Type, "T"); ok && isTest {
				in.reportChanges(fn, reads, registries)
			}
		}
	}}
}

// reportChanges reports what a test changes: a variable in reads, or a registry in registries. Both
// maps have the benchmark that needs it.
func (in *input) reportChanges(fn *ast.FuncDecl, reads map[*types.Var]globalRead, registries map[*types.Package]*benchmark) {
	first := map[*types.Var]ast.Node{}  // first assignment to each variable
	mayRestore := map[*types.Var]bool{} // variables with a second or a conditional assignment
	inspectPath(fn.Body, func(n ast.Node, path []ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, lhs := range n.Lhs {
				v := in.variable(lhs)
				if v == nil || reads[v].benchmark == nil || v.Pkg() != in.pass.Pkg {
					continue
				}
				if first[v] == nil {
					first[v] = n
					mayRestore[v] = isConditional(path)
				} else {
					mayRestore[v] = true
				}
			}
		case *ast.CallExpr:
			if !in.mayNotRun(path) {
				in.reportEmptying([]*ast.FuncDecl{fn}, n, registries)
			}
		}
		return true
	})
	for v, assignment := range first {
		isRestored := mayRestore[v] || in.takesAddress(fn, v) || in.findSetByCalls(fn)[v]
		if !isRestored && !in.setsInitial(assignment, v) {
			in.report(assignment, "%s sets %s and does not restore it; %s reads it%s", fn.Name.Name, v.Name(), reads[v].benchmark.name, reads[v].describeReader())
		}
	}
}

// takesAddress reports whether a function takes the address of a variable. Other code may then
// restore it.
func (in *input) takesAddress(fn *ast.FuncDecl, v *types.Var) bool {
	return hasNode(fn.Body, func(u *ast.UnaryExpr) bool {
		id, ok := u.X.(*ast.Ident)
		return ok && u.Op == token.AND && in.pass.TypesInfo.Uses[id] == v
	})
}

// globalRead is the first benchmark that reads a package variable, and the function in which it
// does.
type globalRead struct {
	benchmark *benchmark
	function  string // "" for the benchmark itself
}

// describeReader returns the end of a finding: " in parse", or "" for the benchmark itself.
func (r globalRead) describeReader() string {
	if r.function == "" {
		return ""
	}
	return " in " + r.function
}

// findGlobalReads returns the package variables that benchmarks and their callees read and do not
// set.
func (in *input) findGlobalReads() map[*types.Var]globalRead {
	reads := map[*types.Var]globalRead{}
	for _, b := range in.suite.benchmarks {
		if !strings.HasPrefix(b.name, "Benchmark") || b.outer != nil {
			continue
		}
		g := newGlobals()
		in.collectGlobals(b.body, "", g, 0)
		for v, function := range g.users {
			if !g.set[v] && reads[v].benchmark == nil {
				reads[v] = globalRead{benchmark: b, function: function}
			}
		}
	}
	return reads
}

// globals has the package variables that some code sets and uses. It includes those of the
// functions that the code calls.
type globals struct {
	set   map[*types.Var]bool
	users map[*types.Var]string // name of a function that uses the variable; "" for the code itself
	seen  map[ast.Node]bool     // functions that were read
}

func newGlobals() globals {
	return globals{set: map[*types.Var]bool{}, users: map[*types.Var]string{}, seen: map[ast.Node]bool{}}
}

const maxGlobalDepth = 4 // calls within calls

// collectGlobals adds to g the package variables that root sets and uses. The function around root
// has this name, "" at depth 0. The depth counts the calls that lead to root.
func (in *input) collectGlobals(root ast.Node, name string, g globals, depth int) {
	inspectPath(root, func(n ast.Node, path []ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			fn := in.callee(n)
			if fn == nil || depth == maxGlobalDepth {
				return true
			}
			f := in.flowGraph().Declared(fn)
			if f.Body != nil && !g.seen[f.Node] {
				g.seen[f.Node] = true
				in.collectGlobals(f.Body, fn.Name(), g, depth+1)
			}
		case *ast.Ident:
			v, ok := in.pass.TypesInfo.Uses[n].(*types.Var)
			if !ok || v.IsField() || v.Parent() != in.pass.Pkg.Scope() {
				return true
			}
			if known, ok := g.users[v]; !ok || known != "" { // the code itself goes before functions
				g.users[v] = name
			}
			switch p := parent(path, 1).(type) {
			case *ast.AssignStmt:
				g.set[v] = g.set[v] || containsIdent(p.Lhs, n)
			case *ast.IncDecStmt:
				g.set[v] = true
			case *ast.UnaryExpr: // a function with &v may set v; the benchmark itself mostly passes it on
				g.set[v] = g.set[v] || p.Op == token.AND && depth > 0
			}
		}
		return true
	})
}

// findSetByCalls returns the package variables that functions which fn calls may set.
func (in *input) findSetByCalls(fn *ast.FuncDecl) map[*types.Var]bool {
	g := newGlobals()
	for call := range nodesOf[*ast.CallExpr](fn.Body) {
		for _, f := range in.flowGraph().Called(call, nil) {
			if f.Body != nil && !isNodeIn(f.Node, fn) {
				g.seen = map[ast.Node]bool{} // each call may reach a function at another depth, so read all functions again
				in.collectGlobals(f.Body, "", g, 1)
			}
		}
	}
	return g.set
}

// setsInitial reports whether an assignment sets a package variable to its initial value.
func (in *input) setsInitial(n ast.Node, v *types.Var) bool {
	a, ok := n.(*ast.AssignStmt)
	if !ok || len(a.Lhs) != len(a.Rhs) {
		return false
	}
	info := in.pass.TypesInfo
	for i, lhs := range a.Lhs {
		if in.variable(lhs) != v {
			continue
		}
		for _, file := range in.pass.Files {
			if init := in.initOf(file, v); init != nil {
				initial, value := info.Types[init].Value, info.Types[a.Rhs[i]].Value
				isSame := initial != nil && value != nil && initial.ExactString() == value.ExactString()
				return isSame || formatExpr(init) == formatExpr(a.Rhs[i])
			}
		}
		return isZero(info, a.Rhs[i]) // the declaration has no value
	}
	return false
}

// isZero reports whether an expression is the zero value of its type. An empty slice or map counts.
func isZero(info *types.Info, e ast.Expr) bool {
	if literal, isLiteral := ast.Unparen(e).(*ast.CompositeLit); isLiteral {
		return len(literal.Elts) == 0
	}
	value := info.Types[e]
	return value.IsNil() || value.Value != nil && slices.Contains([]string{"0", `""`, "false"}, value.Value.ExactString())
}
