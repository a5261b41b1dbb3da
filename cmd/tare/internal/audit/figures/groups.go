package figures

import (
	"slices"
	"strings"
)

// This file collects the figures of a page and groups those that compare with each other. For
// example, the times below one header are a group.

// figure is a measurement on a page. Usually its subject is the label of the row, such as "b". Its
// metric is then the header of the column, such as "time (ms)".
type figure struct {
	quantity
	subject string // name of the contender, in lower case
	metric  string // usually the header of the column
	heading string // in lower case
	origin  int    // number of the table, or e.g. benchOrigin
	line    int
	column  int    // index in the table
	label   string // in lower case
	header  string // in lower case
	section int    // number of headings of level 1
}

// isOfTable reports whether the figure comes from one table. It returns false for figures of several
// tables, benchmarks and reports.
func (f figure) isOfTable() bool { return f.origin >= 0 && f.origin < benchOrigin }

// maxPageFigures limits the figures that are compared with prose.
const maxPageFigures = 4000

// Origins of figures that are not in one table.
const (
	acrossOrigin = -1        // of several tables
	benchOrigin  = 1_000_000 // plus the number of the block
	reportOrigin = 2_000_000
)

func (d *document) prepareFigures() {
	d.readPageUnit()
	d.figures = d.collectFigures()
	d.groups = groupFigures(d.figures)
	d.metricMatchers = newMetricMatchers(d.groups)
	d.grids = newGrids(d, d.figures)
	slices.SortStableFunc(d.grids, func(a, b *grid) int { return a.line - b.line })
	d.groupsByOrigin, d.ratios = groupByOrigin(d.groups), newRatioIndex(d.grids)
	d.verdicts = map[claimKey]verdict{}
}

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
	for _, l := range d.reports {
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
		add(l.meanLatency, timeKind, "mean")
	}
	return out
}

// acrossTables returns figures that compare tables, for pages with one table for each contender. The
// heading of a table becomes the subject, and row and column together the metric.
func acrossTables(all []figure) []figure {
	type cell struct{ row, column string }
	headings := map[cell][]string{}
	for _, f := range all {
		key := cell{f.subject, f.metric}
		if f.heading != "" && !slices.Contains(headings[key], f.heading) {
			headings[key] = append(headings[key], f.heading)
		}
	}
	var out []figure
	for _, f := range all {
		if len(headings[cell{f.subject, f.metric}]) > 1 && f.heading != "" {
			f.metric, f.subject, f.origin = f.subject+" "+f.metric, f.heading, acrossOrigin
			out = append(out, f)
		}
	}
	return out
}

// figureGroup holds figures that compare with each other, such as a column of times.
type figureGroup struct {
	origin  int
	metric  string
	kind    kind
	figures []figure
	matcher labelMatcher // of the subjects; empty for one or too many
}

// metricKey selects groups, such as all columns of times in a table.
type metricKey struct {
	origin int
	kind   kind
}

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

// isOtherMetric reports whether a text names a metric of the same table and kind, but not that of
// the group. For example, a text about p99 is not about a column p50.
func (d *document) isOtherMetric(g *figureGroup, words wordSet) bool {
	labels := d.metricMatchers[metricKey{g.origin, g.kind}].findNamed(words)
	return len(labels) > 0 && !slices.Contains(labels, g.metric)
}

// groupFigures groups figures by origin, metric and kind. It omits figures without a base unit and
// values of 0 or less.
func groupFigures(all []figure) []*figureGroup {
	type key struct {
		origin int
		metric string
		kind   kind
	}
	byKey := map[key]*figureGroup{}
	var out []*figureGroup
	for _, f := range all {
		if f.kind == plainKind || f.kind == percentKind || f.kind == factorKind || !(f.value > 0) {
			continue
		}
		k := key{f.origin, f.metric, f.kind}
		g := byKey[k]
		if g == nil {
			g = &figureGroup{origin: f.origin, metric: f.metric, kind: f.kind}
			byKey[k] = g
			out = append(out, g)
		}
		g.figures = append(g.figures, f)
	}
	for _, g := range out {
		var labels []string
		for _, f := range g.figures {
			if !slices.Contains(labels, f.subject) {
				labels = append(labels, f.subject)
			}
		}
		if len(labels) > 1 && len(labels) <= maxLabels {
			g.matcher = newLabelMatcher(labels)
		}
	}
	return out
}
