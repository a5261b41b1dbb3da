package gobench

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
	"github.com/tarebench/tare/internal/lazyregexp"
)

// globalsChanged finds tests that set package variables that benchmarks read, or empty
// registries that benchmarks need: go test runs the tests first, in the same process.
func globalsChanged() rule {
	return rule{Rule: audit.Rule{
		ID: "globals-changed", Severity: tare.Warn,
		Title:   "A test changes a package variable or a registry that a benchmark needs.",
		Why:     "go test -bench runs the tests first, in the same process. What they leave changed is what the benchmark finds: a published benchmark timed failing calls, as a test had emptied the registry that an init function had filled.",
		Do:      "restore it with t.Cleanup, or have the benchmark set up what it needs; until then run go test -run '^$' -bench",
		Command: compareRevisions,
		Seen:    []string{"tare: study ffi"},
	}, find: func(in *input) {
		read := in.globalsRead()
		registered := in.findRegistries()
		for _, file := range in.pass.Files {
			for _, d := range file.Decls {
				fn, ok := d.(*ast.FuncDecl)
				if !ok || fn.Body == nil || fn.Recv != nil || !strings.HasPrefix(fn.Name.Name, "Test") || fn.Name.Name == "TestMain" {
					continue
				}
				if _, ok := paramOf(in.pass.TypesInfo, fn.Type, "T"); ok {
					in.reportChanges(fn, read, registered)
				}
			}
		}
	}}
}

// emptying matches the names of functions that empty a registry.
var emptying = lazyregexp.New(`^(Reset|Clear|Unregister|Deregister)(All|Registry|Global|Globals|Types|Metadata|Mappings|Handlers|Codecs|Drivers)?$`)

// emptyingAny matches the names of functions that empty something, which may be a registry.
var emptyingAny = lazyregexp.New(`^(Reset|Clear|Unregister|Deregister|Forget)`)

// emptiesGlobal reports whether a function of the package has such a name, and clears a map of the package or
// sets it to a new one.
func (in *input) emptiesGlobal(fn *types.Func) bool {
	f := in.flowGraph().Declared(fn)
	if f.Body == nil || !emptyingAny.MatchString(fn.Name()) {
		return false
	}
	isGlobalMap := func(e ast.Expr) bool {
		v := in.variable(e)
		if v == nil || in.isLocal(v) {
			return false
		}
		_, isMap := v.Type().Underlying().(*types.Map)
		return isMap
	}
	for n := range ast.Preorder(f.Body) {
		switch n := n.(type) {
		case *ast.CallExpr:
			if isBuiltin(in.pass.TypesInfo, n, "clear") && isGlobalMap(n.Args[0]) {
				return true
			}
		case *ast.AssignStmt:
			for _, lhs := range n.Lhs {
				if isGlobalMap(lhs) {
					return true
				}
			}
		}
	}
	return false
}

// reportChanges reports the variables of read that a test sets and does not restore, and
// the calls that empty a registry of the packages registered. Both maps hold a benchmark
// that needs the variable or package.
func (in *input) reportChanges(fn *ast.FuncDecl, read map[*types.Var]globalRead, registered map[*types.Package]*benchmark) {
	sets := map[*types.Var][]ast.Node{}
	inspectPath(fn.Body, func(n ast.Node, path []ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, lhs := range n.Lhs {
				if v := in.variable(lhs); v != nil && read[v].benchmark != nil && v.Pkg() == in.pass.Pkg {
					sets[v] = append(sets[v], n)
					if isConditional(path) { // count it twice: only a single certain set is reported
						sets[v] = append(sets[v], n)
					}
				}
			}
		case *ast.CallExpr:
			called := in.callee(n)
			if called == nil || called.Signature().Recv() != nil || isConditional(path) {
				return true
			}
			if registered[called.Pkg()] == nil || !emptying.MatchString(called.Name()) && !in.emptiesGlobal(called) {
				return true
			}
			in.report(n, "%s removes what an init function registered, although %s, which runs later, needs it", formatExpr(n), registered[called.Pkg()].name)
			delete(registered, called.Pkg())
		}
		return true
	})
	for v, nodes := range sets {
		// A second set may restore the variable, as may a function that the test calls.
		if len(nodes) == 1 && !in.takesAddress(fn, v) && !in.calledSets(fn)[v] && !in.setsInitial(nodes[0], v) {
			in.report(nodes[0], "%s sets %s and does not restore it; %s reads it%s", fn.Name.Name, v.Name(), read[v].benchmark.name, read[v].describeReader())
		}
	}
}

// takesAddress reports whether a function takes the address of a variable, by which
// other code may restore it.
func (in *input) takesAddress(fn *ast.FuncDecl, v *types.Var) bool {
	found := false
	in.inspectUses(fn.Body, v, func(_ *ast.Ident, path []ast.Node) {
		if u, ok := parent(path, 1).(*ast.UnaryExpr); ok && u.Op == token.AND {
			found = true
		}
	})
	return found
}

// globalRead is the read of a package variable by a benchmark, or by a function of the package that
// its calls lead to.
type globalRead struct {
	benchmark *benchmark
	function  string // name of the function; "" for the benchmark itself
}

