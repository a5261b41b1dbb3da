package gobench

import (
	"go/ast"
	"go/types"
)

// This file is a part of the rule writer-unflushed, which finds buffered writers that nothing
// flushes. Here a type of the package has such a writer in a field, and methods that do not have
// the usual names:
//
//	func (s *Sink) Restart(w io.Writer) { s.zip.Reset(w) }
//	func (s *Sink) Finish() error       { return s.zip.Close() }
//
// The rule reads the code of these methods. It then knows that Restart resets the writer, and
// Finish closes it.

// resetsPart reports whether a method resets a buffered writer in a field of its receiver, and does
// not flush it.
func (in *input) resetsPart(fn *types.Func) bool {
	recv, body := in.methodBody(fn)
	if body == nil || in.flushesPart(fn, 0) {
		return false
	}
	return hasNode(body, func(call *ast.CallExpr) bool {
		sel, ok := call.Fun.(*ast.SelectorExpr)
		if !ok || sel.Sel.Name != "Reset" || !isListedWriter(in.pass.TypesInfo.TypeOf(sel.X)) {
			return false
		}
		fields, ok := in.receiverPath(sel.X, recv)
		return ok && fields != ""
	})
}

// flushesPart reports whether each call of a method flushes or closes its receiver or a part of it.
// It follows calls of other methods on the receiver. The depth counts the methods around it.
func (in *input) flushesPart(fn *types.Func, depth int) bool {
	recv, body := in.methodBody(fn)
	if body == nil {
		return false
	}
	flushes := false
	var visit func(n ast.Node) bool
	visit = func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.IfStmt: // its body may not run
			if n.Init != nil {
				ast.Inspect(n.Init, visit)
			}
			ast.Inspect(n.Cond, visit)
			return false
		case *ast.CaseClause, *ast.FuncLit:
			return false
		case *ast.CallExpr:
			sel, ok := n.Fun.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if _, isReceiver := in.receiverPath(sel.X, recv); isReceiver {
				flushes = flushes || flushingName.MatchString(sel.Sel.Name) || depth < maxTimedDepth && in.flushesPart(in.callee(n), depth+1)
			}
		}
		return !flushes
	}
	ast.Inspect(body, visit)
	return flushes
}
