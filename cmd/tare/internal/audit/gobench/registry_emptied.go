package gobench

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"github.com/tarebench/tare/internal/lazyregexp"
)

// This file is a part of the rule globals-changed. Here a test empties a registry, a table of a
// package to which Register functions add entries. The benchmark needs these entries, and go test
// runs it after the test:
//
//	func init() { codec.Register("json", newJSON) }
//	func TestRegister(t *testing.T) { codec.Reset(); … }
//	func BenchmarkEncode(b *testing.B) { for b.Loop() { codec.Encode("json", v) } }
//
// The rule finds packages in which an init function registers something. It knows functions such as
// Reset by their names, and reads the code of others. It accepts a test that may register again in
// a deferred call.

// reportEmptying reports a call in a test that empties a registry. The call may be of a variable
// with such a function, or be in a function of the test files. The list callers has the test and
// the functions that lead to the call.
func (in *input) reportEmptying(callers []*ast.FuncDecl, call *ast.CallExpr, registries map[*types.Package]*benchmark) {
	for _, called := range in.flowGraph().Called(call, nil) {
		if called.Object == nil {
			continue
		}
		mayRestore := func(fn *ast.FuncDecl) bool { return in.mayFillAgain(fn, called.Object.Pkg()) }
		helper, isDeclared := called.Node.(*ast.FuncDecl)
		isHelper := isDeclared && in.isTestCode(helper) && !resetPrefix.MatchString(helper.Name.Name)
		if !isHelper {
			if !slices.ContainsFunc(callers, mayRestore) {
				in.reportEmptied(call, called.Object, registries)
			}
			continue
		}
		if len(callers) > maxTimedDepth || helper.Body == nil || in.callee(call) == nil {
			continue
		}
		inspectPath(helper.Body, func(n ast.Node, path []ast.Node) bool {
			if inner, ok := n.(*ast.CallExpr); ok && !in.mayNotRun(path) {
				in.reportEmptying(append(slices.Clone(callers), helper), inner, registries)
			}
			return true
		})
	}
}

// mayNotRun reports whether the last node of a path may not run. It is isConditional, except that
// it knows that t.Run runs its function.
func (in *input) mayNotRun(path []ast.Node) bool {
	for i, n := range path {
		lit, ok := n.(*ast.FuncLit)
		if !ok {
			if isConditional(path[i : i+1]) {
				return true
			}
			continue
		}
		run, isCall := path[max(0, i-1)].(*ast.CallExpr)
		if !isCall || !isMethodOf(in.callee(run), "testing", "T", "Run") || !slices.Contains(run.Args, ast.Expr(lit)) {
			return true
		}
	}
	return false
}

// reportEmptied reports a call of fn if this empties one of registries. It then deletes that
// registry from the map, so that it is reported once.
func (in *input) reportEmptied(call *ast.CallExpr, fn *types.Func, registries map[*types.Package]*benchmark) {
	if fn == nil || fn.Signature().Recv() != nil {
		return
	}
	dependent := registries[fn.Pkg()]
	if dependent == nil || !registryResetName.MatchString(fn.Name()) && !in.emptiesGlobal(fn) {
		return
	}
	in.report(call, "%s removes what an init function registered, although %s, which runs later, needs it", formatExpr(call), dependent.name)
	delete(registries, fn.Pkg())
}

// registryResetName matches functions that surely empty a registry, such as ResetAll.
var registryResetName = lazyregexp.New(`^(Reset|Clear|Unregister|Deregister)` +
	`(All|Registry|Global|Globals|Types|Metadata|Mappings|Handlers|Codecs|Drivers)?$`)

// resetPrefix matches functions that may empty a registry. emptiesGlobal reads their code.
var resetPrefix = lazyregexp.New(`^(Reset|Clear|Unregister|Deregister|Forget)`)

// emptiesGlobal reports whether a function such as ForgetUser clears or sets a map in a package
// variable.
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

// mayFillAgain reports whether a test may register something with pkg again, in a defer statement
// or a call of Cleanup.
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

// findRegistries returns the packages in which an init function of this package registers
// something. The value is a benchmark that calls the package and does not register anything itself.
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

// findImported returns the tested package if an import may register something with it:
//
//	import _ "example.com/codec/wire"
//
// The tests must be in a package of their own, and the tested one must have a function such as
// Register. Otherwise it returns nil.
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

// looksUpName reports whether root calls a function of a package with a string parameter, which may
// be the name of an entry.
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

// packagesOf returns the packages whose functions root calls. The value is true if one of the
// functions registers something.
func (in *input) packagesOf(root ast.Node) map[*types.Package]bool {
	out := map[*types.Package]bool{}
	for call := range nodesOf[*ast.CallExpr](root) {
		if fn := in.callee(call); fn != nil && fn.Pkg() != nil && fn.Signature().Recv() == nil {
			out[fn.Pkg()] = out[fn.Pkg()] || strings.Contains(fn.Name(), "Register") || strings.HasPrefix(fn.Name(), "Precompile")
		}
	}
	return out
}
