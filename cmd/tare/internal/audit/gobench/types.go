package gobench

import (
	"go/ast"
	"go/types"
	"slices"
)

// This file has predicates of functions, calls and types, for all rules. For example, isFunc(fn,
// "time", "Sleep", "After") reports whether fn is time.Sleep or time.After. In code with errors,
// types may be nil. Predicates that check for nil then return false.

// isFunc reports whether fn is a function of a package with one of names, not a method. No names
// mean any name.
func isFunc(fn *types.Func, pkg string, names ...string) bool {
	return fn != nil && fn.Pkg() != nil && fn.Pkg().Path() == pkg && fn.Signature().Recv() == nil && isOneOf(fn.Name(), names)
}

// isOneOf reports whether names is empty or contains name.
func isOneOf(name string, names []string) bool {
	return len(names) == 0 || slices.Contains(names, name)
}

// isMethodCall reports whether a call has the form x.name(…), and x the type PKG.TYPE or *PKG.TYPE.
// The method may be unknown because package PKG was not loaded.
func isMethodCall(info *types.Info, call *ast.CallExpr, pkg, typ, name string) bool {
	sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	return ok && sel.Sel.Name == name && isNamed(info.TypeOf(sel.X), pkg, typ)
}

// isMethodOf reports whether fn is a method of PKG.TYPE or *PKG.TYPE with one of names. No names
// mean any name.
func isMethodOf(fn *types.Func, pkg, typ string, names ...string) bool {
	return fn != nil && fn.Signature().Recv() != nil && isNamed(fn.Signature().Recv().Type(), pkg, typ) && isOneOf(fn.Name(), names)
}

// isNamed reports whether t is a type of a package with one of names, or points to it. No names
// mean any name.
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

func isMake(info *types.Info, call *ast.CallExpr) bool { return isBuiltin(info, call, "make") }

// isBuiltin reports whether a call is of the builtin function with this name, such as len.
func isBuiltin(info *types.Info, call *ast.CallExpr, name string) bool {
	id, ok := ast.Unparen(call.Fun).(*ast.Ident)
	if !ok || id.Name != name {
		return false
	}
	_, ok = info.Uses[id].(*types.Builtin)
	return ok
}

func isMap(t types.Type) bool {
	if t == nil {
		return false
	}
	_, ok := t.Underlying().(*types.Map)
	return ok
}

func isSlice(t types.Type) bool {
	if t == nil {
		return false
	}
	_, ok := t.Underlying().(*types.Slice)
	return ok
}

// pointee returns the type that t points to, or t if it is not a pointer.
func pointee(t types.Type) types.Type {
	if p, ok := t.Underlying().(*types.Pointer); ok {
		return p.Elem()
	}
	return t
}

func isError(t types.Type) bool {
	return t != nil && types.Identical(t, types.Universe.Lookup("error").Type())
}

// isRand reports whether t is a rand.Rand or a pointer to it.
func isRand(t types.Type) bool {
	return isNamed(t, "math/rand", "Rand") || isNamed(t, "math/rand/v2", "Rand")
}

// isSliceOrString reports whether t is a slice or a string. The type must not be nil.
func isSliceOrString(t types.Type) bool {
	basic, ok := t.Underlying().(*types.Basic)
	return isSlice(t) || ok && basic.Info()&types.IsString != 0
}

// isStructPointer reports whether t is a pointer to a struct. The type must not be nil.
func isStructPointer(t types.Type) bool {
	_, isStruct := pointee(t).Underlying().(*types.Struct)
	return isStruct && pointee(t) != t
}

// isBasic reports whether t is a basic type such as int or string. Its values share no memory that
// can be changed.
func isBasic(t types.Type) bool {
	if t == nil {
		return false
	}
	_, ok := t.Underlying().(*types.Basic)
	return ok
}

// isNonStringBasic reports whether t is a basic type, such as int or bool, but no string.
func isNonStringBasic(t types.Type) bool {
	if t == nil {
		return false
	}
	basic, ok := t.Underlying().(*types.Basic)
	return ok && basic.Info()&types.IsString == 0
}

// firstResult returns the type of the first result of a call, or nil if it has no results. The type
// t of the call is a tuple, unless the call has exactly one result.
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

// isBool reports whether t is a bool. The type must not be nil.
func isBool(t types.Type) bool {
	basic, ok := t.Underlying().(*types.Basic)
	return ok && basic.Kind() == types.Bool
}

// isBytes reports whether t is []byte.
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
