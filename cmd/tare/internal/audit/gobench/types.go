package gobench

import (
	"go/ast"
	"go/types"
	"slices"
)

// This file has predicates of functions, calls and types of an analyzed package. The predicates of
// functions and types return false for nil, which the type checker yields for code with errors.

// isFunc reports whether fn is a function, but not a method, of a package and has one of the names. No
// names mean any name.
func isFunc(fn *types.Func, pkg string, names ...string) bool {
	return fn != nil && fn.Pkg() != nil && fn.Pkg().Path() == pkg && fn.Signature().Recv() == nil && isOneOf(fn.Name(), names)
}

// isOneOf reports whether names contains name or is empty.
func isOneOf(name string, names []string) bool {
	return len(names) == 0 || slices.Contains(names, name)
}

// isMethodCall reports whether a call has the form x.name(…) and x has the type PKG.TYPE or *PKG.TYPE.
// It needs only the type of x: the method may be unknown because package PKG was not loaded.
func isMethodCall(info *types.Info, call *ast.CallExpr, pkg, typ, name string) bool {
	sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	return ok && sel.Sel.Name == name && isNamed(info.TypeOf(sel.X), pkg, typ)
}

// isMethodOf reports whether fn is a method of the type PKG.TYPE or *PKG.TYPE with one of names.
func isMethodOf(fn *types.Func, pkg, typ string, names ...string) bool {
	return fn != nil && fn.Signature().Recv() != nil && isNamed(fn.Signature().Recv().Type(), pkg, typ) && isOneOf(fn.Name(), names)
}

// isNamed reports whether t is a type of a package with one of the names, or a pointer to such a type.
// No names mean any name.
func isNamed(t types.Type, pkg string, names ...string) bool {
	if t == nil {
		return false
	}
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		t = p.Elem()
	}
	n, ok := types.Unalias(t).(*types.Named)
	return ok && n.Obj().Pkg() != nil && n.Obj().Pkg().Path() == pkg && isOneOf(n.Obj().Name(), names)
}

// isMake reports whether a call is of the builtin make.
func isMake(info *types.Info, call *ast.CallExpr) bool { return isBuiltin(info, call, "make") }

// isBuiltin reports whether a call is of the builtin function name.
func isBuiltin(info *types.Info, call *ast.CallExpr, name string) bool {
	id, ok := ast.Unparen(call.Fun).(*ast.Ident)
	if !ok || id.Name != name {
		return false
	}
	_, ok = info.Uses[id].(*types.Builtin)
	return ok
}

// isMap reports whether t is a map.
func isMap(t types.Type) bool {
	if t == nil {
		return false
	}
	_, ok := t.Underlying().(*types.Map)
	return ok
}

// isSlice reports whether t is a slice.
func isSlice(t types.Type) bool {
	if t == nil {
		return false
	}
	_, ok := t.Underlying().(*types.Slice)
	return ok
}

// pointee returns the type that t points to, and t if it is not a pointer.
func pointee(t types.Type) types.Type {
	if p, ok := t.Underlying().(*types.Pointer); ok {
		return p.Elem()
	}
	return t
}

// isError reports whether t is the type error.
func isError(t types.Type) bool {
	return t != nil && types.Identical(t, types.Universe.Lookup("error").Type())
}

// isRand reports whether t is the type Rand of math/rand or math/rand/v2.
func isRand(t types.Type) bool {
	return isNamed(t, "math/rand", "Rand") || isNamed(t, "math/rand/v2", "Rand")
}

// isSliceOrString reports whether a type is a slice or a string.
func isSliceOrString(t types.Type) bool {
	basic, ok := t.Underlying().(*types.Basic)
	return isSlice(t) || ok && basic.Info()&types.IsString != 0
}

// isStructPointer reports whether a type is a pointer to a struct.
func isStructPointer(t types.Type) bool {
	_, isStruct := pointee(t).Underlying().(*types.Struct)
	return isStruct && pointee(t) != t
}

// isBasic reports whether t is a basic type, such as int or string: its values share no memory that
// can be changed.
func isBasic(t types.Type) bool {
	if t == nil {
		return false
	}
	_, ok := t.Underlying().(*types.Basic)
	return ok
}

// isNonStringBasic reports whether t is a basic type other than string.
func isNonStringBasic(t types.Type) bool {
	if t == nil {
		return false
	}
	basic, ok := t.Underlying().(*types.Basic)
	return ok && basic.Info()&types.IsString == 0
}

// firstResult returns the type of the first result of a call. t is the type of the call expression: a
// tuple unless the call has one result. It returns nil if the call has no results.
func firstResult(t types.Type) types.Type {
	tuple, isTuple := t.(*types.Tuple)
	if !isTuple {
		return t
	}
	if tuple.Len() == 0 {
		return nil
	}
	return tuple.At(0).Type()
}

// isBytes reports whether a type is a slice of bytes.
func isBytes(t types.Type) bool {
	if t == nil {
		return false
	}
	s, ok := t.Underlying().(*types.Slice)
	if !ok {
		return false
	}
	basic, ok := s.Elem().Underlying().(*types.Basic)
	return ok && basic.Kind() == types.Byte
}
