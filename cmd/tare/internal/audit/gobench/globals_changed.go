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

// globalsChanged finds tests that change a package variable that a benchmark reads, or empty a registry
// that a benchmark needs. A registry is a table in a package to which Register functions add entries.
// go test runs the tests first, in the same process: after TestLimit with maxSize = 1, BenchmarkParse
// measures a parser that stops after one byte.
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

// reportChanges reports the variables of reads that a test sets and does not restore, and the first call
// of the test that empties one of registries. registries holds, by package, a benchmark that needs the
// registry of the package; the reported one is deleted.
func (in *input) reportChanges(fn *ast.FuncDecl, reads map[*types.Var]globalRead, registries map[*types.Package]*benchmark) {
	sets := map[*types.Var][]ast.Node{} // assignments by variable; a conditional one is in it twice
	inspectPath(fn.Body, func(n ast.Node, path []ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, lhs := range n.Lhs {
				v := in.variable(lhs)
				if v == nil || reads[v].benchmark == nil || v.Pkg() != in.pass.Pkg {
					continue
				}
				sets[v] = append(sets[v], n)
				if isConditional(path) {
					sets[v] = append(sets[v], n)
				}
			}
		case *ast.CallExpr:
			if called := in.callee(n); called != nil && !isConditional(path) && !in.mayFillAgain(fn, called.Pkg()) {
				in.reportEmptied(n, registries)
			}
		}
		return true
	})
	for v, assignments := range sets {
		// A second assignment may restore the variable, as may a function that the test calls.
		mayRestore := len(assignments) > 1 || in.takesAddress(fn, v) || in.findSetByCalls(fn)[v]
		if !mayRestore && !in.setsInitial(assignments[0], v) {
			in.report(assignments[0], "%s sets %s and does not restore it; %s reads it%s", fn.Name.Name, v.Name(), reads[v].benchmark.name, reads[v].describeReader())
		}
	}
}

// reportEmptied reports a call of a function, not a method, that empties one of registries.
func (in *input) reportEmptied(call *ast.CallExpr, registries map[*types.Package]*benchmark) {
	fn := in.callee(call)
	if fn == nil || fn.Signature().Recv() != nil {
		return
	}
	needing := registries[fn.Pkg()]
	if needing == nil || !registryResetName.MatchString(fn.Name()) && !in.emptiesGlobal(fn) {
		return
	}
	in.report(call, "%s removes what an init function registered, although %s, which runs later, needs it", formatExpr(call), needing.name)
	delete(registries, fn.Pkg())
}

// mayFillAgain reports whether a test defers, or passes to Cleanup, code that calls a function of a package
// which does not empty a registry.
func (in *input) mayFillAgain(fn *ast.FuncDecl, pkg *types.Package) bool {
	fills := func(call *ast.CallExpr) bool {
		called := in.callee(call)
		return called != nil && called.Pkg() == pkg && !registryResetName.MatchString(called.Name())
	}
	return hasNode(fn.Body, func(n ast.Node) bool {
		call, isCall := n.(*ast.CallExpr)
		d, isDefer := n.(*ast.DeferStmt)
		return isDefer && hasNode(d.Call, fills) || isCall && calledName(call) == "Cleanup" && hasNode(call, fills)
	})
}

// registryResetName matches the names of functions that certainly empty a registry, in any package.
var registryResetName = lazyregexp.New(`^(Reset|Clear|Unregister|Deregister)(All|Registry|Global|Globals|Types|Metadata|Mappings|Handlers|Codecs|Drivers)?$`)

// resetPrefix matches the names of functions that may empty a registry: emptiesGlobal reads their code.
var resetPrefix = lazyregexp.New(`^(Reset|Clear|Unregister|Deregister|Forget)`)

// emptiesGlobal reports whether a function of the package has a name such as ResetCodecs or ForgetUser, and
// clears or sets a map that is a package variable.
func (in *input) emptiesGlobal(fn *types.Func) bool {
	f := in.flowGraph().Declared(fn)
	if f.Body == nil || !resetPrefix.MatchString(fn.Name()) {
		return false
	}
	isGlobalMap := func(e ast.Expr) bool {
		v := in.variable(e)
		return v != nil && !in.isLocal(v) && isMap(v.Type())
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

// takesAddress reports whether a function takes the address of a variable, by which other code may
// restore it.
func (in *input) takesAddress(fn *ast.FuncDecl, v *types.Var) bool {
	return hasNode(fn.Body, func(u *ast.UnaryExpr) bool {
		id, ok := u.X.(*ast.Ident)
		return ok && u.Op == token.AND && in.pass.TypesInfo.Uses[id] == v
	})
}

// globalRead is the read of a package variable by a benchmark, or by a function of the package that
// its calls lead to.
type globalRead struct {
	benchmark *benchmark
	function  string // name of the function; "" for the benchmark itself
}

// describeReader returns the end of a finding: " in parse" if the function parse reads the variable, "" if
// the benchmark itself does.
func (r globalRead) describeReader() string {
	if r.function == "" {
		return ""
	}
	return " in " + r.function
}

// findGlobalReads returns the package variables that a benchmark reads and does not set, itself or in the
// functions of the package that it calls. The value is the first such read.
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

// globals holds the package variables that statements set and use, also in the functions of the
// package that they call.
type globals struct {
	set   map[*types.Var]bool
	users map[*types.Var]string // name of the function that uses the variable; "" for the statements
	seen  map[ast.Node]bool     // functions that were read
}

func newGlobals() globals {
	return globals{set: map[*types.Var]bool{}, users: map[*types.Var]string{}, seen: map[ast.Node]bool{}}
}

// maxGlobalDepth is the number of calls within calls that collectGlobals follows.
const maxGlobalDepth = 4

// collectGlobals adds to g the package variables that the statements below root set, also through a
// pointer or by a part, and those they use. name is the function that root belongs to, "" at depth
// 0, and depth the number of calls that lead to it.
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
			if user, ok := g.users[v]; !ok || user != "" { // a use by the statements themselves stays
				g.users[v] = name
			}
			switch p := parent(path, 1).(type) {
			case *ast.AssignStmt:
				g.set[v] = g.set[v] || containsIdent(p.Lhs, n)
			case *ast.IncDecStmt:
				g.set[v] = true
			case *ast.UnaryExpr:
				g.set[v] = g.set[v] || p.Op == token.AND && depth > 0
			}
		}
		return true
	})
}

