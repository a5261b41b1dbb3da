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
	Line    int    `json:"line"`            // line of the function
	Needs   string `json:"needs,omitempty"` // build constraint that excludes the file on this machine
}

// ID returns the name of the benchmark in the results of tare, e.g. example.org/codec.BenchmarkEncode.
func (b Benchmark) ID() string { return b.Package + "." + b.Name }

// findBenchmarks returns the benchmarks of a test file without their Package. A nil src means
// unreadable.
func findBenchmarks(dir, rel string, src []byte) []Benchmark {
	if src == nil {
		return nil
	}
	fset := token.NewFileSet()
	// If the file has errors, f contains its valid part.
	f, _ := parser.ParseFile(fset, rel, src, parser.SkipObjectResolution|parser.ParseComments)
	if f == nil {
		return nil
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
		isIncluded, err := build.Default.MatchFile(filepath.Dir(file), filepath.Base(file)) // in builds on this machine
		if err == nil && !isIncluded {
			needs := constraintOf(f)
			for i := range out {
				out[i].Needs = needs
			}
		}
	}
	return out
}

// isBenchmark reports whether go test takes fn as a benchmark: func BenchmarkName(b *testing.B).
func isBenchmark(fn *ast.FuncDecl) bool {
	rest, hasPrefix := strings.CutPrefix(fn.Name.Name, "Benchmark")
	first, _ := utf8.DecodeRuneInString(rest)
	hasName := hasPrefix && !unicode.IsLower(first)
	if !hasName || fn.Recv != nil || fn.Type.TypeParams != nil {
		return false
	}
	params := fn.Type.Params.List
	if len(params) != 1 || len(params[0].Names) > 1 || fn.Type.Results != nil {
		return false
	}
	ptr, ok := params[0].Type.(*ast.StarExpr)
	if !ok {
		return false
	}
	switch t := ptr.X.(type) {
	case *ast.SelectorExpr: // testing.B, whatever the name under which testing is imported
		return t.Sel.Name == "B"
	case *ast.Ident: // testing imported by a dot
		return t.Name == "B"
	}
	return false
}

// constraintOf returns the build constraint, or the name, that excludes a file on this machine.
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
