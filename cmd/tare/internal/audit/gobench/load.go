package gobench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/packages"

	"github.com/tarebench/tare/cmd/tare/internal/audit"
	"github.com/tarebench/tare/internal/format"
)

// Report holds the findings of directories and files.
type Report struct {
	Findings   []audit.Finding
	Benchmarks int      // functions and literals that have a *testing.B
	Files      int      // that hold them
	Notes      []string // a line each: what could not be read, or not completely
}

// directoriesAtOnce bounds how many directories are in memory at a time.
const directoriesAtOnce = 16

// Read finds the mistakes in the benchmarks of paths: Go files, of which each is
// read with its package, and directories with all below them, except for what the
// go command passes over. What does not compile is read as far as it has types.
func Read(ctx context.Context, paths []string) (Report, error) {
	var rep Report
	dirs, only, err := findDirectories(paths)
	if err != nil {
		return rep, err
	}
	for start := 0; start < len(dirs); {
		end := start + 1
		for end < len(dirs) && end-start < directoriesAtOnce && dirs[end].module == dirs[start].module {
			end++
		}
		if err := rep.readModule(ctx, dirs[start:end], only); err != nil {
			return rep, err
		}
		start = end
	}
	rep.Findings = audit.SortFindings(rep.Findings)
	return rep, nil
}

// directory is one that holds benchmarks.
type directory struct {
	path   string // absolute
	module string // the directory of its go.mod, absolute; "" if it has none
}

// findDirectories returns the directories with benchmarks that paths name, those
// of a module next to each other. only holds the files that are named, nil if
// directories are; nothing is reported of other files in their directories.
func findDirectories(paths []string) (dirs []directory, only map[string]bool, err error) {
	seen := map[string]bool{}
	whole := map[string]bool{}
	add := func(dir string) {
		if !seen[dir] {
			seen[dir] = true
			dirs = append(dirs, directory{dir, moduleOf(dir)})
		}
	}
	only = map[string]bool{}
	for _, path := range paths {
		abs, err := filepath.Abs(path)
		if err != nil {
			return nil, nil, err
		}
		info, err := os.Stat(abs)
		switch {
		case err != nil:
			return nil, nil, err
		case !info.IsDir():
			only[abs] = true
			add(filepath.Dir(abs))
			continue
		}
		err = filepath.WalkDir(abs, func(file string, e fs.DirEntry, err error) error {
			switch name := e.Name(); {
			case err != nil:
				return err
			case e.IsDir() && file != abs && (name == "testdata" || name == "vendor" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_")):
				return fs.SkipDir
			case e.Type().IsRegular() && strings.HasSuffix(name, ".go") && hasBenchmarks(file):
				whole[filepath.Dir(file)] = true
				add(filepath.Dir(file))
			}
			return nil
		})
		if err != nil {
			return nil, nil, err
		}
	}
	for file := range only {
		if whole[filepath.Dir(file)] {
			delete(only, file)
		}
	}
	if len(whole) > 0 {
		for dir := range whole {
			only[dir] = true
		}
	}
	slices.SortStableFunc(dirs, func(a, b directory) int { return strings.Compare(a.module, b.module) })
	return dirs, only, nil
}

// hasBenchmarks reports whether a file mentions *testing.B. A file that cannot be
// read is one that may.
func hasBenchmarks(file string) bool {
	text, err := os.ReadFile(file)
	return err != nil || bytes.Contains(text, []byte("testing.B"))
}

// moduleOf returns the directory of the go.mod that a directory belongs to, "" if
// there is none.
func moduleOf(dir string) string {
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			return ""
		}
		dir = up
	}
}

// readModule reads directories of one module, those without one outside of all
// modules. only holds the files and directories that are asked for.
func (rep *Report) readModule(ctx context.Context, dirs []directory, only map[string]bool) error {
	pkgs, err := loadPackages(ctx, dirs, dirs[0].module != "")
	bare := false // of the module that they belong to
	if err == nil && areExcluded(pkgs) {
		rep.Notes = append(rep.Notes, format.Line(firstError(pkgs).Error(), 0))
		return nil
	}
	if dirs[0].module != "" && (err != nil || !haveSyntax(pkgs)) && ctx.Err() == nil {
		// The module needs what is not on this machine: its own files can be read without.
		why := err
		if why == nil {
			why = firstError(pkgs)
		}
		rep.Notes = append(rep.Notes, fmt.Sprintf("%s: read without its module: %s", dirs[0].module, format.Line(why.Error(), 0)))
		pkgs, err = loadPackages(ctx, dirs, false)
		bare = true
	}
	if err != nil {
		return fmt.Errorf("load packages of %s: %w", dirs[0].path, err)
	}
	pkgs = slices.DeleteFunc(pkgs, func(p *packages.Package) bool {
		return len(p.Syntax) == 0 || p.TypesInfo == nil || strings.HasSuffix(p.ID, ".test")
	})
	graph, err := checker.Analyze(newAnalyzers(), pkgs, &checker.Options{Sequential: true})
	if err != nil {
		return err
	}
	asked := func(file string) bool { return only[file] || only[filepath.Dir(file)] }
	for _, root := range graph.Roots {
		if root.Err != nil {
			return fmt.Errorf("%s: %w", root.Package.PkgPath, root.Err)
		}
		for _, f := range root.Result.([]audit.Finding) {
			if asked(f.File) {
				rep.Findings = append(rep.Findings, f)
			}
		}
	}
	if !bare {
		rep.noteErrors(pkgs)
	}
	rep.countBenchmarks(pkgs, asked)
	return nil
}

