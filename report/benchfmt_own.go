package report

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/tarebench/tare"
)

// A benchWriter writes a result in the format of go test -bench. This file is about benchmarks of the user.

// isUserBench reports whether the workloads are the user's benchmarks. Then Op of a workload is the name of a
// benchmark, and Fixture is its package.
func (b *benchWriter) isUserBench() bool { return b.r.Kind == kindGobench }

// findWorkload returns the workload with this id, or the zero workload if there is none.
func (b *benchWriter) findWorkload(id string) tare.Workload {
	i := slices.IndexFunc(b.r.Workloads, func(w tare.Workload) bool { return w.ID == id })
	if i < 0 {
		return tare.Workload{}
	}
	return b.r.Workloads[i]
}

// formatSide returns configuration lines with the package and the contender, for the result lines that follow. For an
// external test package, such as scan_test, it names the package that is tested.
func (b *benchWriter) formatSide(workload string, c tare.Contender) string {
	return fmt.Sprintf("pkg: %s\ncontender: %s\n", strings.TrimSuffix(b.findWorkload(workload).Fixture, "_test"), c.ID)
}

// formatReported returns the metrics that a benchmark itself has reported (b.ReportMetric), sorted by unit.
func formatReported(sample tare.Sample) string {
	var out strings.Builder
	for _, key := range slices.Sorted(maps.Keys(sample)) {
		if unit, ok := strings.CutPrefix(key, tare.KeyReported); ok {
			fmt.Fprintf(&out, "\t%s %s", strconv.FormatFloat(sample[key], 'f', -1, 64), unit)
		}
	}
	return out.String()
}
