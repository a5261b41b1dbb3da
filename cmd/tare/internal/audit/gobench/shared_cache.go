package gobench

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"github.com/tarebench/tare/cmd/tare/internal/audit/gobench/flow"
	"github.com/tarebench/tare/internal/lazyregexp"
)

// This file is a part of the rule shared-state, which finds sub-benchmarks that find what another
// one left. Here a sub-benchmark reads through a cache inside of a variable, and the next one finds
// the cache filled:
//
//	func (s *Store) Get(key string) *User {
//		if u, ok := s.cache[key]; ok { return u }
//		u := s.load(key)
//		s.cache[key] = u
//		return u
//	}
//
// The rule reads the code of such methods. It skips caches that the benchmark fills on purpose
// before its loop. A case is one entry of a table over which a loop calls b.Run. A frame is the
// body that is searched: the loop, or a function of the test files that the loop calls.

// reportMemoized reports a variable in which the sub-benchmark writer stores results, if a
// sub-benchmark in later finds them instead of computing them.
func (in *input) reportMemoized(outer *benchmark, writer subBenchmark, later []subBenchmark) {
	for p, call := range in.findMemoized(outer, writer) {
		isOrder := !in.isRemembering(in.callee(call)) && in.reordersByCall(call)
		if isOrder && in.isCarriedOver(outer, writer, p) {
			in.report(call, "%s changes its order by use, and the sub-benchmark of the next case begins with that order", p)
		} else if in.isCarriedOver(outer, writer, p) {
			in.report(call, "%s remembers what it was asked for, and the sub-benchmark of the next case finds it there", p)
		} else if use := in.findLaterUse(outer, writer, in.selectRemembering(outer, later, p, call), p); use != nil {
			in.report(use, "%s remembers what another sub-benchmark asked it for, in line %d", p, in.lineOf(call))
		}
	}
}

// selectRemembering returns the sub-benchmarks in later that may find what call has stored in p.
// They call a method that reads the cache of p.
func (in *input) selectRemembering(outer *benchmark, later []subBenchmark, p varPath, call *ast.CallExpr) []subBenchmark {
	if in.isMemoizing(in.callee(call)) {
		return later
	}
	var out []subBenchmark
	for _, s := range later {
		if in.findMemoized(outer, s)[p] != nil {
			out = append(out, s)
		}
	}
	return out
}

// findMemoized returns the variables of outer on which a sub-benchmark calls a method that stores
// results. The value is the first such call.
func (in *input) findMemoized(outer *benchmark, s subBenchmark) map[varPath]*ast.CallExpr {
	memoized := map[varPath]*ast.CallExpr{}
	for _, l := range s.loops {
		in.inspectTimedDeep(l, func(n ast.Node, f *frame) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			for _, called := range in.flowGraph().Called(call, f.binding) {
				if called.Receiver == nil || !in.isRemembering(called.Object) && !in.reorders(called.Object) {
					continue
				}
				if f.site == nil && !in.isMemoizing(called.Object) && in.hasSameArguments(l, call) {
					continue // only the first iteration stores something
				}
				p, ok := in.pathOf(called.Receiver, f.binding)
				if !ok || memoized[p] != nil || !s.isShared(outer, p) || in.mayReset(s, p, nil) {
					continue
				}
				if !in.isWarmed(s, p) && !in.mayBeOff(outer, p, called.Object) {
					memoized[p] = call
				}
			}
			return true
		})
	}
	return memoized
}

// isMemoizing reports whether a method returns an entry of a map of its receiver if there is one,
// and otherwise stores its result there.
func (in *input) isMemoizing(fn *types.Func) bool {
	recv, body := in.methodBody(fn)
	if body == nil {
		return false
	}
	isEntry := func(e ast.Expr) bool {
		index, ok := ast.Unparen(e).(*ast.IndexExpr)
		if !ok || !isMap(in.pass.TypesInfo.TypeOf(index.X)) {
			return false
		}
		_, ok = in.receiverPath(index.X, recv)
		return ok
	}
	finds, stores := false, false
	for n := range ast.Preorder(body) {
		switch n := n.(type) {
		case *ast.IfStmt: // if v, ok := r.known[key]; ok { return v }
			init, ok := n.Init.(*ast.AssignStmt)
			isLookup := ok && len(init.Lhs) == 2 && len(init.Rhs) == 1 && isEntry(init.Rhs[0])
			if isLookup && in.variable(n.Cond) == in.variable(init.Lhs[1]) {
				for range nodesOf[*ast.ReturnStmt](n.Body) {
					finds = true
				}
			}
		case *ast.AssignStmt:
			stores = stores || len(n.Lhs) == 1 && isEntry(n.Lhs[0])
		}
	}
	return finds && stores
}

