// Package bind plans how Go structs that the user has declared are filled from C structs. [Load] reads the
// user's package. [Derive] decides which member each field takes, and whether its type can store the
// values. Package emit generates code from this plan.
package bind

import (
	"cmp"
	"errors"
	"fmt"
	"go/ast"
	"go/build"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/tarebench/tare/cgocopy/internal/plan"
)

// Source is a Go package of the user. Only its type declarations are read.
type Source struct {
	Name  string
	fset  *token.FileSet
	types *types.Package
	sizes types.Sizes
	decls map[string]*ast.TypeSpec // by the name of the type
	files map[string]*ast.File     // file of each declaration, by the name of the type
}

// Load reads the package in dir: the files that c selects, without generated ones. Sizes are those of a Go
// architecture, e.g. amd64. Function bodies are not checked, so packages that only they need may be
// missing.
func Load(c build.Context, dir string, isGenerated func(name string) bool, arch string) (*Source, error) {
	p, err := c.ImportDir(dir, 0)
	if err != nil {
		var several *build.MultiplePackageError
		if errors.As(err, &several) {
			return nil, fmt.Errorf("%s holds more than one package, %s and %s", dir, several.Packages[0], several.Packages[1])
		}
		return nil, fmt.Errorf("read the package in %s: %s", dir, strings.Join(strings.Fields(err.Error()), " "))
	}
	s := &Source{Name: p.Name, fset: token.NewFileSet(), decls: map[string]*ast.TypeSpec{}, files: map[string]*ast.File{}}
	if s.sizes = types.SizesFor("gc", arch); s.sizes == nil {
		return nil, fmt.Errorf("unknown architecture %s", arch)
	}
	var files []*ast.File
	for _, name := range slices.Concat(p.GoFiles, p.CgoFiles) {
		if isGenerated(name) {
			continue
		}
		f, err := parser.ParseFile(s.fset, filepath.Join(dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
		s.addDecls(f)
	}
	conf := types.Config{IgnoreFuncBodies: true, FakeImportC: true, Sizes: s.sizes, Error: func(error) {}, Importer: s.newImporter(dir)}
	s.types, _ = conf.Check(dir, s.fset, files, nil) // errors in code that no field needs do not matter
	return s, nil
}

func (s *Source) addDecls(f *ast.File) {
	for _, d := range f.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok {
			continue
		}
		for _, spec := range g.Specs {
			if t, ok := spec.(*ast.TypeSpec); ok {
				s.decls[t.Name.Name], s.files[t.Name.Name] = t, f
			}
		}
	}
}

type importerFunc func(path string) (*types.Package, error)

// Import calls the function.
func (f importerFunc) Import(path string) (*types.Package, error) { return f(path) }

// newImporter returns an importer for the packages that type declarations name. Functions may need many
// more, which would take long.
func (s *Source) newImporter(dir string) types.Importer {
	needed := map[string]bool{}
	for name, t := range s.decls {
		ast.Inspect(t, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if x, ok := sel.X.(*ast.Ident); ok {
				for _, path := range importsOf(s.files[name], x.Name) {
					needed[path] = true
				}
			}
			return true
		})
	}
	if len(needed) > 0 && build.Default.GOROOT == "" {
		build.Default.GOROOT = goRoot() // the source importer has no other setting for it
	}
	from, _ := importer.ForCompiler(s.fset, "source", nil).(types.ImporterFrom)
	return importerFunc(func(path string) (*types.Package, error) {
		switch {
		case path == "unsafe":
			return types.Unsafe, nil
		case needed[path] && from != nil:
			return from.ImportFrom(path, dir, 0)
		}
		return nil, fmt.Errorf("%s is not needed for this struct", path)
	})
}

// goRoot returns the GOROOT of the go command: a program that was compiled with -trimpath knows none.
// Without a go command it returns "", and types of the standard library are unknown.
var goRoot = sync.OnceValue(func() string {
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
})

// importsOf returns the import paths that contain a package name. Which path belongs to the name is only
// known after the import.
func importsOf(f *ast.File, name string) []string {
	var list []string
	for _, i := range f.Imports {
		path, err := strconv.Unquote(i.Path.Value)
		isMatch := strings.Contains(path, name)
		if i.Name != nil {
			isMatch = i.Name.Name == name
		}
		if err == nil && isMatch {
			list = append(list, path)
		}
	}
	return list
}

// Has reports whether the package declares a type of this name.
func (s *Source) Has(name string) bool { return s.decls[name] != nil }

func (s *Source) positionOf(p token.Pos) string {
	pos := s.fset.Position(p)
	if !pos.IsValid() {
		return ""
	}
	return fmt.Sprintf("%s:%d", pos.Filename, pos.Line)
}

// findStruct returns the struct type that the package declares by a name. Otherwise why is the reason, a
// sentence without its subject.
func (s *Source) findStruct(name string) (t *types.Named, why string) {
	o := s.types.Scope().Lookup(name)
	if o == nil {
		return nil, "is not declared in package " + s.Name
	}
	n, ok := types.Unalias(o.Type()).(*types.Named)
	if !ok || n.Obj().Pkg() != s.types {
		return nil, "is no type declared in package " + s.Name
	}
	if n.TypeParams().Len() > 0 {
		return nil, "has type parameters"
	}
	if _, ok := n.Underlying().(*types.Struct); !ok {
		return nil, "is no struct"
	}
	return n, ""
}

// existingMethod returns a method of n that has the name of a generated method, or "".
func (s *Source) existingMethod(n *types.Named) (string, token.Pos) {
	for m := range n.Methods() {
		if plan.IsMethod(m.Name()) {
			return m.Name(), m.Pos()
		}
	}
	return "", token.NoPos
}

// formatType returns a type as source, and the packages to import for it.
func (s *Source) formatType(t types.Type) (text string, imports []string) {
	text = types.TypeString(t, func(p *types.Package) string {
		if p == s.types {
			return ""
		}
		imports = append(imports, p.Path())
		return p.Name()
	})
	slices.SortFunc(imports, cmp.Compare[string])
	return text, slices.Compact(imports)
}
