package survey

import (
	"go/ast"
	"go/build"
	"go/build/constraint"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Benchmark is a benchmark function.
type Benchmark struct {
	Package string `json:"package"` // import path
	Name    string `json:"name"`
	File    string `json:"file"`            // relative to the top, with slashes
	Line    int    `json:"line"`            // of func
	Needs   string `json:"needs,omitempty"` // build constraint that excludes the file on this machine
}

// ID returns the benchmark's name in a gate.
func (b Benchmark) ID() string { return b.Package + "." + b.Name }

// findBenchmarks returns the benchmarks of the test file at rel in dir.
func findBenchmarks(dir, rel string, src []byte) []Benchmark {
	if src == nil {
		return nil
	}
	fset := token.NewFileSet()
	f, _ := parser.ParseFile(fset, rel, src, parser.SkipObjectResolution|parser.ParseComments)
	if f == nil {
		return nil // f holds the valid part of a file with errors
	}
	var out []Benchmark
	for _, decl := range f.Decls {
		fn, ok := decl.(*ast.FuncDecl)
		if ok && isBenchmark(fn) {
			out = append(out, Benchmark{Name: fn.Name.Name, File: rel, Line: fset.Position(fn.Pos()).Line})
		}
	}
	if len(out) > 0 {
		file := filepath.Join(dir, filepath.FromSlash(rel))
		if in, err := build.Default.MatchFile(filepath.Dir(file), filepath.Base(file)); err == nil && !in {
			needs := constraintOf(f)
			for i := range out {
				out[i].Needs = needs
			}
		}
	}
	return out
}

// isBenchmark reports whether fn is a benchmark for go test.
func isBenchmark(fn *ast.FuncDecl) bool {
	rest, ok := strings.CutPrefix(fn.Name.Name, "Benchmark")
	if first, _ := utf8.DecodeRuneInString(rest); !ok || unicode.IsLower(first) || fn.Recv != nil || fn.Type.TypeParams != nil {
		return false
	}
	p := fn.Type.Params.List
	if len(p) != 1 || len(p[0].Names) > 1 || fn.Type.Results != nil {
		return false
	}
	ptr, ok := p[0].Type.(*ast.StarExpr)
	if !ok {
		return false
	}
	switch t := ptr.X.(type) {
	case *ast.SelectorExpr: // under any name of package testing
		return t.Sel.Name == "B"
	case *ast.Ident:
		return t.Name == "B"
	}
	return false
}

// constraintOf returns the build constraint above the package clause. Without one, the platform
// is in the file's name.
func constraintOf(f *ast.File) string {
	for _, group := range f.Comments {
		if group.Pos() > f.Package {
			break
		}
		for _, c := range group.List {
			if x, err := constraint.Parse(c.Text); err == nil {
				return x.String()
			}
		}
	}
	return "another platform"
}
