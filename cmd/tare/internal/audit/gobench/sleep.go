package gobench

import (
	"fmt"
	"go/ast"
	"go/token"
	"path/filepath"
	"slices"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
)

// This file has the rule sleep-in-loop. The rule finds a benchmark that waits for the clock while its
// timer runs, and so measures the wait:
//
//	func BenchmarkRetry(b *testing.B) {
//		for b.Loop() {
//			retry()
//			time.Sleep(time.Millisecond)
//		}
//	}
//
// The rule searches the loop, and the functions of the test files that the loop calls, for
//
//	time.Sleep(d)
//	<-time.After(d)
//	for time.Since(start) < d {}
//
// It skips a benchmark that waits on purpose, by its name: BenchmarkSleep may sleep. The file
// sleep_default.go finds waits that are the default of an option.

// sleepInLoop returns the rule sleep-in-loop.
func sleepInLoop() rule {
	return rule{Rule: audit.Rule{
		ID: "sleep-in-loop", Severity: tare.Void,
		Title:   "The timed loop sleeps.",
		Why:     "A sleep takes its time and about a tenth of a millisecond more, by timers and the scheduler. The figure is that of the clock, and hides what the code takes.",
		Do:      "wait for the event itself, or leave the wait out of the loop",
		Command: compareRevisions,
		Seen:    []string{"tare: study users (its percentile runner slept)"},
	}, find: func(in *input) {
		in.eachTimedLoop(func(l *loop) {
			if in.reportsTime(l.owner) {
				return
			}
			in.inspectTimedDeep(l, func(n ast.Node, f *frame) bool {
				switch n := n.(type) {
				case *ast.CallExpr:
					in.reportDefaultWait(l, n, f)
					if wait := in.findSleep(n, f); wait != nil && !containsWord(in.joinNames(l, n), "Sleep", "Timer") {
						in.reportSleeper(n, f, "sleeps for %s in each iteration", formatExpr(wait))
					}
				case *ast.UnaryExpr: // <-time.After(d)
					if n.Op == token.ARROW {
						in.reportWait(l, n, n.X, f)
					}
				case *ast.RangeStmt: // for range ticker.C
					in.reportWait(l, n, n.X, f)
				case *ast.ForStmt:
					if n.Cond != nil && in.isSpin(n.Cond) && !containsWord(in.joinNames(l, n), "Sleep", "Timer", "Spin") {
						in.reportSleeper(n, f, "spins until %s, which the clock decides", formatExpr(n.Cond))
					}
				case *ast.SelectStmt:
					if poll := in.findPoll(n, f); poll != nil {
						in.reportWait(l, poll, poll.X, f)
					}
					return false // time.After in a select is a time limit
				}
				return true
			})
		})
	}}
}

// reportSleeper reports a wait at n with the predicate of a sentence, "sleeps for 1ms". A frame is
// the body that is searched: the loop, or a function that the loop calls.
func (in *input) reportSleeper(n ast.Node, f *frame, predicate string, args ...any) {
	subject, position := "the loop", in.pass.Fset.Position(n.Pos())
	if f.site != nil {
		subject = formatExpr(f.site.Fun) + ", which the loop calls,"
	}
	place, predicate := in.placeOf(n, f), fmt.Sprintf(predicate, args...)
	if place != n {
		predicate += fmt.Sprintf(", in %s:%d", filepath.Base(position.Filename), position.Line)
	}
	if !in.suite.isIgnored(in.rule.ID, position) {
		in.report(place, "%s %s", subject, predicate)
	}
}

// findSleep returns the duration that a call sleeps, or nil. The call may run time.Sleep, or poll a
// condition as Eventually of testify does.
func (in *input) findSleep(call *ast.CallExpr, f *frame) ast.Expr {
	for _, called := range in.flowGraph().Called(call, f.binding) {
		if isFunc(called.Object, "time", "Sleep") && len(call.Args) == 1 {
			return call.Args[0]
		}
	}
	const tickAt = 3 // Eventually(t, condition, waitFor, tick)
	fn := in.callee(call)
	isPolling := isFunc(fn, "github.com/stretchr/testify/require", pollers...) || isFunc(fn, "github.com/stretchr/testify/assert", pollers...)
	if isPolling && len(call.Args) > tickAt {
		return call.Args[tickAt]
	}
	return nil
}

