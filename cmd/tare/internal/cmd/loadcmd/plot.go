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
	mostNines   = 5
)

// plot draws the latency of every quantile: to the right they come nearer to
// 100 %, a nine more for every part of the axis; the other axis is logarithmic,
// too.
func (p *loadPage) plot() {
	h := p.r.Latency
	if h == nil || h.Count() < 100 {
		return
	}
	nines := min(int(math.Log10(float64(h.Count()))), mostNines)
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
	p.heading("PERCENTILES, " + p.unit.Name)
	for row := plotRows - 1; row >= 0; row-- {
		label := ""
		if row%2 == 1 || row == 0 {
			top := float64(row+1) / plotRows
			if row == 0 {
				top = 0
			}
			label = p.unit.Format(math.Exp(low + top*(high-low)))
		}
		fmt.Fprintf(&p.b, "  %10s │%s\n", label, strings.TrimRight(bar(heights, row), " "))
	}
	p.axis(nines)
}

// bar is one row of a plot.
func bar(heights []int, row int) string {
	var b strings.Builder
	for _, h := range heights {
		b.WriteRune([]rune(" ▁▂▃▄▅▆▇█")[min(max(h-8*row, 0), 8)])
	}
	return b.String()
}

// axis draws the quantiles below a plot: 0, 90 %, 99 %, …
func (p *loadPage) axis(nines int) {
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

// quantileName is the quantile with so many nines, in percent.
func quantileName(nines int) string {
	return strconv.FormatFloat(100-100*math.Pow(10, -float64(nines)), 'f', max(0, nines-2), 64)
}

const timelineRows = 20

// timeline is the table of seconds. Where they are too many, each line is of
// several: quantiles are not averaged, the greatest is shown.
func (p *loadPage) timeline() {
	all := p.d.Timeline
	if len(all) < 2 {
		return
	}
	each := (len(all) + timelineRows - 1) / timelineRows
	title := "TIMELINE, each second"
	if each > 1 {
		title = fmt.Sprintf("TIMELINE, each %d s: rates in the mean, quantiles the greatest of a second", each)
	}
	p.heading(title)
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
		one := joined(group)
		line := fmt.Sprintf("  %6s  %11s  %10s  %10s  %8s", loadpage.Decimal(one.At, 0), loadpage.Thousands(float64(one.Requests)/float64(len(group))),
			p.unit.Format(float64(one.P50)), p.unit.Format(float64(one.P99)), loadpage.Counted(one.Errors))
		if server {
			line += fmt.Sprintf("  %12s", loadpage.Decimal(one.ServerCPU, 2))
		}
		fmt.Fprintln(&p.b, line)
	}
}

// joined is several seconds in one: sums, and the greatest quantiles.
func joined(seconds []load.Moment) load.Moment {
	one := seconds[0]
	for _, s := range seconds[1:] {
		one.Requests, one.Errors, one.ServerCPU = one.Requests+s.Requests, one.Errors+s.Errors, one.ServerCPU+s.ServerCPU
		one.P50, one.P99 = max(one.P50, s.P50), max(one.P99, s.P99)
	}
	return one
}
