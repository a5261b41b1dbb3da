package loadcmd

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tarebench/tare/cmd/tare/internal/loadpage"
	"github.com/tarebench/tare/load"
)

// Size of the plot of latencies in the terminal. The characters ▁ to █ are eighths of a row high.
const (
	plotColumns = 60
	plotRows    = 8
	rowHeight   = 8   // eighths of a row
	minPlotted  = 100 // enough for 99 %, two nines
)

// writePlot draws the latency by quantile. Both axes are logarithmic. On the horizontal axis, equal
// steps lead from 0 to 90 %, 99 %, 99.9 % and so on.
func (p *loadPage) writePlot() {
	histogram := p.result.Latency
	if histogram == nil || histogram.Count() < minPlotted {
		return
	}
	nines := loadpage.CountNines(histogram)
	values := make([]float64, plotColumns+1) // logarithms of latencies
	for i := range values {
		quantile := loadpage.QuantileAt(float64(i*nines) / plotColumns)
		values[i] = math.Log(float64(max(histogram.Quantile(quantile), 1)))
	}
	low, high := values[0], values[plotColumns]
	if high <= low {
		return
	}
	heights := make([]int, plotColumns+1) // in eighths of a row
	for i, v := range values {
		heights[i] = int(math.Round((v - low) / (high - low) * plotRows * rowHeight))
	}
	p.writeHeading("PERCENTILES, " + p.unit.Name)
	for row := plotRows - 1; row >= 0; row-- {
		// Every second row has the latency at its top as a label. The lowest row has the latency at the
		// bottom.
		label := ""
		if row%2 == 1 || row == 0 {
			height := float64(row+1) / plotRows
			if row == 0 {
				height = 0
			}
			label = p.unit.Format(math.Exp(low + height*(high-low)))
		}
		fmt.Fprintf(&p.b, "  %10s │%s\n", label, strings.TrimRight(drawRow(heights, row), " "))
	}
	p.writeAxis(nines)
}

// drawRow returns one row of the plot; row 0 is the lowest. The heights are in eighths of a row.
func drawRow(heights []int, row int) string {
	var b strings.Builder
	for _, h := range heights {
		b.WriteRune([]rune(" ▁▂▃▄▅▆▇█")[min(max(h-rowHeight*row, 0), rowHeight)])
	}
	return b.String()
}

// writeAxis draws the quantiles below a plot: 0, 90 %, 99 %, …
func (p *loadPage) writeAxis(nines int) {
	line := []rune(strings.Repeat("─", plotColumns+1))
	labels := []rune(strings.Repeat(" ", plotColumns+8))
	for n := range nines + 1 {
		column := n * plotColumns / nines
		line[column] = '┴'
		copy(labels[column:], []rune(loadpage.FormatNines(n)))
	}
	fmt.Fprintf(&p.b, "  %10s └%s\n", "", string(line))
	fmt.Fprintf(&p.b, "  %10s  %s\n", "%", strings.TrimRight(string(labels), " "))
}

const timelineRows = 20

// writeTimeline writes the table of seconds, in at most timelineRows lines. In a longer run a line
// covers several seconds. It has the mean of their rates and the greatest of their quantiles.
func (p *loadPage) writeTimeline() {
	all := p.document.Timeline
	if len(all) < 2 {
		return
	}
	perLine := (len(all) + timelineRows - 1) / timelineRows // seconds, rounded up
	title := "TIMELINE, each second"
	if perLine > 1 {
		title = fmt.Sprintf("TIMELINE, each %d s: rates in the mean, quantiles the greatest of a second", perLine)
	}
	p.writeHeading(title)
	hasCPU := slices.ContainsFunc(all, func(m load.Moment) bool { return m.ServerCPU > 0 })
	head := fmt.Sprintf("  %6s  %11s  %10s  %10s  %8s", "at s", "answered /s", "p50 "+p.unit.Name, "p99 "+p.unit.Name, "errors")
	if hasCPU {
		head += fmt.Sprintf("  %12s", "server CPU s")
	}
	fmt.Fprintln(&p.b, head)
	for group := range slices.Chunk(all, perLine) {
		m := mergeMoments(group)
		line := fmt.Sprintf("  %6s  %11s  %10s  %10s  %8s", loadpage.FormatDecimal(m.At, 0), loadpage.FormatRate(float64(m.Requests)/float64(len(group))),
			p.unit.Format(float64(m.P50)), p.unit.Format(float64(m.P99)), loadpage.FormatCount(m.Errors))
		if hasCPU {
			line += fmt.Sprintf("  %12s", loadpage.FormatDecimal(m.ServerCPU, 2))
		}
		fmt.Fprintln(&p.b, line)
	}
}

func mergeMoments(seconds []load.Moment) load.Moment {
	m := seconds[0]
	for _, s := range seconds[1:] {
		m.Requests += s.Requests
		m.Errors += s.Errors
		m.ServerCPU += s.ServerCPU
		m.P50, m.P99 = max(m.P50, s.P50), max(m.P99, s.P99)
	}
	return m
}
