package archtest

import (
	"go/ast"
	"regexp"
	"strings"
)

// checkFormats finds format strings that print a number with ×, and formatted numbers to which × is
// added. Package internal/check may do that: its messages are part of results, which are compared with
// earlier ones.
func checkFormats(t *Tree) []string {
	verb := regexp.MustCompile(`%[-+ #0-9.]*[efgEFG] ?×`)
	var out []string
	for _, f := range t.Files {
		if f.Generated || f.Test || isUnder(f.Dir, "internal/format", "internal/check", "report/html/htmltest", "contenders", "tools", "bench", "peers", "cgocopy") {
			continue
		}
		ast.Inspect(f.AST, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.BasicLit:
				if verb.MatchString(n.Value) {
					out = append(out, t.position(n.Pos())+": prints a ratio")
				}
			case *ast.BinaryExpr:
				call, isCall := n.X.(*ast.CallExpr)
				lit, isLit := n.Y.(*ast.BasicLit)
				if !isCall || !isLit || !strings.HasPrefix(lit.Value, "\"×") {
					break
				}
				if fun, ok := call.Fun.(*ast.SelectorExpr); ok && fun.Sel.Name == "FormatFloat" {
					out = append(out, t.position(n.Pos())+": prints a ratio")
				}
			}
			return true
		})
	}
	return out
}
