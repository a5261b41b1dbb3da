package gobench

import (
	"go/ast"
	"go/types"
)

// reportUnread reports readers that a loop opens and never reads, if it reports MB/s:
//
//	b.SetBytes(size)
//	for b.Loop() { r, _ := store.Open(name); r.Close() }
//
// It is part of the rule response-body.
func (in *input) reportUnread(l *loop) {
	if !hasCall(l.owner.decl, func(name string) bool { return name == "SetBytes" }) {
		return
	}
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
			case isReadCloser(v.Type()) && in.selectsOnly(f.body, v, func(name string) bool { return name == "Close" }):
				in.report(n, "nothing reads %s, which %s opens, and SetBytes counts its bytes", v.Name(), formatExpr(call.Fun))
			case field != "" && in.selectsOnly(f.body, v, func(name string) bool { return name != field }):
				in.report(n, "nothing reads or closes the %s of %s, which %s opens, and SetBytes counts its bytes", field, v.Name(), formatExpr(call.Fun))
			}
		}
		return true
	})
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
