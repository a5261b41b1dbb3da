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

// This file loads Go packages and runs the rules on their benchmarks, for tare audit. For the
// directory "." Read returns the findings of all benchmarks in it and below, and how many
// benchmarks there are. A module may fail to load, for example without network. Its files are then
// read without the packages of other modules, and a note is added.

// Report has the findings in some directories and files.
type Report struct {
	Findings   []audit.Finding
	Benchmarks int      // functions and literals with a parameter *testing.B
	Files      int      // files with benchmarks
	Notes      []string // a line for each package or module that was not read completely
}

// maxDirectories limits the directories that are in memory at the same time.
const maxDirectories = 16

// Read finds the mistakes in the benchmarks of Go files and directories. It reads a directory like
// "./..." of the go command. It reads a file with its package, but reports findings in the file
// only. If code does not compile, it reads the parts with known types.
func Read(ctx context.Context, paths []string) (Report, error) {
	var rep Report
	dirs, selected, err := findDirectories(paths)
	if err != nil {
		return rep, err
	}
	for len(dirs) > 0 {
		n := 1 // directories that are read together
		for n < min(len(dirs), maxDirectories) && dirs[n].module == dirs[0].module {
			n++
		}
		if err := rep.readModule(ctx, dirs[:n], selected); err != nil {
			return rep, err
		}
		dirs = dirs[n:]
	}
	rep.Findings = audit.SortFindings(rep.Findings)
	return rep, nil
}

// directory is a directory with Go files to read.
type directory struct {
	path   string // absolute
	module string // absolute path of its module; "" if it has none
}

// findDirectories returns the directories with benchmarks at and below paths, sorted by module.
// Findings are reported in the files and directories in selected.
func findDirectories(paths []string) (dirs []directory, selected map[string]bool, err error) {
	seen := map[string]bool{}
	addDirectory := func(dir string) {
		if !seen[dir] {
			seen[dir] = true
			dirs = append(dirs, directory{path: dir, module: moduleDir(dir)})
		}
	}
	selected = map[string]bool{}
	for _, path := range paths {
		abs, err := filepath.Abs(path)
		if err != nil {
			return nil, nil, err
		}
		info, err := os.Stat(abs)
		if err != nil {
			return nil, nil, err
		}
		if !info.IsDir() {
			selected[abs] = true
			addDirectory(filepath.Dir(abs))
			continue
		}
		err = eachBenchmarkFile(abs, func(file string) {
			selected[filepath.Dir(file)] = true
			addDirectory(filepath.Dir(file))
		})
		if err != nil {
			return nil, nil, err
		}
	}
	slices.SortStableFunc(dirs, func(a, b directory) int { return strings.Compare(a.module, b.module) })
	return dirs, selected, nil
}

// eachBenchmarkFile calls visit for each file with benchmarks at and below a directory.
func eachBenchmarkFile(dir string, visit func(file string)) error {
	return filepath.WalkDir(dir, func(file string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		switch name := e.Name(); {
		case e.IsDir() && file != dir && isSkipped(name):
			return fs.SkipDir
		case e.Type().IsRegular() && strings.HasSuffix(name, ".go") && hasBenchmarks(file):
			visit(file)
		}
		return nil
	})
}

// isSkipped reports whether ./... of the go command skips a directory.
func isSkipped(name string) bool {
	return name == "testdata" || name == "vendor" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_")
}

// hasBenchmarks reports whether a file mentions testing.B. It is true for an unreadable file:
// loading its package then reports the error.
func hasBenchmarks(file string) bool {
	text, err := os.ReadFile(file)
	return err != nil || bytes.Contains(text, []byte("testing.B"))
}

