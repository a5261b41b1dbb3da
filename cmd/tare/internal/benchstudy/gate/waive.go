package gate

import (
	"fmt"
	"time"

	"github.com/tarebench/tare/cmd/tare/internal/project"
)

// applyWaivers lets rows pass that a waiver covers, and remarks on waivers that are expired or not
// needed.
func (rep *Report) applyWaivers(waivers []project.Waiver, now time.Time) {
	for _, w := range waivers {
		expired, matched, used := !now.Before(w.Until), false, false
		for i := range rep.Rows {
			r := &rep.Rows[i]
			if !w.Benchmark.MatchString(r.Benchmark) || w.Metric != "" && w.Metric != r.Metric {
				continue
			}
			matched = true
			if expired || r.Outcome != Worse && r.Outcome != Open {
				continue
			}
			used = true
			if r.Waived == nil {
				r.Waived = &Waived{Until: w.Last(), Reason: w.Reason}
			}
		}
		remark := Remark{Severity: IsNote, Place: Place{File: rep.config, Line: w.Line}}
		at := fmt.Sprintf("%s:%d:%d: the waiver for %q", rep.config, w.Line, w.Col, w.Benchmark)
		switch {
		case expired:
			remark.Severity = IsError
			remark.Text = fmt.Sprintf("%s ran out on %s and waives nothing; take it out of accept, or give it a later day", at, w.Last())
		case used:
			continue
		case matched:
			remark.Text = at + " is not needed: nothing it covers is worse; take it out of accept"
		default:
			remark.Text = at + " matches no benchmark that was compared"
		}
		rep.Remarks = append(rep.Remarks, remark)
	}
}
