package gobench

import (
	"go/ast"
	"maps"
	"strings"

	"github.com/tarebench/tare/cmd/tare/internal/audit/gobench/flow"
)

// inspectTimed calls visit for each node of a loop that runs in every iteration while
// the timer runs. It omits the code between StopTimer and StartTimer, the bodies of if
// statements that end an iteration or the benchmark (see isFailure), and function
// literals that are not called on the spot.
func (in *input) inspectTimed(l *loop, visit func(n ast.Node) bool) {
	w := &timedWalk{in: in, visit: func(n ast.Node, _ *frame) bool { return visit(n) }}
	w.visitStatements(l.body.List, true, &frame{loop: l, body: l.body})
}

// inspectTimedCalls does the work of inspectTimed, and enters the functions that belong to
// the benchmark (see isHarness) wherever the loop calls them: helpers, closures, method
// values and the functions of a table.
func (in *input) inspectTimedCalls(l *loop, visit func(n ast.Node, f *frame) bool) {
	w := &timedWalk{in: in, visit: visit, follow: true}
	w.visitStatements(l.body.List, true, &frame{loop: l, body: l.body})
}

// frame is the body of a loop, or of a function that it calls, in a walk of the timed part.
type frame struct {
	loop  *loop
	body  *ast.BlockStmt
	node  ast.Node      // declaration or literal; nil for the loop
	calls []ast.Node    // declarations and literals from the loop to this frame
	bound flow.Binding  // arguments of the calls around this frame, by parameter
	site  *ast.CallExpr // call in the loop that leads here; nil for the loop
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
	visit  func(n ast.Node, f *frame) bool
	follow bool // enter functions that belong to the benchmark
	bodies int  // bodies entered

	onTimer func(method string) // called for each call of a method of the timer; may be nil
}

// setTimer returns whether the timer runs after the call of one of its methods, or as before if
// method is "".
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

// visitStatements visits a list of statements. running reports whether the timer runs before
// them; the result, whether it runs after them.
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

// visitNodes does the work of visitStatements for the nodes of a statement or an expression.
func (w *timedWalk) visitNodes(root ast.Node, running bool, f *frame) bool {
	ast.Inspect(root, func(n ast.Node) bool {
		switch n := n.(type) {
		case nil:
			return false
		case *ast.BlockStmt:
			running = w.visitStatements(n.List, running, f)
			return false
		case *ast.IfStmt:
			if w.in.isFailure(n.Body) {
				if running {
					w.visit(n, f)
				}
				if n.Init != nil {
					running = w.visitStatements([]ast.Stmt{n.Init}, running, f)
				}
				running = w.visitNodes(n.Cond, running, f)
				if n.Else != nil {
					running = w.visitStatements([]ast.Stmt{n.Else}, running, f)
				}
				return false
			}
		case *ast.FuncLit:
			return false
		case *ast.DeferStmt, *ast.GoStmt: // the statement is timed, its call runs later
			if running {
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

// enterCalls visits the functions that a call may run and that belong to the benchmark.
func (w *timedWalk) enterCalls(call *ast.CallExpr, running bool, f *frame) bool {
	after := running
	for _, called := range w.in.flowGraph().Called(call, f.bound) {
		if called.Object != nil {
			after = w.setTimer(timerMethod(called.Object), after)
		}
		if called.Body == nil || !w.in.isHarness(called.Node) || f.callDepth() == maxTimedDepth || w.bodies == maxTimedBodies || f.hasCaller(called.Node) {
			continue
		}
		w.bodies++
		inner := &frame{loop: f.loop, body: called.Body, node: called.Node, bound: maps.Clone(f.bound), site: f.site}
		if inner.site == nil {
			inner.site = call
		}
		inner.calls = append(append(inner.calls, f.calls...), called.Node)
		if inner.bound == nil {
			inner.bound = flow.Binding{}
		}
		maps.Copy(inner.bound, w.in.flowGraph().Bind(call, called))
		after = w.visitStatements(called.Body.List, running, inner)
		for _, s := range called.Body.List {
			if d, ok := s.(*ast.DeferStmt); ok {
				after = w.setTimer(timerCall(w.in.pass.TypesInfo, &ast.ExprStmt{X: d.Call}), after)
			}
		}
	}
	return after
}

// hasCaller reports whether a function is one of those that lead to the frame.
func (f *frame) hasCaller(node ast.Node) bool {
	for _, c := range f.calls {
		if c == node {
			return true
		}
	}
	return false
}

// flowGraph returns the graph of values and functions of the package.
func (in *input) flowGraph() *flow.Graph {
	if in.suite.flow == nil {
		in.suite.flow = flow.New(in.pass.Files, in.pass.TypesInfo)
	}
	return in.suite.flow
}

// isHarness reports whether a node is in a file that belongs to benchmarks or tests, so that
// it is not part of what they measure: a test file, or one that imports package testing.
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
	for _, f := range in.pass.Files {
		if in.pass.Fset.File(f.FileStart) == file {
			return importsTesting(f)
		}
	}
	return false
}

// joinNames returns the names of the benchmark of a loop and of the one that a node is in.
func (in *input) joinNames(l *loop, n ast.Node) string {
	return l.owner.name + " " + in.suite.nameAt(n)
}
