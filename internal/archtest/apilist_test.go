package archtest

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tarebench/tare/internal/golden"
)

// TestAPIListing compares what the packages export that docs/api.md makes promises about
// with testdata/api.txt, a line each. A line that is removed breaks programs.
func TestAPIListing(t *testing.T) {
	text, err := os.ReadFile("../../docs/api.md")
	if err != nil {
		t.Fatal(err)
	}
	promised, _, found := strings.Cut(string(text), "## Importable, without any promise")
	if !found {
		t.Fatal("docs/api.md has no section without a promise")
	}
	var lines []string
	for _, dir := range promisedPackages(promised) {
		lines = append(lines, listPackage(t, dir)...)
	}
	if len(lines) < 500 {
		t.Fatalf("only %d exported names", len(lines))
	}
	listing := strings.Join(lines, "\n") + "\n"
	if kept, err := os.ReadFile("testdata/api.txt"); err == nil && !golden.Updating() {
		was := strings.Split(strings.TrimSpace(strings.ReplaceAll(string(kept), "\r\n", "\n")), "\n")
		for _, line := range was {
			if !slices.Contains(lines, line) {
				t.Errorf("removed or changed, which breaks programs: %s", line)
			}
		}
		for _, line := range lines {
			if !slices.Contains(was, line) {
				t.Errorf("added: %s", line)
			}
		}
		if t.Failed() {
			t.Log("if that is deliberate: go test ./internal/archtest -run TestAPIListing -update, and a line in CHANGELOG.md")
			return
		}
	}
	golden.Check(t, "api.txt", []byte(listing))
}

// promisedPackages returns the directories of the packages in the tables of a text, sorted.
func promisedPackages(text string) (dirs []string) {
	for line := range strings.Lines(text) {
		cells := strings.Split(line, "|")
		if len(cells) < 3 {
			continue
		}
		apps := strings.Contains(cells[1], "`serving`")
		for _, m := range regexp.MustCompile("`([a-z0-9/]+)`").FindAllStringSubmatch(cells[1], -1) {
			switch dir := m[1]; {
			case dir == "tare":
				dirs = append(dirs, ".")
			case dir == "serving":
			default:
				dirs = append(dirs, dir)
				if apps && strings.Count(dir, "/") == 1 {
					dirs = append(dirs, dir+"/serving")
				}
			}
		}
	}
	slices.Sort(dirs)
	return slices.Compact(dirs)
}

// listPackage returns a line for each exported name of the package in a directory below the
// root, for whatever system. Names of parameters are left out: they can change.
func listPackage(t *testing.T, dir string) (lines []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("../..", dir, "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no package in %s: %v", dir, err)
	}
	set := token.NewFileSet()
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(set, name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range file.Decls {
			lines = append(lines, listDecl(set, decl)...)
		}
	}
	for i, line := range lines {
		lines[i] = dir + ": " + line
	}
	slices.Sort(lines)
	return slices.Compact(lines) // a name can have a file for each system
}

// listDecl returns a line for each exported name of a declaration.
func listDecl(set *token.FileSet, decl ast.Decl) (lines []string) {
	switch d := decl.(type) {
	case *ast.FuncDecl:
		receiver := ""
		if d.Recv != nil {
			receiver = "(" + typeText(set, d.Recv.List[0].Type) + ") "
			if !ast.IsExported(strings.TrimLeft(strings.Split(receiver, "[")[0], "(*")) {
				return nil
			}
		}
		if d.Name.IsExported() {
			lines = append(lines, "func "+receiver+d.Name.Name+strings.TrimPrefix(typeText(set, d.Type), "func"))
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch s := spec.(type) {
			case *ast.TypeSpec:
				if s.Name.IsExported() {
					lines = append(lines, listType(set, s)...)
				}
			case *ast.ValueSpec:
				for _, name := range s.Names {
					if name.IsExported() {
						lines = append(lines, strings.TrimSpace(d.Tok.String()+" "+name.Name+" "+typeText(set, s.Type)))
					}
				}
			}
		}
	}
	return lines
}

// listType returns a line for a type, and one for each exported field or method of it.
func listType(set *token.FileSet, s *ast.TypeSpec) (lines []string) {
	head := "type " + s.Name.Name
	var members *ast.FieldList
	switch kind := s.Type.(type) {
	case *ast.StructType:
		members, lines = kind.Fields, append(lines, head+" struct")
	case *ast.InterfaceType:
		members, lines = kind.Methods, append(lines, head+" interface")
	default:
		if s.Assign.IsValid() {
			head += " ="
		}
		return append(lines, head+" "+typeText(set, s.Type))
	}
	for _, field := range members.List {
		text := typeText(set, field.Type)
		if len(field.Names) == 0 {
			lines = append(lines, head+", embeds "+text)
		}
		for _, name := range field.Names {
			if name.IsExported() {
				lines = append(lines, head+", "+name.Name+" "+text)
			}
		}
	}
	return lines
}

// typeText returns a type in one line, without names of parameters; "" for no type.
func typeText(set *token.FileSet, expr ast.Expr) string {
	if expr == nil {
		return ""
	}
	ast.Inspect(expr, func(n ast.Node) bool {
		if f, ok := n.(*ast.FuncType); ok {
			f.Params, f.Results = withoutNames(f.Params), withoutNames(f.Results)
		}
		return true
	})
	var text bytes.Buffer
	if err := printer.Fprint(&text, token.NewFileSet(), expr); err != nil {
		return err.Error()
	}
	return strings.Join(strings.Fields(text.String()), " ")
}

// withoutNames returns a list with one field for each parameter, none of them named.
func withoutNames(list *ast.FieldList) *ast.FieldList {
	if list == nil {
		return nil
	}
	var out ast.FieldList
	for _, field := range list.List {
		for range max(1, len(field.Names)) {
			out.List = append(out.List, &ast.Field{Type: field.Type})
		}
	}
	return &out
}
