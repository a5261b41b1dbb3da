package loadcmd

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/tarebench/tare/cmd/tare/internal/loadpage"
	"github.com/tarebench/tare/load"
)

const (
	plotColumns = 60
	plotRows    = 8
	maxNines    = 5
)

// writePlot draws the latency of every quantile. Both axes are logarithmic: each part of the
// horizontal axis adds a nine.
func (p *loadPage) writePlot() {
	h := p.r.Latency
	if h == nil || h.Count() < 100 {
		return
	}
	nines := min(int(math.Log10(float64(h.Count()))), maxNines)
	values := make([]float64, plotColumns+1) // logarithms
	for i := range values {
		values[i] = math.Log(float64(max(h.Quantile(1-math.Pow(10, -float64(i*nines)/plotColumns)), 1)))
	}
	low, high := values[0], values[plotColumns]
	if high <= low {
		return
	}
	heights := make([]int, plotColumns+1) // in eighths of a row
	for i, v := range values {
		heights[i] = int(math.Round((v - low) / (high - low) * plotRows * 8))
	}
	p.writeHeading("PERCENTILES, " + p.unit.Name)
	for row := plotRows - 1; row >= 0; row-- {
		label := ""
		if row%2 == 1 || row == 0 {
			top := float64(row+1) / plotRows
			if row == 0 {
				top = 0
			}
			label = p.unit.Format(math.Exp(low + top*(high-low)))
		}
		fmt.Fprintf(&p.b, "  %10s │%s\n", label, strings.TrimRight(drawRow(heights, row), " "))
	}
	p.writeAxis(nines)
}

// drawRow returns row row of a plot. Heights are in eighths of a row.
func drawRow(heights []int, row int) string {
	var b strings.Builder
	for _, h := range heights {
		b.WriteRune([]rune(" ▁▂▃▄▅▆▇█")[min(max(h-8*row, 0), 8)])
	}
	return b.String()
}

// writeAxis draws the quantiles below a plot: 0, 90 %, 99 %, …
func (p *loadPage) writeAxis(nines int) {
	line := []rune(strings.Repeat("─", plotColumns+1))
	labels := []rune(strings.Repeat(" ", plotColumns+8))
	for n := range nines + 1 {
		at := n * plotColumns / nines
		line[at] = '┴'
		copy(labels[at:], []rune(quantileName(n)))
	}
	fmt.Fprintf(&p.b, "  %10s └%s\n", "", string(line))
	fmt.Fprintf(&p.b, "  %10s  %s\n", "%", strings.TrimRight(string(labels), " "))
}

// quantileName returns the quantile with this number of nines, in percent.
func quantileName(nines int) string {
	return strconv.FormatFloat(100-100*math.Pow(10, -float64(nines)), 'f', max(0, nines-2), 64)
}

const timelineRows = 20

// writeTimeline writes the table of seconds. If there are too many, a line covers several:
// rates are averaged, quantiles are the greatest of a second.
func (p *loadPage) writeTimeline() {
	all := p.d.Timeline
	if len(all) < 2 {
		return
	}
	each := (len(all) + timelineRows - 1) / timelineRows
	title := "TIMELINE, each second"
	if each > 1 {
		title = fmt.Sprintf("TIMELINE, each %d s: rates in the mean, quantiles the greatest of a second", each)
	}
	p.writeHeading(title)
	server := false
	for _, m := range all {
		server = server || m.ServerCPU > 0
	}
	head := fmt.Sprintf("  %6s  %11s  %10s  %10s  %8s", "at s", "answered /s", "p50 "+p.unit.Name, "p99 "+p.unit.Name, "errors")
	if server {
		head += fmt.Sprintf("  %12s", "server CPU s")
	}
	fmt.Fprintln(&p.b, head)
	for at := 0; at < len(all); at += each {
		group := all[at:min(at+each, len(all))]
		one := mergeMoments(group)
		line := fmt.Sprintf("  %6s  %11s  %10s  %10s  %8s", loadpage.Decimal(one.At, 0), loadpage.Thousands(float64(one.Requests)/float64(len(group))),
			p.unit.Format(float64(one.P50)), p.unit.Format(float64(one.P99)), loadpage.Counted(one.Errors))
		if server {
			line += fmt.Sprintf("  %12s", loadpage.Decimal(one.ServerCPU, 2))
		}
		fmt.Fprintln(&p.b, line)
	}
}

// mergeMoments merges seconds: sums, and the greatest quantiles.
func mergeMoments(seconds []load.Moment) load.Moment {
	one := seconds[0]
	for _, s := range seconds[1:] {
		one.Requests, one.Errors, one.ServerCPU = one.Requests+s.Requests, one.Errors+s.Errors, one.ServerCPU+s.ServerCPU
		one.P50, one.P99 = max(one.P50, s.P50), max(one.P99, s.P99)
	}
	return one
}
