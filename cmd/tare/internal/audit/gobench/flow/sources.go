package flow

import (
	"go/ast"
	"go/types"
)

// Sources returns the expressions that the value of e may come from. After
//
//	f := json.Marshal
//	if fast { f = marshalFast }
//
// the sources of f are json.Marshal and marshalFast. A source can be a literal, a constant or a
// function. It can also be a call into another package, or a variable without a value.
func (g *Graph) Sources(e ast.Expr, binding Binding) []ast.Expr {
	return g.searchSources(e, binding).found
}

type search struct {
	graph   *Graph
	binding Binding
	seen    map[visit]bool
	found   []ast.Expr
}

// visit is an expression that was visited at a level (see visitExpr).
type visit struct {
	expr  ast.Expr
	level int
}

func (g *Graph) searchSources(e ast.Expr, binding Binding) *search {
	s := &search{graph: g, binding: binding, seen: map[visit]bool{}}
	s.visitExpr(e, 0, 0)
	return s
}

// searchWithin searches the sources of e, but skips what s has visited.
func (s *search) searchWithin(e ast.Expr, depth int) *search {
	inner := &search{graph: s.graph, binding: s.binding, seen: s.seen}
	inner.visitExpr(e, 0, depth)
	return inner
}

// visitExpr adds the sources of e to s.found. At level 1 it adds those of the elements of e, at
// level 2 those of their elements. For table[i] it visits table one level higher. The depth counts
// the steps from the first expression.
func (s *search) visitExpr(e ast.Expr, level, depth int) {
	current := visit{expr: e, level: level}
	if e == nil || depth > maxDepth || len(s.seen) > maxValues || s.seen[current] {
		return
	}
	s.seen[current] = true
	info := s.graph.info
	if info.Types[e].Value != nil && level == 0 {
		s.found = append(s.found, e)
		return
	}
	switch e := e.(type) {
	case *ast.ParenExpr:
		s.visitExpr(e.X, level, depth)
	case *ast.StarExpr:
		s.visitExpr(e.X, level, depth+1)
	case *ast.TypeAssertExpr:
		s.visitExpr(e.X, level, depth+1)
	case *ast.SliceExpr:
		s.visitExpr(e.X, level, depth+1)
	case *ast.UnaryExpr:
		s.visitExpr(e.X, level, depth+1)
	case *ast.Ident, *ast.SelectorExpr:
		if v := s.graph.Variable(e); v != nil {
			s.visitVariable(e, v, level, depth)
		} else {
			s.addSource(e, level)
		}
	case *ast.IndexExpr:
		if tv := info.Types[e.Index]; tv.IsType() { // f[int] of a generic f
			s.visitExpr(e.X, level, depth+1)
			return
		}
		s.visitExpr(e.X, level+1, depth+1)
	case *ast.CompositeLit:
		if level == 0 {
			s.found = append(s.found, e)
			return
		}
		s.visitElements(e, level-1, depth+1)
	case *ast.CallExpr:
		s.visitCall(e, 0, level, depth)
	default:
		s.addSource(e, level)
	}
}

func (s *search) visitElements(lit *ast.CompositeLit, level, depth int) {
	for _, e := range lit.Elts {
		if kv, ok := e.(*ast.KeyValueExpr); ok {
			e = kv.Value
		}
		s.visitExpr(e, level, depth)
	}
}

// addSource adds e itself as a source. Elements of e are unknown.
func (s *search) addSource(e ast.Expr, level int) {
	if level == 0 {
		s.found = append(s.found, e)
	}
}

func (s *search) visitVariable(e ast.Expr, v *types.Var, level, depth int) {
	if arg, ok := s.binding[v]; ok {
		s.visitExpr(arg, level, depth+1)
		return
	}
	if level > 0 {
		for _, elt := range s.graph.elements[v] {
			s.visitExpr(elt, level-1, depth+1)
		}
	}
	values := s.graph.values[v]
	for _, val := range values {
		inner := level
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
		s.addSource(e, level)
	}
}

// visitCall adds the sources of the result of a call at an index.
func (s *search) visitCall(call *ast.CallExpr, result, level, depth int) {
	info := s.graph.info
	if isConversion := info.Types[call.Fun].IsType(); isConversion && len(call.Args) == 1 {
		s.visitExpr(call.Args[0], level, depth+1)
		return
	}
	if id, ok := ast.Unparen(call.Fun).(*ast.Ident); ok && info.Types[call.Fun].IsBuiltin() {
		if id.Name == "append" && level > 0 {
			s.visitExpr(call.Args[0], level, depth+1)
			for _, a := range call.Args[1:] {
				s.visitExpr(a, level-1, depth+1)
			}
			return
		}
		s.addSource(call, level)
		return
	}
	if depth >= maxDepth {
		return
	}
	known := false
	for _, f := range s.searchWithin(call.Fun, depth+1).findFunctions(depth + 1) {
		for _, r := range s.graph.Results(f, result) {
			known = true
			s.visitExpr(r, level, depth+1)
		}
	}
	if !known {
		s.addSource(call, level)
	}
}

// Origin returns the variable that an expression selects from: v for v, &v, v[i] and v.field. If v
// is only another name of a variable w, it returns w. A nil entry in binding prevents this. It
// returns nil for other expressions.
func (g *Graph) Origin(e ast.Expr, binding Binding) *types.Var {
	v, _ := g.Path(e, binding)
	return v
}

// Path returns the variable of Origin and the names of the selected fields. They are s and ".store"
// for s.store.
func (g *Graph) Path(e ast.Expr, binding Binding) (*types.Var, string) {
	v, fields, _ := g.follow(e, binding)
	return v, fields
}

// Base returns the expression at which a path ends without a variable. For s.items it is newStore()
// if binding has this for s. It is nil if there is a variable.
func (g *Graph) Base(e ast.Expr, binding Binding) ast.Expr {
	v, _, base := g.follow(e, binding)
	if v != nil {
		return nil
	}
	return base
}

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

// findAlias returns the only value of v if this is a variable or a field, else nil.
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
