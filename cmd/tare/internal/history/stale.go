package history

import (
	"slices"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/check"
)

// mark says of every run in which ways it differs from the newest, which is
// the last: what the check stale notes, the version of tare, and the inputs.
func mark(runs []TrendRun) {
	newest := runs[len(runs)-1].digest
	for i := range runs[:len(runs)-1] {
		r := &runs[i]
		r.stale = map[string]bool{}
		for _, f := range check.Stale(r.digest, newest) {
			r.stale[f.Contender] = true
			text := f.Message
			if f.Contender != "" {
				text = f.Contender + ": " + text
			}
			r.Stale = append(r.Stale, text)
		}
		if was, is := r.Tare, newest.Tare; was != "" && is != "" && was != is {
			r.stale[""] = true
			r.Stale = append(r.Stale, "tare was "+was+" then and is "+is+" now")
		}
		for _, w := range newest.Workloads {
			if otherInput(newest, r.digest, w.ID) {
				r.Stale = append(r.Stale, w.ID+" asked something else then")
			}
		}
	}
}

// otherInput reports whether a workload of the newest run asked something else
// in another one.
func otherInput(newest, then *tare.Result, workload string) bool {
	sum := func(r *tare.Result) string {
		if i := slices.IndexFunc(r.Workloads, func(w tare.Workload) bool { return w.ID == workload }); i >= 0 {
			return r.Workloads[i].SHA256
		}
		return ""
	}
	was, is := sum(then), sum(newest)
	return was != "" && is != "" && was != is
}
