package report

import "github.com/tarebench/tare"

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
