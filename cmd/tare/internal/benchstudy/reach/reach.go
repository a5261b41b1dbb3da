// Package reach finds out which benchmarks of a module may run code that a change modifies, from the
// references between functions. It may select too many benchmarks, but omits none that runs such code. For
// example, if the change is in parse.scan, it selects BenchmarkParse, which calls parse.Parse, which calls scan.
//
// The functions that a benchmark may run are found like this. It starts from the benchmark and from the
// functions that run before any benchmark. From there it follows calls, and functions that are used as
// values. If a function converts a value to an interface, or uses a type as a type argument, interfaces
// and reflection may call the methods of the type and of the types inside of it. If a change is more
// than the bodies of functions, all benchmarks are selected whose package depends on the changed package.
package reach

import (
	"context"
	"errors"
	"fmt"
	"go/types"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
	"golang.org/x/tools/go/ssa"
	"golang.org/x/tools/go/ssa/ssautil"

	gobuild "github.com/tarebench/tare/internal/build"
	"github.com/tarebench/tare/internal/machine"
)

// Query describes a change of a module, and the benchmarks to select from.
type Query struct {
	Base, Head string              // absolute paths of the tops of both trees
	Files      []string            // files that differ, relative to the top
	Deps       map[string][]string // absolute directories, in head, that the tests of each package need
	Dir        string              // working directory of the go command
	Env        []string            // its environment
	Flags      []string            // build flags, e.g. -tags=x
}

// Reached selects the benchmarks that a change reaches.
type Reached struct {
	all       bool                   // the change reaches all benchmarks
	deps      map[string][]string    // Query.Deps
	wholeDirs map[string]bool        // directories in which more than functions changed
	changed   map[string][]lineRange // changed functions by file
	graph     *graph                 // references between functions; nil if not needed or unknown
}

// Find reads the change. If it cannot find the references between functions, it returns an error together
// with a Reached that selects all benchmarks of each package that depends on a changed one.
func Find(ctx context.Context, q Query) (*Reached, error) {
	r := &Reached{deps: q.Deps, wholeDirs: map[string]bool{}, changed: map[string][]lineRange{}}
	isPackage := map[string]bool{} // by directory
	for _, dirs := range q.Deps {
		for _, d := range dirs {
			isPackage[d] = true
		}
	}
	for _, f := range q.Files {
		switch name := filepath.Base(f); name {
		case "go.mod", "go.sum", "go.work", "modules.txt":
			r.all = true // versions of modules may differ
			return r, nil
		}
		if isDocumentation := filepath.Ext(f) == ".md"; !isDocumentation {
			r.addFile(q, f, isPackage)
		}
	}
	if len(r.changed) == 0 {
		return r, nil
	}
	loaded, err := buildGraph(ctx, q)
	if err != nil {
		for file := range r.changed {
			r.wholeDirs[filepath.Dir(file)] = true
		}
		return r, fmt.Errorf("what calls what cannot be determined, and --changed goes by packages: %w", err)
	}
	r.graph = loaded
	return r, nil
}

// addFile adds a file that differs: its changed functions, or, if more than functions changed, the complete
// package. A file that is not in a package, such as test data, belongs to the nearest package above.
func (r *Reached) addFile(q Query, file string, isPackage map[string]bool) {
	path := filepath.Join(q.Head, filepath.FromSlash(file))
	if isSource := isPackage[filepath.Dir(path)] && filepath.Ext(path) == ".go"; isSource {
		changed, ok := compareFiles(filepath.Join(q.Base, filepath.FromSlash(file)), path)
		if len(changed) > 0 {
			r.changed[path] = changed
		}
		if ok {
			return
		}
	}
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		if isPackage[dir] {
			r.wholeDirs[dir] = true
			return
		}
		isTop := dir == q.Head || dir == filepath.Dir(dir)
		if isTop {
			return // no package uses the file
		}
	}
}

// compareFiles returns the functions of a file of head that differ from its file in base. It returns false
// if more than functions differ, or if a file cannot be read, e.g. because only one side has it.
func compareFiles(basePath, headPath string) (changed []lineRange, ok bool) {
	base, errBase := os.ReadFile(basePath)
	head, errHead := os.ReadFile(headPath)
	if errBase != nil || errHead != nil {
		return nil, false
	}
	return changedFunctions(base, head)
}

