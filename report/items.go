package report

import (
	"math"
	"slices"

	"github.com/tarebench/tare"
)

// countItems returns the mean number of items in a request of the workload and the name of one item. It
// returns 0 if requests carry none.
func (v *view) countItems() (per float64, one string) {
	i := slices.IndexFunc(v.r.Workloads, func(w tare.Workload) bool { return w.ID == v.workload })
	if i < 0 {
		return 0, ""
	}
	return countItemsOf(v.r, v.r.Workloads[i])
}

// countItemsOf returns the mean that the load generator counted, because batches can differ in size. All
// contenders receive the same requests.
func countItemsOf(r *tare.Result, w tare.Workload) (per float64, one string) {
	if w.Traffic == nil {
		return 0, ""
	}
	one = "item"
	if c := w.Counted(); c.In == "" {
		one = c.One
	}
	for _, c := range r.Contenders {
		if c.Role == tare.RoleNull {
			continue
		}
		for _, s := range listSamples(r, c.ID, w.ID) {
			acknowledged, requests := s[tare.KeyDeliveredAsked], s[tare.KeyReceivedSent]
			if s[tare.KeyErrors] == 0 && requests > 0 && acknowledged >= requests {
				return acknowledged / requests, one
			}
		}
	}
	return 0, ""
}

// itemName returns the name of an item of the first workload whose requests carry items, or "".
func itemName(r *tare.Result) string {
	for _, w := range r.Workloads {
		if per, one := countItemsOf(r, w); per > 0 {
			return one
		}
	}
	return ""
}

// itemScale returns the scale of CPU time per request as milliseconds per 1,000 items, with as many decimals
// as the smallest value of a contender needs.
func (v *view) itemScale(items float64) scale {
	s := scale{divisor: 1e3 * items}
	least := math.Inf(1)
	for _, x := range v.r.Values {
		if x.Workload == v.workload && x.Metric == "cpu" && x.Contender != tare.NullID && x.Value > 0 {
			least = min(least, x.Value/s.divisor)
		}
	}
	switch {
	case least < 10:
		s.decimals = 3
	case least < 100:
		s.decimals = 2
	case least < 1000:
		s.decimals = 1
	}
	return s
}

// csvItems returns a row for the CPU time of an item, in ns, per contender and workload whose requests carry
// items.
func csvItems(r *tare.Result) []csvRow {
	var rows []csvRow
	for _, w := range r.Workloads {
		per, one := countItemsOf(r, w)
		if !(per > 0) {
			continue
		}
		for i, x := range r.Values {
			if x.Workload != w.ID || x.Metric != "cpu" {
				continue
			}
			row := newCSVRow(r, "item", x.Contender)
			row.workload, row.metric, row.text = w.ID, tare.Metric{Name: "cpu_per_item", Unit: "ns"}, "one "+one
			row.void = r.VoidsMetric(x.Contender, w.ID, "cpu")
			v := r.Values[i]
			v.Value, v.Low, v.High = x.Value/per, x.Low/per, x.High/per
			row.value, row.bounded = &v, true
			rows = append(rows, row)
		}
	}
	return rows
}
