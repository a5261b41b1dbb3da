package gobench

import (
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strings"

	"github.com/tarebench/tare/cmd/tare/internal/audit/gobench/flow"
)

// This file is a part of the rule error-discarded. A call fills what it works on, and fails when
// this is full:
//
//	func (q *Queue) Push(v int) error {
//		if len(q.items) == q.max { return ErrFull }
//		q.items = append(q.items, v)
//		return nil
//	}
//
// A test that checks one call does not show that the calls of later iterations succeed. This file
// searches such methods for a field that they compare before an error and change without one.
// Above, this is q.items. A binding has the arguments of the calls that lead to an expression, by
// parameter.

// reportFilling reports a call at n that discards such an error, and returns whether it did. The
// receiver must be from before the loop, and nothing in the loop may undo the change. The frame f
// has the body in which n is: the loop, or a function of the test files that it calls.
func (in *input) reportFilling(l *loop, n ast.Node, call *ast.CallExpr, f *frame) bool {
	for _, c := range in.findFailingCalls(call, f.binding, 0) {
		receiver := in.flowGraph().Bind(c.call, c.called)[c.method().Signature().Recv()]
		if receiver == nil {
			continue
		}
		field, what := in.findLimit(c.method(), 0), "changes"
		if field == "" && f.callDepth() == 0 && !isAboutFailures(in.joinNames(l, n)) && in.repeatsArguments(l, call) && in.passesOn(c) {
			field, what = in.findStoredKey(c.method()), storesKey
		}
		if field == "" {
			continue
		}
		text := formatExpr(receiver)
		if p, ok := in.pathOf(receiver, c.binding); ok {
			if !in.isLocalBefore(p.root, l) || f.containsPos(p.root.Pos()) || in.mayUndo(l, p, c, field, what == storesKey) {
				continue
			}
			text = p.String()
		} else if made, isCall := receiver.(*ast.CallExpr); !isCall || isNodeIn(made, l.node) || f.containsPos(made.Pos()) {
			continue
		}
		in.report(n, "the error of %s is discarded in the loop, although each call of %s %s %s%s, which decides whether it fails",
			formatExpr(call.Fun), c.method().Name(), what, text, field)
		return true
	}
	return false
}

// storesKey is the predicate of a finding about a key that a method stores.
const storesKey = "stores the same key in"

// isAboutFailures reports whether the names of a benchmark say that its calls fail on purpose.
func isAboutFailures(names string) bool {
	return containsWord(names, "Dup", "Conflict", "Exist", "Reject", "Invalid", "Error", "Fail", "Short", "Empty", "Again")
}

// failingCall is a call of a function or method of the package. A function of the test files may
// contain the call and return its error.
type failingCall struct {
	call    *ast.CallExpr
	called  flow.Function   // declared
	binding flow.Binding    // at the call
	helpers []flow.Function // the functions of the test files around the call, from inside
}

// method returns the called function or method.
func (c failingCall) method() *types.Func { return c.called.Object }

// findFailingCalls returns the calls of functions of the package whose errors a call returns. The
// depth counts the functions of the test files around the call.
func (in *input) findFailingCalls(call *ast.CallExpr, binding flow.Binding, depth int) []failingCall {
	var out []failingCall
	for _, called := range in.flowGraph().Called(call, binding) {
		switch {
		case called.Body == nil:
		case !in.isTestCode(called.Node):
			if called.Object != nil {
				out = append(out, failingCall{call: call, called: called, binding: binding})
			}
		case depth < maxTimedDepth && errorIndex(in.pass.TypesInfo, call) >= 0:
			inner := flow.Binding{}
			maps.Copy(inner, binding)
			maps.Copy(inner, in.flowGraph().Bind(call, called))
			for _, c := range in.findReturned(called, errorIndex(in.pass.TypesInfo, call)) {
				for _, found := range in.findFailingCalls(c, inner, depth+1) {
					found.helpers = append(found.helpers, called)
					out = append(out, found)
				}
			}
		}
	}
	return out
}

// passesOn reports whether a helper passes only its own arguments and parts of them to a method. It
// is true without a helper, and false with several.
func (in *input) passesOn(c failingCall) bool {
	if len(c.helpers) != 1 {
		return len(c.helpers) == 0
	}
	isOther := func(n ast.Node) bool {
		id, isIdent := n.(*ast.Ident)
		_, isCall := n.(*ast.CallExpr)
		v := in.variable(id)
		return isCall || isIdent && v != nil && !v.IsField() && !in.isPartOfParameter(v, c.helpers[0])
	}
	return !slices.ContainsFunc(c.call.Args, func(arg ast.Expr) bool { return hasNode(arg, isOther) })
}

