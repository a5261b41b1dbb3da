package flow

import (
	"go/ast"
	"go/types"
)

// This file searches for the sources of an expression: the expressions from which its value may
// come. After
//
//	f := json.Marshal
//	if fast { f = marshalFast }
//
// the sources of f are json.Marshal and marshalFast. A search goes from a variable to the values
// that are assigned to it, and from a call to the results of its function. A binding has the
// arguments of known calls, by parameter. The search then takes these instead of the arguments of
// all calls.

// Sources returns the expressions that the value of e may come from. A source can be a literal, a
// constant or a function. It can also be a call into another package, or a variable without a
// value.
func (g *Graph) Sources(e ast.Expr, binding Binding) []ast.Expr {
	return g.searchSources(e, binding).found
}

// search has the state of one search for sources.
type search struct {
	graph   *Graph
	binding Binding
	seen    map[visit]bool
	found   []ast.Expr
}

// visit is an expression that a search has visited. The number indexes counts the [i] after it (see
// visitExpr).
type visit struct {
	expr    ast.Expr
	indexes int
}

// searchSources searches the sources of e.
func (g *Graph) searchSources(e ast.Expr, binding Binding) *search {
	s := &search{graph: g, binding: binding, seen: map[visit]bool{}}
	s.visitExpr(e, 0, 0)
	return s
}

// searchWithin searches the sources of e as a part of the search s. It skips what s has visited.
// The depth counts the steps from the first expression of s.
func (s *search) searchWithin(e ast.Expr, depth int) *search {
	inner := &search{graph: s.graph, binding: s.binding, seen: s.seen}
	inner.visitExpr(e, 0, depth)
	return inner
}

// visitExpr adds the sources of e to s.found. The number indexes counts the [i] after e: with 1 it
// adds the sources of e[i], with 2 those of e[i][j]. So for table[i] it visits table with one more.
// The depth counts the steps from the first expression.
func (s *search) visitExpr(e ast.Expr, indexes, depth int) {
	current := visit{expr: e, indexes: indexes}
	if e == nil || depth > maxDepth || len(s.seen) > maxValues || s.seen[current] {
		return
	}
	s.seen[current] = true
	info := s.graph.info
	if info.Types[e].Value != nil && indexes == 0 {
		s.found = append(s.found, e)
		return
	}
	switch e := e.(type) {
	case *ast.ParenExpr:
		s.visitExpr(e.X, indexes, depth)
	case *ast.StarExpr:
		s.visitExpr(e.X, indexes, depth+1)
	case *ast.TypeAssertExpr:
		s.visitExpr(e.X, indexes, depth+1)
	case *ast.SliceExpr:
		s.visitExpr(e.X, indexes, depth+1)
	case *ast.UnaryExpr:
		s.visitExpr(e.X, indexes, depth+1)
	case *ast.Ident, *ast.SelectorExpr:
		if v := s.graph.Variable(e); v != nil {
			s.visitVariable(e, v, indexes, depth)
		} else {
			s.addSource(e, indexes)
		}
	case *ast.IndexExpr:
		if tv := info.Types[e.Index]; tv.IsType() { // f[int] of a generic f
			s.visitExpr(e.X, indexes, depth+1)
			return
		}
		s.visitExpr(e.X, indexes+1, depth+1)
	case *ast.CompositeLit:
		if indexes == 0 {
			s.found = append(s.found, e)
			return
		}
		s.visitElements(e, indexes-1, depth+1)
	case *ast.CallExpr:
		s.visitCall(e, 0, indexes, depth)
	default:
		s.addSource(e, indexes)
	}
}

// visitElements visits the elements of a literal.
func (s *search) visitElements(lit *ast.CompositeLit, indexes, depth int) {
	for _, e := range lit.Elts {
		if kv, ok := e.(*ast.KeyValueExpr); ok {
			e = kv.Value
		}
		s.visitExpr(e, indexes, depth)
	}
}

// addSource adds e itself as a source. If the search is for elements of e, it adds nothing: they
// are unknown.
func (s *search) addSource(e ast.Expr, indexes int) {
	if indexes == 0 {
		s.found = append(s.found, e)
	}
}

