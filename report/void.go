package report

import (
	"fmt"

	"github.com/tarebench/tare"
)

// A check voids measurements that do not count. These functions list its findings.

// listVoids returns the findings that void all of a contender on workload, or one metric.
func listVoids(r *tare.Result, contender, workload string) []tare.Finding {
	var out []tare.Finding
	for _, f := range r.Findings {
		if f.Severity == tare.Void && f.Covers(contender, workload) {
			out = append(out, f)
		}
	}
	return out
}

// voidsOfAll returns the findings that void a contender everywhere, e.g. because it seems to run other code.
func voidsOfAll(r *tare.Result, id string) []tare.Finding {
	var out []tare.Finding
	for _, f := range r.Findings {
		if f.Severity == tare.Void && f.Contender == id && f.Workload == "" && f.Metric == "" {
			out = append(out, f)
		}
	}
	return out
}

// voidWhy returns why the measurements of a trial (a contender's process in one round) do not count, or "".
func voidWhy(t tare.Trial, workload string) string {
	for _, v := range t.Void {
		if v.Workload == "" || v.Workload == workload {
			return v.Why
		}
	}
	return ""
}

// describeLost returns lines with the numbers of lost rounds. If the baseline lost a round, no ratio of it counts.
// Only the baseline's line then counts that round.
func describeLost(r *tare.Result) []string {
	base := r.Baseline()
	lostByBase := map[int]tare.Trial{} // trials of the baseline that do not count, by round
	for _, t := range r.Trials {
		if t.Contender == base && t.Tau <= 1 && !t.Counts("") {
			lostByBase[t.Round] = t
		}
	}
	var out []string
	for _, c := range r.Contenders {
		if len(voidsOfAll(r, c.ID)) > 0 {
			continue
		}
		var workloads []string // in order of their first lost round; "" means all
		count, firstReason := map[string]int{}, map[string]string{}
		add := func(workload, reason string) {
			count[workload]++
			if count[workload] == 1 {
				workloads = append(workloads, workload)
				firstReason[workload] = reason
			}
		}
		for _, t := range r.Trials {
			if t.Contender != c.ID || t.Tau > 1 || t.Round == 0 { // an extra round of longer measurements
				continue
			}
			if t.Error != nil {
				add("", t.Error.Error())
			}
			for _, v := range t.Void {
				baseTrial, hasLost := lostByBase[t.Round]
				if c.ID == base || !hasLost || baseTrial.Counts(v.Workload) {
					add(v.Workload, v.Why)
				}
			}
		}
		for _, w := range workloads {
			out = append(out, formatLost(r, c, w, count[w], firstReason[w]))
		}
	}
	return out
}

// formatLost returns the line about n void rounds of a contender. why is the reason of the first. workload is ""
// for all workloads.
func formatLost(r *tare.Result, c tare.Contender, workload string, n int, why string) string {
	text := fmt.Sprintf("%d of %s of %s", n, countNoun(r.RoundsDone, "round"), contenderTitle(r, c.ID))
	if workload != "" {
		text += " on " + workload
	}
	verb, separator := " are void", "; the first: "
	if n == 1 {
		verb, separator = " is void", ": "
	}
	if c.Role == tare.RoleBaseline {
		verb += " for everybody"
	}
	return text + verb + separator + why
}
