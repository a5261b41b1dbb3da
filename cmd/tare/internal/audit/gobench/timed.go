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

// inspectTimed calls visit for each node in the timed region of a loop. It enters no function
// except literals that are called on the spot. It omits the bodies of if statements that end an
// iteration. Here it visits err := f(v) and err != nil:
//
//	b.StopTimer(); v := next(); b.StartTimer()
//	if err := f(v); err != nil { b.Fatal(err) }
func (in *input) inspectTimed(l *loop, visit func(n ast.Node) bool) {
	w := &timedWalk{in: in, visit: func(n ast.Node, _ *frame) bool { return visit(n) }}
	w.visitStatements(l.body.List, true, &frame{loop: l, body: l.body})
}

// inspectTimedDeep is inspectTimed that also visits the test helpers that the loop calls. The frame
// says in which body n is.
func (in *input) inspectTimedDeep(l *loop, visit func(n ast.Node, f *frame) bool) {
	w := &timedWalk{in: in, visit: visit, follow: true}
	w.visitStatements(l.body.List, true, &frame{loop: l, body: l.body})
}

// frame is a body that a walk is in: the loop, or a function that it calls.
type frame struct {
	loop    *loop
	body    *ast.BlockStmt
	node    ast.Node      // the function's declaration or literal; nil for the loop
	calls   []ast.Node    // the functions from the loop to this one
	binding flow.Binding  // known values of parameters
	site    *ast.CallExpr // the call in the loop that leads here; nil for the loop
}

func (f *frame) callDepth() int { return len(f.calls) }

// Limits of a deep walk.
const (
	maxTimedDepth  = 3   // calls within calls
	maxTimedBodies = 100 // functions entered from one loop
)

type timedWalk struct {
	in     *input
	visit  func(n ast.Node, f *frame) bool // returns whether to visit the nodes below n
	follow bool                            // make the walk deep
	bodies int                             // functions entered

	onTimer func(method string) // called for each call of a timer method; may be nil
}

// setTimer returns whether the timer runs after a call. For calls of no timer method, method is "".
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

// visitStatements visits a list of statements. Before the list the timer runs if running is true.
// The result says whether it runs after the list.
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

// enterCalls is visitStatements for the test helpers that a call may run.
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

func (w *timedWalk) canEnter(called flow.Function, f *frame) bool {
	isOfBenchmark := called.Body != nil && w.in.isHarness(called.Node)
	isRecursive := slices.Contains(f.calls, called.Node)
	isWithinLimits := f.callDepth() < maxTimedDepth && w.bodies < maxTimedBodies
	return isOfBenchmark && !isRecursive && isWithinLimits
}

// inspectCallsDeep calls visit for each call below root, timed or not. It enters test helpers, and
// function literals that root may pass on.
func (in *input) inspectCallsDeep(root ast.Node, visit func(call *ast.CallExpr, binding flow.Binding)) {
	in.inspectCallsWithLiterals(root, true, visit)
}

// inspectCallsWithLiterals is inspectCallsDeep if literals is true. Otherwise it visits a function
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

func (in *input) flowGraph() *flow.Graph {
	if in.suite.flow == nil {
		in.suite.flow = flow.New(in.pass.Files, in.pass.TypesInfo)
	}
	return in.suite.flow
}

// methodBody returns the receiver and the body of a method. The body is nil for other functions,
// other packages and nil.
func (in *input) methodBody(fn *types.Func) (recv *types.Var, body *ast.BlockStmt) {
	if fn == nil || fn.Signature().Recv() == nil {
		return nil, nil
	}
	return fn.Signature().Recv(), in.flowGraph().Declared(fn).Body
}

// receiverPath returns the fields that an expression selects from a receiver r. They are ".items"
// for r.items[i] and "" for r. ok is false for expressions without r.
func (in *input) receiverPath(e ast.Expr, recv *types.Var) (fields string, ok bool) {
	root, fields := in.flowGraph().Path(e, flow.Binding{recv: nil}) // nil stops the path at recv
	return fields, root != nil && root == recv
}

// isHarness reports whether a node belongs to the tests and benchmarks. Its file then is a test
// file, or imports package testing.
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

// joinNames returns the names of the benchmarks of the loop and around n.
func (in *input) joinNames(l *loop, n ast.Node) string {
	return l.owner.name + " " + in.suite.nameAt(n)
}

// containsPos reports whether a position is in one of the called functions of the frame.
func (f *frame) containsPos(pos token.Pos) bool {
	return slices.ContainsFunc(f.calls, func(function ast.Node) bool { return isPosIn(pos, function) })
}