// mutatorName matches methods that are meant to change their receiver.
var mutatorName = lazyregexp.New(`^(?i:set|put|add|insert|store|push|create|register|save|write|append|update|` +
	`upsert|inc|enqueue|delete|remove|observe|record|mark|touch|apply|commit|merge|` +
	`import|init|open|new|build|subscribe|close|reset|swap|sort|shuffle|rotate|reverse|pop|fix)`)

// cacheUse says how a method uses the maps of its receiver, also in methods of its parts.
type cacheUse struct {
	looksUp map[*types.Var]bool // maps m with value, ok := m[key]
	stores  map[*types.Var]bool // maps m with m[key] = value
	parts   []*types.Var        // fields with such maps, such as cache of store.cache
}

// isCaching reports whether a method looks up keys in a map of its receiver and stores values
// there. A method that is meant to change the receiver does not count.
func (in *input) isCaching(fn *types.Func) bool {
	if fn == nil || mutatorName.MatchString(fn.Name()) {
		return false
	}
	use := in.readCacheUse(fn)
	for m := range use.looksUp {
		if use.stores[m] {
			return true
		}
	}
	return false
}

// readCacheUse returns how a method uses the maps of its receiver.
func (in *input) readCacheUse(fn *types.Func) cacheUse {
	use := cacheUse{looksUp: map[*types.Var]bool{}, stores: map[*types.Var]bool{}}
	in.addCacheUse(fn, &use, 0)
	return use
}

// addCacheUse adds the maps of a method's receiver to use, also those of the methods that it calls
// on the receiver. It returns false if there are none. The depth counts the calls around fn.
func (in *input) addCacheUse(fn *types.Func, use *cacheUse, depth int) bool {
	recv, body := in.methodBody(fn)
	if body == nil || depth > maxTimedDepth {
		return false
	}
	isUsed := false
	for n := range ast.Preorder(body) {
		switch n := n.(type) {
		case *ast.AssignStmt:
			if m := in.mapOfReceiver(n.Rhs[0], recv); m != nil && len(n.Lhs) == 2 && len(n.Rhs) == 1 {
				use.looksUp[m], isUsed = true, true
			}
			for _, lhs := range n.Lhs {
				if m := in.mapOfReceiver(lhs, recv); m != nil {
					use.stores[m], isUsed = true, true
				}
			}
		case *ast.CallExpr:
			sel, ok := n.Fun.(*ast.SelectorExpr)
			called := in.callee(n)
			if !ok || called == nil || called == fn {
				continue
			}
			fields, isReceiver := in.receiverPath(sel.X, recv)
			if !isReceiver || !in.addCacheUse(called, use, depth+1) {
				continue
			}
			isUsed = true
			if part := in.flowGraph().Variable(sel.X); fields != "" && part != nil {
				use.parts = append(use.parts, part)
			}
		}
	}
	return isUsed
}

// mapOfReceiver returns m of m[key] if m is a field of the receiver, else nil.
func (in *input) mapOfReceiver(e ast.Expr, recv *types.Var) *types.Var {
	index, ok := ast.Unparen(e).(*ast.IndexExpr)
	if !ok || !isMap(in.pass.TypesInfo.TypeOf(index.X)) {
		return nil
	}
	if fields, ok := in.receiverPath(index.X, recv); !ok || fields == "" {
		return nil
	}
	return in.flowGraph().Variable(index.X)
}

// isRemembering reports whether a method stores its results in its receiver.
func (in *input) isRemembering(fn *types.Func) bool { return in.isMemoizing(fn) || in.isCaching(fn) }

// reorders reports whether a method swaps elements of a slice of its receiver, to find them faster
// the next time.
func (in *input) reorders(fn *types.Func) bool {
	recv, body := in.methodBody(fn)
	if body == nil || mutatorName.MatchString(fn.Name()) {
		return false
	}
	return hasNode(body, func(a *ast.AssignStmt) bool {
		if len(a.Lhs) != 2 || len(a.Rhs) != 2 || a.Tok != token.ASSIGN {
			return false
		}
		index, isIndex := a.Lhs[0].(*ast.IndexExpr)
		if !isIndex || formatExpr(a.Lhs[0]) != formatExpr(a.Rhs[1]) || formatExpr(a.Lhs[1]) != formatExpr(a.Rhs[0]) {
			return false
		}
		fields, ok := in.receiverPath(index.X, recv)
		return ok && fields != ""
	})
}

