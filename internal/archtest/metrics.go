package archtest

import (
	"fmt"
	"go/ast"
	"slices"
	"strconv"
)

// checkMetrics finds switches and maps with the names of two metrics or more. Some names
// are words of other things too, so that one says nothing.
func checkMetrics(t *Tree) []string {
	names := []string{"time", "cpu", "bytes", "allocs", "size", "p50", "p90", "p99", "p99.9", "max", "client-cpu", "client-bytes", "client-allocs", "stop", "rss"}
	metrics := func(list []ast.Expr) (n int) {
		for _, x := range list {
			if lit, ok := x.(*ast.BasicLit); ok {
				if text, err := strconv.Unquote(lit.Value); err == nil && slices.Contains(names, text) {
					n++
				}
			}
		}
		return n
	}
	var out []string
	for _, f := range t.Files {
		if f.Generated || f.Test || f.Dir == "." || under(f.Dir, "contenders", "bench", "peers", "load", "cgocopy") {
			continue // load knows quantiles of its own objectives
		}
		ast.Inspect(f.AST, func(n ast.Node) bool {
			found := 0
			switch n := n.(type) {
			case *ast.SwitchStmt:
				for _, c := range n.Body.List {
					found += metrics(c.(*ast.CaseClause).List)
				}
			case *ast.CompositeLit:
				if _, ok := n.Type.(*ast.MapType); ok {
					for _, e := range n.Elts {
						if kv, ok := e.(*ast.KeyValueExpr); ok {
							found += metrics([]ast.Expr{kv.Key})
						}
					}
				}
			}
			if found > 1 {
				out = append(out, fmt.Sprintf("%s: tells %d metrics apart by name", t.at(n.Pos()), found))
			}
			return true
		})
	}
	return out
}
