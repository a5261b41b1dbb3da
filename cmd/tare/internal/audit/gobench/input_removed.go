package gobench

import (
	"go/ast"
	"go/types"
	"slices"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit/gobench/flow"
	"github.com/tarebench/tare/internal/lazyregexp"
)

// This file is a part of the rule input-consumed, which finds benchmarks whose input is used up.
// Here the loop removes entries of a store by their keys, and nothing puts them back. After 1000
// iterations all keys are gone:
//
//	store := openFilled(b, 1000)
//	for i := range b.N { store.Delete(keys[i%1000]) }
//
// The rule finds such methods by their names, and reads their code if it is in the package. The
// caller must not see that a key did not exist. Code before the loop must fill the store. A binding
// has the arguments of the calls that lead to an expression, by parameter.

var (
	// removingName matches methods that remove the entry of a key.
	removingName = lazyregexp.New(`^(Delete|Remove|Del|Evict|Unset|Unregister|Unsubscribe|Erase|Forget|Expire|` +
		`LoadAndDelete|GetAndDelete|delete|remove|evict|unlink)` +
		`([A-Z]\w*)?$`) // DeleteUser
	// addingName matches functions that may add entries.
	addingName = lazyregexp.New(`(?i)^(put|set|insert|add|store|push|load|fill|restore|reset|register|subscribe|` +
		`create|write|append|populate|refill|init|seed|enqueue|save|upsert|replace|` +
		`new|open|clone|copy|swap|get_?or|load_?or|make|setup|prepare)`) // GetOrCreate
	// missingName matches benchmarks about missing keys.
	missingName = lazyregexp.New(`(?i)miss|absent|empty|non_?exist|not_?exist|not_?found|unknown|` +
		`no_?op|twice|idempotent|nothing`) // BenchmarkDeleteMissing
)

// reportRemoved reports a call such as store.Delete(key) if the store has a fixed number of
// entries. The loop must add none, and not read whether the key existed. The frame f has the body
// in which the call is: the loop, or a function of the test files that it calls.
func (in *input) reportRemoved(l *loop, call *ast.CallExpr, f *frame) {
	if missingName.MatchString(in.joinNames(l, call)) {
		return
	}
	for _, called := range in.flowGraph().Called(call, f.binding) {
		fn := called.Object
		if fn == nil || fn.Signature().Recv() == nil {
			continue
		}
		receiver := in.findReceiver(call, called)
		if receiver == nil || !in.isFromBefore(l, receiver, f) {
			continue
		}
		if takingName.MatchString(calledName(call)) && in.variable(receiver) != nil && in.takesEntry(fn) {
			continue // reportDrained reports it
		}
		what := ""
		switch {
		case removingName.MatchString(fn.Name()) && in.ignoresAbsence(f.body, call, called):
			what = "removes an entry of %s, the loop adds none, and nothing reads whether there was one: most iterations may find the key gone"
		case in.removesSameKeys(l, call, called, f):
			what = "removes the same entries of %s in each iteration, the loop adds none, and nothing reads whether there were any"
		default:
			continue
		}
		t := in.pass.TypesInfo.TypeOf(receiver)
		if in.isFilledBefore(l, t) && !in.mayBeRefilled(l, t) {
			in.reportAs(tare.Warn, in.placeOf(call, f), "%s "+what, formatExpr(call.Fun), in.describePath(receiver, f))
		}
	}
}

// isFromBefore reports whether an expression begins with a variable or a call from before a loop, and
// no statement before the loop that prepares it depends on b.N. The frame has the body in which the
// expression is.
func (in *input) isFromBefore(l *loop, e ast.Expr, f *frame) bool {
	if p, ok := in.pathOf(e, f.binding); ok {
		return in.isLocalBefore(p.root, l) && !f.containsPos(p.root.Pos()) && !in.isPreparedForN(l, p.root)
	}
	made, isCall := in.flowGraph().Base(e, f.binding).(*ast.CallExpr)
	return isCall && !isNodeIn(made, l.node) && !f.containsPos(made.Pos()) && !l.owner.dependsOnN(in.pass.TypesInfo, made)
}