// describeReader returns how a finding names the function that reads a variable.
func (r globalRead) describeReader() string {
	if r.function == "" {
		return ""
	}
	return " in " + r.function
}

// globalsRead returns the package variables that benchmarks read, themselves or by the functions
// of the package that they call, and do not set, each with the first such read.
func (in *input) globalsRead() map[*types.Var]globalRead {
	read := map[*types.Var]globalRead{}
	for _, b := range in.suite.benchmarks {
		if !strings.HasPrefix(b.name, "Benchmark") || b.outer != nil {
			continue
		}
		set, used := map[*types.Var]bool{}, map[*types.Var]string{}
		in.collectGlobals(b.body, "", set, used, map[ast.Node]bool{}, 0)
		for v, function := range used {
			if !set[v] && read[v].benchmark == nil {
				read[v] = globalRead{b, function}
			}
		}
	}
	return read
}

// maxGlobalDepth is the number of calls between a benchmark and a function whose variables count.
const maxGlobalDepth = 4

// collectGlobals adds the package variables that the statements below root set, also through a
// pointer or by a part, and those they use, with the name of the function that uses them. It follows
// calls of functions of the package, and skips those in seen.
func (in *input) collectGlobals(root ast.Node, name string, set map[*types.Var]bool, used map[*types.Var]string, seen map[ast.Node]bool, depth int) {
	inspectPath(root, func(n ast.Node, path []ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			fn := in.callee(n)
			if fn == nil || depth == maxGlobalDepth {
				return true
			}
			f := in.flowGraph().Declared(fn)
			if f.Body != nil && !seen[f.Node] {
				seen[f.Node] = true
				in.collectGlobals(f.Body, fn.Name(), set, used, seen, depth+1)
			}
		case *ast.Ident:
			v, ok := in.pass.TypesInfo.Uses[n].(*types.Var)
			if !ok || v.IsField() || v.Parent() != in.pass.Pkg.Scope() {
				return true
			}
			if before, ok := used[v]; !ok || before != "" {
				used[v] = name
			}
			switch p := parent(path, 1).(type) {
			case *ast.AssignStmt:
				set[v] = set[v] || isAmong(p.Lhs, n)
			case *ast.IncDecStmt:
				set[v] = true
			case *ast.UnaryExpr:
				set[v] = set[v] || p.Op == token.AND && depth > 0
			}
		}
		return true
	})
}

// calledSets returns the package variables that the functions that a test calls set.
func (in *input) calledSets(fn *ast.FuncDecl) map[*types.Var]bool {
	set := map[*types.Var]bool{}
	for call := range nodesOf[*ast.CallExpr](fn.Body) {
		for _, f := range in.flowGraph().Called(call, nil) {
			if f.Body != nil && !isWithin(f.Node, fn) {
				in.collectGlobals(f.Body, "", set, map[*types.Var]string{}, map[ast.Node]bool{}, 1)
			}
		}
	}
	return set
}

// setsInitial reports whether an assignment gives a package variable the constant that its
// declaration gave it.
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
				want, got := info.Types[init].Value, info.Types[a.Rhs[i]].Value
				return want != nil && got != nil && want.ExactString() == got.ExactString() || formatExpr(init) == formatExpr(a.Rhs[i])
			}
		}
		return isZero(info, a.Rhs[i]) // as a declaration without a value does
	}
	return false
}

// isZero reports whether an expression is the zero value of its type: nil, a constant such as 0, or a
// literal without elements, which for a slice or a map is as good as none.
func isZero(info *types.Info, e ast.Expr) bool {
	if literal, isLiteral := ast.Unparen(e).(*ast.CompositeLit); isLiteral {
		return len(literal.Elts) == 0
	}
	value := info.Types[e]
	return value.IsNil() || value.Value != nil && slices.Contains([]string{"0", `""`, "false"}, value.Value.ExactString())
}

// findRegistries returns the packages with a Register function that an init function of the
// package calls, each with a benchmark that uses the package and does not call Register.
func (in *input) findRegistries() map[*types.Package]*benchmark {
	filled := map[*types.Package]bool{}
	for _, file := range in.pass.Files {
		for _, d := range file.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Name.Name == "init" && fn.Body != nil {
				for pkg, registers := range in.packagesOf(fn.Body) {
					filled[pkg] = filled[pkg] || registers
				}
			}
		}
	}
	needed := map[*types.Package]*benchmark{}
	for _, b := range in.suite.benchmarks {
		for pkg, registers := range in.packagesOf(b.body) {
			if filled[pkg] && !registers && needed[pkg] == nil {
				needed[pkg] = b
			}
		}
	}
	return needed
}

// packagesOf returns the packages whose functions are called below root, each with
// whether one of them registers something.
func (in *input) packagesOf(root ast.Node) map[*types.Package]bool {
	out := map[*types.Package]bool{}
	for call := range nodesOf[*ast.CallExpr](root) {
		if fn := in.callee(call); fn != nil && fn.Pkg() != nil && fn.Signature().Recv() == nil {
			out[fn.Pkg()] = out[fn.Pkg()] || strings.Contains(fn.Name(), "Register") || strings.HasPrefix(fn.Name(), "Precompile")
		}
	}
	return out
}
