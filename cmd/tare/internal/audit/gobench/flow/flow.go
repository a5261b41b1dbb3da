// Package flow finds the functions that a call may run and the values that an expression may have.
// It reads one package, and ignores the order of statements: every value that is assigned to a
// variable anywhere counts. In
//
//	for _, c := range []codec{{encode: encodeJSON}, {encode: encodeGob}} {
//		c.encode(v)
//	}
//
// Called returns encodeJSON and encodeGob for the call c.encode(v). [New] collects the assignments;
// the file sources.go follows them.
package flow

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/types/typeutil"
)

// Limits of a search for values.
const (
	maxDepth  = 12  // steps from an expression to a value
	maxValues = 200 // expressions visited
)

// Graph holds the functions of a package and the values that it assigns to variables.
type Graph struct {
	info     *types.Info
	decls    map[*types.Func]*ast.FuncDecl
	values   map[*types.Var][]value    // assigned to a variable, field, parameter or receiver
	elements map[*types.Var][]ast.Expr // assigned to an element of a variable: x for v[i] = x
}

// value says where a value of a variable comes from: from expr, an element of expr, or a result of
// the call expr.
type value struct {
	expr      ast.Expr
	isElement bool // an element of expr, as for v in "for _, v := range expr"
	result    int  // index of the result, as 1 for v in "_, v := expr"; else 0
}

// Function is a function, method or literal that a call may run.
type Function struct {
	Object   *types.Func    // nil for a literal
	Node     ast.Node       // its declaration or literal; nil for other packages
	Type     *ast.FuncType  // nil if Node is nil
	Body     *ast.BlockStmt // nil if Node is nil or has no body
	Receiver ast.Expr       // x if the function is called as the method x.f, else nil

	receiverParam *types.Var // r in the declaration func (r *T) f(); nil if it has no name
	isMethodExpr  bool       // called as T.f, with the receiver as its first argument
}

// Binding has the arguments of the calls that led to some code, by parameter. If fill(m, n) was called
// as fill(m, 50), the entry for n is 50. A parameter without an entry may have the argument of any
// call of its function. A nil Binding is empty.
type Binding map[*types.Var]ast.Expr

// New returns the graph of a package. Its time grows with the size of the files.
func New(files []*ast.File, info *types.Info) *Graph {
	g := &Graph{info: info, decls: map[*types.Func]*ast.FuncDecl{}, values: map[*types.Var][]value{}, elements: map[*types.Var][]ast.Expr{}}
	for _, file := range files {
		for _, d := range file.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok {
				if obj, ok := info.Defs[fn.Name].(*types.Func); ok {
					g.decls[obj] = fn
				}
			}
		}
	}
	var dynamic []*ast.CallExpr // calls of function values and of methods of interfaces
	for _, file := range files {
		ast.Inspect(file, func(n ast.Node) bool {
			if call := g.addNode(n); call != nil {
				dynamic = append(dynamic, call)
			}
			return true
		})
	}
	// Find the functions of all dynamic calls before recording any arguments. The arguments may be
	// functions themselves, and the result must not depend on the order of the calls.
	bindings := make([]Binding, 0, len(dynamic))
	for _, call := range dynamic {
		for _, f := range g.Called(call, nil) {
			bindings = append(bindings, g.Bind(call, f))
		}
	}
	for _, b := range bindings {
		for param, arg := range b {
			g.values[param] = append(g.values[param], value{expr: arg})
		}
	}
	return g
}

// addNode records the values that a node assigns. It returns a call of a function value or of an
// interface method for New to record later.
func (g *Graph) addNode(n ast.Node) *ast.CallExpr {
	switch n := n.(type) {
	case *ast.AssignStmt:
		g.addAssignment(n.Lhs, n.Rhs)
	case *ast.ValueSpec:
		names := make([]ast.Expr, 0, len(n.Names))
		for _, id := range n.Names {
			names = append(names, id)
		}
		g.addAssignment(names, n.Values)
	case *ast.RangeStmt:
		if v := g.Variable(n.Value); v != nil {
			g.values[v] = append(g.values[v], value{expr: n.X, isElement: true})
		}
	case *ast.CompositeLit:
		g.addFields(n)
	case *ast.SelectorExpr: // for x.f, the receiver of f may be x
		if fn, ok := g.info.Uses[n.Sel].(*types.Func); ok {
			if f := g.Declared(fn); f.receiverParam != nil && g.isMethodValue(n) {
				g.values[f.receiverParam] = append(g.values[f.receiverParam], value{expr: n.X})
			}
		}
	case *ast.CallExpr:
		fn, _ := typeutil.Callee(g.info, n).(*types.Func)
		if fn == nil {
			return n
		}
		if f := g.Declared(fn.Origin()); f.Type != nil {
			for param, arg := range g.Bind(n, f) {
				g.values[param] = append(g.values[param], value{expr: arg})
			}
		}
	}
	return nil
}

