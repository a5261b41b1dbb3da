package report

import (
	"slices"

	"github.com/tarebench/tare"
)

// The functions in this file return rows of format csv about load, decompositions and profiles.

// csvLoad returns a row per workload, contender and statistic of the load.
func csvLoad(r *tare.Result) []csvRow {
	var rows []csvRow
	for _, w := range r.Workloads {
		if w.Traffic == nil {
			continue
		}
		for _, c := range r.Contenders {
			samples := listSamples(r, c.ID, w.ID)
			common := newCSVRow(r, "driving", c.ID) // fields of all rows
			common.workload = w.ID
			common.text = describeTraffic(r, *w.Traffic)
			common.void = r.Voids(c.ID, w.ID)
			stats := append(listLoadStats(*w.Traffic),
				loadStat{csv: tare.KeyErrors, read: readKey(tare.KeyErrors), isSum: true},
				loadStat{csv: tare.KeyTimeouts, read: readKey(tare.KeyTimeouts), isSum: true})
			for _, d := range stats {
				least, greatest, ok := findRange(samples, d.read)
				if !ok {
					continue
				}
				row := common
				row.metric = tare.Metric{Name: d.csv, Unit: d.baseUnit()}
				if d.isSum {
					sum, _ := sumSamples(samples, d.read)
					row.value = &tare.Value{Value: sum, Rounds: len(samples)}
				} else {
					row.value = &tare.Value{Low: least, High: greatest, Rounds: len(samples)}
					row.bounded, row.ranged = true, true
				}
				rows = append(rows, row)
			}
		}
	}
	return rows
}

// baseUnit returns the recorded unit of d, because CSV does not scale values. Counts have none.
func (d loadStat) baseUnit() string {
	switch d.csv {
	case tare.KeyRate:
		return "1/s"
	case tare.KeySendLag:
		return "ns"
	case tare.KeyBytesSent, tare.KeyBytesReceived, tare.KeyOutput:
		return "B/op"
	case tare.KeyLayers:
		return "calls/op"
	case serverBusy, generatorBusy:
		return "%"
	}
	return ""
}

// csvDecomposition returns the rows of decompositions, which split the difference between two contenders into
// steps. A step has a ratio and, if known, a share of the difference. The total has a ratio.
func csvDecomposition(r *tare.Result) []csvRow {
	var rows []csvRow
	for _, d := range r.Decomposition {
		total := d.Whole
		total.Cause = "the whole"
		for i, c := range slices.Concat(d.Steps, []tare.Cause{total}) {
			isStep := i < len(d.Steps)
			row := newCSVRow(r, "decomposition", c.To)
			row.workload = d.Workload
			row.metric = findMetric(d.Metric)
			row.text = d.ID + ": " + c.Cause
			row.void = append(r.VoidsMetric(c.To, d.Workload, d.Metric), r.VoidsMetric(c.From, d.Workload, d.Metric)...)
			row.against = c.From
			if c.Rounds > 0 {
				row.value = &tare.Value{Value: c.ToValue, Rounds: c.Rounds}
				row.comparison = &tare.Comparison{Contender: c.To, Against: c.From, Ratio: c.Ratio, Low: c.Low, High: c.High, Level: c.Level, Exact: c.Low > 0 && c.Low == c.High}
			}
			rows = append(rows, row)
			if isStep && hasShares(d) {
				row.metric = tare.Metric{Name: d.Metric + "_share"}
				row.comparison, row.level = nil, c.Level
				row.value = &tare.Value{Value: c.Share, Low: c.ShareLow, High: c.ShareHigh, Rounds: c.Rounds}
				row.bounded = true
				rows = append(rows, row)
			}
		}
	}
	return rows
}

// csvProfiles returns rows per profile: the total, two per function, and one per line of the difference from the
// baseline.
func csvProfiles(r *tare.Result) []csvRow {
	var rows []csvRow
	for _, p := range r.Profiles {
		add := func(metric string, value float64, text string) {
			row := newCSVRow(r, "profile", p.Contender)
			row.workload = p.Workload
			row.metric = tare.Metric{Name: p.Of + "_" + metric, Unit: p.Unit}
			row.text = text
			row.value = &tare.Value{Value: value}
			rows = append(rows, row)
		}
		add("total", p.Total, p.File)
		for _, line := range p.Top {
			add("own", line.Flat, line.Function)
			add("with_calls", line.Cumulative, line.Function)
		}
		if p.Gap == nil {
			continue
		}
		for _, split := range gapSplits(p) {
			for _, line := range split.lines {
				add("difference_per_op", line.To-line.From, split.kind+": "+line.Name)
				rows[len(rows)-1].against = p.Gap.Against
			}
		}
	}
	return rows
}
