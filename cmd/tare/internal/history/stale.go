package history

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/check"
)

// markStale adds to every run how it differs from the newest, which is the last: the notes of the
// check stale, the version of tare, and the inputs.
func markStale(runs []TrendRun) {
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
		if was, is := r.digest.Counter, newest.Counter; was != nil && is != nil && *was != *is {
			r.Stale = append(r.Stale, fmt.Sprintf("instructions were counted by %s then and by %s now", *was, *is))
		}
		for _, line := range Rebuilt(r.digest, newest) {
			id, _, _ := strings.Cut(line, ": ")
			r.stale[id] = true
			r.Stale = append(r.Stale, line)
		}
		if base := newest.Baseline(); otherReference(newest, r.digest, base) {
			r.Stale = append(r.Stale, fmt.Sprintf("%s was %s then and is %s now", base, r.Version(base), TrendRun{digest: newest}.Version(base)))
		}
		for _, w := range newest.Workloads {
			if otherInput(newest, r.digest, w.ID) {
				r.Stale = append(r.Stale, w.ID+" asked something else then")
			}
		}
	}
}

// Rebuilt names the contenders whose program differs in an older result, although the same tare had
// the same Go build it of the same modules: their own source changed. A line each, with both
// hashes. Builds of the same sources give the same bytes.
func Rebuilt(then, now *tare.Result) []string {
	if then.Tare != now.Tare {
		return nil // the SDK in all of them may differ
	}
	var out []string
	for _, c := range now.Contenders {
		was, ok := then.Contender(c.ID)
		if !ok || c.Kind == kindGobench || c.Role == tare.RoleControl || c.Role == tare.RoleNull || was.SHA256 == "" || c.SHA256 == "" {
			continue
		}
		if was.SHA256 != c.SHA256 && was.Go == c.Go && slices.Equal(was.Modules, c.Modules) {
			out = append(out, fmt.Sprintf("%s: its source changed: the program was %.12s then and is %.12s now", c.ID, was.SHA256, c.SHA256))
		}
	}
	return out
}

// kindGobench is the kind whose contenders are sides of a comparison, which
// change from run to run.
const kindGobench = "gobench"

// otherInput reports whether a workload had another input in the newest run than in another one.
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

// otherReference reports whether the ratios of a run are to another revision than
// those of the newest run: a gate's base moves on with its branch.
func otherReference(newest, then *tare.Result, against string) bool {
	old, _ := then.Contender(against)
	base, _ := newest.Contender(against)
	was, is := Commit(old.Version), Commit(base.Version)
	return base.Kind == kindGobench && was != "" && is != "" && was != is
}
