package report

import (
	"fmt"

	"github.com/tarebench/tare"
)

// A check voids measurements that do not count, by a finding. These functions list such findings.

// listVoids returns the findings that void measurements of contender on workload: all of them, or one metric.
func listVoids(r *tare.Result, contender, workload string) []tare.Finding {
	var out []tare.Finding
	for _, f := range r.Findings {
		if f.Severity == tare.Void && f.Covers(contender, workload) {
			out = append(out, f)
		}
	}
	return out
}

// voidsOfAll returns the findings that void a contender on all workloads and metrics, e.g. because it does not seem
// to run the code that it claims to run.
func voidsOfAll(r *tare.Result, id string) []tare.Finding {
	var out []tare.Finding
	for _, f := range r.Findings {
		if f.Severity == tare.Void && f.Contender == id && f.Workload == "" && f.Metric == "" {
			out = append(out, f)
		}
	}
	return out
}

// voidWhy returns why the measurements of a trial (a contender's process in one round) on workload do not count, or
// "" if they count.
func voidWhy(t tare.Trial, workload string) string {
	for _, v := range t.Void {
		if v.Workload == "" || v.Workload == workload {
			return v.Why
		}
	}
	return ""
}

// describeLost returns a line per contender, or per workload of a contender, with the number of its rounds that do
// not count. It skips contenders of which a finding voids everything. If the baseline's measurements on a workload do
// not count in a round, no ratio of that round counts, and only the line of the baseline counts the round.
func describeLost(r *tare.Result) []string {
	base := r.Baseline()
	lostByBase := map[int]tare.Trial{} // by round: trials of the baseline with measurements that do not count
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
		var workloads []string // in the order of their first lost round; "" means all workloads
		count, firstReason := map[string]int{}, map[string]string{}
		add := func(workload, reason string) {
			count[workload]++
			if count[workload] == 1 {
				workloads = append(workloads, workload)
				firstReason[workload] = reason
			}
		}
		for _, t := range r.Trials {
			if t.Contender != c.ID || t.Tau > 1 || t.Round == 0 { // Tau > 1: an extra round of longer measurements
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

// formatLost returns the line about n void rounds of a contender, the first of them void because of why. workload is
// "" if they are void on all workloads.
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
