package gobench

import (
	"cmp"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strings"

	"github.com/tarebench/tare/cmd/tare/internal/audit/gobench/flow"
)

// This file walks through the timed region: the code in a loop that runs while the timer runs. In
// this example it visits f(v) and err != nil, but not next() and not b.Fatal:
//
//	for range b.N {
//		b.StopTimer()
//		v := next()
//		b.StartTimer()
//		if err := f(v); err != nil { b.Fatal(err) }
//	}
//
// A walk is deep if it also enters the functions of the test files that the code calls. A frame
// then has the body that the walk is in, as on a call stack. Its binding has the arguments of the
// calls so far, by parameter.

// inspectTimed calls visit for each node in the timed region of a loop. If visit returns false, it
// skips the nodes below that one. It enters function literals only if they are called on the spot.
// It omits the bodies of if statements that end an iteration, as with b.Fatal.
func (in *input) inspectTimed(l *loop, visit func(n ast.Node) bool) {
	w := &timedWalk{in: in, visit: func(n ast.Node, _ *frame) bool { return visit(n) }}
	w.visitStatements(l.body.List, true, &frame{loop: l, body: l.body})
}

// inspectTimedDeep is inspectTimed, but also visits the functions of the test files that the loop
// calls. The frame f has the body in which n is.
func (in *input) inspectTimedDeep(l *loop, visit func(n ast.Node, f *frame) bool) {
	w := &timedWalk{in: in, visit: visit, follow: true}
	w.visitStatements(l.body.List, true, &frame{loop: l, body: l.body})
}

// frame is the body that is searched: the loop, or a function that the loop calls.
type frame struct {
	loop    *loop          // the loop in which the walk began
	body    *ast.BlockStmt // body of that loop or of the function
	node    ast.Node       // the function's declaration or literal; nil for the loop
	calls   []ast.Node     // the functions from the loop to this one
	binding flow.Binding   // known values of parameters
	site    *ast.CallExpr  // the call in the loop that leads here; nil for the loop
}

// callDepth returns the number of calls from the loop to the body of the frame, 0 in the loop.
func (f *frame) callDepth() int { return len(f.calls) }

// placeOf returns the node at which to report a mistake at n: the call in the loop that leads to n if
// n is in a function that may serve other benchmarks, else n.
func (in *input) placeOf(n ast.Node, f *frame) ast.Node {
	if f.site == nil || in.suite.nameAt(n) != "" {
		return n
	}
	return f.site
}

// Limits of a deep walk.
const (
	maxTimedDepth  = 3   // calls within calls
	maxTimedBodies = 100 // functions entered from one loop
)

// timedWalk is a walk through the timed region of a loop.
type timedWalk struct {
	in     *input
	visit  func(n ast.Node, f *frame) bool // returns whether to visit the nodes below n
	follow bool                            // make the walk deep
	bodies int                             // functions entered

	onTimer func(method string) // called for each call of a timer method; may be nil
}

// setTimer returns whether the timer runs after a call, if it ran before as running tells. The
// method is the timer method that was called, or "" for another call.
func (w *timedWalk) setTimer(method string, running bool) bool {
	if method != "" && w.onTimer != nil {
		w.onTimer(method)
	}
	switch method {
	case "StopTimer":
		return false
	case "StartTimer":
		return true
	}
	return running
}

// visitStatements visits a list of statements. The parameter running tells whether the timer runs
// before the list, and the result whether it runs after the list.
func (w *timedWalk) visitStatements(list []ast.Stmt, running bool, f *frame) bool {
	info := w.in.pass.TypesInfo
	for _, s := range list {
		if method := timerCall(info, s); method != "" {
			running = w.setTimer(method, running)
			continue
		}
		running = w.visitNodes(s, running, f)
	}
	return running
}

// visitNodes is visitStatements for one statement or expression. It follows the order of the
// source, because a call in the middle may stop the timer.
func (w *timedWalk) visitNodes(root ast.Node, running bool, f *frame) bool {
	ast.Inspect(root, func(n ast.Node) bool {
		switch n := n.(type) {
		case nil:
			return false
		case *ast.BlockStmt:
			running = w.visitStatements(n.List, running, f)
			return false
		case *ast.IfStmt:
			if endsIteration(n.Body) {
				running = w.visitExit(n, running, f)
				return false
			}
		case *ast.FuncLit:
			return false // see the case of its call
		case *ast.DeferStmt, *ast.GoStmt:
			if running { // the call itself runs later
				w.visit(n, f)
			}
			return false
		case *ast.CallExpr:
			if lit, ok := n.Fun.(*ast.FuncLit); ok {
				running = w.visitStatements(lit.Body.List, running, f)
			} else if w.follow {
				running = w.enterCalls(n, running, f)
			}
		}
		return running && w.visit(n, f)
	})
	return running
}

// visitExit visits an if statement without its body, which ends the iteration.
func (w *timedWalk) visitExit(s *ast.IfStmt, running bool, f *frame) bool {
	if running {
		w.visit(s, f)
	}
	if s.Init != nil {
		running = w.visitStatements([]ast.Stmt{s.Init}, running, f)
	}
	running = w.visitNodes(s.Cond, running, f)
	if s.Else != nil {
		running = w.visitStatements([]ast.Stmt{s.Else}, running, f)
	}
	return running
}