// findSetByCalls returns the package variables that are set by the functions that a test calls.
func (in *input) findSetByCalls(fn *ast.FuncDecl) map[*types.Var]bool {
	g := newGlobals()
	for call := range nodesOf[*ast.CallExpr](fn.Body) {
		for _, f := range in.flowGraph().Called(call, nil) {
			if f.Body != nil && !isNodeIn(f.Node, fn) {
				g.seen = map[ast.Node]bool{} // a function may be deeper in one call than in another
				in.collectGlobals(f.Body, "", g, 1)
			}
		}
	}
	return g.set
}

// setsInitial reports whether an assignment gives a package variable its initial value.
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
		return isZero(info, a.Rhs[i]) // as a declaration without a value does
	}
	return false
}

// isZero reports whether an expression is the zero value of its type: nil, a constant such as 0, or a
// literal without elements. An empty slice or map counts as nil.
func isZero(info *types.Info, e ast.Expr) bool {
	if literal, isLiteral := ast.Unparen(e).(*ast.CompositeLit); isLiteral {
		return len(literal.Elts) == 0
	}
	value := info.Types[e]
	return value.IsNil() || value.Value != nil && slices.Contains([]string{"0", `""`, "false"}, value.Value.ExactString())
}

// findRegistries returns the packages in which an init function of this package registers something. The
// value is a benchmark that calls functions of the package and registers nothing itself.
func (in *input) findRegistries() map[*types.Package]*benchmark {
	filled := map[*types.Package]bool{}
	for fn := range in.functions() {
		if fn.Name.Name != "init" {
			continue
		}
		for pkg, registers := range in.packagesOf(fn.Body) {
			filled[pkg] = filled[pkg] || registers
		}
	}
	imported := in.findImported()
	needed := map[*types.Package]*benchmark{}
	for _, b := range in.suite.benchmarks {
		for pkg, registers := range in.packagesOf(b.body) {
			isNeeded := filled[pkg] || pkg == imported && in.looksUpName(b.body, pkg)
			if isNeeded && !registers && needed[pkg] == nil {
				needed[pkg] = b
			}
		}
	}
	return needed
}

// findImported returns the tested package if this is the package of its external tests, it exports a function
// such as Register, and a test file imports a package only for its init functions. It returns nil otherwise.
//
//	import _ "example.com/codec/wire" // registers itself in package codec
func (in *input) findImported() *types.Package {
	tested, isExternal := strings.CutSuffix(in.pass.Pkg.Path(), "_test")
	isForEffect := func(file *ast.File) bool {
		return slices.ContainsFunc(file.Imports, func(i *ast.ImportSpec) bool { return i.Name != nil && i.Name.Name == "_" })
	}
	if !isExternal || !slices.ContainsFunc(in.pass.Files, isForEffect) {
		return nil
	}
	for _, pkg := range in.pass.Pkg.Imports() {
		isRegister := func(name string) bool { return strings.HasPrefix(name, "Register") }
		if pkg.Path() == tested && slices.ContainsFunc(pkg.Scope().Names(), isRegister) {
			return pkg
		}
	}
	return nil
}

// looksUpName reports whether the code below root calls a function of a package with a parameter of type
// string, by which the function may look something up.
func (in *input) looksUpName(root ast.Node, pkg *types.Package) bool {
	return hasNode(root, func(call *ast.CallExpr) bool {
		fn := in.callee(call)
		if fn == nil || fn.Pkg() != pkg || fn.Signature().Recv() != nil {
			return false
		}
		for param := range fn.Signature().Params().Variables() {
			if isBasic(param.Type()) && !isNonStringBasic(param.Type()) {
				return true
			}
		}
		return false
	})
}

// packagesOf returns the packages whose functions are called below root. The value is true if one
// of the functions registers something.
func (in *input) packagesOf(root ast.Node) map[*types.Package]bool {
	out := map[*types.Package]bool{}
	for call := range nodesOf[*ast.CallExpr](root) {
		if fn := in.callee(call); fn != nil && fn.Pkg() != nil && fn.Signature().Recv() == nil {
			out[fn.Pkg()] = out[fn.Pkg()] || strings.Contains(fn.Name(), "Register") || strings.HasPrefix(fn.Name(), "Precompile")
		}
	}
	return out
}
