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

// inspectTimed calls visit for each node of a loop that runs in every iteration while the timer
// runs. It omits the code between StopTimer and StartTimer, the bodies of if statements that end an
// iteration or the benchmark (see endsIteration), and function literals that are not called on the
// spot. In this loop it visits the nodes of err := f(v) and err != nil:
//
//	b.StopTimer()
//	v := next()
//	b.StartTimer()
//	if err := f(v); err != nil {
//		b.Fatal(err)
//	}
func (in *input) inspectTimed(l *loop, visit func(n ast.Node) bool) {
	w := &timedWalk{in: in, visit: func(n ast.Node, _ *frame) bool { return visit(n) }}
	w.visitStatements(l.body.List, true, &frame{loop: l, body: l.body})
}

// inspectTimedDeep does the work of inspectTimed, and also visits the bodies of the functions that
// belong to the benchmark (see isHarness) wherever the loop calls them: helpers, closures, method
// values and the functions of a table. The frame tells visit which body n is in.
func (in *input) inspectTimedDeep(l *loop, visit func(n ast.Node, f *frame) bool) {
	w := &timedWalk{in: in, visit: visit, follow: true}
	w.visitStatements(l.body.List, true, &frame{loop: l, body: l.body})
}

// frame is the body that a walk is in: that of the loop or, like a frame of a call stack, that of a
// function that the loop calls directly or through others.
type frame struct {
	loop    *loop
	body    *ast.BlockStmt
	node    ast.Node      // declaration or literal of the function; nil in the frame of the loop
	calls   []ast.Node    // declarations and literals of the functions from the loop to this one
	binding flow.Binding  // arguments of the calls around this frame, by parameter
	site    *ast.CallExpr // call in the loop's body that leads to the function; nil in the frame of the loop
}

// callDepth returns the number of calls between the loop and the frame.
func (f *frame) callDepth() int { return len(f.calls) }

// Limits of a walk of the timed part.
const (
	maxTimedDepth  = 3   // calls within calls
	maxTimedBodies = 100 // bodies entered from one loop
)

// timedWalk visits what runs in each iteration while the timer runs.
type timedWalk struct {
	in     *input
	visit  func(n ast.Node, f *frame) bool // returns whether to visit the nodes below n
	follow bool                            // enter functions that belong to the benchmark
	bodies int                             // bodies entered

	onTimer func(method string) // called for each call of a method of the timer; may be nil
}

// setTimer returns whether the timer runs after a call of one of its methods. If method is "", the call
// is of another function and setTimer returns running.
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

// visitStatements visits a list of statements. running reports whether the timer runs before the
// list, and the result reports whether it runs after the list.
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

// visitNodes does the work of visitStatements for one statement or expression, root. It follows the
// order of the source, as a call in the middle may stop the timer for the nodes after it.
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
			return false // if it is called on the spot, the case of the call visits its body
		case *ast.DeferStmt, *ast.GoStmt:
			if running { // the statement itself is timed, but its call runs later
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

// visitExit visits an if statement whose body ends the iteration, without that body: of
// if err := f(v); err != nil { b.Fatal(err) } it visits err := f(v) and err != nil.
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

// enterCalls visits the functions that a call may run and that belong to the benchmark. Like
// visitStatements it returns whether the timer runs after the call.
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
			if d, ok := s.(*ast.DeferStmt); ok { // such as defer b.StartTimer()
				after = w.setTimer(timerCall(w.in.pass.TypesInfo, &ast.ExprStmt{X: d.Call}), after)
			}
		}
	}
	return after
}

// canEnter reports whether a walk enters a function that is called in f: the function belongs to the
// benchmark, it does not call itself on the way, and the walk has not reached its limits.
func (w *timedWalk) canEnter(called flow.Function, f *frame) bool {
	isOfBenchmark := called.Body != nil && w.in.isHarness(called.Node)
	isRecursive := slices.Contains(f.calls, called.Node)
	isWithinLimits := f.callDepth() < maxTimedDepth && w.bodies < maxTimedBodies
	return isOfBenchmark && !isRecursive && isWithinLimits
}

// inspectCallsDeep calls visit for each call below root, whether the timer runs or not, and in the functions of
// the benchmark that root calls. It also visits function literals that root may pass on.
// binding has the arguments of the calls around the function that a call is in.
func (in *input) inspectCallsDeep(root ast.Node, visit func(call *ast.CallExpr, binding flow.Binding)) {
	in.inspectCallsWithLiterals(root, true, visit)
}

// inspectCallsWithLiterals does the work of inspectCallsDeep. If literals is false, it visits only the function literals
// that are called.
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
				if called.Body == nil || !in.isHarness(called.Node) || !isNew {
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

// flowGraph returns the graph of values and functions of the package.
func (in *input) flowGraph() *flow.Graph {
	if in.suite.flow == nil {
		in.suite.flow = flow.New(in.pass.Files, in.pass.TypesInfo)
	}
	return in.suite.flow
}

// methodBody returns the receiver and the body of a method of the package. The body is nil for
// other functions and for nil.
func (in *input) methodBody(fn *types.Func) (recv *types.Var, body *ast.BlockStmt) {
	if fn == nil || fn.Signature().Recv() == nil {
		return nil, nil
	}
	return fn.Signature().Recv(), in.flowGraph().Declared(fn).Body
}

// receiverPath returns the fields that an expression in a method selects from the receiver recv:
// ".items" of r.items[i], "" of r. ok is false if the expression does not begin with the receiver.
func (in *input) receiverPath(e ast.Expr, recv *types.Var) (fields string, ok bool) {
	root, fields := in.flowGraph().Path(e, flow.Binding{recv: nil}) // nil: stop at recv
	return fields, root != nil && root == recv
}

// isHarness reports whether a node belongs to the benchmarks or tests and not to the measured code:
// it is in a test file, or in one that imports package testing.
func (in *input) isHarness(node ast.Node) bool {
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

// joinNames returns the names of the benchmark of a loop and of the one that a node is in.
func (in *input) joinNames(l *loop, n ast.Node) string {
	return l.owner.name + " " + in.suite.nameAt(n)
}

// containsPos reports whether a position is in the function of the frame, or in one through which the loop
// calls that function.
func (f *frame) containsPos(pos token.Pos) bool {
	return slices.ContainsFunc(f.calls, func(function ast.Node) bool { return isPosIn(pos, function) })
}
