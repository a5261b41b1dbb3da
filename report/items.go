package report

import (
	"math"
	"slices"

	"github.com/tarebench/tare"
)

// items is how many items a request of the workload carries, on average, and
// what one of them is called; zero where requests carry none.
func (v *view) items() (per float64, one string) {
	i := slices.IndexFunc(v.r.Workloads, func(w tare.Workload) bool { return w.ID == v.workload })
	if i < 0 {
		return 0, ""
	}
	return itemsOf(v.r, v.r.Workloads[i])
}

// itemsOf is what the load generator counted: batches need not be of one size.
// All contenders are sent the same.
func itemsOf(r *tare.Result, w tare.Workload) (per float64, one string) {
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
		for _, s := range samples(r, c.ID, w.ID) {
			acknowledged, requests := s[tare.KeyDeliveredAsked], s[tare.KeyReceivedSent]
			if s[tare.KeyErrors] == 0 && requests > 0 && acknowledged >= requests {
				return acknowledged / requests, one
			}
		}
	}
	return 0, ""
}

// perItem is what one item is called in a result whose workloads carry some;
// empty where none does. Where they are called differently it is the first.
func perItem(r *tare.Result) string {
	for _, w := range r.Workloads {
		if per, one := itemsOf(r, w); per > 0 {
			return one
		}
	}
	return ""
}

// itemScale prints CPU time of a request as milliseconds for 1,000 of its
// items, with as many decimals as the smallest of those that do the work needs.
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

// csvItems is a row for the CPU time of an item, in nanoseconds, where requests
// carry some.
func csvItems(r *tare.Result) []csvRow {
	var rows []csvRow
	for _, w := range r.Workloads {
		per, one := itemsOf(r, w)
		if !(per > 0) {
			continue
		}
		for i, x := range r.Values {
			if x.Workload != w.ID || x.Metric != "cpu" {
				continue
			}
			row := csvAbout(r, "item", x.Contender)
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
