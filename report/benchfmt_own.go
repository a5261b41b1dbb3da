package report

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/tarebench/tare"
)

// A benchWriter writes a result in the format of go test -bench. This file is about the user's own benchmarks.

// isUserBench reports whether the workloads are the user's benchmarks. Then Op is the benchmark's name, and
// Fixture is its package.
func (b *benchWriter) isUserBench() bool { return b.r.Kind == kindGobench }

func (b *benchWriter) findWorkload(id string) tare.Workload {
	i := slices.IndexFunc(b.r.Workloads, func(w tare.Workload) bool { return w.ID == id })
	if i < 0 {
		return tare.Workload{}
	}
	return b.r.Workloads[i]
}

// formatSide returns configuration lines with the package and the contender. An external test package, such as
// scan_test, becomes the tested package.
func (b *benchWriter) formatSide(workload string, c tare.Contender) string {
	return fmt.Sprintf("pkg: %s\ncontender: %s\n", strings.TrimSuffix(b.findWorkload(workload).Fixture, "_test"), c.ID)
}

// formatReported returns the metrics that a benchmark reported by b.ReportMetric, sorted by unit.
func formatReported(sample tare.Sample) string {
	var out strings.Builder
	for _, key := range slices.Sorted(maps.Keys(sample)) {
		if unit, ok := strings.CutPrefix(key, tare.KeyReported); ok {
			fmt.Fprintf(&out, "\t%s %s", strconv.FormatFloat(sample[key], 'f', -1, 64), unit)
		}
	}
	return out.String()
}
