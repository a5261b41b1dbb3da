package report

import (
	"slices"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/format"
)

// RatioGroup has every value of one metric on one workload. It is a part of one long table.
type RatioGroup struct {
	Workload, Metric string
	Unit             string   // unit of the medians
	Level            string   // usual confidence level; "" without intervals
	About            []string // sentences about the workload, in its first group; else nil
	Rows             []RatioRow
}

// RatioRow has the values of one contender. A field may be empty.
type RatioRow struct {
	Name                          string
	Ratio, Interval, Rank, Median Field
}

// AllRatios returns every ratio to the baseline and every median of r. Leading metrics come first.
func AllRatios(r *tare.Result) []RatioGroup {
	var out []RatioGroup
	for _, w := range r.Workloads {
		v := newView(r, w.ID)
		about := []string{
			describeWorkload(r, w), describeDriver(r, w), describeConformance(r, w.ID),
			v.describeNoFailures(), v.describeFailures(), v.whyUnranked(),
		}
		about = slices.DeleteFunc(about, func(text string) bool { return text == "" })
		if v.isEmpty() {
			out = append(out, RatioGroup{Workload: w.ID, About: append(about, nobodyMeasured)})
			continue
		}
		for _, metric := range v.listMetrics() {
			if g := v.newRatioGroup(metric); len(g.Rows) > 0 {
				g.About, about = about, nil
				out = append(out, g)
			}
		}
	}
	return LegibleAll(out)
}

// describeFailures counts the failed requests per contender.
func (v *view) describeFailures() string {
	if !v.hasFailed() {
		return ""
	}
	var parts []string
	for _, c := range slices.Concat(v.listGroups()...) {
		if f := v.newErrorCell(c); f.Mark == Bad {
			parts = append(parts, c.Title()+" "+f.Text)
		}
	}
	return "Requests that failed, and in brackets how many of them timed out: " + strings.Join(parts, ", ") + "."
}

func (v *view) newRatioGroup(metric string) RatioGroup {
	s := v.metricScale(metric)
	if findMetric(metric).IsLatency() {
		s = v.quantileScale()
	}
	g := RatioGroup{Workload: v.workload, Metric: metric, Unit: s.unit}
	if level := v.usualLevel(metric); level > 0 {
		g.Level = formatLevel(level)
	}
	for _, c := range slices.Concat(v.listGroups()...) {
		_, isCompared := v.findComparison(c.ID, metric)
		_, isMeasured := v.findValue(c.ID, metric)
		if !isCompared && !isMeasured {
			continue
		}
		row := RatioRow{Name: v.titleOf(c), Interval: v.newIntervalField(c, metric)}
		row.Ratio = v.newRatioField(c, metric, func(x tare.Comparison) string { return format.Ratio(x.Ratio) })
		if row.Ratio.Mark == Dim || row.Ratio.Text == noValue { // not compared
			row.Ratio = Field{}
		}
		if isMeasured {
			row.Median = v.newMedianField(c, metric, s)
		}
		if metric == primaryMetric(v.r) {
			if row.Rank = v.newRankCell(c); row.Rank.Text == noValue {
				row.Rank = Field{}
			}
		}
		g.Rows = append(g.Rows, row)
	}
	return g
}

// newIntervalField returns the interval of a contender's ratio, or the check that voids it. An unusual confidence
// level is added.
func (v *view) newIntervalField(c tare.Contender, metric string) Field {
	if voids := v.voidsMetric(c.ID, metric); len(voids) > 0 {
		return Field{Text: "void by " + voids[0].Check, Mark: Bad}
	}
	x, isCompared := v.findComparison(c.ID, metric)
	switch {
	case !isCompared || c.ID == v.baseline:
		return Field{}
	case x.Exact:
		return Field{Text: "exactly"}
	case !x.Bounded():
		return Field{Text: "no interval yet"}
	}
	text := format.Ratio(x.Low) + "–" + format.Ratio(x.High)
	if x.Level > 0 && formatLevel(x.Level) != formatLevel(v.usualLevel(metric)) {
		text += " at " + formatLevel(x.Level)
	}
	return Field{Text: text}
}

// newMedianField returns a median with values that follow from it. These are requests per second, and CPU time of
// an item. The former need a closed loop, in which a request waits for the response before.
func (v *view) newMedianField(c tare.Contender, metric string, s scale) Field {
	f := v.newValueCell(c, metric, s)
	if findMetric(metric).Closed && v.hasTraffic() {
		f.Text += " · " + v.newRateCell(c).Text + "/s"
	}
	if items, itemName := v.countItems(); metric == "cpu" && items > 0 {
		f.Text += " · " + v.newValueCell(c, metric, v.itemScale(items)).Text + " ms per 1,000 " + itemName + "s"
	}
	return f
}

// quantileScale returns the scale of the workload's latencies; there is at least one. Usable values of real
// contenders determine it, else any.
func (v *view) quantileScale() scale {
	var used, all []float64
	for _, x := range v.r.Values {
		if x.Workload != v.workload || !findMetric(x.Metric).IsLatency() {
			continue
		}
		if all = append(all, x.Value); !x.Struck && x.Contender != tare.NullID {
			used = append(used, x.Value)
		}
	}
	if len(used) == 0 {
		used = all
	}
	return latencyScale(used)
}