// pollers has the functions of testify that read a condition once a tick.
var pollers = []string{"Eventually", "Eventuallyf", "EventuallyWithT", "EventuallyWithTf"}

// reportWait reports a receive from channel at n if the clock sends to it.
func (in *input) reportWait(l *loop, n ast.Node, channel ast.Expr, f *frame) {
	if in.isClock(channel, f, "After", "Tick", "Timer", "Ticker") && !containsWord(in.joinNames(l, n), "After", "Tick", "Timer") {
		in.reportSleeper(n, f, "waits for %s in each iteration", formatExpr(channel))
	}
}

// isClock reports whether the clock sends to a channel: it is the result of a function of package
// time with one of names, as time.After(d), or the field C of such a type, as ticker.C.
func (in *input) isClock(channel ast.Expr, f *frame, names ...string) bool {
	for _, source := range in.flowGraph().Sources(channel, f.binding) {
		switch source := source.(type) {
		case *ast.CallExpr:
			if isFunc(in.callee(source), "time", names...) {
				return true
			}
		case *ast.SelectorExpr:
			if source.Sel.Name == "C" && isNamed(in.pass.TypesInfo.TypeOf(source.X), "time", names...) {
				return true
			}
		}
	}
	return false
}

// findPoll returns the receive from a ticker for which a select statement waits, or nil. With a
// default case the statement does not wait. A timer counts if it is the only case, or if the loop
// around the statement reads a condition again after it (see pollsAfter). Otherwise it is a time
// limit for the other cases, such as <-done.
func (in *input) findPoll(s *ast.SelectStmt, f *frame) *ast.UnaryExpr {
	var poll *ast.UnaryExpr
	for _, c := range s.Body.List {
		clause := c.(*ast.CommClause)
		if clause.Comm == nil {
			return nil
		}
		e, ok := clause.Comm.(*ast.ExprStmt)
		if !ok {
			continue
		}
		clocks := []string{"Tick", "Ticker"}
		if isOnlyCase := len(s.Body.List) == 1; isOnlyCase || in.pollsAfter(s, clause, f) {
			clocks = append(clocks, "After", "Timer")
		}
		if receive, ok := e.X.(*ast.UnaryExpr); ok && receive.Op == token.ARROW && in.isClock(receive.X, f, clocks...) {
			poll = receive
		}
	}
	return poll
}

// pollsAfter reports whether a loop around a select statement reads a condition again after a case
// of it. The case is empty, and all others end the loop:
//
//	for !done() {
//		select {
//		case <-ctx.Done(): b.Fatal(ctx.Err())
//		case <-time.After(d):
//		}
//	}
func (in *input) pollsAfter(s *ast.SelectStmt, clause *ast.CommClause, f *frame) bool {
	for _, c := range s.Body.List {
		other := c.(*ast.CommClause)
		if other != clause && !endsIteration(&ast.BlockStmt{List: other.Body}) {
			return false
		}
	}
	if len(clause.Body) > 0 {
		return false
	}
	return slices.ContainsFunc(pathTo(f.body, s), func(n ast.Node) bool {
		loop, ok := n.(*ast.ForStmt)
		return ok && loop.Cond != nil
	})
}

// isSpin reports whether a condition reads the clock: time.Since(start) < d, or
// time.Now().Before(end).
func (in *input) isSpin(cond ast.Expr) bool {
	return hasNode(cond, func(call *ast.CallExpr) bool {
		fn := in.callee(call)
		isComparison := isMethodOf(fn, "time", "Time", "Before", "After") && hasCall(call, func(name string) bool { return name == "Now" })
		return isComparison || isFunc(fn, "time", "Since", "Until")
	})
}