// enterCalls is visitStatements for the functions of the test files that a call may run.
func (w *timedWalk) enterCalls(call *ast.CallExpr, running bool, f *frame) bool {
	after := running
	for _, called := range w.in.flowGraph().Called(call, f.binding) {
		after = w.setTimer(timerMethod(called.Object), after)
		if !w.canEnter(called, f) {
			continue
		}
		w.bodies++
		inner := &frame{loop: f.loop, body: called.Body, node: called.Node, binding: flow.Binding{}, site: cmp.Or(f.site, call)}
		inner.calls = append(append(inner.calls, f.calls...), called.Node)
		maps.Copy(inner.binding, f.binding)
		maps.Copy(inner.binding, w.in.flowGraph().Bind(call, called))
		after = w.visitStatements(called.Body.List, running, inner)
		for _, s := range called.Body.List {
			if d, ok := s.(*ast.DeferStmt); ok { // defer b.StartTimer()
				after = w.setTimer(timerCall(w.in.pass.TypesInfo, &ast.ExprStmt{X: d.Call}), after)
			}
		}
	}
	return after
}

// canEnter reports whether a deep walk enters a function: one of the test files that it is not in
// yet, within the limits.
func (w *timedWalk) canEnter(called flow.Function, f *frame) bool {
	isOfBenchmark := called.Body != nil && w.in.isTestCode(called.Node)
	isRecursive := slices.Contains(f.calls, called.Node)
	isWithinLimits := f.callDepth() < maxTimedDepth && w.bodies < maxTimedBodies
	return isOfBenchmark && !isRecursive && isWithinLimits
}

// inspectCallsDeep calls visit for each call below root, timed or not. It enters the functions of
// the test files that root calls, and function literals that root may pass on.
func (in *input) inspectCallsDeep(root ast.Node, visit func(call *ast.CallExpr, binding flow.Binding)) {
	in.inspectCallsWithLiterals(root, true, visit)
}

// inspectCallsWithLiterals is inspectCallsDeep if literals is true. Otherwise it enters a function
// literal only if it is called.
func (in *input) inspectCallsWithLiterals(root ast.Node, literals bool, visit func(call *ast.CallExpr, binding flow.Binding)) {
	bodies := 0
	var walk func(node ast.Node, binding flow.Binding, around []ast.Node)
	walk = func(node ast.Node, binding flow.Binding, around []ast.Node) {
		ast.Inspect(node, func(n ast.Node) bool {
			if _, isLiteral := n.(*ast.FuncLit); isLiteral && !literals {
				return false
			}
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			visit(call, binding)
			for _, called := range in.flowGraph().Called(call, binding) {
				isNew := !slices.Contains(around, called.Node) && len(around) < maxTimedDepth && bodies < maxTimedBodies
				if called.Body == nil || !in.isTestCode(called.Node) || !isNew {
					continue
				}
				bodies++
				inner := flow.Binding{}
				maps.Copy(inner, binding)
				maps.Copy(inner, in.flowGraph().Bind(call, called))
				walk(called.Body, inner, append(slices.Clone(around), called.Node))
			}
			return true
		})
	}
	walk(root, flow.Binding{}, nil)
}

// flowGraph returns the graph of the package, which it makes at the first call.
func (in *input) flowGraph() *flow.Graph {
	if in.suite.flow == nil {
		in.suite.flow = flow.New(in.pass.Files, in.pass.TypesInfo)
	}
	return in.suite.flow
}

// methodBody returns the receiver and the body of a method. The body is nil for a function, for a
// method of another package, and if fn is nil.
func (in *input) methodBody(fn *types.Func) (recv *types.Var, body *ast.BlockStmt) {
	if fn == nil || fn.Signature().Recv() == nil {
		return nil, nil
	}
	return fn.Signature().Recv(), in.flowGraph().Declared(fn).Body
}

// receiverPath returns the fields that an expression selects from a receiver r: ".items" for
// r.items[i], and "" for r. ok is false if the expression does not begin with the receiver.
func (in *input) receiverPath(e ast.Expr, recv *types.Var) (fields string, ok bool) {
	atReceiver := flow.Binding{recv: nil} // the path ends at the receiver, not at its values in callers
	root, fields := in.flowGraph().Path(e, atReceiver)
	return fields, root != nil && root == recv
}

// isTestCode reports whether a node belongs to the tests and benchmarks, not to the tested code. Its
// file is a test file, or imports package testing.
func (in *input) isTestCode(node ast.Node) bool {
	if node == nil {
		return false
	}
	file := in.pass.Fset.File(node.Pos())
	if file == nil {
		return false
	}
	if strings.HasSuffix(file.Name(), "_test.go") {
		return true
	}
	i := slices.IndexFunc(in.pass.Files, func(f *ast.File) bool { return in.pass.Fset.File(f.FileStart) == file })
	return i >= 0 && importsTesting(in.pass.Files[i])
}

// joinNames returns the name of the benchmark with the loop, and that of the benchmark around n.
// Rules exempt benchmarks by words in these names.
func (in *input) joinNames(l *loop, n ast.Node) string {
	return l.owner.name + " " + in.suite.nameAt(n)
}

// containsPos reports whether a position is in one of the functions from the loop to the frame.
func (f *frame) containsPos(pos token.Pos) bool {
	return slices.ContainsFunc(f.calls, func(function ast.Node) bool { return isPosIn(pos, function) })
}
