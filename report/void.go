package report

import (
	"fmt"

	"github.com/tarebench/tare"
)

// voiding are the findings that void anything of contender on workload: all of
// it, or one metric.
func voiding(r *tare.Result, contender, workload string) []tare.Finding {
	var out []tare.Finding
	for _, f := range r.Findings {
		if f.Severity == tare.Void && f.Covers(contender, workload) {
			out = append(out, f)
		}
	}
	return out
}

// wholly are the findings that void a contender altogether: it may not be what
// it says it is.
func wholly(r *tare.Result, id string) []tare.Finding {
	var out []tare.Finding
	for _, f := range r.Findings {
		if f.Severity == tare.Void && f.Contender == id && f.Workload == "" && f.Metric == "" {
			out = append(out, f)
		}
	}
	return out
}

// voidWhy is why what a trial measured on workload does not count.
func voidWhy(t tare.Trial, workload string) string {
	for _, v := range t.Void {
		if v.Workload == "" || v.Workload == workload {
			return v.Why
		}
	}
	return ""
}

// lost are the rounds that do not count for contenders that otherwise do, a line
// for each contender, or workload of it: 1 of 12 rounds of grpc is void, and why.
// A round that the baseline lost is its alone to tell.
func lost(r *tare.Result) []string {
	base := r.Baseline()
	gone := map[int]tare.Trial{} // rounds in which something of the baseline's does not count
	for _, t := range r.Trials {
		if t.Contender == base && t.Tau <= 1 && !t.Counts("") {
			gone[t.Round] = t
		}
	}
	var out []string
	for _, c := range r.Contenders {
		if len(wholly(r, c.ID)) > 0 {
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
			out = append(out, lostLine(r, c, w, n[w], why[w]))
		}
	}
	return out
}

// lostLine says that n rounds of a contender are void, on one workload or all.
func lostLine(r *tare.Result, c tare.Contender, workload string, n int, why string) string {
	text := fmt.Sprintf("%d of %s of %s", n, plural(r.RoundsDone, "round"), title(r, c.ID))
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
