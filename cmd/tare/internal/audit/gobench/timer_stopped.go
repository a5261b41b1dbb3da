package gobench

import (
	"slices"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
)

// timerStopped finds benchmarks that stop the timer before their loops and never start it again:
//
//	b.StopTimer(); prepare(); b.ResetTimer(); for range b.N { work() }
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
