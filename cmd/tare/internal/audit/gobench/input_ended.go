package gobench

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit/gobench/flow"
	"github.com/tarebench/tare/internal/lazyregexp"
)

// This file is a part of the rule input-consumed. The loop reads records from a reader of any type
// that is made before it, and goes on when there are no more:
//
//	r := NewReader(&file)
//	for range b.N {
//		rec, err := r.Next()
//		if err == io.EOF { continue }
//		sum += rec.Size
//	}
//
// From then on an iteration measures how fast the reader returns io.EOF. The same is true of an inner
// loop that ends with the records, as for r.Next() { … }: only the first iteration finds any. The
// rule needs code that shows the end of the records, or a reader of a text in memory.

// recordName matches methods that read the next record of their receiver.
var recordName = lazyregexp.New(`^(Next|Read|Scan|Decode|Token|Recv|Receive|Fetch|Pull|Advance|Pop|Shift|Take)([A-Z]\w*)?$`)

// readerStateName matches methods that neither read nor renew their receiver.
var readerStateName = lazyregexp.New(`^(Len|Size|Err|Error|Text|Bytes|Value|Key|Record|Item|Current|Row|Index|Pos|Position|Offset|Buffered|Stats|Peek|More|Count|Close)$`)

// reportEnded reports calls that read the records of a reader from before the loop to their end. It
// skips variables in seen, which other parts of the rule have judged.
func (in *input) reportEnded(l *loop, seen map[*types.Var]bool) {
	reported := map[*types.Var]bool{}
	in.inspectTimedDeep(l, func(n ast.Node, f *frame) bool {
		call, what := in.findEnd(l, n, f)
		if call == nil {
			return true
		}
		sel, ok := call.Fun.(*ast.SelectorExpr)
		if !ok || !recordName.MatchString(sel.Sel.Name) {
			return true
		}
		v, _ := in.flowGraph().Path(sel.X, f.binding)
		if v == nil || reported[v] || seen[v] || !in.isFromBefore(l, sel.X, f) || in.mayRewind(in.callee(call), 0) || in.mayRenew(l, v) {
			return true
		}
		reported[v] = true
		in.reportAs(tare.Warn, in.placeOf(call, f), "%s reads %s, which is made before the loop and never renewed: %s", formatExpr(call.Fun), v.Name(), what)
		return true
	})
}

// findEnd returns the call that reads a record at n and may find none, and what then happens. It
// returns nil if n is no such code.
func (in *input) findEnd(l *loop, n ast.Node, f *frame) (call *ast.CallExpr, what string) {
	const others = "at the end of its records, an iteration only finds that there are none"
	switch n := n.(type) {
	case *ast.IfStmt: // if err == io.EOF { continue }
		isInner := in.isInInnerLoop(n, f)
		if call = in.findEndCondition(n, f); call == nil || !in.goesOn(n.Body, isInner) {
			return nil, ""
		}
		if isInner {
			return call, "only the first iteration finds records"
		}
		return call, others
	case *ast.ForStmt: // for r.Next() { … }
		call, _ = n.Cond.(*ast.CallExpr)
		if call == nil || isInIterationLoop(l, n) || !isBoolCall(in.pass.TypesInfo, call) {
			return nil, ""
		}
		return call, "only the first iteration finds records"
	case *ast.AssignStmt: // rec, _ := r.Next()
		call, _ = n.Rhs[0].(*ast.CallExpr)
		last, isIdent := n.Lhs[len(n.Lhs)-1].(*ast.Ident)
		if call == nil || !isIdent || !isBlank(last) || errorIndex(in.pass.TypesInfo, call) < 0 || !in.readsMemory(l, call, f) {
			return nil, ""
		}
		return call, others
	}
	return nil, ""
}

// isInIterationLoop reports whether n is a loop over the iterations of the benchmark.
func isInIterationLoop(l *loop, n ast.Stmt) bool {
	return slices.ContainsFunc(l.owner.loops, func(other *loop) bool { return other.node == n })
}

// isBoolCall reports whether the result of a call is one bool.
func isBoolCall(info *types.Info, call *ast.CallExpr) bool {
	t := info.TypeOf(call)
	_, isTuple := t.(*types.Tuple)
	return t != nil && !isTuple && isBool(t)
}

// isInInnerLoop reports whether a node is in a loop of the frame, other than that over iterations.
func (in *input) isInInnerLoop(n ast.Node, f *frame) bool {
	return slices.ContainsFunc(pathTo(f.body, n), isLoop)
}

