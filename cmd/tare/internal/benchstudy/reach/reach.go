// Package reach finds out which benchmarks of a module can reach what a change
// changes, by what functions refer to.
//
// It leaves out no benchmark that may run changed code. A function counts as
// reached if a reached one, or anything that runs before a benchmark, calls it or
// takes its value, and a method also if a value of its type becomes an interface
// or an argument of a type parameter, itself or inside of another value: so what
// is called through interfaces and by reflection is reached as well. Where a
// change is more than the bodies of functions every benchmark is reached whose
// package depends on it.
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
	Base, Head string              // tops of both trees, absolute
	Files      []string            // that differ, from the top
	Deps       map[string][]string // directories that the tests of each package need, absolute, in head
	Dir        string              // where the go command runs
	Env        []string
	Flags      []string // of builds, e.g. -tags=x
}

// Reached selects the benchmarks that a change reaches.
type Reached struct {
	all       bool
	deps      map[string][]string // directories by package
	wholeDirs map[string]bool     // directories in which more than functions changed
	changed   map[string][]lines  // functions by file
	graph     *graph              // nil if it was not needed
}

// Find reads the change. An error of the call graph does not stop it: it then selects complete
// packages, and returns the reason as well.
func Find(ctx context.Context, q Query) (*Reached, error) {
	r := &Reached{deps: q.Deps, wholeDirs: map[string]bool{}, changed: map[string][]lines{}}
	is := map[string]bool{}
	for _, dirs := range q.Deps {
		for _, d := range dirs {
			is[d] = true
		}
	}
	for _, f := range q.Files {
		switch name := filepath.Base(f); {
		case name == "go.mod" || name == "go.sum" || name == "go.work" || name == "modules.txt":
			r.all = true
			return r, nil
		case filepath.Ext(name) == ".md":
			continue
		}
		r.addFile(q, f, is)
	}
	if len(r.changed) == 0 {
		return r, nil
	}
	g, err := buildGraph(ctx, q)
	if err != nil {
		for file := range r.changed {
			r.wholeDirs[filepath.Dir(file)] = true
		}
		return r, fmt.Errorf("what calls what cannot be told, and --changed goes by packages: %w", err)
	}
	r.graph = g
	return r, nil
}

// addFile adds a file that differs. It counts for the package in its directory or in the nearest
// one above.
func (r *Reached) addFile(q Query, file string, is map[string]bool) {
	path := filepath.Join(q.Head, filepath.FromSlash(file))
	if dir := filepath.Dir(path); is[dir] && filepath.Ext(path) == ".go" {
		was, errWas := os.ReadFile(filepath.Join(q.Base, filepath.FromSlash(file)))
		now, errNow := os.ReadFile(path)
		if errWas == nil && errNow == nil {
			if changed, ok := changedFunctions(was, now); ok {
				if len(changed) > 0 {
					r.changed[path] = changed
				}
				return
			}
		}
	}
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		if is[dir] {
			r.wholeDirs[dir] = true
			return
		}
		if dir == q.Head || dir == filepath.Dir(dir) {
			return
		}
	}
}

