package gobench

import (
	"go/ast"
	"go/types"
	"slices"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
)

// This file has the rule setup-timed. It finds a benchmark that prepares its inputs while the timer
// runs. The time of the preparation is in the result:
//
//	func BenchmarkParse(b *testing.B) {
//		data, _ := os.ReadFile("large.json")
//		for range b.N { // missing before it: b.ResetTimer()
//			parse(data)
//		}
//	}
//
// The rule reads the statements before the loop. It reports those that prepare b.N inputs, or take
// a millisecond or more (see count_steps.go), if no call resets the timer after them. Between such
// a call and the loop, some microseconds suffice. A frame is the body that is searched: the loop,
// or a function of the test files that the loop calls.

// setupTimed returns the rule setup-timed.
func setupTimed() rule {
	return rule{Rule: audit.Rule{
		ID: "setup-timed", Severity: tare.Warn,
		Title:   "Preparation before the loop is timed.",
		Why:     "The timer runs from the beginning of the function. Preparation that is repeated b.N times is fully in every figure, and slow preparation is in those with a small b.N: the more time an operation takes, the more of it.",
		Do:      "call b.ResetTimer before the loop, or write for b.Loop(), which does",
		Command: compareRevisions,
		Seen:    []string{"https://pkg.go.dev/testing#B.ResetTimer"},
	}, find: func(in *input) {
		for _, b := range in.suite.benchmarks {
			main := b.mainLoop()
			if main == nil || main.kind == byLoop || !main.timed {
				continue
			}
			prepared, isReset := in.findTimedSetup(main)
			if !isReset {
				stopsTimer := hasCall(b.body, func(name string) bool { return name == "StopTimer" })
				if l := in.findPreparation(b, main); l != nil && !stopsTimer {
					in.report(l.node, "a loop that prepares b.N inputs is timed: nothing resets the timer after it")
					continue
				}
				if call := in.findPreparingCall(b, main, prepared); call != nil && !stopsTimer {
					in.report(call, "%s prepares b.N inputs and is timed: nothing resets the timer after it", formatExpr(call.Fun))
					continue
				}
			}
			in.reportSlow(b, prepared, isReset)
		}
	}}
}

// findTimedSetup returns the statements before a loop that run while the timer runs. isReset is
// true if a call resets or starts the timer.
func (in *input) findTimedSetup(l *loop) (prepared []ast.Stmt, isReset bool) {
	running := true // the timer
	for i := 0; i+1 < len(l.path); i++ {
		if _, ok := l.path[i].(*ast.FuncLit); ok && l.kind == byNext {
			break // each goroutine prepares the rest for itself
		}
		for _, s := range statementsOf(l.path[i]) {
			if s.End() > l.path[i+1].Pos() {
				break
			}
			switch {
			case in.hasTimerCall(s, "ResetTimer"), in.hasTimerCall(s, "StartTimer"):
				running, isReset = true, true
				prepared = nil
			case in.hasTimerCall(s, "StopTimer"):
				running = false
			case running:
				prepared = append(prepared, s)
			}
		}
	}
	return prepared, isReset
}

// hasTimerCall reports whether a statement calls the timer method with this name, itself or in a
// function of the test files.
func (in *input) hasTimerCall(s ast.Stmt, name string) bool {
	found := false
	w := &timedWalk{in: in, follow: true, visit: func(ast.Node, *frame) bool { return true }}
	w.onTimer = func(method string) { found = found || method == name }
	w.visitStatements([]ast.Stmt{s}, true, &frame{})
	return found
}

// findPreparation returns a loop over b.N that fills a variable for the main loop, or nil.
func (in *input) findPreparation(b *benchmark, main *loop) *loop {
	for _, l := range b.loops {
		if l == main || l.block() != main.block() {
			continue
		}
		for a := range nodesOf[*ast.AssignStmt](l.body) {
			for _, lhs := range a.Lhs {
				target := lhs
				if index, isIndex := lhs.(*ast.IndexExpr); isIndex {
					target = index.X
				} else if call, isCall := a.Rhs[0].(*ast.CallExpr); !isCall || !isBuiltin(in.pass.TypesInfo, call, "append") {
					continue
				}
				if v := in.variable(target); in.isDeclaredOutside(v, l) && in.usesVariable(main.node, v) {
					return l
				}
			}
		}
	}
	return nil
}