// goesOn reports whether a block leaves the benchmark running as if nothing had happened: continue,
// or, in an inner loop, break or return nil. It may only count before.
func (in *input) goesOn(b *ast.BlockStmt, isInner bool) bool {
	for i, s := range b.List {
		switch s := s.(type) {
		case *ast.IncDecStmt:
		case *ast.BranchStmt:
			isEnd := s.Tok == token.BREAK || s.Tok == token.GOTO
			return i == len(b.List)-1 && (isInner || !isEnd) && s.Label == nil
		case *ast.ReturnStmt:
			isOther := func(e ast.Expr) bool {
				t := in.pass.TypesInfo.Types[e]
				return isError(t.Type) && !t.IsNil()
			}
			return isInner && !slices.ContainsFunc(s.Results, isOther)
		default:
			return false
		}
	}
	return true
}

// findEndCondition returns the call whose result an if statement compares with the end of the
// records, or nil: err == io.EOF, errors.Is(err, io.EOF), !ok or !r.Next().
func (in *input) findEndCondition(s *ast.IfStmt, f *frame) *ast.CallExpr {
	var result ast.Expr
	switch cond := ast.Unparen(s.Cond).(type) {
	case *ast.BinaryExpr:
		if cond.Op == token.EQL && isEOF(cond.Y) {
			result = cond.X
		}
	case *ast.CallExpr:
		if isFunc(in.callee(cond), "errors", "Is") && isEOF(cond.Args[1]) {
			result = cond.Args[0]
		}
	case *ast.UnaryExpr:
		if cond.Op == token.NOT {
			result = cond.X
		}
	}
	if call, ok := result.(*ast.CallExpr); ok {
		return call
	}
	v := in.variable(result)
	if v == nil || !in.isLocal(v) {
		return nil
	}
	values := in.flowGraph().Values(v)
	if len(values) != 1 || !isNodeIn(values[0], f.body) {
		return nil
	}
	call, _ := values[0].(*ast.CallExpr)
	return call
}

// isEOF reports whether an expression is io.EOF, or an error of a package with such a name.
func isEOF(e ast.Expr) bool {
	name := ""
	switch e := e.(type) {
	case *ast.Ident:
		name = e.Name
	case *ast.SelectorExpr:
		name = e.Sel.Name
	}
	return isOneOf(name, []string{"EOF", "ErrEOF", "Done", "ErrDone", "ErrEnd", "ErrNoMore", "ErrExhausted"})
}

// mayRewind reports whether a method, or one of its receiver that it calls, may return to the first
// record: it sets a field to 0 or to an empty value, or calls Reset, Seek or Rewind.
func (in *input) mayRewind(fn *types.Func, depth int) bool {
	recv, body := in.methodBody(fn)
	return body != nil && hasNode(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for i, lhs := range n.Lhs {
				fields, ok := in.receiverPath(lhs, recv)
				if ok && fields != "" && len(n.Lhs) == len(n.Rhs) && in.isStart(n.Rhs[i]) {
					return true
				}
			}
		case *ast.CallExpr:
			sel, ok := n.Fun.(*ast.SelectorExpr)
			if !ok || depth == maxTimedDepth {
				return false
			}
			_, isPart := in.receiverPath(sel.X, recv)
			return isPart && (hasAnyPrefix(sel.Sel.Name, "Reset", "Seek", "Rewind", "reset", "rewind") || in.mayRewind(in.callee(n), depth+1))
		}
		return false
	})
}

// isStart reports whether a value may be that of a position before the first record.
func (in *input) isStart(e ast.Expr) bool {
	val := in.pass.TypesInfo.Types[e].Value
	isNumber := val != nil && val.Kind() == constant.Int
	binary, isBinary := e.(*ast.BinaryExpr)
	return isNumber || isBinary && (binary.Op == token.REM || binary.Op == token.AND)
}

