package archtest

import (
	"fmt"
	"go/ast"
	"go/token"
	"slices"
	"strconv"
	"strings"

	"github.com/tarebench/tare"
)

// checkMetrics finds declarations that distinguish two or more metrics by their names: in switches, as keys
// of maps, and in comparisons. A single name is permitted, because some names have other meanings too.
func checkMetrics(t *Tree) []string {
	names := strings.Split(tare.MetricNames(), ", ")
	var out []string
	for _, f := range t.Files {
		if f.Generated || f.Test || f.Dir == "." || isUnder(f.Dir, "contenders", "bench", "peers", "load", "cgocopy") {
			continue // load uses such names for the quantiles of its objectives
		}
		for _, d := range f.AST.Decls {
			found := map[string]bool{}
			ast.Inspect(d, func(n ast.Node) bool {
				for _, x := range findOperands(n) {
					if lit, ok := x.(*ast.BasicLit); ok {
						if text, err := strconv.Unquote(lit.Value); err == nil && slices.Contains(names, text) {
							found[text] = true
						}
					}
				}
				return true
			})
			if len(found) > 1 {
				out = append(out, fmt.Sprintf("%s: tells %d metrics apart by name", t.position(d.Pos()), len(found)))
			}
		}
	}
	return out
}

// findOperands returns the expressions that node n compares with a metric, or with a value that may be the
// name of a metric.
func findOperands(n ast.Node) (out []ast.Expr) {
	switch n := n.(type) {
	case *ast.CaseClause:
		return n.List
	case *ast.BinaryExpr:
		if n.Op == token.EQL || n.Op == token.NEQ {
			if name := lastName(n.X); strings.HasSuffix(strings.ToLower(name), "metric") || name == "Name" || name == "name" {
				return []ast.Expr{n.Y}
			}
		}
	case *ast.CompositeLit:
		if _, ok := n.Type.(*ast.MapType); ok {
			for _, e := range n.Elts {
				if kv, ok := e.(*ast.KeyValueExpr); ok {
					out = append(out, kv.Key)
				}
			}
		}
	}
	return out
}

// lastName returns the name of a variable or field, or "" for any other expression.
func lastName(x ast.Expr) string {
	switch x := x.(type) {
	case *ast.Ident:
		return x.Name
	case *ast.SelectorExpr:
		return x.Sel.Name
	}
	return ""
}
