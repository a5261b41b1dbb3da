package html

import (
	"html/template"
	"math"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/report"
)

// comparison is the stored one of a contender against the baseline.
func (b *builder) comparison(workload, contender, metric string) (tare.Comparison, bool) {
	c, ok := tare.FindComparison(b.r.Comparisons, workload, contender, metric)
	return c, ok && c.Against == b.base
}

// bounded reports whether c has an interval.
func bounded(c tare.Comparison) bool {
	return c.Low > 0 && c.High > 0 && !math.IsInf(c.High, 0)
}

// noise is how far apart the control shows two identical programs to be, as a
// factor; zero where there is no control.
func (b *builder) noise(workload, metric string) float64 {
	if floor := tare.NoiseFloor(b.r.Comparisons, workload, metric); floor > 0 {
		return math.Exp(floor)
	}
	return 0
}

// forest adds the drawing of every contender's ratio to the table of a
// workload, all on one axis.
func (b *builder) forest(g *grid, workload string) {
	metric := report.Leading(b.r, workload)
	g.Leading = metric
	noise := b.noise(workload, metric)
	a := b.ratioAxis(workload)
	g.Plot = &plot{Title: "← less · more →", Ticks: a.ratios(0.17)}
	for i := range g.Rows {
		id := g.Rows[i].Who
		g.Rows[i].Plot = b.whisker(a, noise, workload, id, metric)
	}
}

// ratioAxis is the axis that all ratios of a workload by its leading metric
// have a place on.
func (b *builder) ratioAxis(workload string) axis {
	metric := report.Leading(b.r, workload)
	noise := b.noise(workload, metric)
	values := []float64{noise, 1 / noise}
	for _, c := range b.r.Comparisons {
		if c.Workload == workload && c.Metric == metric && c.Against == b.base && len(b.r.VoidsMetric(c.Contender, workload, metric)) == 0 {
			values = append(values, c.Ratio)
			if bounded(c) {
				values = append(values, c.Low, c.High)
			}
		}
	}
	return around(cellWidth, values)
}

// whisker is one contender's ratio with its interval, on the band in which the
// control says that nothing is to be seen.
func (b *builder) whisker(a axis, noise float64, workload, id, metric string) template.HTML {
	var d drawing
	d.cell("forest")
	d.ground(a, noise)
	const middle = cellHeight / 2
	c, ok := b.comparison(workload, id, metric)
	switch {
	case id == b.base:
		d.dot("pt base", a.at(1), middle)
	case !ok || len(b.r.VoidsMetric(id, workload, metric)) > 0 || len(b.r.VoidsMetric(b.base, workload, metric)) > 0:
	default:
		class := told(b.r, c)
		if bounded(c) {
			d.line("ci "+class, a.at(c.Low), middle, a.at(c.High), middle)
		}
		d.dot("pt "+class, a.at(c.Ratio), middle)
	}
	return d.end()
}

// ground is the control's band and the line of no difference.
func (d *drawing) ground(a axis, noise float64) {
	if noise > 1 {
		d.box("band", a.at(1/noise), 0, a.at(noise)-a.at(1/noise), cellHeight)
	}
	d.line("one", a.at(1), 0, a.at(1), cellHeight)
}

// told is whether a difference is claimed, and to which side.
func told(r *tare.Result, c tare.Comparison) string {
	switch {
	case c.Contender == tare.ControlID, !report.ToldApart(r, c):
		return "same"
	case c.Ratio < 1:
		return "less"
	}
	return "more"
}

// band says how wide the control's band is.
func (b *builder) band(workload string) string {
	metric := report.Leading(b.r, workload)
	for _, x := range b.r.Machine.Resolution {
		if x.Workload == workload && x.Metric == metric {
			text := "Two identical programs may seem to differ this much here: ±" + report.Percent(x.HalfWidth) + " of " + report.Legible(metric) + "."
			if x.Found > 0 {
				text += " Four of five such studies find a difference of " + report.Percent(x.Found) + "."
			}
			return text
		}
	}
	if b.noise(workload, metric) > 1 {
		return "Two identical programs may seem to differ this much here: half the width of the control's interval."
	}
	return ""
}

// claims draws what was published beside what was measured.
func (b *builder) claims(g *grid) {
	var values []float64
	for _, c := range b.r.Claims {
		if drawable(c) {
			values = append(values, c.Published, c.Measured, c.Low, c.High)
		}
	}
	if len(values) == 0 || len(g.Rows) != len(b.r.Claims) {
		return
	}
	a := around(cellWidth, values)
	g.Plot = &plot{Title: "published ◇ and measured ●", Ticks: a.ratios(0.17)}
	for i, c := range b.r.Claims {
		var d drawing
		d.cell("forest")
		d.ground(a, 0)
		if drawable(c) {
			const middle = cellHeight / 2
			if c.Measured > 0 && c.Outcome != tare.VoidAsPublished {
				d.line("ci same", a.at(c.Low), middle, a.at(c.High), middle)
				d.dot("pt same", a.at(c.Measured), middle)
			}
			d.diamond("published", a.at(c.Published), middle)
		}
		g.Rows[i].Plot = d.end()
	}
}

// drawable reports whether a claim is a ratio with a place on an axis of them.
func drawable(c tare.ClaimResult) bool { return c.Kind == tare.ClaimRatio && c.Published > 0 }

// diamond is a hollow mark.
func (d *drawing) diamond(class string, x, y float64) {
	d.b.WriteString(`<path class="` + class + `" d="M` + short(x-5) + ` ` + short(y) + `l5 -6l5 6l-5 6z"/>`)
}
