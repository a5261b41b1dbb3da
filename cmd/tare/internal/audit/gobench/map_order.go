package gobench

import (
	"go/ast"
	"go/types"
	"slices"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
	"github.com/tarebench/tare/internal/lazyregexp"
)

// mapOrder finds loops over a map, within the timed loop, that take the first key and break, or ask a cache
// for each key.
func mapOrder() rule {
	return rule{Rule: audit.Rule{
		ID: "map-order", Severity: tare.Warn,
		Title:   "The order of a map decides what is timed.",
		Why:     "Go iterates over a map in random order. Taking its first key costs a search for an occupied slot and another key each time. Runs differ for no other reason.",
		Do:      "put the keys into a slice before the loop, sorted or in a fixed random order",
		Command: compareRevisions,
	}, find: func(in *input) {
		in.eachTimedLoop(func(l *loop) {
			inspectTimedNodes(in, l, func(r *ast.RangeStmt) {
				t := in.pass.TypesInfo.TypeOf(r.X)
				if t == nil {
					return
				}
				_, isMap := t.Underlying().(*types.Map)
				usesKey := r.Key != nil && formatExpr(r.Key) != "_"
				if !isMap || !usesKey || in.pass.Pkg.Path() == "runtime_test" { // runtime_test measures maps
					return
				}
				for _, s := range r.Body.List {
					if branch, ok := s.(*ast.BranchStmt); ok && branch.Tok.String() == "break" {
						in.report(r, "the loop takes the first key of %s, which is another one each time", formatExpr(r.X))
						return
					}
				}
				if cache := in.findCache(l, r); cache != nil {
					in.report(r, "the cache %s is asked in the order of the map %s, which decides what it still has", cache.Name(), formatExpr(r.X))
				}
			})
		})
	}}
}

// cacheName matches the names of types that keep some of what they were asked for.
var cacheName = lazyregexp.New(`(?i)cache|lru|lfu|memo`)

// findCache returns a variable from outside of a timed loop whose method the loop r over a map calls with
// the key or the value, if its type has the name of a cache. It returns nil without one.
func (in *input) findCache(l *loop, r *ast.RangeStmt) *types.Var {
	for call := range nodesOf[*ast.CallExpr](r.Body) {
		sel, ok := call.Fun.(*ast.SelectorExpr)
		if !ok || len(call.Args) == 0 {
			continue
		}
		v := in.variable(sel.X)
		if !in.isOutside(v, l) {
			continue
		}
		t := v.Type()
		if p, ok := t.Underlying().(*types.Pointer); ok {
			t = p.Elem()
		}
		named, ok := t.(*types.Named)
		getsKey := slices.ContainsFunc(call.Args, func(a ast.Expr) bool {
			x := in.variable(a)
			return x != nil && (x == in.variable(r.Key) || r.Value != nil && x == in.variable(r.Value))
		})
		if ok && getsKey && cacheName.MatchString(named.Obj().Name()) {
			return v
		}
	}
	return nil
}
