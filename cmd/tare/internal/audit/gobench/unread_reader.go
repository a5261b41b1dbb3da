package gobench

import (
	"go/ast"
	"go/types"
)

// This file is a part of the rule response-body. It finds a benchmark that opens a reader and never
// reads it, although it reports MB/s:
//
//	func BenchmarkOpen(b *testing.B) {
//		b.SetBytes(size)
//		for b.Loop() {
//			r, _ := store.Open(name)
//			r.Close()
//		}
//	}
//
// The rule finds variables of the loop with a method Read or Next, and reports one that is at most
// closed. With Next and Close it needs no MB/s, but then nothing may close the variable. A frame is
// the body that is searched: the loop, or a function of the test files that the loop calls.

// reportUnread reports readers that a loop opens and does not read.
func (in *input) reportUnread(l *loop) {
	countsBytes := hasCall(l.owner.decl, func(name string) bool { return name == "SetBytes" })
	in.inspectTimedDeep(l, func(n ast.Node, f *frame) bool {
		a, ok := n.(*ast.AssignStmt)
		if !ok || len(a.Rhs) != 1 {
			return true
		}
		call, ok := a.Rhs[0].(*ast.CallExpr)
		if !ok {
			return true
		}
		if fn := in.callee(call); fn == nil || fn.Pkg() != in.pass.Pkg || in.isTestHelper(fn) {
			return true
		}
		for _, lhs := range a.Lhs {
			v := in.variable(lhs)
			if v == nil || !in.isLocal(v) || in.isDeclaredOutside(v, l) {
				continue
			}
			field := findReaderField(v.Type())
			switch {
			case isCursor(v.Type()) && in.isLeftUnread(f.body, v, countsBytes):
				in.report(n, "nothing calls Next of %s, which %s returns, or closes it: none of its entries is read", v.Name(), formatExpr(call.Fun))
			case !countsBytes:
				// Opening it may be the operation.
			case isReadCloser(v.Type()) && in.selectsOnly(f.body, v, func(name string) bool { return !selectsReader(v.Type(), name) }):
				in.report(n, "nothing reads %s, which %s opens, and SetBytes counts its bytes", v.Name(), formatExpr(call.Fun))
			case field != "" && in.selectsOnly(f.body, v, func(name string) bool { return name != field }):
				in.report(n, "nothing reads or closes the %s of %s, which %s opens, and SetBytes counts its bytes", field, v.Name(), formatExpr(call.Fun))
			}
		}
		return true
	})
}

// isCursor reports whether a type has the methods Next, which returns a bool, and Close.
func isCursor(t types.Type) bool {
	if t == nil || types.IsInterface(t) || !hasMethod(t, "Close") || !hasMethod(t, "Next") {
		return false
	}
	next, _, _ := types.LookupFieldOrMethod(t, true, nil, "Next")
	results := next.(*types.Func).Signature().Results()
	return results.Len() == 1 && isBool(results.At(0).Type())
}

// isLeftUnread reports whether v is set, and at most assigned to a variable that nothing reads.
// mayClose allows v.Close.
func (in *input) isLeftUnread(body ast.Node, v *types.Var, mayClose bool) bool {
	isUnread := true
	in.inspectUses(body, v, func(id *ast.Ident, path []ast.Node) {
		switch p := parent(path, 1).(type) {
		case *ast.AssignStmt:
			if containsIdent(p.Lhs, id) {
				return
			}
			target := in.variable(p.Lhs[0])
			isRead := target == nil || len(p.Lhs) != 1
			if !isRead && !isBlank(p.Lhs[0]) {
				_, isRead = in.classifyUses(target)
			}
			isUnread = isUnread && !isRead
		case *ast.SelectorExpr:
			isUnread = isUnread && mayClose && p.Sel.Name == "Close"
		default:
			isUnread = false
		}
	})
	return isUnread
}

// selectsOnly reports whether each use of v selects Close or a field, with a name that isAllowed
// accepts.
func (in *input) selectsOnly(body ast.Node, v *types.Var, isAllowed func(name string) bool) bool {
	isOnly := true
	in.inspectUses(body, v, func(id *ast.Ident, path []ast.Node) {
		switch p := parent(path, 1).(type) {
		case *ast.AssignStmt:
			isOnly = isOnly && !containsIdent(p.Rhs, id)
		case *ast.SelectorExpr:
			s := in.pass.TypesInfo.Selections[p]
			isField := s != nil && s.Kind() == types.FieldVal
			isOnly = isOnly && isAllowed(p.Sel.Name) && (isField || p.Sel.Name == "Close")
		default:
			isOnly = false
		}
	})
	return isOnly
}

// selectsReader reports whether a field of a struct has the method Read.
func selectsReader(t types.Type, name string) bool {
	s, ok := pointee(t).Underlying().(*types.Struct)
	if !ok {
		return false
	}
	for field := range s.Fields() {
		if field.Name() == name && types.NewMethodSet(field.Type()).Lookup(nil, "Read") != nil {
			return true
		}
	}
	return false
}

func isReadCloser(t types.Type) bool {
	methods := types.NewMethodSet(t)
	return methods.Lookup(nil, "Read") != nil && methods.Lookup(nil, "Close") != nil
}

// findReaderField returns the only exported field of a struct with the methods Read and Close, such
// as Body. It returns "" if there is not exactly one.
func findReaderField(t types.Type) string {
	s, ok := pointee(t).Underlying().(*types.Struct)
	if !ok {
		return ""
	}
	name := ""
	for field := range s.Fields() {
		if !field.Exported() || !isReadCloser(field.Type()) {
			continue
		}
		if name != "" {
			return ""
		}
		name = field.Name()
	}
	return name
}