// isPartOfParameter reports whether v is a parameter of a function, or an element or index of one in
// a range statement.
func (in *input) isPartOfParameter(v *types.Var, f flow.Function) bool {
	isParameter := func(e ast.Expr) bool {
		return slices.ContainsFunc(flow.Params(f.Type), func(p flow.Param) bool { return p.Name != nil && in.pass.TypesInfo.Defs[p.Name] == in.variable(e) })
	}
	isSame := func(e ast.Expr) bool { return e != nil && in.variable(e) == v }
	return slices.ContainsFunc(flow.Params(f.Type), func(p flow.Param) bool { return p.Name != nil && in.pass.TypesInfo.Defs[p.Name] == v }) ||
		hasNode(f.Body, func(r *ast.RangeStmt) bool { return (isSame(r.Key) || isSame(r.Value)) && isParameter(r.X) })
}

// mayUndo reports whether a loop may undo what a call of a method changes in a field of p. Another
// method may change the field, and another call of the same method may change it back. A map of keys
// must get shorter for this.
func (in *input) mayUndo(l *loop, p varPath, c failingCall, field string, isKeys bool) bool {
	found := false
	changes := in.changesField
	if isKeys {
		changes = in.emptiesField
	}
	in.inspectCallsDeep(l.body, func(other *ast.CallExpr, binding flow.Binding) {
		if other == c.call || found {
			return
		}
		isHelper := false
		for _, called := range in.flowGraph().Called(other, binding) {
			isHelper = isHelper || called.Body != nil && in.isTestCode(called.Node)
			if called.Receiver == nil || called.Object == nil {
				continue
			}
			used, ok := in.pathOf(called.Receiver, binding)
			isSameCall := !isKeys && called.Object == c.method() && isNodeIn(other, l.body)
			if ok && used.root == p.root && (isSameCall || called.Object != c.method() && changes(called.Object, field, 0)) {
				found = true
			}
		}
		for _, arg := range other.Args {
			used, ok := in.pathOf(arg, binding)
			found = found || ok && used.root == p.root && !isHelper && !isBasic(in.pass.TypesInfo.TypeOf(arg))
		}
	})
	for a := range nodesOf[*ast.AssignStmt](l.body) {
		for _, lhs := range a.Lhs {
			used, ok := in.pathOf(lhs, nil)
			found = found || ok && used.root == p.root
		}
	}
	return found
}

// changesField reports whether a method may set a field of its receiver. It follows calls of other
// methods on the receiver. The depth counts the methods around it.
func (in *input) changesField(fn *types.Func, field string, depth int) bool {
	recv, body := in.methodBody(fn)
	if body == nil {
		return false
	}
	isField := func(e ast.Expr) bool {
		fields, ok := in.receiverPath(e, recv)
		return ok && fields == field
	}
	return hasNode(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.IncDecStmt:
			return isField(n.X)
		case *ast.AssignStmt:
			return slices.ContainsFunc(n.Lhs, isField)
		case *ast.CallExpr:
			sel, ok := n.Fun.(*ast.SelectorExpr)
			if !ok || depth == maxTimedDepth {
				return isBuiltin(in.pass.TypesInfo, n, "delete") && isField(n.Args[0])
			}
			_, isReceiver := in.receiverPath(sel.X, recv)
			return isReceiver && in.changesField(in.callee(n), field, depth+1)
		}
		return false
	})
}

// findLimit returns the field of the receiver that a method compares before it fails, and changes
// if it does not fail. For Push above it returns ".items". It returns "" if there is none. It
// follows calls of other methods on the receiver. The depth counts the methods around it.
func (in *input) findLimit(fn *types.Func, depth int) string {
	recv, body := in.methodBody(fn)
	if body == nil {
		return ""
	}
	changed := in.findChanged(body, recv)
	for _, s := range body.List {
		if guard, ok := s.(*ast.IfStmt); ok && failsOnly(guard.Body) {
			for _, field := range in.findCompared(body, guard.Cond, recv) {
				if changed[field] {
					return field
				}
			}
		}
	}
	if depth == maxTimedDepth {
		return ""
	}
	for call := range nodesOf[*ast.CallExpr](body) {
		sel, ok := call.Fun.(*ast.SelectorExpr)
		if !ok || errorIndex(in.pass.TypesInfo, call) < 0 {
			continue
		}
		if fields, ok := in.receiverPath(sel.X, recv); ok {
			if field := in.findLimit(in.callee(call), depth+1); field != "" {
				return fields + field
			}
		}
	}
	return ""
}

// repeatsArguments reports whether all iterations of a loop pass the same arguments to a call, or pass
// each of keys[i%n] again after some iterations.
func (in *input) repeatsArguments(l *loop, call *ast.CallExpr) bool {
	for _, arg := range call.Args {
		if in.isCyclic(l, arg) {
			continue
		}
		changes := func(id *ast.Ident) bool {
			v := in.variable(id)
			if v == nil {
				return false
			}
			isOfLoop := isPosIn(v.Pos(), l.node)
			return isOfLoop || hasNode(l.node, func(s ast.Stmt) bool { return in.assignsTo(s, v) })
		}
		hasCalls := hasNode(arg, func(*ast.CallExpr) bool { return true })
		if hasCalls || hasNode(arg, changes) {
			return false
		}
	}
	return len(call.Args) > 0
}

