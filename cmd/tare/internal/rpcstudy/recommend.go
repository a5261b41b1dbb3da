package rpcstudy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/benchstudy/advice"
	"github.com/tarebench/tare/internal/format"
)

// Recommendation returns the lines that the command prints after measuring. They compare the server CPU
// time of a call and the time that one caller waits with gRPC. They list the transports that failed,
// and the questions without an answer.
func (d *Document) Recommendation(r *tare.Result) []string {
	return slices.Concat(d.compareTransports(r), listFailures(r), d.listUnanswered())
}

// SetAnswer sets the headline of a result: the transport with the least CPU time.
func (d *Document) SetAnswer(r *tare.Result) {
	advice.Reading{Result: r, Baseline: Baseline, Workload: allID, Metric: "cpu"}.SetAnswer("transport", "gRPC", "", nil)
}

// compareTransports returns a line about each transport, the cheapest first.
func (d *Document) compareTransports(r *tare.Result) (lines []string) {
	subject := "On your " + d.countMethods()
	cpu := advice.Reading{Result: r, Baseline: Baseline, Workload: allID, Metric: "cpu"}
	wait := advice.Reading{Result: r, Baseline: Baseline, Workload: oneID, Metric: "time"}
	if !slices.ContainsFunc(r.Workloads, func(w tare.Workload) bool { return w.ID == allID }) {
		return []string{fmt.Sprintf("%s: no comparison: the workload %s was not measured.", subject, allID)}
	}
	if why := cpu.WhyNoAdvice(); why != "" {
		return []string{fmt.Sprintf("%s: no comparison: %s.", subject, why)}
	}
	for _, c := range cpu.Measured() {
		line := fmt.Sprintf("%s %s takes %s the server CPU time of gRPC for a call, %s instead of %s", subject, c.Contender,
			format.Within(c.Ratio, c.Low, c.High), advice.FormatNanoseconds(c.Value), advice.FormatNanoseconds(c.AgainstValue))
		if !cpu.IsShown(c) {
			line = fmt.Sprintf("%s no difference in server CPU time was shown between %s and gRPC: %s", subject, c.Contender, format.Within(c.Ratio, c.Low, c.High))
		}
		w, ok := wait.Comparison(c.Contender)
		isValid := wait.WhyNoAdvice() == "" && len(r.VoidsMetric(c.Contender, oneID, "time")) == 0
		if ok && w.Bounded() && isValid {
			line += fmt.Sprintf("; one caller waits %s for an answer instead of %s, %s", advice.FormatNanoseconds(w.Value), advice.FormatNanoseconds(w.AgainstValue), format.Within(w.Ratio, w.Low, w.High))
		}
		lines = append(lines, line+".")
	}
	if len(lines) == 0 {
		return []string{subject + ": no transport was compared with gRPC."}
	}
	return lines
}

func listFailures(r *tare.Result) (lines []string) {
	for _, c := range r.Contenders {
		if c.Error != "" {
			lines = append(lines, fmt.Sprintf("%s could not be measured: %s.", c.ID, strings.TrimSuffix(c.Error, ".")))
		}
	}
	return lines
}

func (d *Document) listUnanswered() []string {
	lines := []string{
		"Not answered: what your own handlers and interceptors cost. The generated handlers decode the request and answer with a message prepared beforehand; what yours do comes on top, the same behind each transport.",
		"Not answered: what clients cost. One load generator calls all, with one call at a time on each connection; gRPC's clients send many calls over one.",
		"Not answered: encryption, compression, headers of yours, and networks: all connections are plain text over loopback.",
	}
	if len(d.Left) > 0 {
		lines = append(lines, fmt.Sprintf("Not answered: %d of the methods asked for, which are named under what was not measured.", len(d.Left)))
	}
	return lines
}
