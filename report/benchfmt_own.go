package report

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/tarebench/tare"
)

// kindOwn is the kind whose workloads are a user's own benchmarks: their op is
// the benchmark's name, their fixture its package.
const kindOwn = "gobench"

// own reports whether the result is of such benchmarks.
func (b *bench) own() bool { return b.r.Kind == kindOwn }

// workload is the one with that id.
func (b *bench) workload(id string) tare.Workload {
	i := slices.IndexFunc(b.r.Workloads, func(w tare.Workload) bool { return w.ID == id })
	if i < 0 {
		return tare.Workload{}
	}
	return b.r.Workloads[i]
}

// side is the configuration that says of which package and contender the lines
// below it are.
func (b *bench) side(workload string, c tare.Contender) string {
	return fmt.Sprintf("pkg: %s\ncontender: %s\n", strings.TrimSuffix(b.workload(workload).Fixture, "_test"), c.ID)
}

// reported are the metrics that a benchmark reported by itself, by unit.
func reported(sample tare.Sample) string {
	var out strings.Builder
	for _, key := range slices.Sorted(maps.Keys(sample)) {
		if unit, ok := strings.CutPrefix(key, tare.KeyReported); ok {
			fmt.Fprintf(&out, "\t%s %s", strconv.FormatFloat(sample[key], 'f', -1, 64), unit)
		}
	}
	return out.String()
}