// ReachesPackage reports whether the change may reach a benchmark of the package.
func (r *Reached) ReachesPackage(importPath string) bool {
	if r.all {
		return true
	}
	return slices.ContainsFunc(r.deps[importPath], func(dir string) bool {
		if r.wholeDirs[dir] {
			return true
		}
		for file := range r.changed {
			if filepath.Dir(file) == dir {
				return true
			}
		}
		return false
	})
}

// ReachesBenchmark reports whether the change may reach a benchmark. id is import/path.Name, with
// _test after the path of an external test.
func (r *Reached) ReachesBenchmark(id string) bool {
	dot := strings.LastIndexByte(id, '.')
	path := id[:max(dot, 0)]
	tested := strings.TrimSuffix(path, "_test")
	deps, known := r.deps[path]
	if !known {
		deps = r.deps[tested]
	}
	switch {
	case r.all, slices.ContainsFunc(deps, func(dir string) bool { return r.wholeDirs[dir] }):
		return true
	case r.graph == nil:
		return false
	}
	if _, isKnown := r.graph.nodes[id]; !isKnown {
		return true // the graph does not know the benchmark, so the change may reach it
	}
	// TestMain and the init functions of all dependencies run before the benchmark.
	roots := []string{id, path + ".TestMain", tested + ".TestMain", tested + "_test.TestMain"}
	for name, n := range r.graph.nodes {
		if n.isInit && slices.Contains(deps, n.dir) {
			roots = append(roots, name)
		}
	}
	return r.graph.canReach(roots, r.changed)
}

// node is a function with its references. A package may be loaded in several variants, with and without its
// tests; a node has the references of the function in all of them.
type node struct {
	sources []sourceRange   // source of the function; several if the variants differ
	dir     string          // directory of the package; "" if unknown
	isInit  bool            // the function initializes its package
	refs    map[string]bool // names of the functions that it refers to
}

// sourceRange is a range of lines in a file.
type sourceRange struct {
	file string
	lineRange
}

// graph contains the functions of the module by name, see functionKey.
type graph struct{ nodes map[string]*node }

// canReach reports whether references lead from roots to a changed function.
func (g *graph) canReach(roots []string, changed map[string][]lineRange) bool {
	seen := map[string]bool{}
	for open := roots; len(open) > 0; {
		name := open[len(open)-1] // the last one: depth first
		open = open[:len(open)-1]
		n := g.nodes[name]
		if n == nil || seen[name] {
			continue
		}
		seen[name] = true
		for _, p := range n.sources {
			for _, c := range changed[p.file] {
				if overlap := p.first <= c.last && c.first <= p.last; overlap {
					return true
				}
			}
		}
		for callee := range n.refs {
			open = append(open, callee)
		}
	}
	return false
}

// buildGraph loads the packages below head that tests need, and collects their references.
func buildGraph(ctx context.Context, q Query) (*graph, error) {
	var dirs []string
	for _, deps := range q.Deps {
		for _, d := range deps {
			if rel, err := filepath.Rel(q.Head, d); d != "" && err == nil && filepath.IsLocal(rel) {
				dirs = append(dirs, d)
			}
		}
	}
	slices.Sort(dirs)
	env := q.Env
	if tmp, remove, err := machine.TempDir("go"); err == nil {
		defer remove()
		env = append(slices.Clone(env), gobuild.TempEnv(tmp)...)
	}
	initial, err := packages.Load(&packages.Config{
		Context: ctx, Mode: packages.LoadSyntax | packages.NeedModule, Dir: q.Dir, Env: env, BuildFlags: q.Flags, Tests: true,
	}, slices.Compact(dirs)...)
	if err != nil {
		return nil, err
	}
	for _, p := range initial {
		if len(p.Errors) > 0 {
			return nil, errors.New(p.Errors[0].Msg)
		}
	}
	program, built := ssautil.Packages(initial, 0)
	program.Build()
	g := &graph{nodes: map[string]*node{}}
	for i, p := range built {
		if p == nil {
			return nil, fmt.Errorf("package %s has no types", initial[i].PkgPath)
		}
	}
	for f := range ssautil.AllFunctions(program) {
		g.addFunction(program, f)
	}
	return g, nil
}

