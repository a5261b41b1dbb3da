package report

import (
	"fmt"

	"github.com/tarebench/tare"
)

// listVoids returns the findings that void anything of contender on workload: all of it, or one metric.
func listVoids(r *tare.Result, contender, workload string) []tare.Finding {
	var out []tare.Finding
	for _, f := range r.Findings {
		if f.Severity == tare.Void && f.Covers(contender, workload) {
			out = append(out, f)
		}
	}
	return out
}

// voidsOfAll returns the findings that void a contender on all workloads and metrics: it may not run the code
// that it claims to.
func voidsOfAll(r *tare.Result, id string) []tare.Finding {
	var out []tare.Finding
	for _, f := range r.Findings {
		if f.Severity == tare.Void && f.Contender == id && f.Workload == "" && f.Metric == "" {
			out = append(out, f)
		}
	}
	return out
}

// voidWhy returns why the trial's measurements on workload do not count, or "".
func voidWhy(t tare.Trial, workload string) string {
	for _, v := range t.Void {
		if v.Workload == "" || v.Workload == workload {
			return v.Why
		}
	}
	return ""
}

// describeLost returns a line per contender, or workload of it, with the number of its rounds that do not
// count. It skips contenders of which a finding voids everything. A round that the baseline lost is listed for
// the baseline only.
func describeLost(r *tare.Result) []string {
	base := r.Baseline()
	gone := map[int]tare.Trial{} // rounds in which something of the baseline's does not count
	for _, t := range r.Trials {
		if t.Contender == base && t.Tau <= 1 && !t.Counts("") {
			gone[t.Round] = t
		}
	}
	var out []string
	for _, c := range r.Contenders {
		if len(voidsOfAll(r, c.ID)) > 0 {
			continue
		}
		var order []string // workloads; empty: all
		n, why := map[string]int{}, map[string]string{}
		add := func(workload, said string) {
			if n[workload]++; n[workload] == 1 {
				order, why[workload] = append(order, workload), said
			}
		}
		for _, t := range r.Trials {
			if t.Contender != c.ID || t.Tau > 1 || t.Round == 0 {
				continue
			}
			if t.Error != nil {
				add("", t.Error.Error())
			}
			for _, v := range t.Void {
				if b, ok := gone[t.Round]; !ok || c.ID == base || b.Counts(v.Workload) {
					add(v.Workload, v.Why)
				}
			}
		}
		for _, w := range order {
			out = append(out, formatLost(r, c, w, n[w], why[w]))
		}
	}
	return out
}

// formatLost returns the line about n void rounds of a contender, on one workload or all.
func formatLost(r *tare.Result, c tare.Contender, workload string, n int, why string) string {
	text := fmt.Sprintf("%d of %s of %s", n, countNoun(r.RoundsDone, "round"), contenderTitle(r, c.ID))
	if workload != "" {
		text += " on " + workload
	}
	is, first := " are void", "; the first: "
	if n == 1 {
		is, first = " is void", ": "
	}
	if c.Role == tare.RoleBaseline {
		is += " for everybody"
	}
	return text + is + first + why
}