// describePath returns the text of the variable or field that an expression names.
func (in *input) describePath(e ast.Expr, f *frame) string {
	if p, ok := in.pathOf(e, f.binding); ok {
		return p.String()
	}
	return formatExpr(e)
}

// findReceiver returns the receiver of a call, such as x of x.Delete(key).
func (in *input) findReceiver(call *ast.CallExpr, called flow.Function) ast.Expr {
	if called.Receiver != nil {
		return called.Receiver
	}
	recv := called.Object.Signature().Recv()
	return in.flowGraph().Bind(call, called)[recv]
}

// ignoresAbsence reports whether the caller of a removing method does not see that a key did not
// exist. It is false for a method that does as much work for a missing key.
func (in *input) ignoresAbsence(body ast.Node, call *ast.CallExpr, called flow.Function) bool {
	results := called.Object.Signature().Results()
	if called.Body == nil {
		// Only the name of this method is known.
		isMap := isNamed(called.Object.Signature().Recv().Type(), "sync", "Map")
		return isMap && results.Len() == 0 || hasBoolResult(results) && in.dropsBool(body, call, results)
	}
	if !in.endsEarly(called, 0) {
		return false
	}
	switch {
	case hasBoolResult(results):
		return in.dropsBool(body, call, results)
	case results.Len() == 0:
		return true
	}
	return isError(results.At(results.Len()-1).Type()) && !in.returnsErrorIf(called.Body)
}

// hasBoolResult reports whether one of the results is a bool, such as ok.
func hasBoolResult(results *types.Tuple) bool {
	for v := range results.Variables() {
		if isBool(v.Type()) {
			return true
		}
	}
	return false
}

// dropsBool reports whether a call is a statement, or its bool results are dropped.
func (in *input) dropsBool(body ast.Node, call *ast.CallExpr, results *types.Tuple) bool {
	switch p := parent(pathTo(body, call), 1).(type) {
	case *ast.ExprStmt:
		return true
	case *ast.AssignStmt:
		for i, lhs := range p.Lhs {
			if i >= results.Len() {
				return false
			}
			id, isIdent := lhs.(*ast.Ident)
			isDropped := isIdent && (isBlank(id) || in.isSink(in.variable(id)))
			if isBool(results.At(i).Type()) && !isDropped {
				return false
			}
		}
		return true
	}
	return false
}

// endsEarly reports whether a removing method does less for a missing key: it deletes from a map.
func (in *input) endsEarly(f flow.Function, depth int) bool {
	if f.Body == nil || depth > maxTimedDepth {
		return false
	}
	return hasNode(f.Body, func(call *ast.CallExpr) bool {
		if isBuiltin(in.pass.TypesInfo, call, "delete") {
			return true
		}
		fn := in.callee(call)
		if isMethodOf(fn, "sync", "Map", "Delete", "LoadAndDelete") || isMethodOf(fn, "container/list", "List", "Remove") {
			return true
		}
		isInner := fn != nil && fn.Pkg() == in.pass.Pkg && fn.Signature().Recv() != nil
		return isInner && in.endsEarly(in.flowGraph().Declared(fn), depth+1)
	})
}

// returnsErrorIf reports whether a body returns an error such as ErrNotFound in an if statement.
func (in *input) returnsErrorIf(body ast.Node) bool {
	return hasNode(body, func(s *ast.IfStmt) bool {
		cond, isBinary := ast.Unparen(s.Cond).(*ast.BinaryExpr)
		if isBinary && isError(in.pass.TypesInfo.TypeOf(cond.X)) {
			return false // if err != nil
		}
		return hasNode(s.Body, func(r *ast.ReturnStmt) bool {
			if len(r.Results) == 0 {
				return false
			}
			last := in.pass.TypesInfo.Types[r.Results[len(r.Results)-1]]
			return isError(last.Type) && !last.IsNil()
		})
	})
}

// isFilledBefore reports whether the benchmark may add entries to a value of type t before the
// loop.
func (in *input) isFilledBefore(l *loop, t types.Type) bool {
	return slices.ContainsFunc(in.codeBefore(l), func(s ast.Node) bool { return in.addsTo(s, t) })
}

