package figures

import (
	"slices"
	"strings"
)

// figure is a measurement on a page, from a cell of a table, a benchmark or a report. In a table with
// the row "b" and the column "time (ms)", its subject is "b" and its metric "time (ms)".
type figure struct {
	quantity
	subject string // name of the contender, in lower case: the label of a row, or the header of a column
	metric  string // name of the metric: the header of a column, or the label of a row
	heading string // heading above, in lower case
	origin  int    // where it comes from: number of the table in the page, or a number such as benchOrigin
	line    int
	column  int    // index of the column of a table
	label   string // label of the row of a table, in lower case
	header  string // header of the column of a table, in lower case
	section int    // number of headings of the first level so far
}

// isOfTable reports whether the figure comes from one table, not from several or from none.
func (f figure) isOfTable() bool { return f.origin >= 0 && f.origin < benchOrigin }

// maxPageFigures limits the figures of a page that are compared with its prose.
const maxPageFigures = 4000

// Origins of figures that are not of one table.
const (
	acrossOrigin = -1        // figures of several tables with the same rows and columns
	benchOrigin  = 1_000_000 // figures of benchmarks, plus the number of their block
	reportOrigin = 2_000_000 // figures of reports of load generators
)

// prepareFigures computes the fields of d that several rules read from the fields that a reader
// filled in.
func (d *document) prepareFigures() {
	d.figures = d.collectFigures()
	d.groups = groupFigures(d.figures)
	d.metrics = newMetricMatchers(d.groups)
	d.grids = newGrids(d, d.figures)
	slices.SortStableFunc(d.grids, func(a, b *grid) int { return a.line - b.line })
	d.groupsByOrigin, d.ratios = groupByOrigin(d.groups), newRatioIndex(d.grids)
	d.verdicts = map[claimKey]verdict{}
}

// collectFigures returns the figures of all tables, benchmarks and reports.
func (d *document) collectFigures() []figure {
	var out []figure
	for i, t := range d.tables {
		out = append(out, t.figures(i)...)
		if len(out) > maxPageFigures {
			return out[:maxPageFigures]
		}
	}
	out = append(out, acrossTables(out)...)
	for _, b := range d.benches {
		for _, v := range b.values {
			u, ok := findUnit(v.unit)
			if !ok || len(out) > maxPageFigures {
				continue
			}
			out = append(out, figure{
				quantity: quantity{value: v.value * u.size, kind: u.kind, unit: v.unit, raw: v.value},
				subject:  b.name, metric: v.unit, heading: strings.ToLower(b.heading),
				origin: benchOrigin + b.block, line: b.line, section: b.section,
			})
		}
	}
	for _, l := range d.loads {
		subject := strings.ToLower(l.label + " " + l.path)
		add := func(m lineValue, k kind, metric string) {
			if m.isKnown() && len(out) <= maxPageFigures {
				out = append(out, figure{
					quantity: quantity{value: m.value, kind: k, raw: m.value}, subject: subject, metric: metric,
					origin: reportOrigin, line: m.line, section: l.section,
				})
			}
		}
		add(l.rate, rateKind, "rate")
		add(l.mean, timeKind, "mean")
	}
	return out
}

// acrossTables returns the figures of tables that have the same rows and columns under different headings,
// as on a page with a table for each contender. In these figures the heading is the subject, and the
// label of the row with the header of the column is the metric.
func acrossTables(all []figure) []figure {
	type cell struct{ row, column string }
	headings := map[cell][]string{}
	for _, m := range all {
		key := cell{m.subject, m.metric}
		if m.heading != "" && !slices.Contains(headings[key], m.heading) {
			headings[key] = append(headings[key], m.heading)
		}
	}
	var out []figure
	for _, m := range all {
		if len(headings[cell{m.subject, m.metric}]) > 1 && m.heading != "" {
			m.metric, m.subject, m.origin = m.subject+" "+m.metric, m.heading, acrossOrigin
			out = append(out, m)
		}
	}
	return out
}

// figureGroup holds the figures of one origin, metric and kind, which compare with each other: for
// example a column of times, with a row for each contender.
type figureGroup struct {
	origin  int
	metric  string
	kind    kind
	figures []figure
	matcher labelMatcher // of the subjects; empty if there is one subject, or too many
}

// metricKey identifies the groups of one origin and kind, such as the columns of times of a table.
type metricKey struct {
	origin int
	kind   kind
}

// newMetricMatchers returns a matcher of the metrics of all groups with one origin and kind, by these two.
func newMetricMatchers(groups []*figureGroup) map[metricKey]labelMatcher {
	metrics := map[metricKey][]string{}
	for _, g := range groups {
		key := metricKey{g.origin, g.kind}
		metrics[key] = append(metrics[key], g.metric)
	}
	out := map[metricKey]labelMatcher{}
	for key, all := range metrics {
		if len(all) > 1 && len(all) <= maxLabels {
			out[key] = newLabelMatcher(all)
		}
	}
	return out
}

// isOtherMetric reports whether a text names metrics of the origin and kind of a group, but not the metric
// of the group itself: p99 for a group of p50 in the same table.
func (d *document) isOtherMetric(g *figureGroup, words wordSet) bool {
	named := d.metrics[metricKey{g.origin, g.kind}].findNamed(words)
	return len(named) > 0 && !slices.Contains(named, g.metric)
}

// groupFigures groups figures by origin, metric and kind. It omits numbers without a unit,
// percentages, ratios and values that are not positive.
func groupFigures(all []figure) []*figureGroup {
	type key struct {
		origin int
		metric string
		kind   kind
	}
	byKey := map[key]*figureGroup{}
	var out []*figureGroup
	for _, m := range all {
		if m.kind == plainKind || m.kind == percentKind || m.kind == factorKind || !(m.value > 0) {
			continue
		}
		k := key{m.origin, m.metric, m.kind}
		g := byKey[k]
		if g == nil {
			g = &figureGroup{origin: m.origin, metric: m.metric, kind: m.kind}
			byKey[k] = g
			out = append(out, g)
		}
		g.figures = append(g.figures, m)
	}
	for _, g := range out {
		var labels []string
		for _, m := range g.figures {
			if !slices.Contains(labels, m.subject) {
				labels = append(labels, m.subject)
			}
		}
		if len(labels) > 1 && len(labels) <= maxLabels {
			g.matcher = newLabelMatcher(labels)
		}
	}
	return out
}
