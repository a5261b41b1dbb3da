package report

import (
	"slices"
	"strings"

	"github.com/tarebench/tare"
)

// The functions in this file return rows of format csv, each for one section of the format.

// csvScaling returns a row per fitted exponent of time over size.
func csvScaling(r *tare.Result) []csvRow {
	var rows []csvRow
	for _, s := range r.Scaling {
		row := newCSVRow(r, "scaling", s.Contender)
		row.workload, row.text = strings.Join(s.Workloads, " "), fitName(s)
		row.metric = tare.Metric{Name: "time_exponent"}
		row.value = &tare.Value{Value: s.Exponent, Low: s.Low, High: s.High, Rounds: s.Rounds}
		row.bounded, row.level = s.Low < s.High, s.Level
		for _, w := range s.Workloads {
			row.void = append(row.void, r.VoidsMetric(s.Contender, w, "time")...)
		}
		rows = append(rows, row)
	}
	return rows
}

// csvSemantics returns rows with the number of semantics tests, unsupported operations, and differences from the
// reference.
func csvSemantics(r *tare.Result) []csvRow {
	var rows []csvRow
	for _, c := range listBehaviours(r) {
		common := newCSVRow(r, "semantics", c.contender.ID)
		row := common
		row.metric = tare.Metric{Name: "cases", Unit: "cases"}
		row.value = &tare.Value{Value: float64(c.Cases)}
		row.against = c.Reference
		rows = append(rows, row)
		for _, op := range c.listUnsupported() {
			row := common
			row.metric, row.difference = tare.Metric{Name: "unsupported"}, &tare.Difference{Op: op}
			rows = append(rows, row)
		}
		for i := range c.Differences {
			row := common
			row.metric = tare.Metric{Name: "difference"}
			row.difference = &c.Differences[i]
			row.text = c.Differences[i].Says
			row.against = c.Reference
			rows = append(rows, row)
		}
	}
	return rows
}

func csvAdoption(r *tare.Result) []csvRow {
	var rows []csvRow
	for _, c := range r.Contenders {
		a, common := c.Adoption, newCSVRow(r, "adoption", c.ID)
		addValue := func(metric, unit string, value float64, isKnown bool) {
			if isKnown {
				row := common
				row.metric, row.value = tare.Metric{Name: metric, Unit: unit}, &tare.Value{Value: value}
				rows = append(rows, row)
			}
		}
		addText := func(metric, text string) {
			if text != "" {
				row := common
				row.metric, row.text = tare.Metric{Name: metric}, text
				rows = append(rows, row)
			}
		}
		addValue("modules_linked", "modules", float64(a.ModulesLinked), c.BinaryBytes > 0) // counted in the binary
		addText("licences", strings.Join(a.Licences, ", "))
		addText("released", a.Released)
		addText("unmaintained", a.Unmaintained)
		addValue("binary_bytes", "B", float64(c.BinaryBytes), c.BinaryBytes > 0)
		addValue("cold_build_seconds", "s", a.ColdBuildSeconds, a.ColdBuildSeconds > 0)
		addValue("idle_rss_bytes", "B", float64(a.IdleRSSBytes), a.IdleRSSBytes > 0)
		addValue("start_seconds", "s", a.StartSeconds, a.StartSeconds > 0)
	}
	return rows
}

func csvCost(r *tare.Result) []csvRow {
	var rows []csvRow
	for _, c := range r.Cost {
		common := newCSVRow(r, "cost", c.Contender)
		common.workload = c.Workload
		common.against = c.Against
		common.text = c.Sentence
		common.void = r.VoidsMetric(c.Contender, c.Workload, c.Metric)
		add := func(metric, unit string, v tare.Value) {
			row := common
			row.metric, row.value = tare.Metric{Name: c.Metric + "_" + metric, Unit: unit}, &v
			row.bounded = v.Low != 0 || v.High != 0
			rows = append(rows, row)
		}
		if c.Rate > 0 { // the user requested a rate
			add("cores", "cores", tare.Value{Value: c.Cores})
			add("against_cores", "cores", tare.Value{Value: c.AgainstCores})
			add("saved_cores", "cores", tare.Value{Value: c.Saved, Low: c.SavedLow, High: c.SavedHigh})
			add("rate", "1/s", tare.Value{Value: c.Rate})
		}
		if c.OnePercent > 0 {
			add("one_percent_rate", "1/s", tare.Value{Value: c.OnePercent})
		}
	}
	return rows
}

// csvStatements returns a row per published claim that no row of values mentions.
func csvStatements(r *tare.Result) []csvRow {
	var rows []csvRow
	for _, c := range r.Claims {
		isInWorkloads := slices.ContainsFunc(r.Workloads, func(w tare.Workload) bool { return w.ID == c.Workload })
		if isInWorkloads && slices.Contains(r.Metrics, c.Metric) {
			continue
		}
		row := newCSVRow(r, "claim", c.Contender)
		row.workload = c.Workload
		row.metric.Name = c.Metric
		row.claim = c.ID + ": " + outcomeText(c)
		row.text = c.Statement
		measured := &tare.Value{Value: c.Measured, Low: c.Low, High: c.High}
		switch {
		case c.Kind == tare.ClaimReported && c.Published > 0:
			row.metric, row.value = tare.Metric{Name: "published", Unit: c.Unit}, &tare.Value{Value: c.Published}
		case c.Outcome == tare.NotMeasured: // no value in this row
		case c.Kind == tare.ClaimCount:
			row.metric, row.value = tare.Metric{Name: "modules_added", Unit: "modules"}, &tare.Value{Value: c.Measured}
		case c.Kind == tare.ClaimRate:
			row.metric = tare.Metric{Name: "one_percent_rate", Unit: "1/s"}
			row.value, row.bounded = measured, c.Low < c.High
		case c.Kind == tare.ClaimGrowth:
			row.metric.Name += "_growth"
			row.value, row.bounded = measured, c.Low != c.High
		case c.Kind == tare.ClaimTrend:
			row.metric.Name += "_ratio_trend"
			row.value, row.bounded = measured, c.Low > 0
		}
		rows = append(rows, row)
	}
	return rows
}

// newCSVRow returns a row about the contender with this id, with the findings that void all of it. An unknown
// contender has only its id.
func newCSVRow(r *tare.Result, section, contender string) csvRow {
	c, ok := r.Contender(contender)
	if !ok {
		c.ID = contender
	}
	return csvRow{section: section, r: r, contender: c, void: voidsOfAll(r, contender)}
}
