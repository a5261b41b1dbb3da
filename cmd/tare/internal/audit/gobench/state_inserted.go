package gobench

import (
	"cmp"
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"github.com/tarebench/tare/cmd/tare/internal/audit/gobench/flow"
)

// This file is a part of the rule state-grows, which finds benchmarks with a variable that grows.
// Here one call adds an entry to a slice, and the same or another call takes time for all entries:
//
//	for b.Loop() {
//		book.Post(entry)
//		sum += book.Balance(account) // goes through all entries
//	}
//
// The rule reads the code of both methods. The calls may be in functions of the test files. A frame
// is the body that is searched: the loop, or a function of the test files that the loop calls.

// reportInserted reports slices that get an entry in each iteration, if each iteration also moves
// or reads all entries. It skips variables in seen, and adds those that it reports.
func (in *input) reportInserted(l *loop, seen map[*types.Var]bool) {
	calls := in.findStoreCalls(l)
	for _, c := range calls {
		fields, moves := in.addedSlice(c.method)
		if fields == "" || seen[c.store.root] || moves && !in.insertsNew(l, c) {
			continue
		}
		slice := varPath{root: c.store.root, fields: c.store.fields + fields}
		if in.mayShorten(l, calls, slice) {
			continue
		}
		name := c.store.String()
		if moves {
			seen[c.store.root] = true
			in.report(c.site, "%s gets an entry before others, which are moved, in each iteration and is never emptied, so it grows with b.N", name)
			continue
		}
		for _, reader := range calls {
			if reader.store == c.store && slices.Contains(in.scannedSlices(reader.method, 0), fields) && !seen[c.store.root] {
				seen[c.store.root] = true
				in.report(reader.site, "%s gets an entry in each iteration, by %s, and %s goes through all of them, so an iteration takes longer with a larger b.N",
					name, c.method.Name(), reader.method.Name())
			}
		}
	}
}

// storeCall is a call of a method of the package on a variable from before the loop.
type storeCall struct {
	call   *ast.CallExpr
	site   *ast.CallExpr // the call in the loop that leads here, or call itself
	method *types.Func
	store  varPath
	depth  int // of the function around the call
}

// findStoreCalls returns the calls in a loop, and in functions of the test files that it calls, of
// methods of the package on variables from before the loop.
func (in *input) findStoreCalls(l *loop) []storeCall {
	var out []storeCall
	in.inspectTimedDeep(l, func(n ast.Node, f *frame) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		for _, called := range in.flowGraph().Called(call, f.binding) {
			if called.Receiver == nil || called.Body == nil || called.Object == nil {
				continue
			}
			p, ok := in.pathOf(called.Receiver, f.binding)
			if ok && in.isLocalBefore(p.root, l) && !f.containsPos(p.root.Pos()) {
				out = append(out, storeCall{call: call, site: cmp.Or(f.site, call), method: called.Object, store: p, depth: f.callDepth()})
			}
		}
		return true
	})
	return out
}

// addedSlice returns the slice of a receiver to which each successful call of a method adds an
// entry, or "". moves is true if the call also moves other entries to make room.
func (in *input) addedSlice(fn *types.Func) (fields string, moves bool) {
	recv, body := in.methodBody(fn)
	if body == nil {
		return "", false
	}
	for _, s := range body.List {
		statements := []ast.Stmt{s}
		if r, ok := s.(*ast.RangeStmt); ok {
			statements = r.Body.List
		}
		for _, inner := range statements {
			a, ok := inner.(*ast.AssignStmt)
			if !ok || len(a.Lhs) != 1 || len(a.Rhs) != 1 {
				continue
			}
			fields, ok := in.receiverPath(a.Lhs[0], recv)
			call, isCall := a.Rhs[0].(*ast.CallExpr)
			if !ok || fields == "" || !isCall {
				continue
			}
			moves := isFunc(in.callee(call), "slices", "Insert", "Replace")
			if moves || in.isAppendTo(a.Lhs[0], call) {
				return fields, moves
			}
		}
		if mayReturnEarly(s) {
			return "", false
		}
	}
	return "", false
}

// mayReturnEarly reports whether a statement has a return without an error. The last result of a
// return with an error begins with err, errors. or fmt.Errorf.
func mayReturnEarly(s ast.Stmt) bool {
	early := false
	ast.Inspect(s, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.ReturnStmt:
			if len(n.Results) == 0 {
				early = true
				break
			}
			name := formatExpr(n.Results[len(n.Results)-1])
			early = early || !hasAnyPrefix(name, "Err", "err", "errors.", "fmt.Errorf")
		}
		return true
	})
	return early
}

// insertsNew reports whether the argument of a call in the loop differs from iteration to
// iteration.
func (in *input) insertsNew(l *loop, c storeCall) bool {
	return c.depth == 0 && len(c.call.Args) > 0 && in.isDistinct(l, c.call.Args[0])
}