// noteErrors notes which packages do not compile, with the first error of each.
func (rep *Report) noteErrors(pkgs []*packages.Package) {
	noted := map[string]bool{}
	for _, p := range pkgs {
		if err := firstError([]*packages.Package{p}); err != nil && !noted[p.PkgPath] {
			noted[p.PkgPath] = true
			rep.Notes = append(rep.Notes, fmt.Sprintf("%s: does not compile, read as far as it has types: %s", p.PkgPath, format.Line(err.Error(), 300)))
		}
	}
}

// countBenchmarks counts what was read. A package and its variant with tests share
// files, which count once.
func (rep *Report) countBenchmarks(pkgs []*packages.Package, asked func(file string) bool) {
	counted := map[string]bool{}
	for _, p := range pkgs {
		for _, file := range p.Syntax {
			name := p.Fset.Position(file.FileStart).Filename
			if counted[name] || !asked(name) || !importsTesting(file) {
				continue
			}
			counted[name] = true
			if n := countBenchmarks(p.TypesInfo, file); n > 0 {
				rep.Files++
				rep.Benchmarks += n
			}
		}
	}
}

// loadMode has types of packages that are imported made from their source: nothing
// is compiled, so that nothing of what is read runs, and no compiler of C is needed.
const loadMode = packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports | packages.NeedDeps |
	packages.NeedTypes | packages.NeedTypesSizes | packages.NeedSyntax | packages.NeedTypesInfo | packages.NeedModule

// loadPackages loads directories with their tests, in their module or as in a
// GOPATH, where imports of other modules stay unknown.
func loadPackages(ctx context.Context, dirs []directory, inModule bool) ([]*packages.Package, error) {
	cfg := &packages.Config{Context: ctx, Mode: loadMode, Tests: true, Dir: dirs[0].path, Fset: token.NewFileSet(), Env: append(os.Environ(), "CGO_ENABLED=0")}
	if !inModule {
		cfg.Env = append(cfg.Env, "GO111MODULE=off", "GOFLAGS=")
	}
	patterns := make([]string, 0, len(dirs))
	asked := map[string]bool{}
	for _, d := range dirs {
		rel, err := filepath.Rel(dirs[0].path, d.path)
		if err != nil {
			return nil, err
		}
		if rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
			rel = "." + string(filepath.Separator) + rel
		}
		patterns = append(patterns, rel) // outside of modules no absolute ones are taken
		asked[d.path] = true
	}
	cfg.ParseFile = func(fset *token.FileSet, name string, src []byte) (*ast.File, error) {
		if asked[filepath.Dir(name)] {
			return parser.ParseFile(fset, name, src, parser.ParseComments|parser.AllErrors)
		}
		file, err := parser.ParseFile(fset, name, src, parser.SkipObjectResolution)
		if file != nil {
			dropBodies(file)
		}
		return file, err
	}
	return packages.Load(cfg, patterns...)
}

// dropBodies takes the bodies of functions from a file that is only imported.
func dropBodies(file *ast.File) {
	for _, d := range file.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok {
			fn.Body = nil
		}
	}
}

// areExcluded reports whether build constraints exclude all files of packages.
func areExcluded(pkgs []*packages.Package) bool {
	err := firstError(pkgs)
	return err != nil && !haveSyntax(pkgs) && strings.Contains(err.Error(), "build constraints exclude all Go files")
}

func haveSyntax(pkgs []*packages.Package) bool {
	return slices.ContainsFunc(pkgs, func(p *packages.Package) bool { return len(p.Syntax) > 0 })
}

// firstError returns the first error of packages that is about themselves, nil if
// there is none.
func firstError(pkgs []*packages.Package) error {
	for _, p := range pkgs {
		for _, e := range p.Errors {
			return errors.New(strings.TrimPrefix(e.Error(), "-: "))
		}
	}
	return nil
}
