package gobench

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"github.com/tarebench/tare/cmd/tare/internal/audit/gobench/flow"
	"github.com/tarebench/tare/internal/lazyregexp"
)

// This file is a part of the audit rule shared-state: a sub-benchmark reads through a cache inside of a
// variable, as store.Get does that asks store.cache first, and the next one finds the cache filled.

// mutatorName matches the names of methods whose purpose is to change their receiver.
var mutatorName = lazyregexp.New(`^(?i:set|put|add|insert|store|push|create|register|save|write|append|update|upsert|inc|enqueue|delete|remove|observe|record|mark|touch|apply|commit|merge|import|init|open|new|build|subscribe|close|reset|swap|sort|shuffle|rotate|reverse|pop|fix)`)

// cacheUse tells how a method, and the methods that it calls on parts of its receiver, use the maps of the
// receiver.
type cacheUse struct {
	looksUp map[*types.Var]bool // maps, fields of the receiver or of its parts: value, ok := m[key]
	stores  map[*types.Var]bool // m[key] = value
	parts   []*types.Var        // fields of the receiver that have the maps, such as cache of store.cache
}

// isCaching reports whether a method that does not exist to change its receiver looks up a key in a map of
// its receiver, and stores values in the same map.
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

// readCacheUse returns what a method does with the maps of its receiver.
func (in *input) readCacheUse(fn *types.Func) cacheUse {
	use := cacheUse{looksUp: map[*types.Var]bool{}, stores: map[*types.Var]bool{}}
	in.addCacheUse(fn, &use, 0)
	return use
}

// addCacheUse adds to use what a method does with the maps of its receiver. depth is the number of calls
// between the method that a benchmark calls and fn. It returns false if the method does nothing with them.
func (in *input) addCacheUse(fn *types.Func, use *cacheUse, depth int) bool {
	recv, body := in.methodBody(fn)
	if body == nil || depth > maxTimedDepth {
		return false
	}
	// mapOf returns the map in m[key] if it is a field of the receiver, else nil.
	mapOf := func(e ast.Expr) *types.Var {
		index, ok := ast.Unparen(e).(*ast.IndexExpr)
		if !ok || !isMap(in.pass.TypesInfo.TypeOf(index.X)) {
			return nil
		}
		if fields, ok := in.receiverPath(index.X, recv); !ok || fields == "" {
			return nil
		}
		return in.flowGraph().Variable(index.X)
	}
	isUsed := false
	for n := range ast.Preorder(body) {
		switch n := n.(type) {
		case *ast.AssignStmt:
			if m := mapOf(n.Rhs[0]); m != nil && len(n.Lhs) == 2 && len(n.Rhs) == 1 {
				use.looksUp[m], isUsed = true, true
			}
			for _, lhs := range n.Lhs {
				if m := mapOf(lhs); m != nil {
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

// isRemembering reports whether a method stores its results in a map of its receiver, or in a cache of it.
func (in *input) isRemembering(fn *types.Func) bool { return in.isMemoizing(fn) || in.isCaching(fn) }

// reorders reports whether a method that does not exist to change its receiver swaps elements of a slice of
// its receiver, as one does that moves what it finds to the front.
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

// mayBeOff reports whether the cache that a method reads through may not be there: a constructor makes it
// only if an option is set, and the benchmark does not set the option when it makes p.
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

// findOptions returns the fields in the conditions under which the package sets a field, as CacheBytes in
// the example of mayBeOff. It returns nil if it sets the field without a condition.
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

// setsOption reports whether the statements of a benchmark that set p, or the functions of the benchmark that
// they call, pass on a literal that sets one of the options.
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

// isWarmed reports whether a benchmark, or a sub-benchmark before its loop, calls a caching method on p: it
// then fills the cache on purpose.
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