// reordersByCall reports whether a call may run a method that reorders its receiver.
func (in *input) reordersByCall(call *ast.CallExpr) bool {
	return slices.ContainsFunc(in.flowGraph().Called(call, nil), func(f flow.Function) bool { return in.reorders(f.Object) })
}

// mayBeOff reports whether p may have no cache, because the benchmark does not set the option for
// it:
//
//	if opts.CacheBytes > 0 { s.cache = newCache(opts.CacheBytes) }
func (in *input) mayBeOff(outer *benchmark, p varPath, fn *types.Func) bool {
	for _, part := range in.readCacheUse(fn).parts {
		if options := in.findOptions(part); len(options) > 0 && !in.setsOption(outer, p, options) {
			return true
		}
	}
	return false
}

// findOptions returns the fields in the conditions under which the package sets a field, such as
// CacheBytes above. It returns nil if the package sets the field in any case.
func (in *input) findOptions(field *types.Var) []types.Object {
	var options []types.Object
	isAlways := false
	for _, file := range in.pass.Files {
		inspectPath(file, func(n ast.Node, path []ast.Node) bool {
			switch n := n.(type) {
			case *ast.KeyValueExpr:
				id, ok := n.Key.(*ast.Ident)
				isAlways = isAlways || ok && in.pass.TypesInfo.Uses[id] == field
			case *ast.AssignStmt:
				i := slices.IndexFunc(n.Lhs, func(e ast.Expr) bool { return in.flowGraph().Variable(e) == field })
				if i < 0 || len(n.Lhs) == len(n.Rhs) && in.pass.TypesInfo.Types[n.Rhs[i]].IsNil() {
					return true
				}
				conditions := in.fieldsOfConditions(path)
				isAlways = isAlways || len(conditions) == 0
				options = append(options, conditions...)
			}
			return true
		})
	}
	if isAlways {
		return nil
	}
	return options
}

// fieldsOfConditions returns the fields in the conditions of the if statements on a path.
func (in *input) fieldsOfConditions(path []ast.Node) []types.Object {
	var fields []types.Object
	for _, n := range path {
		s, ok := n.(*ast.IfStmt)
		if !ok {
			continue
		}
		for sel := range nodesOf[*ast.SelectorExpr](s.Cond) {
			if v, ok := in.pass.TypesInfo.Uses[sel.Sel].(*types.Var); ok && v.IsField() {
				fields = append(fields, v)
			}
		}
	}
	return fields
}

// setsOption reports whether the code that makes p sets one of the options in a literal. The
// literal may be in a function of the test files.
func (in *input) setsOption(outer *benchmark, p varPath, options []types.Object) bool {
	found := false
	isOption := func(e ast.Expr) bool {
		kv, ok := e.(*ast.KeyValueExpr)
		if !ok {
			return false
		}
		id, ok := kv.Key.(*ast.Ident)
		value := in.pass.TypesInfo.Types[kv.Value].Value
		isZero := value != nil && (value.ExactString() == "0" || value.ExactString() == "false")
		return ok && slices.Contains(options, in.pass.TypesInfo.Uses[id]) && !isZero
	}
	for a := range nodesOf[*ast.AssignStmt](outer.body) {
		isP := func(e ast.Expr) bool { return in.variable(e) == p.root }
		if !slices.ContainsFunc(a.Lhs, isP) {
			continue
		}
		in.inspectCallsDeep(a, func(call *ast.CallExpr, binding flow.Binding) {
			for _, arg := range call.Args {
				for _, source := range in.flowGraph().Sources(arg, binding) {
					lit, ok := source.(*ast.CompositeLit)
					found = found || ok && slices.ContainsFunc(lit.Elts, isOption)
				}
			}
		})
	}
	return found
}

// isWarmed reports whether a sub-benchmark calls a method that fills the cache of p before its
// loop.
func (in *input) isWarmed(s subBenchmark, p varPath) bool {
	for _, l := range s.loops {
		for _, before := range in.codeBefore(l) {
			found := false
			in.inspectCallsWithLiterals(before, false, func(call *ast.CallExpr, binding flow.Binding) {
				for _, called := range in.flowGraph().Called(call, binding) {
					other, ok := in.pathOf(called.Receiver, binding)
					found = found || called.Receiver != nil && ok && other == p && (in.isCaching(called.Object) || in.reorders(called.Object))
				}
			})
			if found {
				return true
			}
		}
	}
	return false
}