// findPreparingCall returns a call that makes b.N inputs for the main loop, or nil. An example is
// keys := makeKeys(b.N).
func (in *input) findPreparingCall(b *benchmark, main *loop, statements []ast.Stmt) *ast.CallExpr {
	for _, s := range statements {
		a, ok := s.(*ast.AssignStmt)
		if !ok || len(a.Rhs) != 1 {
			continue
		}
		call, ok := a.Rhs[0].(*ast.CallExpr)
		if v := in.variable(a.Lhs[0]); !ok || v == nil || !in.usesVariable(main.node, v) || !b.dependsOnN(in.pass.TypesInfo, call) {
			continue
		}
		for _, f := range in.flowGraph().Called(call, nil) {
			for param, arg := range in.flowGraph().Bind(call, f) {
				if f.Body != nil && b.dependsOnN(in.pass.TypesInfo, arg) && in.countsUpTo(f.Body, param) {
					return call
				}
			}
		}
	}
	return nil
}

// countsUpTo reports whether a body has a loop up to its parameter n. The loop may also range over
// n elements.
func (in *input) countsUpTo(body ast.Node, n *types.Var) bool {
	return hasNode(body, func(s ast.Stmt) bool {
		limit := loopBound(s)
		if limit == nil {
			return false
		}
		if in.isOrContains(limit, n) {
			return true
		}
		v := in.variable(limit)
		init, ok := in.initOf(body, v).(*ast.CallExpr)
		return v != nil && ok && isMake(in.pass.TypesInfo, init) && in.isOrContains(init, n)
	})
}

// isOrContains reports whether an expression is the variable v or contains it.
func (in *input) isOrContains(e ast.Expr, v *types.Var) bool {
	return hasNode(e, func(id *ast.Ident) bool { return in.pass.TypesInfo.Uses[id] == v })
}

// stepLimit selects slow preparation by its steps (see countSteps).
type stepLimit struct {
	guess int64 // steps of a loop of unknown length
	min   int64 // report from here
}

// reportSlow reports loops and calls that take a millisecond or more. After a reset of the timer it
// also reports those of some microseconds, and loops of unknown length.
func (in *input) reportSlow(b *benchmark, statements []ast.Stmt, isReset bool) {
	r := slowReport{in: in, limit: stepLimit{guess: 1, min: longLoop}, cause: "nothing resets the timer after it"}
	if isReset {
		r = slowReport{in: in, limit: stepLimit{guess: shortLoop, min: shortLoop}, isReset: true, cause: "it runs after the timer was reset"}
	}
	for _, s := range statements {
		ast.Inspect(s, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncLit, *ast.DeferStmt, *ast.GoStmt:
				return false
			case *ast.ForStmt, *ast.RangeStmt:
				if slices.ContainsFunc(b.loops, func(l *loop) bool { return l.node == n }) {
					return false // it is measured, too
				}
				r.reportLoop(n)
				return false
			case *ast.IfStmt:
				if endsIteration(n.Body) {
					r.reportCall(n.Init)
					r.reportCall(n.Cond)
				}
				return false // the body may run only once: if data == nil { data = read() }
			case *ast.CallExpr:
				return !r.reportCall(n)
			}
			return true
		})
	}
}

// slowReport reports slow preparation.
type slowReport struct {
	in      *input
	limit   stepLimit
	isReset bool   // the timer was reset before
	cause   string // end of a finding
}

// reportLoop reports a loop n if it has at least the minimum of steps.
func (r slowReport) reportLoop(n ast.Node) {
	switch steps := r.in.countSteps(n, r.limit.guess); {
	case steps < r.limit.min:
	case r.isReset:
		r.in.report(n, "a loop that prepares the input is timed: %s", r.cause)
	default:
		r.in.report(n, "a loop of %d iterations that prepares the input is timed: %s", steps, r.cause)
	}
}

// reportCall reports the first slow call in a part of a statement, if there is one.
func (r slowReport) reportCall(part ast.Node) bool {
	call := r.in.findSlowCall(part, r.limit)
	if call != nil {
		r.in.report(call, "%s before the loop is timed: %s", formatExpr(call.Fun), r.cause)
	}
	return call != nil
}

// findSlowCall returns the first call in a part of a statement with limit.min steps, or nil. The
// part may be nil.
func (in *input) findSlowCall(part ast.Node, limit stepLimit) *ast.CallExpr {
	if part == nil {
		return nil
	}
	var found *ast.CallExpr
	ast.Inspect(part, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && found == nil && in.countSteps(call, limit.guess) >= limit.min {
			found = call
		}
		_, isLiteral := n.(*ast.FuncLit)
		return found == nil && !isLiteral
	})
	return found
}
