package archtest

import (
	"go/ast"
	"regexp"
	"slices"
)

// checkFormats finds ratios that are formatted elsewhere than in internal/format: format strings that
// print a number with ×, or the field Ratio rounded, that field rounded by strconv, and results of other
// functions to which × is added. Package internal/check may do that: its messages are part of
// results, which are compared with earlier ones.
func checkFormats(t *Tree) []string {
	times := regexp.MustCompile(`%[-+ #0-9.]*[efgEFG] ?×`)
	rounds := regexp.MustCompile(`%[-+ #0-9]*\.[0-9*]*[efgEFG]`)
	suffix := regexp.MustCompile(`^"×( ?[(\[].*)?"$`)
	var out []string
	for _, f := range t.Files {
		if f.Generated || f.Test || isUnder(f.Dir, "internal/format", "internal/check", "report/html/htmltest", "contenders", "tools", "bench", "peers", "cgocopy") {
			continue
		}
		ast.Inspect(f.AST, func(n ast.Node) bool {
			found := false
			switch n := n.(type) {
			case *ast.BasicLit:
				found = times.MatchString(n.Value)
			case *ast.BinaryExpr:
				call, isCall := n.X.(*ast.CallExpr)
				lit, isLit := n.Y.(*ast.BasicLit)
				found = isCall && isLit && suffix.MatchString(lit.Value) && packageOf(call) != "format"
			case *ast.CallExpr:
				found = slices.ContainsFunc(n.Args, isRatio) && (packageOf(n) == "strconv" && isFixed(n) ||
					slices.ContainsFunc(n.Args, func(x ast.Expr) bool {
						lit, ok := x.(*ast.BasicLit)
						return ok && rounds.MatchString(lit.Value)
					}))
			}
			if found {
				out = append(out, t.position(n.Pos())+": prints a ratio")
			}
			return true
		})
	}
	return out
}

// packageOf returns the name of the package, or of the variable, of which n calls a function.
func packageOf(n *ast.CallExpr) string {
	if fun, ok := n.Fun.(*ast.SelectorExpr); ok {
		return lastName(fun.X)
	}
	return ""
}

// isRatio reports whether x is a field Ratio.
func isRatio(x ast.Expr) bool {
	_, ok := x.(*ast.SelectorExpr)
	return ok && lastName(x) == "Ratio"
}

// isFixed reports whether a call of strconv.FormatFloat rounds: its precision is not -1.
func isFixed(n *ast.CallExpr) bool {
	if len(n.Args) != 4 {
		return false
	}
	_, isLiteral := n.Args[2].(*ast.BasicLit) // -1 is an operator with its operand
	return isLiteral
}
