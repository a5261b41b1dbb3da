package archtest

import (
	"fmt"
	"go/ast"
	"go/token"
	"regexp"
	"strconv"
)

// lazyDir is the package of expressions that are compiled when they are used.
const lazyDir = "internal/lazyregexp"

// checkExpressions finds package variables whose regular expressions are compiled when cmd/tare starts,
// and literals of lazyregexp that are invalid: only their use would show that.
func checkExpressions(t *Tree) []string {
	linked := linkedInto(t, "cmd/tare")
	var out []string
	for _, f := range t.Files {
		if f.Test || !linked[f.Dir] {
			continue
		}
		for _, decl := range f.AST.Decls {
			vars, ok := decl.(*ast.GenDecl)
			if !ok || vars.Tok != token.VAR {
				continue
			}
			ast.Inspect(vars, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.FuncLit:
					return false // runs later
				case *ast.CallExpr:
					if problem := expressionProblem(n); problem != "" {
						out = append(out, t.position(n.Pos())+": "+problem)
					}
				}
				return true
			})
		}
	}
	return out
}

// expressionProblem returns what is wrong with a call that initializes a package variable, or "".
func expressionProblem(call *ast.CallExpr) string {
	fun, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || len(call.Args) != 1 {
		return ""
	}
	pkg, ok := fun.X.(*ast.Ident)
	switch {
	case !ok:
	case pkg.Name == "regexp" && (fun.Sel.Name == "MustCompile" || fun.Sel.Name == "MustCompilePOSIX"):
		return fmt.Sprintf("is compiled whenever tare starts; use New of %s", lazyDir)
	case pkg.Name == "lazyregexp" && fun.Sel.Name == "New":
		lit, ok := call.Args[0].(*ast.BasicLit)
		if !ok { // it contains constants
			return ""
		}
		text, err := strconv.Unquote(lit.Value)
		if err == nil {
			_, err = regexp.Compile(text)
		}
		if err != nil {
			return err.Error()
		}
	}
	return ""
}

// linkedInto returns the directories of the packages of this repository that are linked into the
// program in dir, on any system.
func linkedInto(t *Tree, dir string) map[string]bool {
	imports := map[string][]string{} // by directory
	for _, f := range t.Files {
		if f.Test {
			continue
		}
		for imported := range f.Imports() {
			if target, isLocal := t.localDir(imported); isLocal {
				imports[f.Dir] = append(imports[f.Dir], target)
			}
		}
	}
	linked := map[string]bool{dir: true}
	for open := []string{dir}; len(open) > 0; open = open[1:] {
		for _, target := range imports[open[0]] {
			if !linked[target] {
				linked[target] = true
				open = append(open, target)
			}
		}
	}
	return linked
}
