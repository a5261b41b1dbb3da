package gate

import (
	"fmt"
	"time"

	"github.com/tarebench/tare/cmd/tare/internal/project"
)

// applyWaivers lets benchmarks pass until some day, as tare.yaml says. It adds a remark about each
// waiver that is expired, not needed or matches nothing.
func (rep *Report) applyWaivers(waivers []project.Waiver, now time.Time) {
	for _, w := range waivers {
		expired, matched, used := !now.Before(w.Until), false, false
		for i := range rep.Rows {
			r := &rep.Rows[i]
			coversMetric := w.Metric == "" || w.Metric == r.Metric
			if !coversMetric || !w.Benchmark.MatchString(r.Benchmark) {
				continue
			}
			matched = true
			if needsWaiver := r.Outcome == Worse || r.Outcome == Open; expired || !needsWaiver {
				continue
			}
			used = true
			if r.Waived == nil {
				r.Waived = &Waived{Until: w.Last(), Reason: w.Reason}
			}
		}
		remark := Remark{Severity: SeverityNote, Place: Place{File: rep.configFile, Line: w.Line}}
		subject := fmt.Sprintf("%s:%d:%d: the waiver for %q", rep.configFile, w.Line, w.Col, w.Benchmark)
		switch {
		case expired:
			remark.Severity = SeverityError
			remark.Text = fmt.Sprintf("%s ran out on %s and waives nothing; take it out of accept, or give it a later day", subject, w.Last())
		case used:
			continue
		case matched:
			remark.Text = subject + " is not needed: nothing it covers is worse; take it out of accept"
		default:
			remark.Text = subject + " matches no benchmark that was compared"
		}
		rep.Remarks = append(rep.Remarks, remark)
	}
}
