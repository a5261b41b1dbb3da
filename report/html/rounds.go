package html

import (
	"fmt"
	"math"
	"slices"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/report"
)

// effects are the ratios of a contender to the baseline, round by round, as the
// result has them.
func (b *builder) effects(workload, contender, metric string) []float64 {
	e, _ := tare.EffectsOf(b.r.Rounds, workload, metric, contender, b.base)
	var out []float64
	for _, x := range e.Effects {
		out = append(out, math.Exp(x))
	}
	return out
}

// strips are the ratios of every round by the leading metric, behind a line
// that opens them.
func (b *builder) strips(workload string) []block {
	metric := report.Leading(b.r, workload)
	g := &grid{Key: "strips", Caption: report.Legible("Every round on " + workload), Head: []report.Column{
		{Name: "contender"}, {Name: "rounds", Right: true}, {Name: "lowest", Unit: "ratio", Right: true}, {Name: "highest", Unit: "ratio", Right: true},
	}}
	noise := b.noise(workload, metric)
	values := []float64{noise, 1 / noise}
	found := map[string][]float64{}
	for _, c := range b.r.Contenders {
		if e := b.effects(workload, c.ID, metric); len(e) > 0 && c.ID != b.base {
			found[c.ID] = e
			values = append(values, e...)
		}
	}
	if len(found) == 0 {
		return nil
	}
	a := around(cellWidth, values)
	g.Plot = &plot{Title: report.Legible(metric + " / " + b.base + ", a dot a round"), Ticks: a.ratios(0.17)}
	for _, c := range b.r.Contenders {
		e, ok := found[c.ID]
		if !ok {
			continue
		}
		var d drawing
		d.cell("strip")
		d.ground(a, noise)
		var xs []float64
		for _, x := range e {
			xs = append(xs, a.at(x))
		}
		row := line{Row: report.Row{Who: c.ID, Cells: []report.Field{
			{Text: report.Legible(c.Title())}, {Text: fmt.Sprint(len(e))}, {Text: report.Ratio(slices.Min(e))}, {Text: report.Ratio(slices.Max(e))},
		}}}
		if x, ok := b.comparison(workload, c.ID, metric); ok && len(b.r.VoidsMetric(c.ID, workload, metric)) == 0 {
			d.line("middle", a.at(x.Ratio), 3, a.at(x.Ratio), cellHeight-3)
		} else {
			row.Cells[0].Mark = report.Struck
		}
		d.dots("round", xs, cellHeight/2)
		row.Plot = d.end()
		g.Rows = append(g.Rows, row)
	}
	return []block{{Folded: &folded{"Every round of " + report.Legible(metric+" on "+workload), []block{
		{Text: "A dot is one round's ratio to the baseline, the stroke the estimate over rounds; whose name is crossed out is void or a trap.", Mark: report.Dim}, {Grid: g},
	}}}}
}

// timeline is what became of every trial, round by round, and how long
// contenders had to wait to run.
func (b *builder) timeline() part {
	p := part{ID: keyTimeline, Key: keyTimeline, Heading: "Round by round", Level: 2}
	last := 0
	for _, t := range b.r.Trials {
		if t.Tau <= 1 {
			last = max(last, t.Round)
		}
	}
	if last == 0 {
		return p
	}
	g := &grid{Key: "timeline", Caption: "Trials by round", Plot: &plot{Title: fmt.Sprintf("rounds 1 to %d", last)}, Head: []report.Column{
		{Name: "contender"}, {Name: "counted", Unit: "rounds", Right: true}, {Name: "partly void", Unit: "rounds", Right: true}, {Name: "void", Unit: "rounds", Right: true}, {Name: "failed", Unit: "rounds", Right: true},
	}}
	for _, c := range b.r.Contenders {
		if row, ok := b.trials(c, last); ok {
			g.Rows = append(g.Rows, row)
		}
	}
	waits, most := b.waits(last)
	if most > 0 {
		g.Rows = append(g.Rows, waiting(waits, most))
	}
	p.Blocks = []block{
		{Text: "One field a round: full counts; half, something on one workload does not; crossed, nothing does; barred, it could not be carried through. Pressure on the processor within rounds stands in the journal, that of the whole run under This run.", Mark: report.Dim},
		{Grid: g},
	}
	return p
}

// trials is one contender's row.
func (b *builder) trials(c tare.Contender, last int) (line, bool) {
	var d drawing
	d.cell("trials")
	var count [4]int
	step := cellWidth / float64(last)
	const counted, partly, void, failed = 0, 1, 2, 3
	for _, t := range b.r.Trials {
		if t.Contender != c.ID || t.Tau > 1 || t.Round < 1 {
			continue
		}
		x, w := float64(t.Round-1)*step+step*0.1, step*0.8
		switch {
		case t.Error != nil:
			count[failed]++
			d.box("failed", x, 4, w, cellHeight-8)
			d.line("bar-line", x, cellHeight/2, x+w, cellHeight/2)
		case t.Counts(""):
			count[counted]++
			d.box("counted", x, 8, w, cellHeight-16)
		case slices.ContainsFunc(t.Void, func(v tare.VoidPart) bool { return v.Workload == "" }):
			count[void]++
			d.box("void", x, 6, w, cellHeight-12)
			d.line("cross", x, 6, x+w, cellHeight-6)
			d.line("cross", x, cellHeight-6, x+w, 6)
		default:
			count[partly]++
			d.box("partly", x, cellHeight/2, w, cellHeight/2-8)
		}
	}
	row := line{Row: report.Row{Who: c.ID, Cells: []report.Field{{Text: report.Legible(c.Title())}}}, Plot: d.end()}
	for _, n := range count {
		row.Cells = append(row.Cells, report.Field{Text: fmt.Sprint(n)})
	}
	return row, count != [4]int{}
}

// waits are how much of their time the contenders waited to run, round by
// round, as shares.
func (b *builder) waits(last int) (waits []float64, most float64) {
	waited, lasted := make([]float64, last), make([]float64, last)
	for _, t := range b.r.Trials {
		if t.Tau <= 1 && t.Round >= 1 {
			waited[t.Round-1] += float64(t.Evidence.RunQueueNS) / 1e9
			lasted[t.Round-1] += t.Seconds
		}
	}
	for i := range waited {
		if lasted[i] > 0 {
			waited[i] /= lasted[i]
		}
		most = max(most, waited[i])
	}
	return waited, most
}

func waiting(waits []float64, most float64) line {
	var d drawing
	d.cell("waits")
	step := cellWidth / float64(len(waits))
	for i, x := range waits {
		h := x / most * (cellHeight - 4)
		d.box("wait", float64(i)*step+step*0.1, cellHeight-h, step*0.8, h)
	}
	return line{Row: report.Row{Apart: true, Cells: []report.Field{
		{Text: "waited to run, at most " + report.Percent(most) + " of a round"}, {Text: "–"}, {Text: "–"}, {Text: "–"}, {Text: "–"},
	}}, Plot: d.end()}
}
