package gobench

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"github.com/tarebench/tare/internal/lazyregexp"
)

// This file is a part of the rule unlike-work, which finds comparisons whose sides do different
// work. Here one side makes a lazy value, which works only when a method is called, and never calls
// it:
//
//	{"list", func() int { return len(tree.List()) }}
//	{"iterator", func() int { return tree.Iterator().Len() }} // never calls Next
//
// A side is one of the things compared: a sub-benchmark, or a function in a table. The rule reads
// the code of the methods of the package. A light function has no loop, and calls only light ones.

// reportLazy reports sides that make such a value, if another side does not.
func (in *input) reportLazy(sides []side) {
	texts := make([]string, len(sides))
	lazy := 0
	for i, s := range sides {
		isReported := slices.ContainsFunc(in.findings, func(f finding) bool { return f.pos == s.node.Pos() })
		if in.isTestCode(s.node) && !isDeclaredLess(s.name) && !isReported {
			texts[i] = in.findLazy(s.body, sides)
		}
		if texts[i] != "" {
			lazy++
		}
	}
	if lazy == 0 || lazy == len(sides) {
		return
	}
	for i, s := range sides {
		if texts[i] != "" {
			in.report(s.node, "this side of the comparison never calls %s, which does the work", texts[i])
		}
	}
}

// findLazy returns a text such as "Next of what tree.Iterator returns", or "" if a side has no such
// value. The method is one that the side should call.
func (in *input) findLazy(body ast.Node, sides []side) string {
	text := ""
	inspectPath(body, func(n ast.Node, path []ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || text != "" {
			return text == ""
		}
		maker := in.callee(call)
		t := firstResult(in.pass.TypesInfo.TypeOf(call))
		if maker == nil || t == nil || !in.isOfPackage(t) || !in.isLight(maker, 0) {
			return true
		}
		called, isKnown := in.findMethodsCalled(body, call, path)
		if !isKnown {
			return true
		}
		name := formatExpr(call.Fun)
		if method := in.findUncalled(t, called, sides); method != "" {
			text = method + " of what " + name + " returns"
		}
		return true
	})
	return text
}

// isOfPackage reports whether a type is declared in the package.
func (in *input) isOfPackage(t types.Type) bool {
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		t = p.Elem()
	}
	named, ok := types.Unalias(t).(*types.Named)
	return ok && named.Obj().Pkg() == in.pass.Pkg && !types.IsInterface(t)
}

// findMethodsCalled returns the methods that a side calls on the result of call, the last node of
// path. isKnown is false if the side has other uses of the result.
func (in *input) findMethodsCalled(body ast.Node, call *ast.CallExpr, path []ast.Node) (called []*types.Func, isKnown bool) {
	switch p := parent(path, 1).(type) {
	case *ast.SelectorExpr: // list.Iterator().Len()
		fn, ok := in.pass.TypesInfo.Uses[p.Sel].(*types.Func)
		return []*types.Func{fn}, ok
	case *ast.AssignStmt:
		v := in.variable(p.Lhs[0])
		if len(p.Rhs) != 1 || v == nil || !in.isLocal(v) || !isPosIn(v.Pos(), body) {
			return nil, false
		}
		isKnown = true
		in.inspectUses(body, v, func(id *ast.Ident, path []ast.Node) {
			sel, isSelector := parent(path, 1).(*ast.SelectorExpr)
			if !isSelector {
				isKnown = false
				return
			}
			fn, isMethod := in.pass.TypesInfo.Uses[sel.Sel].(*types.Func)
			isKnown = isKnown && isMethod
			called = append(called, fn)
		})
		return called, isKnown && len(called) > 0
	}
	return nil, false
}

var (
	// advanceName matches methods that go to the next entry.
	advanceName = lazyregexp.New(`^(Next|Scan|Advance)$`)
	// stateName matches methods that return an error or close.
	stateName = lazyregexp.New(`^(Err|Error|Close|Reset|String|GoString|Len|Size|Seek\w*)$`)
)

// findUncalled returns a method of t that does its work, or "". The list called has the methods
// that the side calls. If one of them is not light, it may do the work, and findUncalled returns
// "".
func (in *input) findUncalled(t types.Type, called []*types.Func, sides []side) string {
	advances := slices.ContainsFunc(called, func(fn *types.Func) bool { return advanceName.MatchString(fn.Name()) })
	isHeavy := func(fn *types.Func) bool { return !advanceName.MatchString(fn.Name()) && !in.isLight(fn, 0) }
	if slices.ContainsFunc(called, isHeavy) {
		return ""
	}
	methods := types.NewMethodSet(pointerTo(t))
	for i := range methods.Len() {
		fn, ok := methods.At(i).Obj().(*types.Func)
		if !ok || !fn.Exported() || fn.Pkg() != in.pass.Pkg {
			continue
		}
		switch {
		case !advances && advanceName.MatchString(fn.Name()):
			return fn.Name()
		case advances && in.isGetter(fn) && !in.isLight(fn, 0) && callsWhole(sides):
			return fn.Name()
		case !advances && in.isOutput(fn) && !in.isLight(fn, 0):
			return fn.Name()
		}
	}
	return ""
}

func pointerTo(t types.Type) types.Type {
	if _, ok := types.Unalias(t).(*types.Pointer); ok {
		return t
	}
	return types.NewPointer(t)
}

// isGetter reports whether a method without parameters returns the content of an entry.
func (in *input) isGetter(fn *types.Func) bool {
	s := fn.Signature()
	if s.Params().Len() > 0 || s.Results().Len() == 0 || stateName.MatchString(fn.Name()) || advanceName.MatchString(fn.Name()) {
		return false
	}
	return !isError(s.Results().At(0).Type()) && !isNonStringBasic(s.Results().At(0).Type())
}

// isOutput reports whether a method returns bytes, or writes to an io.Writer.
func (in *input) isOutput(fn *types.Func) bool {
	s := fn.Signature()
	writes := s.Params().Len() == 1 && isNamed(s.Params().At(0).Type(), "io", "Writer")
	returns := s.Params().Len() == 0 && s.Results().Len() > 0 && isBytes(s.Results().At(0).Type())
	return !stateName.MatchString(fn.Name()) && (writes || returns)
}

// callsWhole reports whether a side calls a function that works on all its input, such as ReadAll.
func callsWhole(sides []side) bool {
	return slices.ContainsFunc(sides, func(s side) bool { return hasCall(s.body, wholeName.MatchString) })
}

// isLight reports whether a function has no loop and calls only such functions. Of other packages
// it accepts some small functions of the standard library. The depth counts the functions around
// it.
func (in *input) isLight(fn *types.Func, depth int) bool {
	if fn == nil || fn.Pkg() == nil {
		return false
	}
	if fn.Pkg() != in.pass.Pkg {
		isWord := fn.Pkg().Path() == "encoding/binary" && strings.Contains(fn.Name(), "Uint")
		isMaker := isStandard(fn.Pkg()) && makerName.MatchString(fn.Name())
		return isWord || isMaker || isOneOf(fn.Pkg().Path(), []string{"sync", "errors"})
	}
	f := in.flowGraph().Declared(fn)
	if f.Body == nil || depth > maxTimedDepth {
		return false
	}
	return !hasNode(f.Body, func(n ast.Node) bool {
		if isLoop(n) {
			return true
		}
		call, ok := n.(*ast.CallExpr)
		if !ok || in.pass.TypesInfo.Types[call.Fun].IsType() || in.pass.TypesInfo.Types[call.Fun].IsBuiltin() {
			return false
		}
		return !in.isLight(in.callee(call), depth+1)
	})
}
