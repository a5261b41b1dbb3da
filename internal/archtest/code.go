package archtest

import (
	"fmt"
	"go/ast"
	"path"
	"slices"
	"strconv"
	"strings"
)

// free files answer to the rules about imports and modules only: generated
// code and contenders, which do as their library's users do.
func (f *File) free() bool { return f.Generated || under(f.Dir, "contenders") }

func checkInit(t *Tree) []string {
	var out []string
	for _, f := range t.Files {
		if f.free() {
			continue
		}
		for _, d := range f.AST.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
				out = append(out, t.at(fn.Pos())+": func init")
			}
		}
	}
	return out
}

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
		if f.free() || f.Test || f.Dir == "." || under(f.Dir, "bench", "peers", "load", "cgocopy") {
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

// checkRandom finds the functions of math/rand that share one source.
func checkRandom(t *Tree) []string {
	seeded := []string{
		"New", "NewPCG", "NewChaCha8", "NewSource", "NewZipf",
		"Rand", "PCG", "ChaCha8", "Source", "Source64", "Zipf",
	}
	return used(t, []string{"math/rand", "math/rand/v2"}, func(f *File, name string) bool {
		return !f.free() && !slices.Contains(seeded, name)
	}, false)
}

// checkClock finds calls of the clock below and beside layer 3. Naming
// time.Now as a default is not calling it.
func checkClock(t *Tree) []string {
	return used(t, []string{"time"}, func(f *File, name string) bool {
		if f.free() || f.Test || f.Tool || under(f.Dir, "internal/machine", "internal/trial", "internal/build", "load", "contender", "cmd", "bench", "cgocopy/examples", "peers", "apps/ingest/spool", "apps/users/store", "apps/users/conformance", "internal/conformance") {
			return false
		}
		return slices.Contains([]string{"Now", "Since", "Until", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker", "Sleep"}, name)
	}, true)
}

// used finds selectors of the given packages for which forbidden is true, as
// calls only if calls is set.
func used(t *Tree, pkgs []string, forbidden func(f *File, name string) bool, calls bool) []string {
	var out []string
	for _, f := range t.Files {
		for _, local := range localNames(f, pkgs) {
			ast.Inspect(f.AST, func(n ast.Node) bool {
				x := n
				if call, ok := n.(*ast.CallExpr); ok && calls {
					x = call.Fun
				} else if calls {
					return true
				}
				sel, ok := x.(*ast.SelectorExpr)
				if !ok {
					return true
				}
				if id, ok := sel.X.(*ast.Ident); ok && id.Name == local && forbidden(f, sel.Sel.Name) {
					out = append(out, fmt.Sprintf("%s: %s.%s", t.at(sel.Pos()), local, sel.Sel.Name))
				}
				return true
			})
		}
	}
	return out
}

// localNames are the names under which f imports pkgs.
func localNames(f *File, pkgs []string) []string {
	var out []string
	for _, spec := range f.AST.Imports {
		p, err := strconv.Unquote(spec.Path.Value)
		if err != nil || !slices.Contains(pkgs, p) {
			continue
		}
		name := path.Base(strings.TrimSuffix(p, "/v2"))
		if spec.Name != nil {
			name = spec.Name.Name
		}
		out = append(out, name)
	}
	return out
}
