// Package reach finds out which benchmarks of a module may run code that a change modifies. It may
// select too many, but omits none. For example, the change is in parse.scan. Then it selects
// BenchmarkParse, which calls parse.Parse, which calls scan.
//
// It starts from a benchmark and from the functions that run before any. It follows calls, and
// functions that are used as values. Interfaces and reflection may call methods. So it follows all
// methods of a type that is converted to an interface or used as a type argument. If a change is
// more than the bodies of functions, it selects all benchmarks that depend on the package.
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
	Base, Head string              // top directories of both trees, absolute
	Files      []string            // files that differ, relative to the top
	Deps       map[string][]string // directories in head that the tests of each package need
	Dir        string              // working directory of the go command
	Env        []string            // environment of the go command
	Flags      []string            // e.g. -tags=x
}

// Reached selects the benchmarks that a change reaches.
type Reached struct {
	all       bool                   // the change reaches all benchmarks
	deps      map[string][]string    // see Query.Deps
	wholeDirs map[string]bool        // directories in which more than functions changed
	changed   map[string][]lineRange // changed functions by file
	graph     *graph                 // references between functions; nil if not needed or unknown
}

// Find reads the change. With an error it also returns a Reached, which selects all benchmarks that
// depend on a changed package.
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

// addFile adds a file that differs: its changed functions, or the complete package if more changed.
// A file such as test data belongs to the nearest package above.
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
			return
		}
	}
}

// compareFiles returns the functions of a file of head that differ from those in base. It returns
// false if more than functions differ, or if only one side has the file.
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

// ReachesBenchmark reports whether the change may reach a benchmark. id is import/path.Name or
// import/path_test.Name.
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
		return true // the change may reach it
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

// node is a function with its references, in a package with and without its tests.
type node struct {
	sources []sourceRange   // several if the variants differ
	dir     string          // package's directory, or ""
	isInit  bool            // the function initializes its package
	refs    map[string]bool // names of functions
}

type sourceRange struct {
	file string
	lineRange
}

// graph contains the functions of the module by name, see functionKey.
type graph struct{ nodes map[string]*node }

func (g *graph) canReach(roots []string, changed map[string][]lineRange) bool {
	seen := map[string]bool{}
	for open := roots; len(open) > 0; {
		name := open[len(open)-1] // depth first
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

// functionKey returns the name of a function. All instances of a generic function have one name, and
// a function literal has that of the function around it.
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

// addFunction adds a function and its references. It skips functions without a body, and those that
// the compiler makes without a package.
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

// addSource adds the lines of a function to n, and sets the directory of its package. The function
// that initializes variables has no lines.
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

// addReferences adds what f refers to, and the methods of types that f converts to interfaces or
// uses as type arguments.
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

// addMethods adds references to the methods of a type and of the types inside of it. Once a value is
// in an interface, all can be called. seen has the types that were added.
func (n *node) addMethods(program *ssa.Program, t types.Type, added map[types.Type]bool) {
	if added[t] {
		return
	}
	added[t] = true
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
		n.addMethods(program, u.Key(), added)
		n.addMethods(program, u.Elem(), added)
	case *types.Struct:
		for i := range u.NumFields() {
			n.addMethods(program, u.Field(i).Type(), added)
		}
	case interface{ Elem() types.Type }: // pointer, slice, array or channel
		n.addMethods(program, u.Elem(), added)
	}
}