// addsTo reports whether root calls a method of type t with a name such as Put, or one that stores an
// entry. It also reads functions of the test files that root calls.
func (in *input) addsTo(root ast.Node, t types.Type) bool {
	found := false
	in.inspectCallsDeep(root, func(call *ast.CallExpr, binding flow.Binding) {
		for _, called := range in.flowGraph().Called(call, binding) {
			if called.Object == nil || !isOfType(called.Object.Signature().Recv(), t) || in.removesKnownKeys(called) {
				continue
			}
			hasAddingName := addingName.MatchString(called.Object.Name()) && len(call.Args) > 0
			found = found || hasAddingName || in.storesEntry(called.Object)
		}
	})
	return found
}

// isOfType reports whether v is a variable of type t, or of a pointer to it. It is false if v is
// nil.
func isOfType(v *types.Var, t types.Type) bool {
	return v != nil && isSameType(v.Type(), t)
}

// isSameType reports whether two types are the same, or one is a pointer to the other. Instances of
// one generic type are the same.
func isSameType(a, b types.Type) bool {
	if a == nil || b == nil {
		return false
	}
	a, b = types.Unalias(pointee(a)), types.Unalias(pointee(b))
	x, isNamedX := a.(*types.Named)
	y, isNamedY := b.(*types.Named)
	return types.Identical(a, b) || isNamedX && isNamedY && x.Obj() == y.Obj()
}

// codeBefore returns the statements of a benchmark before a loop. It includes those of benchmarks
// around it.
func (in *input) codeBefore(l *loop) []ast.Node {
	var out []ast.Node
	for b := l.owner; b != nil; b = b.outer {
		path := append([]ast.Node{b.body}, pathTo(b.body, l.node)...)
		for i := 0; i+1 < len(path); i++ {
			for _, s := range statementsOf(path[i]) {
				if s.End() <= path[i+1].Pos() {
					out = append(out, s)
				}
			}
		}
		if b.outer == nil {
			break
		}
	}
	return out
}

// mayBeRefilled reports whether a loop may add entries to a value of type t, or replace it.
func (in *input) mayBeRefilled(l *loop, t types.Type) bool {
	if in.addsTo(l.node, t) {
		return true
	}
	found := false
	isOther := func(f flow.Function) bool { return f.Object == nil || !removingName.MatchString(f.Object.Name()) }
	in.inspectCallsDeep(l.node, func(call *ast.CallExpr, binding flow.Binding) {
		made := firstResult(in.pass.TypesInfo.TypeOf(call))
		isPassed := func(arg ast.Expr) bool { return isSameType(in.pass.TypesInfo.TypeOf(arg), t) }
		called := in.flowGraph().Called(call, binding)
		mayAdd := len(called) == 0 || slices.ContainsFunc(called, isOther)
		found = found || isSameType(made, t) || mayAdd && slices.ContainsFunc(call.Args, isPassed)
	})
	for a := range nodesOf[*ast.AssignStmt](l.body) {
		found = found || slices.ContainsFunc(a.Lhs, func(e ast.Expr) bool { return isSameType(in.pass.TypesInfo.TypeOf(e), t) })
	}
	return found
}

// isPreparedForN reports whether a statement before the loop uses v and depends on b.N:
//
//	for _, key := range makeKeys(b.N) { store.Put(key, value) }
func (in *input) isPreparedForN(l *loop, v *types.Var) bool {
	dependent := map[*types.Var]bool{}
	dependsOnN := func(n ast.Node) bool {
		return l.owner.dependsOnN(in.pass.TypesInfo, n) || hasNode(n, func(id *ast.Ident) bool {
			used, _ := in.pass.TypesInfo.Uses[id].(*types.Var)
			return dependent[used]
		})
	}
	statements := in.codeBefore(l)
	for _, s := range statements {
		for a := range nodesOf[*ast.AssignStmt](s) {
			if slices.ContainsFunc(a.Rhs, func(e ast.Expr) bool { return dependsOnN(e) }) {
				for _, lhs := range a.Lhs {
					dependent[in.variable(lhs)] = true
				}
			}
		}
	}
	return slices.ContainsFunc(statements, func(s ast.Node) bool {
		return dependsOnN(s) && hasNode(s, func(id *ast.Ident) bool { return in.pass.TypesInfo.ObjectOf(id) == v })
	})
}