// isMethodValue reports whether a selector is a method of a value, as in x.f.
func (g *Graph) isMethodValue(e *ast.SelectorExpr) bool {
	s := g.info.Selections[e]
	return s != nil && s.Kind() == types.MethodVal
}

// addAssignment records that targets get these values.
func (g *Graph) addAssignment(targets, values []ast.Expr) {
	for i, target := range targets {
		val := value{}
		switch {
		case len(values) == len(targets):
			val.expr = values[i]
		case len(values) == 1: // a call with several results
			val.expr, val.result = values[0], i
		default: // a declaration without values, or invalid code
			return
		}
		if index, ok := ast.Unparen(target).(*ast.IndexExpr); ok {
			if v := g.Variable(index.X); v != nil && val.result == 0 {
				g.elements[v] = append(g.elements[v], val.expr)
			}
			continue
		}
		if v := g.Variable(target); v != nil {
			g.values[v] = append(g.values[v], val)
		}
	}
}

// addFields records the fields that a struct literal sets.
func (g *Graph) addFields(lit *ast.CompositeLit) {
	t := g.info.TypeOf(lit)
	if t == nil {
		return
	}
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem()
	}
	s, ok := t.Underlying().(*types.Struct)
	if !ok {
		return
	}
	for i, e := range lit.Elts {
		kv, isKeyed := e.(*ast.KeyValueExpr)
		switch {
		case isKeyed:
			if id, ok := kv.Key.(*ast.Ident); ok {
				if v, ok := g.info.Uses[id].(*types.Var); ok {
					g.values[v.Origin()] = append(g.values[v.Origin()], value{expr: kv.Value})
				}
			}
		case i < s.NumFields():
			v := s.Field(i).Origin()
			g.values[v] = append(g.values[v], value{expr: e})
		}
	}
}

// Variable returns the variable or field that x, s.x, &x, *x or (x) names. It is nil for others.
func (g *Graph) Variable(e ast.Expr) *types.Var {
	switch e := e.(type) {
	case *ast.Ident:
		v, _ := g.info.ObjectOf(e).(*types.Var)
		return v
	case *ast.SelectorExpr:
		if v, ok := g.info.ObjectOf(e.Sel).(*types.Var); ok {
			return v.Origin()
		}
	case *ast.ParenExpr:
		return g.Variable(e.X)
	case *ast.StarExpr:
		return g.Variable(e.X)
	case *ast.UnaryExpr:
		return g.Variable(e.X)
	}
	return nil
}

// Declared returns a function of any package. It has a body if this package declares it.
func (g *Graph) Declared(fn *types.Func) Function {
	fn = fn.Origin()
	f := Function{Object: fn}
	if d := g.decls[fn]; d != nil {
		f.Node, f.Type, f.Body = d, d.Type, d.Body
		if recv := fn.Signature().Recv(); recv != nil && recv.Name() != "" && recv.Name() != "_" {
			f.receiverParam = recv
		}
	}
	return f
}

// Called returns the functions that a call may run, without builtins and conversions.
func (g *Graph) Called(call *ast.CallExpr, binding Binding) []Function {
	if g.info.Types[call.Fun].IsType() || g.info.Types[call.Fun].IsBuiltin() {
		return nil
	}
	return g.Functions(call.Fun, binding)
}

// Functions returns the functions that may be the value of an expression.
func (g *Graph) Functions(e ast.Expr, binding Binding) []Function {
	return g.searchSources(e, binding).findFunctions()
}

// findFunctions returns the functions among the sources that a search has found.
func (s *search) findFunctions() []Function {
	g := s.graph
	var out []Function
	for _, source := range s.found {
		switch source := source.(type) {
		case *ast.FuncLit:
			out = append(out, Function{Node: source, Type: source.Type, Body: source.Body})
		case *ast.Ident:
			if fn, ok := g.info.Uses[source].(*types.Func); ok {
				out = append(out, g.Declared(fn))
			}
		case *ast.SelectorExpr:
			if fn, ok := g.info.Uses[source.Sel].(*types.Func); ok {
				out = append(out, s.findMethods(source, fn)...)
			}
		}
	}
	return out
}