// visitVariable visits the values that are assigned to a variable v. If v has an entry in the
// binding, it visits this instead.
func (s *search) visitVariable(e ast.Expr, v *types.Var, indexes, depth int) {
	if arg, ok := s.binding[v]; ok {
		s.visitExpr(arg, indexes, depth+1)
		return
	}
	if indexes > 0 {
		for _, elt := range s.graph.elements[v] {
			s.visitExpr(elt, indexes-1, depth+1)
		}
	}
	values := s.graph.values[v]
	for _, val := range values {
		inner := indexes
		if val.isElement {
			inner++
		}
		if call, ok := ast.Unparen(val.expr).(*ast.CallExpr); ok && val.result > 0 {
			s.visitCall(call, val.result, inner, depth+1)
			continue
		}
		if val.result == 0 {
			s.visitExpr(val.expr, inner, depth+1)
		}
	}
	if len(values) == 0 {
		s.addSource(e, indexes)
	}
}

// visitCall visits the results, with the given index, of the functions that a call may run.
func (s *search) visitCall(call *ast.CallExpr, result, indexes, depth int) {
	info := s.graph.info
	if isConversion := info.Types[call.Fun].IsType(); isConversion && len(call.Args) == 1 {
		s.visitExpr(call.Args[0], indexes, depth+1)
		return
	}
	if id, ok := ast.Unparen(call.Fun).(*ast.Ident); ok && info.Types[call.Fun].IsBuiltin() {
		if id.Name == "append" && indexes > 0 {
			s.visitExpr(call.Args[0], indexes, depth+1)
			for _, a := range call.Args[1:] {
				s.visitExpr(a, indexes-1, depth+1)
			}
			return
		}
		s.addSource(call, indexes)
		return
	}
	if depth >= maxDepth {
		return
	}
	known := false
	for _, f := range s.searchWithin(call.Fun, depth+1).findFunctions(depth + 1) {
		for _, r := range s.graph.Results(f, result) {
			known = true
			s.visitExpr(r, indexes, depth+1)
		}
	}
	if !known {
		s.addSource(call, indexes)
	}
}

// Origin returns the variable from which an expression selects: v for v, &v, v[i] and v.field. If v
// is only another name of a variable w, it returns w. A parameter with an entry in binding is
// another name of that argument. With a nil entry, v has no other name. For an expression that
// begins with a call or a literal, Origin returns nil.
func (g *Graph) Origin(e ast.Expr, binding Binding) *types.Var {
	v, _ := g.Path(e, binding)
	return v
}

// Path returns the variable of Origin and the names of the selected fields. For s.store.items they
// are s and ".store.items".
func (g *Graph) Path(e ast.Expr, binding Binding) (*types.Var, string) {
	v, fields, _ := g.follow(e, binding)
	return v, fields
}

// Base returns the expression with which a path begins, if it does not begin with a variable. For
// newStore().items this is newStore(). It is the same for s.items if binding has newStore() for s.
// If the path begins with a variable, Base returns nil.
func (g *Graph) Base(e ast.Expr, binding Binding) ast.Expr {
	v, _, base := g.follow(e, binding)
	if v != nil {
		return nil
	}
	return base
}

// follow returns the variable and the fields of Path, and the expression with which the path
// begins.
func (g *Graph) follow(e ast.Expr, binding Binding) (v *types.Var, fields string, base ast.Expr) {
	for range maxDepth {
		switch x := e.(type) {
		case *ast.ParenExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		case *ast.UnaryExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.SelectorExpr:
			if g.info.Selections[x] == nil { // a variable of another package
				v, _ := g.info.Uses[x.Sel].(*types.Var)
				return v, fields, x
			}
			fields = "." + x.Sel.Name + fields
			e = x.X
		case *ast.Ident:
			v, _ := g.info.ObjectOf(x).(*types.Var)
			next, ok := binding[v]
			if !ok {
				next = g.findAlias(v)
			}
			if next == nil {
				return v, fields, x
			}
			e = next
		default:
			return nil, "", e
		}
	}
	return nil, "", nil
}

// findAlias returns the only value of v if this is a variable or a field. Otherwise it returns nil.
func (g *Graph) findAlias(v *types.Var) ast.Expr {
	values := g.values[v]
	if v == nil || len(values) != 1 || values[0].isElement || values[0].result > 0 {
		return nil
	}
	e := values[0].expr
	for {
		switch x := e.(type) {
		case *ast.ParenExpr:
			e = x.X
			continue
		case *ast.UnaryExpr:
			e = x.X
			continue
		case *ast.Ident:
			if _, ok := g.info.ObjectOf(x).(*types.Var); ok {
				return e
			}
		case *ast.SelectorExpr:
			if g.Variable(x) != nil {
				return e
			}
		}
		return nil
	}
}
