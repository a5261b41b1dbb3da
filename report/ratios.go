package report

import (
	"slices"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/format"
)

// RatioGroup holds every figure of one metric on one workload, as a part of one
// long table.
type RatioGroup struct {
	Workload, Metric string
	Unit             string   // of the medians
	Level            string   // of most intervals; "" without any
	About            []string // sentences about the workload, in its first group
	Rows             []RatioRow
}

// RatioRow is one contender. A field without a figure is empty.
type RatioRow struct {
	Name                          string
	Ratio, Interval, Rank, Median Field
}

// AllRatios returns every ratio to the baseline and every median of r, the leading
// metric of each workload first.
func AllRatios(r *tare.Result) []RatioGroup {
	var out []RatioGroup
	for _, w := range r.Workloads {
		v := look(r, w.ID, map[string]bool{})
		about := slices.DeleteFunc([]string{asked(r, w), driven(r, w), answered(r, w.ID), v.failed(), v.failures(), v.unranked()}, func(s string) bool { return s == "" })
		if v.empty() {
			out = append(out, RatioGroup{Workload: w.ID, About: append(about, nobodyMeasured)})
			continue
		}
		for _, metric := range v.metrics() {
			if g := v.ratioGroup(metric); len(g.Rows) > 0 {
				g.About, about = about, nil
				out = append(out, g)
			}
		}
	}
	return LegibleAll(out)
}

// failures says how many requests of whom failed; "" if none did.
func (v *view) failures() string {
	if !v.anyFailed() {
		return ""
	}
	var parts []string
	for _, c := range slices.Concat(v.groups()...) {
		if f := v.errorCell(c); f.Mark == Bad {
			parts = append(parts, c.Title()+" "+f.Text)
		}
	}
	return "Requests that failed, and in brackets how many of them timed out: " + strings.Join(parts, ", ") + "."
}

// ratioGroup returns the figures of one metric.
func (v *view) ratioGroup(metric string) RatioGroup {
	s := v.scale(metric)
	if metricNamed(metric).IsLatency() {
		s = v.quantileScale()
	}
	g := RatioGroup{Workload: v.workload, Metric: metric, Unit: s.unit}
	usual := v.usual(metric)
	if usual > 0 {
		g.Level = level(usual)
	}
	for _, c := range slices.Concat(v.groups()...) {
		x, compared := v.comparison(c.ID, metric)
		_, measured := v.value(c.ID, metric)
		if !compared && !measured {
			continue
		}
		row := RatioRow{Name: v.named(c), Ratio: v.ratioOf(c, metric, func(x tare.Comparison) string { return format.Ratio(x.Ratio) })}
		if row.Ratio.Mark == Dim || row.Ratio.Text == nothing {
			row.Ratio = Field{}
		}
		if measured {
			row.Median = v.medianField(c, metric, s)
		}
		if metric == primaryMetric(v.r) {
			if row.Rank = v.rankCell(c); row.Rank.Text == nothing {
				row.Rank = Field{}
			}
		}
		switch voids := v.voidsOf(c.ID, metric); {
		case len(voids) > 0:
			row.Interval = Field{Text: "void by " + voids[0].Check, Mark: Bad}
		case !compared || c.ID == v.baseline:
		case x.Exact:
			row.Interval = Field{Text: "exactly"}
		case x.Bounded():
			row.Interval = Field{Text: format.Ratio(x.Low) + "–" + format.Ratio(x.High)}
			if x.Level > 0 && level(x.Level) != level(usual) {
				row.Interval.Text += " at " + level(x.Level)
			}
		default:
			row.Interval = Field{Text: "no interval yet"}
		}
		g.Rows = append(g.Rows, row)
	}
	return g
}

// medianField is a median with what follows from it: the rate of a closed loop,
// and the CPU time of an item.
func (v *view) medianField(c tare.Contender, metric string, s scale) Field {
	f := v.valueCell(c, metric, s)
	if metricNamed(metric).Closed && v.hasTraffic() {
		f.Text += " · " + v.rateCell(c).Text + "/s"
	}
	if items, one := v.items(); metric == "cpu" && items > 0 {
		f.Text += " · " + v.valueCell(c, metric, v.itemScale(items)).Text + " ms per 1,000 " + one + "s"
	}
	return f
}

// quantileScale is the unit of all latencies of the workload.
func (v *view) quantileScale() scale {
	var used, all []float64
	for _, x := range v.r.Values {
		if x.Workload != v.workload || !metricNamed(x.Metric).IsLatency() {
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