// isLongCycle reports whether an index is counter%n or counter&n with a large n.
func (in *input) isLongCycle(index ast.Expr, counter *types.Var) bool {
	e, ok := ast.Unparen(index).(*ast.BinaryExpr)
	if !ok || e.Op != token.REM && e.Op != token.AND || in.variable(e.X) != counter {
		return false
	}
	n, ok := in.flowGraph().MaxConstant(e.Y, nil)
	return ok && n >= longLoop
}

// scannedSlices returns the slices of a receiver that a method always goes through to the end. The
// depth counts the methods of the receiver around it.
func (in *input) scannedSlices(fn *types.Func, depth int) []string {
	recv, body := in.methodBody(fn)
	if body == nil {
		return nil
	}
	var out []string
	inspectPath(body, func(n ast.Node, path []ast.Node) bool {
		switch n := n.(type) {
		case *ast.RangeStmt:
			fields, ok := in.receiverPath(n.X, recv)
			if ok && fields != "" && isSlice(in.pass.TypesInfo.TypeOf(n.X)) && !isConditional(path) && !mayEndEarly(n.Body) {
				out = append(out, fields)
			}
		case *ast.CallExpr:
			sel, ok := n.Fun.(*ast.SelectorExpr)
			if !ok || depth == maxTimedDepth || isConditional(path) {
				break
			}
			if fields, ok := in.receiverPath(sel.X, recv); ok {
				for _, inner := range in.scannedSlices(in.callee(n), depth+1) {
					out = append(out, fields+inner)
				}
			}
		}
		return true
	})
	return out
}

// mayEndEarly reports whether a loop with this body may end before its last iteration.
func mayEndEarly(body *ast.BlockStmt) bool {
	return hasNode(body, func(*ast.ReturnStmt) bool { return true }) ||
		hasNode(body, func(b *ast.BranchStmt) bool { return b.Tok != token.CONTINUE })
}

// mayShorten reports whether a loop may remove entries of a slice. It may also set the slice, or
// pass the variable with the slice to a function. Code that is not timed counts, too.
func (in *input) mayShorten(l *loop, calls []storeCall, slice varPath) bool {
	for _, c := range calls {
		if c.store.root == slice.root && (shrinkingName.MatchString(c.method.Name()) || in.shortens(c.method, 0)) {
			return true
		}
	}
	found := false
	in.inspectCallsDeep(l.body, func(call *ast.CallExpr, binding flow.Binding) {
		for _, arg := range call.Args {
			if p, ok := in.pathOf(arg, binding); ok && p.root == slice.root && !isBasic(in.pass.TypesInfo.TypeOf(arg)) && in.isOverlapping(arg, slice) {
				found = true
			}
		}
		if sel, ok := call.Fun.(*ast.SelectorExpr); ok {
			p, ok := in.pathOf(sel.X, binding)
			isSame := ok && p.root == slice.root
			found = found || isSame && (shrinkingName.MatchString(sel.Sel.Name) || in.shortens(in.callee(call), 0))
		}
	})
	in.inspectTimedDeep(l, func(n ast.Node, f *frame) bool {
		if a, ok := n.(*ast.AssignStmt); ok {
			for _, lhs := range a.Lhs {
				_, isIndex := ast.Unparen(lhs).(*ast.IndexExpr)
				p, ok := in.pathOf(lhs, f.binding)
				isPart := ok && p.root == slice.root && !isIndex && (p.fields == "" || p.fields == slice.fields || hasAnyPrefix(slice.fields, p.fields+"."))
				found = found || isPart
			}
		}
		return true
	})
	for a := range nodesOf[*ast.AssignStmt](l.body) {
		for _, lhs := range a.Lhs {
			found = found || in.variable(lhs) == slice.root
		}
	}
	return found
}

// shortens reports whether a method may remove entries of its receiver. It follows calls of other
// methods on the receiver. An assignment to a slice counts, unless it adds entries.
func (in *input) shortens(fn *types.Func, depth int) bool {
	recv, body := in.methodBody(fn)
	if body == nil {
		return false
	}
	return hasNode(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			if isFunc(in.callee(n), "slices", "Delete", "DeleteFunc", "Compact", "CompactFunc") || isBuiltin(in.pass.TypesInfo, n, "delete") || isBuiltin(in.pass.TypesInfo, n, "clear") {
				return true
			}
			sel, ok := n.Fun.(*ast.SelectorExpr)
			if !ok || depth == maxTimedDepth {
				return false
			}
			_, isReceiver := in.receiverPath(sel.X, recv)
			return isReceiver && in.shortens(in.callee(n), depth+1)
		case *ast.AssignStmt:
			for i, lhs := range n.Lhs {
				fields, ok := in.receiverPath(lhs, recv)
				if !ok || fields == "" || !isSlice(in.pass.TypesInfo.TypeOf(lhs)) || len(n.Lhs) != len(n.Rhs) {
					continue
				}
				call, isCall := n.Rhs[i].(*ast.CallExpr)
				adds := in.isAppendTo(lhs, n.Rhs[i]) || isCall && isFunc(in.callee(call), "slices", "Insert", "Replace", "Grow")
				if !adds {
					return true
				}
			}
		}
		return false
	})
}
