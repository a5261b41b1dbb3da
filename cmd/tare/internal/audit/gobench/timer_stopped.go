package gobench

import (
	"slices"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
)

// This file has the rule timer-stopped. It finds a benchmark that stops the timer before its loop
// and does not start it again. The result is almost zero:
//
//	func BenchmarkWork(b *testing.B) {
//		b.StopTimer()
//		prepare()
//		b.ResetTimer() // does not start the timer
//		for range b.N { work() }
//	}
//
// The rule reads the calls of timer methods around the loops. It skips a benchmark that calls
// StartTimer anywhere.

// timerStopped returns the rule timer-stopped.
func timerStopped() rule {
	return rule{Rule: audit.Rule{
		ID: "timer-stopped", Severity: tare.Void,
		Title:   "The timer is stopped before the loop and not started again.",
		Why:     "Nothing that runs while the timer stands still is in the figure; ResetTimer does not start it. The benchmark prints almost zero.",
		Do:      "call StartTimer before the loop, or ResetTimer in place of StopTimer",
		Command: compareRevisions,
	}, find: func(in *input) {
		for _, b := range in.suite.benchmarks {
			last := b.mainLoop()
			isStarted := hasCall(b.decl, func(name string) bool { return name == "StartTimer" })
			if last == nil || isStarted {
				continue
			}
			hasTimed := slices.ContainsFunc(b.loops, func(l *loop) bool { return l.timed })
			if !hasTimed && last.isStopped(in.pass.TypesInfo) {
				in.report(last.node, "the loop runs while the timer is stopped")
			}
		}
	}}
}
