package report

import (
	"math"
	"slices"

	"github.com/tarebench/tare"
)

// A request to a server can contain several items, such as the events of a batch. This file computes values per item.

// countItems returns the mean number of items in a request of the workload, and the name of one item. It returns 0 if
// requests do not contain items.
func (v *view) countItems() (perRequest float64, itemName string) {
	i := slices.IndexFunc(v.r.Workloads, func(w tare.Workload) bool { return w.ID == v.workload })
	if i < 0 {
		return 0, ""
	}
	return countItemsOf(v.r, v.r.Workloads[i])
}

// countItemsOf does the work of countItems for workload w. It uses the numbers that the load generator counted,
// because requests can differ in size. The first round without failed requests is enough, because all contenders
// receive the same requests.
func countItemsOf(r *tare.Result, w tare.Workload) (perRequest float64, itemName string) {
	if w.Traffic == nil {
		return 0, ""
	}
	itemName = "item"
	if counted := w.Counted(); counted.In == "" {
		itemName = counted.One
	}
	for _, c := range r.Contenders {
		if c.Role == tare.RoleNull {
			continue
		}
		for _, s := range listSamples(r, c.ID, w.ID) {
			acknowledged, requests := s[tare.KeyDeliveredAsked], s[tare.KeyReceivedSent]
			if s[tare.KeyErrors] == 0 && requests > 0 && acknowledged >= requests {
				return acknowledged / requests, itemName
			}
		}
	}
	return 0, ""
}

// firstItemName returns the name of an item of the first workload whose requests contain items, or "".
func firstItemName(r *tare.Result) string {
	for _, w := range r.Workloads {
		if n, name := countItemsOf(r, w); n > 0 {
			return name
		}
	}
	return ""
}

// itemScale returns the scale that prints CPU time in ns per request as milliseconds per 1,000 items. items is the
// number of items in a request. The scale has the decimals that the smallest value of a contender needs.
func (v *view) itemScale(items float64) scale {
	s := scale{divisor: 1e3 * items} // x ns per request are x/items/1e6 ms per item, and 1,000 times that per 1,000 items
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

// csvItems returns rows of format csv with the CPU time of an item in ns: one per contender and workload whose
// requests contain items.
func csvItems(r *tare.Result) []csvRow {
	var rows []csvRow
	for _, w := range r.Workloads {
		items, name := countItemsOf(r, w)
		if !(items > 0) {
			continue
		}
		for i, x := range r.Values {
			if x.Workload != w.ID || x.Metric != "cpu" {
				continue
			}
			row := newCSVRow(r, "item", x.Contender)
			row.workload = w.ID
			row.metric = tare.Metric{Name: "cpu_per_item", Unit: "ns"}
			row.text = "one " + name
			row.void = r.VoidsMetric(x.Contender, w.ID, "cpu")
			perItem := r.Values[i]
			perItem.Value, perItem.Low, perItem.High = x.Value/items, x.Low/items, x.High/items
			row.value, row.bounded = &perItem, true
			rows = append(rows, row)
		}
	}
	return rows
}
