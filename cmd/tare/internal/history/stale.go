package history

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/check"
	"github.com/tarebench/tare/internal/lazyregexp"
)

// markStale describes how runs differ from the newest, the last one.
func markStale(runs []TrendRun) {
	newest := runs[len(runs)-1].digest
	for i := range runs[:len(runs)-1] {
		r := &runs[i]
		r.stale = map[string]bool{} // ids of contenders that differ; "" means all of them
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
		for _, line := range DescribeRebuilt(r.digest, newest) {
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

// DescribeRebuilt returns a line for each contender whose program was built from changed source. The
// line has the hashes of both programs. Builds are reproducible. So if tare, Go and the modules are the
// same, the source of the contender has changed.
func DescribeRebuilt(older, newer *tare.Result) []string {
	if older.Tare != newer.Tare {
		return nil // the SDK, which is in all contenders, may differ
	}
	var out []string
	for _, c := range newer.Contenders {
		was, ok := older.Contender(c.ID)
		isExcluded := c.Kind == kindGobench || c.Role == tare.RoleControl || c.Role == tare.RoleNull
		if !ok || isExcluded || was.SHA256 == "" || c.SHA256 == "" {
			continue
		}
		if was.SHA256 != c.SHA256 && was.Go == c.Go && slices.Equal(was.Modules, c.Modules) {
			out = append(out, fmt.Sprintf("%s: its source changed: the program was %.12s then and is %.12s now", c.ID, was.SHA256, c.SHA256))
		}
	}
	return out
}

// kindGobench is the kind of studies whose contenders are two revisions of a repository. These change
// from run to run.
const kindGobench = "gobench"

// otherInput reports whether both runs have the workload, with different inputs.
func otherInput(newest, older *tare.Result, workload string) bool {
	sum := func(r *tare.Result) string {
		if i := slices.IndexFunc(r.Workloads, func(w tare.Workload) bool { return w.ID == workload }); i >= 0 {
			return r.Workloads[i].SHA256
		}
		return ""
	}
	was, is := sum(older), sum(newest)
	return was != "" && is != "" && was != is
}

// otherReference reports whether the reference has moved: the base of a gate advances with its branch.
func otherReference(newest, older *tare.Result, reference string) bool {
	old, _ := older.Contender(reference)
	base, _ := newest.Contender(reference)
	was, is := Commit(old.Version), Commit(base.Version)
	return base.Kind == kindGobench && was != "" && is != "" && was != is
}

// Version returns the version of a contender in the run, or "" if it is unknown. If contender is "", it
// returns that of the first contender that competes.
func (r TrendRun) Version(contender string) string {
	if r.digest == nil {
		return ""
	}
	for _, c := range r.digest.Contenders {
		if c.ID == contender || contender == "" && c.Role == tare.RoleContender {
			return c.Version
		}
	}
	return ""
}

// commitPattern matches an abbreviated or complete Git commit.
var commitPattern = lazyregexp.New(`\b[0-9a-f]{7,40}\b`)

// Commit returns the commit hash in a version that tare bench has written, or "".
func Commit(version string) string { return commitPattern.FindString(version) }
