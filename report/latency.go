package report

import (
	"fmt"
	"math"
	"slices"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/format"
)

// Start of the text above latencies. An open loop sends requests at intended times. In a closed loop each
// connection waits for a response first.
const (
	latencyOpen   = "How long a request takes, from the time it was meant to be sent to the last byte of its answer."
	latencyClosed = "How long a request takes, from sending it to the last byte of its answer."
)

// newLatencyTable returns the latencies of the workload in one unit, and the text above. means is "" if there are
// none.
func (v *view) newLatencyTable() (t Table, means string) {
	names := slices.DeleteFunc(slices.Clone(v.listMetrics()), func(name string) bool {
		return !findMetric(name).IsLatency() || !v.hasValues(name)
	})
	if len(names) == 0 {
		return Table{}, ""
	}
	s := v.quantileScale()
	t.Columns = []Column{{Name: "contender"}}
	for _, name := range names {
		t.Columns = append(t.Columns, Column{Name: name, Unit: s.unit, Right: true})
	}
	for _, group := range v.listGroups() {
		isFirst := true // of the rows of the group
		for _, c := range group {
			hasValue := func(name string) bool { _, ok := v.findValue(c.ID, name); return ok }
			if !slices.ContainsFunc(names, hasValue) {
				continue
			}
			row := Row{Cells: []Field{{Text: v.titleOf(c)}}, Who: c.ID, Apart: isFirst && len(t.Rows) > 0}
			for _, name := range names {
				row.Cells = append(row.Cells, v.newValueCell(c, name, s))
			}
			t.Rows, isFirst = append(t.Rows, row), false
		}
	}
	means = latencyClosed
	isOpen := func(w tare.Workload) bool { return w.ID == v.workload && w.Traffic != nil && w.Traffic.Rate > 0 }
	if slices.ContainsFunc(v.r.Workloads, isOpen) {
		means = latencyOpen
	}
	means += " p99 is what 99 % of requests do not exceed in a round"
	if slices.Contains(names, "max") {
		means += ", max the longest of it"
	}
	return t, means + "; the figures are medians over rounds" + v.describeTails(names)
}

const (
	minHighQuantile = 0.99 // lowest high quantile
	roundingError   = 1e-6 // 10000*(1-0.9999) is below 1
)

// describeTails ends the sentence above the table with the requests above each high quantile: ". The smallest
// round of any contender has 9,000 requests, of which 90 lie above p99 and 9 above p99.9:". It is ":" if they are
// unknown.
func (v *view) describeTails(names []string) string {
	fewest := math.Inf(1) // requests of a contender in a round
	for _, c := range slices.Concat(v.ranked, v.statusOnly, v.controls) {
		if n, _, ok := findRange(listSamples(v.r, c.ID, v.workload), readKey(tare.KeyRequests)); ok {
			fewest = min(fewest, n)
		}
	}
	if math.IsInf(fewest, 1) {
		return ":"
	}
	var parts []string
	for _, name := range names {
		quantile := findMetric(name).Quantile
		if quantile < minHighQuantile || quantile >= 1 {
			continue
		}
		relation := " above "
		if isFirst := len(parts) == 0; isFirst {
			relation = " lie above "
		}
		above := math.Floor(fewest*(1-quantile) + roundingError) // requests above the quantile
		parts = append(parts, format.Grouped(above, 0)+relation+name)
	}
	if len(parts) == 0 {
		return ":"
	}
	return fmt.Sprintf(". The smallest round of any contender has %s, of which %s:", countNoun(int(fewest), "request"), joinNames(parts))
}

// latencyScale returns the scale for values in ns; values is not empty. The shortest value is at least a tenth of
// the unit (a second counts in full). Other values are often a hundred times as long.
func latencyScale(values []float64) scale {
	least := slices.Min(values)
	s := scale{divisor: 1, unit: "ns"}
	for _, step := range []scale{{1e9, "s", 3}, {1e6, "ms", 3}, {1e3, "µs", 3}} {
		threshold := step.divisor / 10
		if step.unit == "s" {
			threshold = step.divisor
		}
		if least >= threshold {
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
