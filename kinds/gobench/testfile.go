package gobench

import (
	"bytes"
	_ "embed"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"runtime"
	"strings"
	"text/template"
	"unicode"
	"unicode/utf8"
)

// TestFile is a file that an overlay adds to a package's tests. Its only test connects to tare, and
// runs some iterations of a benchmark for each request.
type TestFile struct {
	Package string   // foo or foo_test
	Names   []string // benchmarks of the package
}

// Test returns the name of the test function.
func (f TestFile) Test() string {
	if strings.HasSuffix(f.Package, "_test") {
		return "TestTareLockstepExternal"
	}
	return "TestTareLockstep"
}

// Name returns the name of the file.
func (f TestFile) Name() string {
	if strings.HasSuffix(f.Package, "_test") {
		return "zz_tare_lockstep_external_test.go"
	}
	return "zz_tare_lockstep_test.go"
}

//go:embed testfile.txt
var testFile string

// Source returns the text of the file.
func (f TestFile) Source() ([]byte, error) {
	t, err := template.New("testfile").Parse(testFile)
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	err = t.Execute(&text, map[string]any{
		"Package": f.Package, "Names": f.Names, "Test": f.Test(),
		"Prefix": "tareLockstep", "TCP": runtime.GOOS == "windows" || runtime.GOOS == "plan9",
	})
	if err != nil {
		return nil, err
	}
	return format.Source(text.Bytes())
}

// Benchmarks returns the package and the benchmarks of a test file. If the file is invalid, it
// returns what it could parse, and an error.
func Benchmarks(path string) (pkg string, names []string, err error) {
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	if err != nil {
		err = fmt.Errorf("read benchmarks: %w", err)
	}
	if file == nil {
		return "", nil, err
	}
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && isBenchmark(f) {
			names = append(names, f.Name.Name)
		}
	}
	return file.Name.Name, names, err
}

func isBenchmark(f *ast.FuncDecl) bool {
	rest, ok := strings.CutPrefix(f.Name.Name, "Benchmark")
	first, _ := utf8.DecodeRuneInString(rest)
	isOtherWord := rest != "" && unicode.IsLower(first) // e.g. Benchmarks
	if !ok || isOtherWord || f.Recv != nil {
		return false
	}
	params := f.Type.Params.List
	hasOneParam := len(params) == 1 && len(params[0].Names) <= 1
	if f.Type.TypeParams != nil || f.Type.Results != nil || !hasOneParam {
		return false
	}
	p, ok := params[0].Type.(*ast.StarExpr)
	if !ok {
		return false
	}
	switch t := p.X.(type) { // like go test, whatever package B is of
	case *ast.Ident:
		return t.Name == "B"
	case *ast.SelectorExpr:
		return t.Sel.Name == "B"
	}
	return false
}
