package report

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/tarebench/tare"
)

// isUserBench reports whether the workloads are the user's benchmarks: Op of a workload is the name of a benchmark
// and Fixture its package.
func (b *benchWriter) isUserBench() bool { return b.r.Kind == kindGobench }

// findWorkload returns the workload with that id, or the zero workload if it is unknown.
func (b *benchWriter) findWorkload(id string) tare.Workload {
	i := slices.IndexFunc(b.r.Workloads, func(w tare.Workload) bool { return w.ID == id })
	if i < 0 {
		return tare.Workload{}
	}
	return b.r.Workloads[i]
}

// formatSide returns the configuration lines that name the package and the contender of the result lines below
// them. An external test package counts as the package that it tests.
func (b *benchWriter) formatSide(workload string, c tare.Contender) string {
	return fmt.Sprintf("pkg: %s\ncontender: %s\n", strings.TrimSuffix(b.findWorkload(workload).Fixture, "_test"), c.ID)
}

// formatReported returns the metrics that a benchmark reported by itself, sorted by unit.
func formatReported(sample tare.Sample) string {
	var out strings.Builder
	for _, key := range slices.Sorted(maps.Keys(sample)) {
		if unit, ok := strings.CutPrefix(key, tare.KeyReported); ok {
			fmt.Fprintf(&out, "\t%s %s", strconv.FormatFloat(sample[key], 'f', -1, 64), unit)
		}
	}
	return out.String()
}
