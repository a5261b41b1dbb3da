package gobench

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"github.com/tarebench/tare/internal/lazyregexp"
)

// This file is a part of the rule globals-changed. A test empties a registry, a table to which
// Register functions add entries. The benchmark needs these entries.

// reportEmptying reports a call in a test that empties a registry. The call may be of a variable with
// such a function. It may be in test helpers: around has the test and these.
func (in *input) reportEmptying(around []*ast.FuncDecl, call *ast.CallExpr, registries map[*types.Package]*benchmark) {
	for _, called := range in.flowGraph().Called(call, nil) {
		if called.Object == nil {
			continue
		}
		mayRestore := func(fn *ast.FuncDecl) bool { return in.mayFillAgain(fn, called.Object.Pkg()) }
		helper, isDeclared := called.Node.(*ast.FuncDecl)
		isHelper := isDeclared && in.isHarness(helper) && !resetPrefix.MatchString(helper.Name.Name)
		if !isHelper {
			if !slices.ContainsFunc(around, mayRestore) {
				in.reportEmptied(call, called.Object, registries)
			}
			continue
		}
		if len(around) > maxTimedDepth || helper.Body == nil || in.callee(call) == nil {
			continue
		}
		inspectPath(helper.Body, func(n ast.Node, path []ast.Node) bool {
			if inner, ok := n.(*ast.CallExpr); ok && !in.mayNotRun(path) {
				in.reportEmptying(append(slices.Clone(around), helper), inner, registries)
			}
			return true
		})
	}
}

// mayNotRun is isConditional without the function literals of t.Run.
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

// reportEmptied reports a call of fn if this empties one of registries, and deletes this one.
func (in *input) reportEmptied(call *ast.CallExpr, fn *types.Func, registries map[*types.Package]*benchmark) {
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

// mayFillAgain reports whether a test restores a registry of pkg, by defer or Cleanup.
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
// something. The value is a benchmark that calls the package and registers nothing itself.
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

// findImported returns the tested package if an import may register things in it:
//
//	import _ "example.com/codec/wire"
//
// It needs the package of external tests, and a function such as Register. Else it returns nil.
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

// looksUpName reports whether root calls a function of a package with a string parameter. This may
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

// packagesOf returns the packages whose functions root calls. The value is true if one registers
// something.
func (in *input) packagesOf(root ast.Node) map[*types.Package]bool {
	out := map[*types.Package]bool{}
	for call := range nodesOf[*ast.CallExpr](root) {
		if fn := in.callee(call); fn != nil && fn.Pkg() != nil && fn.Signature().Recv() == nil {
			out[fn.Pkg()] = out[fn.Pkg()] || strings.Contains(fn.Name(), "Register") || strings.HasPrefix(fn.Name(), "Precompile")
		}
	}
	return out
}
