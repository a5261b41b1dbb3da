package gobench

import (
	"go/ast"
	"go/token"
	"go/types"
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

// reportChanges reports the variables of read that a test sets and does not restore, and
// the calls that empty a registry of the packages registered. Both maps hold a benchmark
// that needs the variable or package.
func (in *input) reportChanges(fn *ast.FuncDecl, read map[*types.Var]*benchmark, registered map[*types.Package]*benchmark) {
	sets := map[*types.Var][]ast.Node{}
	inspectPath(fn.Body, func(n ast.Node, path []ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, lhs := range n.Lhs {
				if v := in.variable(lhs); v != nil && read[v] != nil && v.Pkg() == in.pass.Pkg {
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
			if registered[called.Pkg()] == nil || !emptying.MatchString(called.Name()) {
				return true
			}
			in.report(n, "%s removes what an init function registered, although %s, which runs later, needs it", formatExpr(n), registered[called.Pkg()].name)
			delete(registered, called.Pkg())
		}
		return true
	})
	for v, nodes := range sets {
		// A second set may restore the variable.
		if len(nodes) == 1 && !in.takesAddress(fn, v) {
			in.report(nodes[0], "%s sets %s and does not restore it; %s reads it", fn.Name.Name, v.Name(), read[v].name)
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

// globalsRead returns the package variables that benchmarks read and do not set, each
// with the first benchmark that reads it.
func (in *input) globalsRead() map[*types.Var]*benchmark {
	read := map[*types.Var]*benchmark{}
	for _, b := range in.suite.benchmarks {
		if !strings.HasPrefix(b.name, "Benchmark") || b.outer != nil {
			continue
		}
		set, used := map[*types.Var]bool{}, map[*types.Var]bool{}
		inspectPath(b.body, func(n ast.Node, path []ast.Node) bool {
			id, ok := n.(*ast.Ident)
			if !ok {
				return true
			}
			v, ok := in.pass.TypesInfo.Uses[id].(*types.Var)
			if !ok || v.IsField() || v.Parent() != in.pass.Pkg.Scope() {
				return true
			}
			used[v] = true
			if a, ok := parent(path, 1).(*ast.AssignStmt); ok {
				for _, lhs := range a.Lhs {
					set[v] = set[v] || lhs == ast.Expr(id)
				}
			}
			return true
		})
		for v := range used {
			if !set[v] && read[v] == nil {
				read[v] = b
			}
		}
	}
	return read
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