// Package reports whether a benchmark of the package may be reached.
func (r *Reached) Package(path string) bool {
	if r.all {
		return true
	}
	return slices.ContainsFunc(r.deps[path], func(dir string) bool {
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

// Benchmark reports whether a benchmark is reached: id is import/path.Name, with _test after the
// path of an external test.
func (r *Reached) Benchmark(id string) bool {
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
	if _, there := r.graph.nodes[id]; !there {
		return true
	}
	// What runs before: TestMain, and the init functions of all that is needed.
	roots := []string{id, path + ".TestMain", tested + ".TestMain", tested + "_test.TestMain"}
	for name, n := range r.graph.nodes {
		if n.init && slices.Contains(deps, n.dir) {
			roots = append(roots, name)
		}
	}
	return r.graph.canReach(roots, r.changed)
}

// node is a function of the module with all references of its test variants.
type node struct {
	places []place // several if variants of a package differ
	dir    string
	init   bool
	calls  map[string]bool
}

type place struct {
	file string
	lines
}

type graph struct{ nodes map[string]*node }

// canReach reports whether a changed function is reached from roots.
func (g *graph) canReach(roots []string, changed map[string][]lines) bool {
	seen := map[string]bool{}
	for len(roots) > 0 {
		name := roots[len(roots)-1]
		roots = roots[:len(roots)-1]
		n := g.nodes[name]
		if n == nil || seen[name] {
			continue
		}
		seen[name] = true
		for _, at := range n.places {
			for _, c := range changed[at.file] {
				if at.first <= c.last && c.first <= at.last {
					return true
				}
			}
		}
		for to := range n.calls {
			roots = append(roots, to)
		}
	}
	return false
}

// buildGraph loads the packages below head that tests need, and follows references.
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

// functionKey names a function as all variants of its package do.
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

// addFunction adds the references of a function. A function literal is part of the function around
// it.
func (g *graph) addFunction(program *ssa.Program, f *ssa.Function) {
	if f.Pkg == nil && f.Origin() == nil && f.Object() == nil && f.Parent() == nil || len(f.Blocks) == 0 {
		return
	}
	top := f
	for top.Parent() != nil {
		top = top.Parent()
	}
	name := functionKey(f)
	n := g.nodes[name]
	if n == nil {
		n = &node{calls: map[string]bool{}, init: strings.HasPrefix(top.Name(), "init") && top.Signature.Recv() == nil && (top.Name() == "init" || strings.HasPrefix(top.Name(), "init#"))}
		g.nodes[name] = n
	}
	if syntax := top.Syntax(); syntax != nil && top.Synthetic == "" {
		from, to := program.Fset.Position(syntax.Pos()), program.Fset.Position(syntax.End())
		if at := (place{from.Filename, lines{from.Line, to.Line}}); !slices.Contains(n.places, at) {
			n.places = append(n.places, at)
		}
		n.dir = filepath.Dir(from.Filename)
	}
	if n.init && n.dir == "" && top.Pkg != nil { // the one that initializes variables has no position
		for _, m := range top.Pkg.Members {
			if at := program.Fset.Position(m.Pos()); at.IsValid() && filepath.IsAbs(at.Filename) {
				n.dir = filepath.Dir(at.Filename)
				break
			}
		}
	}
	seen := map[types.Type]bool{}
	var operands []*ssa.Value
	for _, block := range f.Blocks {
		for _, instruction := range block.Instrs {
			operands = instruction.Operands(operands[:0])
			for _, v := range operands {
				to, is := (*v).(*ssa.Function)
				if !is {
					continue
				}
				n.calls[functionKey(to)] = true
				for _, t := range to.TypeArgs() {
					n.addMethods(program, t, seen)
				}
			}
			if made, is := instruction.(*ssa.MakeInterface); is {
				n.addMethods(program, made.X.Type(), seen)
			}
		}
	}
}

// addMethods adds the methods of a type and of the types inside of it: they can be called once a
// value of it is an interface.
func (n *node) addMethods(program *ssa.Program, t types.Type, seen map[types.Type]bool) {
	if seen[t] {
		return
	}
	seen[t] = true
	if _, is := t.Underlying().(*types.Interface); !is {
		for _, of := range []types.Type{t, types.NewPointer(t)} {
			set := program.MethodSets.MethodSet(of)
			for i := range set.Len() {
				if f, ok := set.At(i).Obj().(*types.Func); ok {
					n.calls[f.Origin().FullName()] = true
				}
			}
		}
	}
	switch u := t.Underlying().(type) {
	case *types.Pointer:
		n.addMethods(program, u.Elem(), seen)
	case *types.Slice:
		n.addMethods(program, u.Elem(), seen)
	case *types.Array:
		n.addMethods(program, u.Elem(), seen)
	case *types.Chan:
		n.addMethods(program, u.Elem(), seen)
	case *types.Map:
		n.addMethods(program, u.Key(), seen)
		n.addMethods(program, u.Elem(), seen)
	case *types.Struct:
		for i := range u.NumFields() {
			n.addMethods(program, u.Field(i).Type(), seen)
		}
	}
}
