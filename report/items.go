package report

import (
	"math"
	"slices"

	"github.com/tarebench/tare"
)

// A request can contain several items, such as the events of a batch. This file computes values per item.

// countItems returns the mean number of items in a request, and the name of an item. 0 means that requests have no
// items.
func (v *view) countItems() (perRequest float64, itemName string) {
	i := slices.IndexFunc(v.r.Workloads, func(w tare.Workload) bool { return w.ID == v.workload })
	if i < 0 {
		return 0, ""
	}
	return countItemsOf(v.r, v.r.Workloads[i])
}

// countItemsOf counts the items for workload w. It uses the counts of the load generator, because requests can
// differ in size. One round without failures suffices: all contenders receive the same requests.
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

// firstItemName returns the name of an item on the first workload with items, or "".
func firstItemName(r *tare.Result) string {
	for _, w := range r.Workloads {
		if n, name := countItemsOf(r, w); n > 0 {
			return name
		}
	}
	return ""
}

// itemScale returns the scale from CPU ns per request to ms per 1,000 items. items is per request. The smallest
// value determines the decimals.
func (v *view) itemScale(items float64) scale {
	s := scale{divisor: 1e3 * items} // x ns per request are x/items/1e6 ms per item
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

// csvItems returns rows of format csv with the CPU time of an item, in ns.
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
