package gobench

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
	"github.com/tarebench/tare/internal/lazyregexp"
)

// This file has the rule map-order. It finds a benchmark whose cost depends on the order in which
// Go visits a map. This order is random, so the cost differs from run to run:
//
//	func BenchmarkCache(b *testing.B) {
//		for b.Loop() {
//			for key := range entries {
//				cache.Get(key)
//			}
//		}
//	}
//
// The rule searches the timed code for range statements over a map. It reports one that stops at
// the first entry. It also reports one that passes each entry to a cache, or to a method that
// searches and changes its receiver.

// mapOrder returns the rule map-order.
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
				usesKey := r.Key != nil && !isBlank(r.Key)
				usesEntry := usesKey || r.Value != nil
				measuresMaps := in.pass.Pkg.Path() == "runtime_test" // Go's own tests of maps
				if !isMap(in.pass.TypesInfo.TypeOf(r.X)) || !usesEntry || measuresMaps {
					return
				}
				if slices.ContainsFunc(r.Body.List, isBreak) {
					taken := "key"
					if !usesKey {
						taken = "value"
					}
					in.report(r, "the loop takes the first %s of %s, which is another one each time", taken, formatExpr(r.X))
					return
				}
				if v, isCache := in.findOrderDependent(l, r); isCache {
					in.report(r, "the cache %s is asked in the order of the map %s, which decides what it still has", v.Name(), formatExpr(r.X))
				} else if v != nil {
					in.report(r, "%s gets what is in the map %s in another order each time, and searches for a place among what it has", v.Name(), formatExpr(r.X))
				}
			})
		})
	}}
}

func isBreak(s ast.Stmt) bool {
	branch, ok := s.(*ast.BranchStmt)
	return ok && branch.Tok == token.BREAK
}

// cacheName matches types of caches.
var cacheName = lazyregexp.New(`(?i)cache|lru|lfu|memo`)

// findOrderDependent returns v of a call v.method(entry) whose cost depends on the order of the
// entries, or nil. The call is in r, a range statement over a map. It depends on the order if v is
// a cache, or if the method searches and changes v.
func (in *input) findOrderDependent(l *loop, r *ast.RangeStmt) (v *types.Var, isCache bool) {
	for call := range nodesOf[*ast.CallExpr](r.Body) {
		sel, ok := call.Fun.(*ast.SelectorExpr)
		if !ok || len(call.Args) == 0 {
			continue
		}
		v = in.variable(sel.X)
		if !in.isDeclaredOutside(v, l) {
			continue
		}
		named, isTypeNamed := pointee(v.Type()).(*types.Named)
		getsEntry := slices.ContainsFunc(call.Args, func(a ast.Expr) bool {
			arg := in.variable(a)
			return arg != nil && (arg == in.variable(r.Key) || r.Value != nil && arg == in.variable(r.Value))
		})
		switch {
		case !isTypeNamed || !getsEntry: // the call does not depend on the order
		case cacheName.MatchString(named.Obj().Name()):
			return v, true
		case in.searchesAndChanges(in.callee(call)):
			return v, false
		}
	}
	return nil, false
}

// searchesAndChanges reports whether a method searches a slice of its receiver and sets a part of
// the receiver.
func (in *input) searchesAndChanges(fn *types.Func) bool {
	recv, body := in.methodBody(fn)
	if body == nil {
		return false
	}
	isField := func(e ast.Expr) bool {
		fields, ok := in.receiverPath(e, recv)
		return ok && fields != ""
	}
	searches, changes := false, false
	for n := range ast.Preorder(body) {
		switch n := n.(type) {
		case *ast.RangeStmt:
			endsEarly := false
			for s := range nodesOf[ast.Stmt](n.Body) {
				_, isReturn := s.(*ast.ReturnStmt)
				endsEarly = endsEarly || isReturn || isBreak(s)
			}
			searches = searches || isSlice(in.pass.TypesInfo.TypeOf(n.X)) && endsEarly && isField(n.X)
		case *ast.AssignStmt:
			changes = changes || slices.ContainsFunc(n.Lhs, isField)
		}
	}
	return searches && changes
}