// functionKey returns the name of a function, which is the same in all variants of its package, for
// all instances of a generic function, and for the literals inside of the function.
func functionKey(f *ssa.Function) string {
	if f.Origin() != nil {
		f = f.Origin()
	}
	for f.Parent() != nil {
		f = f.Parent()
	}
	if o, ok := f.Object().(*types.Func); ok && o.Name() != "init" {
		return o.Origin().FullName()
	}
	if f.Pkg == nil {
		return f.String()
	}
	return f.Pkg.Pkg.Path() + "." + f.Name()
}

// addFunction adds a function and its references. The references of a function literal belong to the function
// around it. Functions without a body, and those that the compiler makes without a package, are not added.
func (g *graph) addFunction(program *ssa.Program, f *ssa.Function) {
	isSynthetic := f.Pkg == nil && f.Origin() == nil && f.Object() == nil && f.Parent() == nil
	if isSynthetic || len(f.Blocks) == 0 {
		return
	}
	top := f
	for top.Parent() != nil {
		top = top.Parent()
	}
	name := functionKey(f)
	n := g.nodes[name]
	if n == nil {
		isInit := top.Name() == "init" || strings.HasPrefix(top.Name(), "init#")
		n = &node{refs: map[string]bool{}, isInit: isInit && top.Signature.Recv() == nil}
		g.nodes[name] = n
	}
	n.addSource(program, top)
	n.addReferences(program, f)
}

// addSource adds the lines of a function of the package and sets the directory of the package. The function
// that initializes variables has no lines: its directory is that of another member of the package.
func (n *node) addSource(program *ssa.Program, top *ssa.Function) {
	if syntax := top.Syntax(); syntax != nil && top.Synthetic == "" {
		start, end := program.Fset.Position(syntax.Pos()), program.Fset.Position(syntax.End())
		if p := (sourceRange{start.Filename, lineRange{start.Line, end.Line}}); !slices.Contains(n.sources, p) {
			n.sources = append(n.sources, p)
		}
		n.dir = filepath.Dir(start.Filename)
	}
	if hasNoLines := n.isInit && n.dir == ""; !hasNoLines || top.Pkg == nil {
		return
	}
	for _, m := range top.Pkg.Members {
		if pos := program.Fset.Position(m.Pos()); pos.IsValid() && filepath.IsAbs(pos.Filename) {
			n.dir = filepath.Dir(pos.Filename)
			return
		}
	}
}

// addReferences adds the functions that f calls or uses as values, and the methods of types that f converts
// to interfaces or uses as type arguments.
func (n *node) addReferences(program *ssa.Program, f *ssa.Function) {
	seen := map[types.Type]bool{}
	var operands []*ssa.Value
	for _, block := range f.Blocks {
		for _, instruction := range block.Instrs {
			operands = instruction.Operands(operands[:0])
			for _, v := range operands {
				callee, ok := (*v).(*ssa.Function)
				if !ok {
					continue
				}
				n.refs[functionKey(callee)] = true
				for _, t := range callee.TypeArgs() {
					n.addMethods(program, t, seen)
				}
			}
			if conversion, ok := instruction.(*ssa.MakeInterface); ok {
				n.addMethods(program, conversion.X.Type(), seen)
			}
		}
	}
}

// addMethods adds references to the methods of a type and of the types inside of it, because these can be
// called once a value of the type is in an interface. seen has the types that were added.
func (n *node) addMethods(program *ssa.Program, t types.Type, seen map[types.Type]bool) {
	if seen[t] {
		return
	}
	seen[t] = true
	if _, isInterface := t.Underlying().(*types.Interface); !isInterface {
		for _, receiver := range []types.Type{t, types.NewPointer(t)} {
			set := program.MethodSets.MethodSet(receiver)
			for i := range set.Len() {
				if f, ok := set.At(i).Obj().(*types.Func); ok {
					n.refs[f.Origin().FullName()] = true
				}
			}
		}
	}
	switch u := t.Underlying().(type) {
	case *types.Map:
		n.addMethods(program, u.Key(), seen)
		n.addMethods(program, u.Elem(), seen)
	case *types.Struct:
		for i := range u.NumFields() {
			n.addMethods(program, u.Field(i).Type(), seen)
		}
	case interface{ Elem() types.Type }: // pointer, slice, array or channel
		n.addMethods(program, u.Elem(), seen)
	}
}
