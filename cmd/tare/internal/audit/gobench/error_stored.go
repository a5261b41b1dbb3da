package gobench

import (
	"go/ast"
	"go/types"
	"maps"
	"slices"

	"github.com/tarebench/tare/cmd/tare/internal/audit/gobench/flow"
)

// This file is a part of the rule error-discarded. A method fails if its key is stored already, so
// that all calls with the same key fail but the first:
//
//	func (r *Registry) Add(id string) error {
//		if _, ok := r.seen[id]; ok { return ErrDuplicate }
//		r.seen[id] = true
//		return nil
//	}
//
// The method may leave both steps to other methods of its receiver, and repeat them for each element
// of an argument.

// storedKey is an entry of a map of the receiver, r.seen[id]: the fields ".seen", and the text of
// the key.
type storedKey struct{ fields, key string }

// findStoredKey returns the map of the receiver in which a method looks for a key and fails if it is
// there, and to which it adds this key otherwise. It returns "" if there is none.
func (in *input) findStoredKey(fn *types.Func) string {
	recv, body := in.methodBody(fn)
	if body == nil {
		return ""
	}
	guarded, stored := map[storedKey]bool{}, map[storedKey]bool{}
	in.collectKeys(body, recv, flow.Binding{recv: nil}, 0, guarded, stored)
	fields := ""
	for k := range guarded {
		if stored[k] && (fields == "" || k.fields < fields) { // not the order of the map
			fields = k.fields
		}
	}
	return fields
}

// collectKeys adds the entries of the maps of recv for which a body fails to guarded, and those that
// it sets to stored. It follows calls of other methods of the receiver. The depth counts those, and
// the binding has their arguments.
func (in *input) collectKeys(body ast.Node, recv *types.Var, binding flow.Binding, depth int, guarded, stored map[storedKey]bool) {
	inspectPath(body, func(n ast.Node, path []ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.IfStmt:
			if k, ok := in.findGuardedKey(n, recv, binding); ok && !isConditional(path[:len(path)-1]) {
				guarded[k] = true
			}
		case *ast.AssignStmt:
			for _, lhs := range n.Lhs {
				if k, ok := in.keyOf(lhs, recv, binding); ok {
					stored[k] = true
				}
			}
		case *ast.CallExpr:
			sel, ok := n.Fun.(*ast.SelectorExpr)
			if !ok || depth == maxTimedDepth {
				break
			}
			if root, _ := in.flowGraph().Path(sel.X, binding); root != recv {
				break
			}
			for _, called := range in.flowGraph().Called(n, binding) {
				if called.Body == nil || called.Receiver == nil {
					continue
				}
				inner := maps.Clone(binding)
				maps.Copy(inner, in.flowGraph().Bind(n, called))
				in.collectKeys(called.Body, recv, inner, depth+1, guarded, stored)
			}
		}
		return true
	})
}

// findGuardedKey returns the entry for which an if statement fails, if it exists. In the if
// statement or before it, ok may be set: _, ok := r.seen[id].
func (in *input) findGuardedKey(guard *ast.IfStmt, recv *types.Var, binding flow.Binding) (storedKey, bool) {
	if !failsOnly(guard.Body) {
		return storedKey{}, false
	}
	looked := guard.Cond
	if v := in.variable(guard.Cond); v != nil && in.isLocal(v) {
		values := in.flowGraph().Values(v)
		if len(values) != 1 {
			return storedKey{}, false
		}
		looked = values[0]
	}
	return in.keyOf(looked, recv, binding)
}

// keyOf returns the entry of a map of recv that an expression names, such as r.seen[id].
func (in *input) keyOf(e ast.Expr, recv *types.Var, binding flow.Binding) (k storedKey, ok bool) {
	index, ok := ast.Unparen(e).(*ast.IndexExpr)
	if !ok || !isMap(in.pass.TypesInfo.TypeOf(index.X)) {
		return storedKey{}, false
	}
	root, fields := in.flowGraph().Path(index.X, binding)
	if root != recv || fields == "" {
		return storedKey{}, false
	}
	key := formatExpr(index.Index)
	if p, ok := in.pathOf(index.Index, binding); ok {
		key = p.String()
	}
	return storedKey{fields: fields, key: key}, true
}

// emptiesField reports whether a method may remove keys from a map in a field of its receiver, or set
// the map. It follows calls of other methods on the receiver. The depth counts the methods around it.
func (in *input) emptiesField(fn *types.Func, field string, depth int) bool {
	recv, body := in.methodBody(fn)
	if body == nil {
		return false
	}
	isField := func(e ast.Expr) bool {
		_, isEntry := ast.Unparen(e).(*ast.IndexExpr)
		fields, ok := in.receiverPath(e, recv)
		return ok && fields == field && !isEntry
	}
	return hasNode(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			return slices.ContainsFunc(n.Lhs, isField)
		case *ast.CallExpr:
			if isBuiltin(in.pass.TypesInfo, n, "delete") || isBuiltin(in.pass.TypesInfo, n, "clear") {
				return isField(n.Args[0])
			}
			sel, ok := n.Fun.(*ast.SelectorExpr)
			if !ok || depth == maxTimedDepth {
				return false
			}
			_, isReceiver := in.receiverPath(sel.X, recv)
			return isReceiver && in.emptiesField(in.callee(n), field, depth+1)
		}
		return false
	})
}
