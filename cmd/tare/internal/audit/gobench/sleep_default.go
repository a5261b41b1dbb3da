package gobench

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/tarebench/tare/cmd/tare/internal/audit/gobench/flow"
)

// This file is a part of the rule sleep-in-loop, which finds benchmarks that wait for the clock.
// Here an options struct has a field for the wait, and nil means to wait for the clock:
//
//	func Do(p Policy, call func() error) error {
//		wait := p.Wait
//		if wait == nil { wait = time.Sleep }
//		…
//
// The rule reads the code of functions such as Do. It reports a benchmark that leaves Wait nil and
// passes a function that returns an error. A binding has the arguments of the calls that lead to an
// expression, by parameter.

// reportDefaultWait reports a call in a loop that waits by such a field. The frame f has the body
// in which the call is: the loop, or a function of the test files that it calls.
func (in *input) reportDefaultWait(l *loop, call *ast.CallExpr, f *frame) {
	fn := in.callee(call)
	if fn == nil || containsWord(in.joinNames(l, call), "Sleep", "Timer", "Wait", "Backoff") || !in.mayFail(call, f.binding) {
		return
	}
	called := in.flowGraph().Declared(fn)
	if called.Body == nil || in.isTestCode(called.Node) {
		return
	}
	for param, arg := range in.flowGraph().Bind(call, called) {
		if in.isLocal(in.variable(arg)) && in.setsFieldOf(l, in.variable(arg)) {
			continue
		}
		field := in.findWaitField(called.Body, param)
		if field == nil || !in.isUnset(arg, field, f.binding) {
			continue
		}
		in.report(call, "%s waits for the clock when its call fails, because %s of %s is nil", formatExpr(call.Fun), field.Name(), formatExpr(arg))
	}
}

// mayFail reports whether an argument of a call is a function of the test files that returns an
// error such as errBusy.
func (in *input) mayFail(call *ast.CallExpr, binding flow.Binding) bool {
	for _, arg := range call.Args {
		t := in.pass.TypesInfo.TypeOf(arg)
		if t == nil { // code that does not compile
			continue
		}
		if _, isFunction := t.Underlying().(*types.Signature); !isFunction {
			continue
		}
		for _, f := range in.flowGraph().Functions(arg, binding) {
			if f.Body == nil || !in.isTestCode(f.Node) {
				continue
			}
			for r := range nodesOf[*ast.ReturnStmt](f.Body) {
				if len(r.Results) > 0 && hasAnyPrefix(formatExpr(r.Results[len(r.Results)-1]), "Err", "err", "errors.New", "fmt.Errorf") {
					return true
				}
			}
		}
	}
	return false
}

// findWaitField returns the field of param that a body replaces by a wait for the clock if the
// field is nil. It returns nil if there is none.
func (in *input) findWaitField(body *ast.BlockStmt, param *types.Var) *types.Var {
	for guard := range nodesOf[*ast.IfStmt](body) {
		cond, ok := guard.Cond.(*ast.BinaryExpr)
		if !ok || cond.Op != token.EQL || formatExpr(cond.Y) != "nil" {
			continue
		}
		compared := cond.X
		if v := in.variable(compared); v != nil {
			if init := in.initOf(body, v); init != nil {
				compared = init // wait := p.Wait
			}
		}
		sel, ok := compared.(*ast.SelectorExpr)
		if !ok || in.variable(sel.X) != param {
			continue
		}
		field := in.flowGraph().Variable(sel)
		for a := range nodesOf[*ast.AssignStmt](guard.Body) {
			if field != nil && formatExpr(a.Lhs[0]) == formatExpr(cond.X) && in.isWait(a.Rhs[0]) {
				return field
			}
		}
	}
	return nil
}

// isWait reports whether an expression is time.Sleep, or a function that waits for a timer.
func (in *input) isWait(e ast.Expr) bool {
	for _, f := range in.flowGraph().Functions(e, nil) {
		if isFunc(f.Object, "time", "Sleep") {
			return true
		}
		if f.Body != nil && hasNode(f.Body, func(call *ast.CallExpr) bool { return isFunc(in.callee(call), "time", "Sleep", "NewTimer", "After") }) {
			return true
		}
	}
	return false
}

// isUnset reports whether all values of an argument are struct literals that do not set a field.
func (in *input) isUnset(arg ast.Expr, field *types.Var, binding flow.Binding) bool {
	sources := in.flowGraph().Sources(arg, binding)
	for _, source := range sources {
		if u, ok := source.(*ast.UnaryExpr); ok {
			source = u.X
		}
		lit, ok := source.(*ast.CompositeLit)
		if !ok {
			return false
		}
		for _, e := range lit.Elts {
			kv, isKeyed := e.(*ast.KeyValueExpr)
			if !isKeyed || formatExpr(kv.Key) == field.Name() {
				return false
			}
		}
	}
	return len(sources) > 0
}

// setsFieldOf reports whether the function around a loop sets any field of v.
func (in *input) setsFieldOf(l *loop, v *types.Var) bool {
	return hasNode(l.owner.decl, func(a *ast.AssignStmt) bool {
		for _, lhs := range a.Lhs {
			if sel, ok := lhs.(*ast.SelectorExpr); ok && in.variable(sel.X) == v {
				return true
			}
		}
		return false
	})
}