// mayRenew reports whether a loop may renew the reader v, or what v reads. Only calls of methods that
// read records, or the state of the reader, do not. Code that runs beside the loop may renew it, too.
func (in *input) mayRenew(l *loop, v *types.Var) bool {
	sources := in.readerSources(v)
	if sources == nil {
		return true
	}
	in.addPaired(l, sources)
	renews := false
	isSource := func(e ast.Expr, binding flow.Binding) bool {
		root, _ := in.flowGraph().Path(e, binding)
		return root != nil && sources[root]
	}
	in.inspectCallsDeep(l.body, func(call *ast.CallExpr, binding flow.Binding) {
		called := in.flowGraph().Called(call, binding)
		isFollowed := len(called) > 0 && !slices.ContainsFunc(called, func(f flow.Function) bool { return f.Body == nil || !in.isTestCode(f.Node) })
		if sel, ok := call.Fun.(*ast.SelectorExpr); ok && isSource(sel.X, binding) {
			renews = renews || !recordName.MatchString(sel.Sel.Name) && !readerStateName.MatchString(sel.Sel.Name)
		}
		isPassed := slices.ContainsFunc(call.Args, func(arg ast.Expr) bool { return isSource(arg, binding) && !isBasic(in.pass.TypesInfo.TypeOf(arg)) })
		renews = renews || isPassed && !isFollowed
	})
	for source := range sources {
		renews = renews || in.isSetInFunction(l, source) || in.isUsedBeside(l, source) || in.isPreparedForN(l, source)
	}
	return renews
}

// readerSources returns the variables of which a reader v is made, and v. It returns nil if the value of v
// is not one call.
func (in *input) readerSources(v *types.Var) map[*types.Var]bool {
	values := in.flowGraph().Values(v)
	if len(values) != 1 {
		return nil
	}
	made, ok := ast.Unparen(values[0]).(*ast.CallExpr)
	if !ok {
		return nil
	}
	sources := map[*types.Var]bool{v: true}
	for id := range nodesOf[*ast.Ident](made) {
		if used, _ := in.pass.TypesInfo.Uses[id].(*types.Var); used != nil && !used.IsField() && !isBasic(used.Type()) {
			sources[used] = true
		}
	}
	return sources
}

// addPaired adds the variables that get their values together with one of sources, as the writer of a
// pipe: reader, writer := io.Pipe().
func (in *input) addPaired(l *loop, sources map[*types.Var]bool) {
	for a := range nodesOf[*ast.AssignStmt](l.owner.decl) {
		isSource := func(lhs ast.Expr) bool { return sources[in.variable(lhs)] }
		if len(a.Rhs) == 1 && slices.ContainsFunc(a.Lhs, isSource) {
			for _, lhs := range a.Lhs {
				if v := in.variable(lhs); v != nil && !isError(v.Type()) && !isBlank(lhs) {
					sources[v] = true
				}
			}
		}
	}
}

// isSetInFunction reports whether the loop, or a function literal in the benchmark, sets v.
func (in *input) isSetInFunction(l *loop, v *types.Var) bool {
	sets := func(root ast.Node) bool { return hasNode(root, func(s ast.Stmt) bool { return in.assignsTo(s, v) }) }
	return sets(l.node) || hasNode(l.owner.decl, func(lit *ast.FuncLit) bool { return !isNodeIn(l.node, lit) && sets(lit) })
}

// isUsedBeside reports whether a goroutine of the benchmark, or a function literal that does not
// contain the loop, uses v. The loop may call the literal, or wait for the goroutine.
func (in *input) isUsedBeside(l *loop, v *types.Var) bool {
	return in.hasUse(l.owner.decl, v, func(_ *ast.Ident, path []ast.Node) bool {
		return slices.ContainsFunc(path, func(n ast.Node) bool {
			_, isGo := n.(*ast.GoStmt)
			lit, isLiteral := n.(*ast.FuncLit)
			return isGo || isLiteral && !isNodeIn(l.node, lit) && !in.isCalledInLoop(l, lit)
		})
	})
}

// isCalledInLoop reports whether a loop calls a function literal, so that mayRenew reads its code.
func (in *input) isCalledInLoop(l *loop, lit *ast.FuncLit) bool {
	found := false
	in.inspectTimedDeep(l, func(_ ast.Node, f *frame) bool {
		found = found || slices.Contains(f.calls, ast.Node(lit))
		return !found
	})
	return found
}

// readsMemory reports whether the receiver of a call is made of a text in memory, which ends.
func (in *input) readsMemory(l *loop, call *ast.CallExpr, f *frame) bool {
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	v, _ := in.flowGraph().Path(sel.X, f.binding)
	for source := range in.readerSources(v) {
		t := source.Type()
		if source != v && (isNamed(t, "bytes", "Reader", "Buffer") || isNamed(t, "strings", "Reader")) {
			return true
		}
	}
	values := in.flowGraph().Values(v)
	return len(values) == 1 && hasNode(values[0], func(made *ast.CallExpr) bool {
		fn := in.callee(made)
		return isFunc(fn, "bytes", "NewReader", "NewBuffer", "NewBufferString") || isFunc(fn, "strings", "NewReader")
	})
}
