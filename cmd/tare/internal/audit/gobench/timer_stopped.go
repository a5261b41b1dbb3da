package gobench

import (
	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
)

// timerStopped finds loops that run while the timer stands still, of benchmarks
// in which no loop is timed.
func timerStopped() rule {
	return rule{audit.Rule{
		ID: "timer-stopped", Severity: tare.Void,
		Title:   "The timer is stopped before the loop and not started again.",
		Why:     "Nothing that runs while the timer stands still is in the figure; ResetTimer does not start it. The benchmark prints almost zero.",
		Do:      "call StartTimer before the loop, or ResetTimer in place of StopTimer",
		Command: compareRevisions,
	}, func(in *input) {
		for _, b := range in.suite.benchmarks {
			if len(b.loops) == 0 || hasTimerStart(in, b) {
				continue
			}
			timed := false
			for _, l := range b.loops {
				timed = timed || l.timed
			}
			last := b.loops[len(b.loops)-1]
			if !timed && last.isStopped(in.pass.TypesInfo) {
				in.report(last.node, "the loop runs while the timer is stopped")
			}
		}
	}}
}

// hasTimerStart reports whether a benchmark calls StartTimer anywhere.
func hasTimerStart(in *input, b *benchmark) bool {
	return in.calls(b.decl, func(name string) bool { return name == "StartTimer" })
}
