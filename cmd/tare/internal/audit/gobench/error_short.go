package gobench

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"

	"github.com/tarebench/tare/cmd/tare/internal/audit/gobench/flow"
)

// This file is a part of the rule error-discarded. A function fails if a slice is too short, and the
// benchmark passes one of length 0:
//
//	func DecodeInto(dst []Sample, src []byte) (int, error) {
//		n := count(src)
//		if len(dst) < n { return 0, ErrShortBuffer }
//		…
//
//	dst := make([]Sample, 0, 100)
//	for b.Loop() { n, _ = DecodeInto(dst, src) }
//
// A test that checks DecodeInto with a longer slice shows nothing about the benchmark. A binding has
// the arguments of the calls that lead to an expression, by parameter.

// reportShort reports a call at n that discards such an error, and returns whether it did. The frame
// f has the body in which n is: the loop, or a function of the test files that it calls.
func (in *input) reportShort(l *loop, n ast.Node, call *ast.CallExpr, f *frame) bool {
	if isAboutFailures(in.joinNames(l, n)) {
		return false
	}
	for _, c := range in.findFailingCalls(call, f.binding, 0) {
		bound := in.flowGraph().Bind(c.call, c.called)
		for _, p := range flow.Params(c.called.Type) {
			v, _ := in.pass.TypesInfo.Defs[p.Name].(*types.Var)
			arg := bound[v]
			if p.Name == nil || arg == nil || !in.isEmptySlice(arg, c.binding) || !in.failsIfEmpty(c.called.Body, v, 0) {
				continue
			}
			in.report(n, "the error of %s is discarded in the loop, and %s fails because %s has length 0",
				formatExpr(call.Fun), c.method().Name(), formatExpr(arg))
			return true
		}
	}
	return false
}

// isEmptySlice reports whether an expression is a slice of length 0: make([]T, 0, n), []T{}, s[:0],
// or a variable that has only this value.
func (in *input) isEmptySlice(e ast.Expr, binding flow.Binding) bool {
	for range maxTimedDepth {
		v := in.variable(e)
		arg, isBound := binding[v]
		switch {
		case v == nil || !isSlice(v.Type()):
			return isSlice(in.pass.TypesInfo.TypeOf(e)) && in.hasLengthZero(e)
		case isBound && arg != nil:
			e = arg
		case !in.isLocal(v) || in.mayChange(v):
			return false
		default:
			values := in.flowGraph().Values(v)
			if len(values) != 1 {
				return false
			}
			e = values[0]
		}
	}
	return false
}

// hasLengthZero reports whether the source text of a slice shows that its length is 0.
func (in *input) hasLengthZero(e ast.Expr) bool {
	isZero := func(e ast.Expr) bool {
		val := in.pass.TypesInfo.Types[e].Value
		return val != nil && val.Kind() == constant.Int && constant.Sign(val) == 0
	}
	switch e := ast.Unparen(e).(type) {
	case *ast.CallExpr:
		return isMake(in.pass.TypesInfo, e) && len(e.Args) > 1 && isZero(e.Args[1])
	case *ast.CompositeLit:
		return len(e.Elts) == 0
	case *ast.SliceExpr:
		return e.High != nil && isZero(e.High)
	}
	return false
}

// failsIfEmpty reports whether a body returns an error if the slice v has length 0. It may leave the
// check to another function of the package. The depth counts the functions around it.
func (in *input) failsIfEmpty(body *ast.BlockStmt, v *types.Var, depth int) bool {
	for _, s := range body.List {
		switch s := s.(type) {
		case *ast.IfStmt:
			if failsOnly(s.Body) && (in.limitsLength(s.Cond, v) || s.Init != nil && in.passesToFailing(s.Init, v, depth)) {
				return true
			}
		case *ast.ReturnStmt: // return decode(dst, src)
			return in.passesToFailing(s, v, depth)
		}
		if hasNode(s, func(inner ast.Stmt) bool { return in.assignsTo(inner, v) }) {
			return false
		}
	}
	return false
}

// limitsLength reports whether a condition is true if the slice v has length 0, as len(v) < n is. The
// number n may only be a constant or a variable.
func (in *input) limitsLength(cond ast.Expr, v *types.Var) bool {
	e, ok := ast.Unparen(cond).(*ast.BinaryExpr)
	if !ok {
		return false
	}
	if e.Op == token.LOR {
		return in.limitsLength(e.X, v) || in.limitsLength(e.Y, v)
	}
	length, limit, op := e.X, e.Y, e.Op
	if op == token.GTR { // n > len(v)
		length, limit, op = limit, length, token.LSS
	}
	call, ok := stripConversion(in.pass.TypesInfo, length).(*ast.CallExpr)
	if !ok || !isBuiltin(in.pass.TypesInfo, call, "len") || in.variable(call.Args[0]) != v {
		return false
	}
	isZero := formatExpr(limit) == "0"
	return op == token.EQL && isZero || (op == token.LSS || op == token.NEQ) && !isZero
}

// passesToFailing reports whether a statement passes the slice v to a function of the package that
// returns an error if the slice has length 0.
func (in *input) passesToFailing(s ast.Stmt, v *types.Var, depth int) bool {
	return depth < maxTimedDepth && hasNode(s, func(call *ast.CallExpr) bool {
		if errorIndex(in.pass.TypesInfo, call) < 0 {
			return false
		}
		return slices.ContainsFunc(in.flowGraph().Called(call, nil), func(called flow.Function) bool {
			if called.Body == nil || called.Object == nil {
				return false
			}
			for param, arg := range in.flowGraph().Bind(call, called) {
				if in.variable(arg) == v && in.failsIfEmpty(called.Body, param, depth+1) {
					return true
				}
			}
			return false
		})
	})
}
