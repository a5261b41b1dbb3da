package report

import (
	"fmt"
	"math"
	"slices"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/format"
)

// Words above the table of latencies.
const (
	latencyOpen   = "How long a request takes, from the time it was meant to be sent to the last byte of its answer."
	latencyClosed = "How long a request takes, from sending it to the last byte of its answer."
)

// newLatencyTable returns the latencies in one unit, and their explanation. It returns "" if there are none.
func (v *view) newLatencyTable() (t Table, means string) {
	var names []string
	var used, all []float64
	for _, name := range v.listMetrics() {
		if !findMetric(name).IsLatency() {
			continue
		}
		any := false
		for _, x := range v.r.Values {
			if x.Workload != v.workload || x.Metric != name {
				continue
			}
			any, all = true, append(all, x.Value)
			if !x.Struck && x.Contender != tare.NullID {
				used = append(used, x.Value)
			}
		}
		if any {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return Table{}, ""
	}
	if len(used) == 0 {
		used = all
	}
	s := latencyScale(used)
	t.Columns = []Column{{Name: "contender"}}
	for _, name := range names {
		t.Columns = append(t.Columns, Column{Name: name, Unit: s.unit, Right: true})
	}
	for _, group := range v.listGroups() {
		apart := len(t.Rows) > 0
		for _, c := range group {
			if !slices.ContainsFunc(names, func(name string) bool { _, ok := v.findValue(c.ID, name); return ok }) {
				continue
			}
			line := Row{Cells: []Field{{Text: v.titleOf(c)}}, Who: c.ID, Apart: apart}
			for _, name := range names {
				line.Cells = append(line.Cells, v.newValueCell(c, name, s))
			}
			t.Rows, apart = append(t.Rows, line), false
		}
	}
	means = latencyClosed
	if slices.ContainsFunc(v.r.Workloads, func(w tare.Workload) bool { return w.ID == v.workload && w.Traffic != nil && w.Traffic.Rate > 0 }) {
		means = latencyOpen
	}
	means += " p99 is what 99 % of requests do not exceed in a round"
	if slices.Contains(names, "max") {
		means += ", max the longest of it"
	}
	return t, means + "; the figures are medians over rounds" + v.describeTails(names)
}

// minHighQuantile is the lowest quantile that counts as high.
const minHighQuantile = 0.99

// describeTails returns how few requests are above the high quantiles, or ":" if trials did not record how
// many requests there were.
func (v *view) describeTails(names []string) string {
	least := math.Inf(1)
	for _, c := range slices.Concat(v.listGroups()[:3]...) {
		if few, _, ok := findRange(listSamples(v.r, c.ID, v.workload), readKey(tare.KeyRequests)); ok {
			least = min(least, few)
		}
	}
	var parts []string
	for _, name := range names {
		q := findMetric(name).Quantile
		if n := math.Floor(least*(1-q) + 1e-6); q >= minHighQuantile && q < 1 && !math.IsInf(least, 1) {
			lie := " above "
			if len(parts) == 0 {
				lie = " lie above "
			}
			parts = append(parts, format.Grouped(n, 0)+lie+name)
		}
	}
	if len(parts) == 0 {
		return ":"
	}
	return fmt.Sprintf(". The smallest round of any contender has %s, of which %s:", countNoun(int(least), "request"), joinNames(parts))
}

// latencyScale returns the unit in which the shortest of values, in ns, is at least a tenth, so that it also
// fits values a hundred times as long.
func latencyScale(values []float64) scale {
	least := slices.Min(values)
	s := scale{divisor: 1, unit: "ns"}
	for _, step := range []scale{{1e9, "s", 3}, {1e6, "ms", 3}, {1e3, "µs", 3}} {
		if least >= step.divisor/10 && (step.unit != "s" || least >= step.divisor) {
			s = step
			break
		}
	}
	switch x := least / s.divisor; {
	case x >= 100:
		s.decimals = 1
	case x >= 10:
		s.decimals = 2
	}
	return s
}