// findMethods returns the functions that a selector x.f may select, where fn is f as declared. If x is
// an interface, fn has no body. Then these are the methods f of the values that x may have.
func (s *search) findMethods(e *ast.SelectorExpr, fn *types.Func) []Function {
	g := s.graph
	selection := g.info.Selections[e]
	if selection == nil { // a function of another package, as json.Marshal
		return []Function{g.Declared(fn)}
	}
	declared := g.Declared(fn)
	if selection.Kind() == types.MethodExpr {
		declared.isMethodExpr = true
		return []Function{declared}
	}
	var out []Function
	if types.IsInterface(selection.Recv()) {
		seen := map[*types.Func]bool{}
		for _, t := range s.searchPart(e.X).collectTypes() {
			obj, _, _ := types.LookupFieldOrMethod(t, true, fn.Pkg(), fn.Name())
			if m, ok := obj.(*types.Func); ok && !seen[m] && !types.IsInterface(t) {
				seen[m] = true
				out = append(out, g.Declared(m))
			}
		}
	}
	if len(out) == 0 { // a method of a type, or of an interface with unknown values
		out = []Function{declared}
	}
	for i := range out {
		out[i].Receiver = e.X
	}
	return out
}

// Types returns the types of the values that an expression may have, with T for a pointer &T{}.
func (g *Graph) Types(e ast.Expr, binding Binding) []types.Type {
	return g.searchSources(e, binding).collectTypes()
}

// collectTypes returns the types of the sources that a search has found. The source of &T{} is T{}.
func (s *search) collectTypes() []types.Type {
	var out []types.Type
	for _, source := range s.found {
		if t := s.graph.info.TypeOf(source); t != nil {
			out = append(out, t)
		}
	}
	return out
}

// Limits of MaxConstant.
const (
	maxFactor       = 1 << 31 // keeps products from overflowing
	maxProductDepth = 3       // nesting of products
)

// MaxConstant returns the largest possible value of an integer expression, among constants and
// their products.
func (g *Graph) MaxConstant(e ast.Expr, binding Binding) (largest int64, ok bool) {
	return g.maxConstant(e, binding, 0)
}

// maxConstant is MaxConstant for a factor within depth products. The limit of the depth ends the
// search if a variable depends on itself, as after n = n * 2.
func (g *Graph) maxConstant(e ast.Expr, binding Binding, depth int) (largest int64, ok bool) {
	for _, source := range g.Sources(e, binding) {
		n, isKnown := int64(0), false
		if val := g.info.Types[source].Value; val != nil {
			n, isKnown = constant.Int64Val(constant.ToInt(val))
		} else if product, isBinary := source.(*ast.BinaryExpr); isBinary && product.Op == token.MUL && depth < maxProductDepth {
			x, xKnown := g.maxConstant(product.X, binding, depth+1)
			y, yKnown := g.maxConstant(product.Y, binding, depth+1)
			n, isKnown = x*y, xKnown && yKnown && x < maxFactor && y < maxFactor
		}
		if isKnown && (!ok || n > largest) {
			largest, ok = n, true
		}
	}
	return largest, ok
}

// Bind returns the arguments and the receiver of a call of f, by parameter. It omits variadic
// parameters, unless the call has the form f(s...). It returns nil if f has no declaration in the package.
func (g *Graph) Bind(call *ast.CallExpr, f Function) Binding {
	if f.Type == nil {
		return nil
	}
	out := Binding{}
	args := call.Args
	if f.isMethodExpr && len(args) > 0 {
		if f.receiverParam != nil {
			out[f.receiverParam] = args[0]
		}
		args = args[1:]
	} else if f.receiverParam != nil && f.Receiver != nil {
		out[f.receiverParam] = f.Receiver
	}
	for i, p := range Params(f.Type) {
		if i >= len(args) {
			break
		}
		if _, isVariadic := p.Type.(*ast.Ellipsis); isVariadic && !call.Ellipsis.IsValid() {
			break // several arguments, or none
		}
		if v, ok := g.info.Defs[p.Name].(*types.Var); ok && p.Name != nil {
			out[v] = args[i]
		}
	}
	return out
}

// Param is a parameter of a function.
type Param struct {
	Name *ast.Ident // nil if it has none
	Type ast.Expr
}

// Params returns the parameters of a function, one for each name.
func Params(t *ast.FuncType) []Param {
	var out []Param
	for _, field := range t.Params.List {
		for _, id := range field.Names {
			out = append(out, Param{Name: id, Type: field.Type})
		}
		if len(field.Names) == 0 {
			out = append(out, Param{Type: field.Type})
		}
	}
	return out
}

// Values returns the expressions that are assigned to v, but not x of "for _, v := range x".
func (g *Graph) Values(v *types.Var) []ast.Expr {
	var out []ast.Expr
	for _, val := range g.values[v] {
		if !val.isElement {
			out = append(out, val.expr)
		}
	}
	return out
}

// Results returns what a function returns as its result with that index: one expression for each
// return statement. It omits statements with fewer expressions, such as a bare return.
func (g *Graph) Results(f Function, index int) []ast.Expr {
	var out []ast.Expr
	if f.Body == nil {
		return nil
	}
	ast.Inspect(f.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.ReturnStmt:
			if index < len(n.Results) {
				out = append(out, n.Results[index])
			}
		}
		return true
	})
	return out
}