// moduleDir returns the directory of the go.mod for a directory, "" outside modules.
func moduleDir(dir string) string {
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

// readModule runs the rules on directories of one module, or on directories outside modules.
func (rep *Report) readModule(ctx context.Context, dirs []directory, selected map[string]bool) error {
	inModule := dirs[0].module != ""
	pkgs, err := loadPackages(ctx, dirs, inModule)
	if err == nil && areExcluded(pkgs) {
		rep.Notes = append(rep.Notes, format.Line(firstError(pkgs).Error(), 0))
		return nil
	}
	loadError := err
	if err == nil && !haveSyntax(pkgs) {
		loadError = firstError(pkgs)
	}
	ignoreModule := inModule && loadError != nil && ctx.Err() == nil
	if ignoreModule {
		// A required module may be missing on this machine. Load the files as if outside modules.
		rep.Notes = append(rep.Notes, fmt.Sprintf("%s: read without its module: %s", dirs[0].module, format.Line(loadError.Error(), 0)))
		inModule = false
		pkgs, err = loadPackages(ctx, dirs, inModule)
	}
	if err != nil {
		return fmt.Errorf("load packages of %s: %w", dirs[0].path, err)
	}
	// Packages with the suffix .test are the generated main packages of tests.
	pkgs = slices.DeleteFunc(pkgs, func(p *packages.Package) bool {
		return len(p.Syntax) == 0 || p.TypesInfo == nil || strings.HasSuffix(p.ID, ".test")
	})
	isSelected := func(file string) bool { return selected[file] || selected[filepath.Dir(file)] }
	if err := rep.runRules(pkgs, isSelected); err != nil {
		return err
	}
	if !ignoreModule { // else the note above has the error
		rep.noteErrors(pkgs)
	}
	rep.countBenchmarks(pkgs, isSelected)
	return nil
}

// runRules runs the rules on packages, and adds the findings in selected files.
func (rep *Report) runRules(pkgs []*packages.Package, isSelected func(file string) bool) error {
	graph, err := checker.Analyze(newAnalyzers(), pkgs, &checker.Options{Sequential: true})
	if err != nil {
		return err
	}
	for _, root := range graph.Roots {
		if root.Err != nil {
			return fmt.Errorf("%s: %w", root.Package.PkgPath, root.Err)
		}
		for _, f := range root.Result.([]audit.Finding) {
			if isSelected(f.File) {
				rep.Findings = append(rep.Findings, f)
			}
		}
	}
	return nil
}

// noteErrors notes the first error of each package that does not compile.
func (rep *Report) noteErrors(pkgs []*packages.Package) {
	noted := map[string]bool{}
	for _, p := range pkgs {
		if err := firstError([]*packages.Package{p}); err != nil && !noted[p.PkgPath] {
			noted[p.PkgPath] = true
			rep.Notes = append(rep.Notes, fmt.Sprintf("%s: does not compile, read as far as it has types: %s", p.PkgPath, format.Line(err.Error(), 300)))
		}
	}
}

// countBenchmarks counts the benchmarks of selected files. It counts a file once, even if two
// variants of a package have it.
func (rep *Report) countBenchmarks(pkgs []*packages.Package, isSelected func(file string) bool) {
	counted := map[string]bool{}
	for _, p := range pkgs {
		for _, file := range p.Syntax {
			name := p.Fset.Position(file.FileStart).Filename
			if counted[name] || !isSelected(name) || !importsTesting(file) {
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

// loadMode requests the source of imports, not export data. So nothing is compiled: no code of the
// module runs, and no C compiler is needed.
const loadMode = packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports | packages.NeedDeps |
	packages.NeedTypes | packages.NeedTypesSizes | packages.NeedSyntax | packages.NeedTypesInfo | packages.NeedModule

// loadPackages loads directories with their tests. Without a module it loads them as in a GOPATH.
// Imports of other modules then remain unknown.
func loadPackages(ctx context.Context, dirs []directory, inModule bool) ([]*packages.Package, error) {
	cfg := &packages.Config{Context: ctx, Mode: loadMode, Tests: true, Dir: dirs[0].path, Fset: token.NewFileSet(), Env: append(os.Environ(), "CGO_ENABLED=0")}
	if !inModule {
		cfg.Env = append(cfg.Env, "GO111MODULE=off", "GOFLAGS=")
	}
	patterns := make([]string, 0, len(dirs))
	isListed := map[string]bool{}
	for _, d := range dirs {
		rel, err := filepath.Rel(dirs[0].path, d.path)
		if err != nil {
			return nil, err
		}
		if rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
			rel = "." + string(filepath.Separator) + rel
		}
		patterns = append(patterns, rel) // the go command rejects absolute paths outside modules
		isListed[d.path] = true
	}
	cfg.ParseFile = func(fset *token.FileSet, name string, src []byte) (*ast.File, error) {
		if isListed[filepath.Dir(name)] {
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

// dropBodies removes the function bodies of an imported file. Only its types are needed.
func dropBodies(file *ast.File) {
	for _, d := range file.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok {
			fn.Body = nil
		}
	}
}

// areExcluded reports whether build constraints exclude all files of the packages.
func areExcluded(pkgs []*packages.Package) bool {
	err := firstError(pkgs)
	return err != nil && !haveSyntax(pkgs) && strings.Contains(err.Error(), "build constraints exclude all Go files")
}

// haveSyntax reports whether a file of the packages could be parsed.
func haveSyntax(pkgs []*packages.Package) bool {
	return slices.ContainsFunc(pkgs, func(p *packages.Package) bool { return len(p.Syntax) > 0 })
}

// firstError returns the first error of packages, or nil. It removes the prefix "-: " of an unknown
// position.
func firstError(pkgs []*packages.Package) error {
	for _, p := range pkgs {
		for _, e := range p.Errors {
			return errors.New(strings.TrimPrefix(e.Error(), "-: "))
		}
	}
	return nil
}