// isCyclic reports whether an expression is a part of keys[i%n] or keys[i&n] for the counter i of a
// loop.
func (in *input) isCyclic(l *loop, e ast.Expr) bool {
	if sel, ok := e.(*ast.SelectorExpr); ok {
		e = sel.X
	}
	index, ok := e.(*ast.IndexExpr)
	if !ok || !in.isLocalBefore(in.variable(index.X), l) {
		return false
	}
	limit, ok := index.Index.(*ast.BinaryExpr)
	counter := in.counter(l)
	isLimited := ok && (limit.Op == token.REM || limit.Op == token.AND) && counter != nil && in.variable(limit.X) == counter
	return isLimited && !l.owner.dependsOnN(in.pass.TypesInfo, limit.Y) && !in.usesVariable(limit.Y, counter) && !l.owner.sizedByN[in.variable(index.X)]
}

// assignsTo reports whether a statement assigns to a variable or to a part of it.
func (in *input) assignsTo(s ast.Stmt, v *types.Var) bool {
	isOfVariable := func(e ast.Expr) bool {
		root, _ := in.flowGraph().Path(e, nil)
		return root == v
	}
	switch s := s.(type) {
	case *ast.IncDecStmt:
		return isOfVariable(s.X)
	case *ast.AssignStmt:
		return slices.ContainsFunc(s.Lhs, isOfVariable)
	}
	return false
}

// failsOnly reports whether a block only returns an error.
func failsOnly(b *ast.BlockStmt) bool {
	if len(b.List) != 1 {
		return false
	}
	r, ok := b.List[0].(*ast.ReturnStmt)
	return ok && len(r.Results) > 0 && hasAnyPrefix(formatExpr(r.Results[len(r.Results)-1]), "Err", "err", "fmt.Errorf", "errors.New")
}

// findCompared returns the fields of a receiver whose number or length a condition compares. It
// looks up the initial values of variables that are declared in body.
func (in *input) findCompared(body ast.Node, cond ast.Expr, recv *types.Var) []string {
	var out []string
	for e := range nodesOf[*ast.BinaryExpr](cond) {
		isOrder := e.Op == token.LSS || e.Op == token.LEQ || e.Op == token.GTR || e.Op == token.GEQ || e.Op == token.EQL
		if !isOrder || !isNumber(in.pass.TypesInfo.TypeOf(e.X)) {
			continue
		}
		for id := range nodesOf[*ast.Ident](e) {
			if v := in.variable(id); v != nil && v != recv && in.isLocal(v) {
				if init := in.initOf(body, v); init != nil {
					out = append(out, in.fieldsIn(init, recv)...)
				}
			}
		}
		out = append(out, in.fieldsIn(e, recv)...)
	}
	return out
}

func isNumber(t types.Type) bool {
	if t == nil {
		return false
	}
	basic, ok := t.Underlying().(*types.Basic)
	return ok && basic.Info()&types.IsNumeric != 0
}

// fieldsIn returns the fields of a receiver in an expression, outside of calls.
func (in *input) fieldsIn(e ast.Expr, recv *types.Var) []string {
	var out []string
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			return isBuiltin(in.pass.TypesInfo, n, "len") || in.pass.TypesInfo.Types[n.Fun].IsType()
		case *ast.SelectorExpr:
			if fields, ok := in.receiverPath(n, recv); ok && fields != "" {
				out = append(out, fields)
			}
			return false
		}
		return true
	})
	return out
}

// findChanged returns the fields of a receiver to which a body assigns: sums, entries and appends.
func (in *input) findChanged(body ast.Node, recv *types.Var) map[string]bool {
	changed := map[string]bool{}
	add := func(e ast.Expr) {
		if fields, ok := in.receiverPath(e, recv); ok && strings.HasPrefix(fields, ".") {
			changed[fields] = true
		}
	}
	for n := range ast.Preorder(body) {
		switch n := n.(type) {
		case *ast.IncDecStmt:
			add(n.X)
		case *ast.AssignStmt:
			for i, lhs := range n.Lhs {
				_, isEntry := ast.Unparen(lhs).(*ast.IndexExpr)
				isSum := n.Tok == token.ADD_ASSIGN || n.Tok == token.SUB_ASSIGN
				isAppend := len(n.Lhs) == len(n.Rhs) && in.isAppendTo(lhs, n.Rhs[i])
				if isEntry || isSum || isAppend {
					add(lhs)
				}
			}
		}
	}
	return changed
}
