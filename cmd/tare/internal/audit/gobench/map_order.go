package gobench

import (
	"go/ast"
	"go/types"
	"slices"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
	"github.com/tarebench/tare/cmd/tare/internal/audit/gobench/flow"
	"github.com/tarebench/tare/internal/lazyregexp"
)

// mapOrder finds loops over a map, within the timed loop, that take the first entry and break, or pass each key to
// something whose work depends on the order: a cache, or what searches for a place.
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
				if !isMap || !usesKey && r.Value == nil || in.pass.Pkg.Path() == "runtime_test" { // runtime_test measures maps
					return
				}
				for _, s := range r.Body.List {
					if branch, ok := s.(*ast.BranchStmt); ok && branch.Tok.String() == "break" {
						what := "key"
						if !usesKey {
							what = "value"
						}
						in.report(r, "the loop takes the first %s of %s, which is another one each time", what, formatExpr(r.X))
						return
					}
				}
				if v, isCache := in.findOrdered(l, r); isCache {
					in.report(r, "the cache %s is asked in the order of the map %s, which decides what it still has", v.Name(), formatExpr(r.X))
				} else if v != nil {
					in.report(r, "%s gets what is in the map %s in another order each time, and searches for a place among what it has", v.Name(), formatExpr(r.X))
				}
			})
		})
	}}
}

// cacheName matches the names of types that keep some of what they were asked for.
var cacheName = lazyregexp.New(`(?i)cache|lru|lfu|memo`)

// findOrdered returns a variable from outside of a timed loop whose method the loop r over a map calls with
// the key or the value, if its type has the name of a cache, or the method searches through a slice of the
// receiver and changes it. It returns nil without one.
func (in *input) findOrdered(l *loop, r *ast.RangeStmt) (v *types.Var, isCache bool) {
	for call := range nodesOf[*ast.CallExpr](r.Body) {
		sel, ok := call.Fun.(*ast.SelectorExpr)
		if !ok || len(call.Args) == 0 {
			continue
		}
		v = in.variable(sel.X)
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
		switch {
		case !ok || !getsKey:
		case cacheName.MatchString(named.Obj().Name()):
			return v, true
		case in.searchesAndChanges(in.callee(call)):
			return v, false
		}
	}
	return nil, false
}

// searchesAndChanges reports whether a method of the package ranges over a slice of its receiver, returns or
// breaks within, and sets a part of the receiver.
func (in *input) searchesAndChanges(fn *types.Func) bool {
	if fn == nil || fn.Signature().Recv() == nil {
		return false
	}
	recv := fn.Signature().Recv()
	isOwn := func(e ast.Expr) bool {
		root, fields := in.flowGraph().Path(e, flow.Binding{recv: nil})
		return root == recv && fields != ""
	}
	f := in.flowGraph().Declared(fn)
	if f.Body == nil {
		return false
	}
	searches, changes := false, false
	for n := range ast.Preorder(f.Body) {
		switch n := n.(type) {
		case *ast.RangeStmt:
			t := in.pass.TypesInfo.TypeOf(n.X)
			_, isSlice := t.Underlying().(*types.Slice)
			ends := false
			for inner := range ast.Preorder(n.Body) {
				switch inner := inner.(type) {
				case *ast.ReturnStmt:
					ends = true
				case *ast.BranchStmt:
					ends = ends || inner.Tok.String() == "break"
				}
			}
			searches = searches || isSlice && ends && isOwn(n.X)
		case *ast.AssignStmt:
			for _, lhs := range n.Lhs {
				if index, ok := lhs.(*ast.IndexExpr); ok {
					lhs = index.X
				}
				changes = changes || isOwn(lhs)
			}
		}
	}
	return searches && changes
}
