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
// that are assigned to it, and from a call to the results of its function. For a parameter it takes
// the argument in the binding (see [Binding]), if there is one, else those of all calls.
//
// For an element such as table[1], the search remembers that it looks for elements, and goes to the
// values of table. In the literal []func(){f, g} it then goes to f and g. Which element it is does
// not matter.

// Sources returns the expressions that the value of e may come from. A source is a literal, a
// constant, a function, a call into another package, or a variable without a value.
func (g *Graph) Sources(e ast.Expr, binding Binding) []ast.Expr {
	return g.searchSources(e, binding).found
}

// search has the state of one search for sources.
type search struct {
	graph   *Graph
	binding Binding
	seen    map[visit]bool // visited already, also by an outer search
	depth   int            // steps from the first expression to the current one
	found   []ast.Expr     // the sources
}

// visit is one step of a search. It looks for the value of expr if nesting is 0, for elements of expr
// if it is 1, for elements of elements if it is 2.
type visit struct {
	expr    ast.Expr
	nesting int
}

// searchSources searches the sources of e.
func (g *Graph) searchSources(e ast.Expr, binding Binding) *search {
	s := &search{graph: g, binding: binding, seen: map[visit]bool{}}
	s.visitExpr(e, 0)
	return s
}

// searchPart searches the sources of e, a part of the expression that s has reached. It skips what s has
// visited, and adds nothing to s.found.
func (s *search) searchPart(e ast.Expr) *search {
	part := &search{graph: s.graph, binding: s.binding, seen: s.seen, depth: s.depth}
	part.visitExpr(e, 0)
	return part
}

// visitExpr adds the sources of e to s.found. With a nesting above 0 it adds those of the elements of e
// (see visit). It gives up after maxDepth steps or maxValues expressions.
func (s *search) visitExpr(e ast.Expr, nesting int) {
	current := visit{expr: e, nesting: nesting}
	if e == nil || s.depth > maxDepth || len(s.seen) > maxValues || s.seen[current] {
		return
	}
	s.seen[current] = true
	s.depth++
	defer func() { s.depth-- }()
	info := s.graph.info
	if info.Types[e].Value != nil && nesting == 0 {
		s.found = append(s.found, e)
		return
	}
	switch e := e.(type) {
	case *ast.ParenExpr:
		s.visitExpr(e.X, nesting)
	case *ast.StarExpr:
		s.visitExpr(e.X, nesting)
	case *ast.TypeAssertExpr:
		s.visitExpr(e.X, nesting)
	case *ast.SliceExpr:
		s.visitExpr(e.X, nesting)
	case *ast.UnaryExpr:
		s.visitExpr(e.X, nesting)
	case *ast.Ident, *ast.SelectorExpr:
		if v := s.graph.Variable(e); v != nil {
			s.visitVariable(e, v, nesting)
		} else {
			s.addSource(e, nesting)
		}
	case *ast.IndexExpr:
		if tv := info.Types[e.Index]; tv.IsType() { // f[int] of a generic f
			s.visitExpr(e.X, nesting)
			return
		}
		s.visitExpr(e.X, nesting+1)
	case *ast.CompositeLit:
		if nesting == 0 {
			s.found = append(s.found, e)
			return
		}
		s.visitElements(e, nesting-1)
	case *ast.CallExpr:
		s.visitCall(e, 0, nesting)
	default:
		s.addSource(e, nesting)
	}
}

// visitElements visits the elements of a literal.
func (s *search) visitElements(lit *ast.CompositeLit, nesting int) {
	for _, e := range lit.Elts {
		if kv, ok := e.(*ast.KeyValueExpr); ok {
			e = kv.Value
		}
		s.visitExpr(e, nesting)
	}
}

// addSource adds e itself as a source. If the search looks for elements of e, they are not known, and
// it adds nothing.
func (s *search) addSource(e ast.Expr, nesting int) {
	if nesting == 0 {
		s.found = append(s.found, e)
	}
}

// visitVariable visits the values of the variable v, which e names: the argument in the binding, or
// else everything that is assigned to v or to its elements.
func (s *search) visitVariable(e ast.Expr, v *types.Var, nesting int) {
	if arg, ok := s.binding[v]; ok {
		s.visitExpr(arg, nesting)
		return
	}
	if nesting > 0 {
		for _, elt := range s.graph.elements[v] {
			s.visitExpr(elt, nesting-1)
		}
	}
	values := s.graph.values[v]
	for _, val := range values {
		inner := nesting
		if val.isElement {
			inner++
		}
		if call, ok := ast.Unparen(val.expr).(*ast.CallExpr); ok && val.result > 0 {
			s.visitCall(call, val.result, inner)
			continue
		}
		if val.result == 0 {
			s.visitExpr(val.expr, inner)
		}
	}
	if len(values) == 0 {
		s.addSource(e, nesting)
	}
}

// visitCall visits what the functions that a call may run return as their result with that index.
func (s *search) visitCall(call *ast.CallExpr, result, nesting int) {
	info := s.graph.info
	isConversion := info.Types[call.Fun].IsType()
	if isConversion && len(call.Args) == 1 {
		s.visitExpr(call.Args[0], nesting)
		return
	}
	if id, ok := ast.Unparen(call.Fun).(*ast.Ident); ok && info.Types[call.Fun].IsBuiltin() {
		if id.Name == "append" && nesting > 0 {
			s.visitExpr(call.Args[0], nesting)
			for _, a := range call.Args[1:] {
				s.visitExpr(a, nesting-1)
			}
			return
		}
		s.addSource(call, nesting)
		return
	}
	known := false
	for _, f := range s.searchPart(call.Fun).findFunctions() {
		for _, r := range s.graph.Results(f, result) {
			known = true
			s.visitExpr(r, nesting)
		}
	}
	if !known {
		s.addSource(call, nesting)
	}
}

// Origin returns the variable with which an expression begins: v for v, &v, v[i] and v.field. If w is
// the only value of v, v is another name of w, and Origin returns w. Likewise a parameter is another
// name of its argument in the binding; a nil entry there means that it has no other name. For an
// expression that begins with a call or a literal, Origin returns nil.
func (g *Graph) Origin(e ast.Expr, binding Binding) *types.Var {
	v, _ := g.Path(e, binding)
	return v
}

// Path returns the variable of Origin and the names of the fields after it: s and ".store.items" for
// s.store.items.
func (g *Graph) Path(e ast.Expr, binding Binding) (*types.Var, string) {
	v, fields, _ := g.follow(e, binding)
	return v, fields
}

// Base returns the call or literal with which an expression begins: newStore() for newStore().items,
// and also for s.items if binding has newStore() for s. It returns nil if the expression begins with
// a variable.
func (g *Graph) Base(e ast.Expr, binding Binding) ast.Expr {
	v, _, base := g.follow(e, binding)
	if v != nil {
		return nil
	}
	return base
}

// follow returns the results of Path, and the expression with which e begins.
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

// findAlias returns the variable or field of which v is another name, because v has no other value.
// It returns nil if there is none.
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
