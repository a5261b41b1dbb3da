package loadcmd

import (
	"fmt"
	"math"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/loadpage"
	"github.com/tarebench/tare/load"
	"github.com/tarebench/tare/load/hist"
	"github.com/tarebench/tare/report"
)

// This file draws a running measurement on a terminal: a bar for each second, and a heat map of
// latencies.

// panel draws a running measurement on a terminal, with one bar per second.
type panel struct {
	document load.Document // describes result
	result   *load.Result  // result so far
	loadText string        // how requests are sent, in words
	duration time.Duration // planned duration; 0 if unknown
	style    report.Style
}

// Sizes of a panel, in columns and rows of the terminal.
const (
	panelLabel      = 11 // columns of a line's label
	minPanelColumns = 30 // even on a narrower terminal
	minHeatRows     = 22 // rows from which there is room for a heat map
	maxHeatLines    = 16 // lines of the heat map
	otherPanelLines = 11 // lines of the panel without the heat map
)

// drawLines returns the lines of the panel for a terminal of this size. The last column and row stay
// free.
func (p panel) drawLines(columns, rows int) []string {
	columns, rows = max(columns-1, minPanelColumns), max(rows-1, 1)
	d, last := p.document, load.Second{}
	seconds := p.result.Timeline
	if n := len(seconds); n > 0 {
		last = seconds[n-1]
	}
	progress := fmt.Sprintf("%.0f s", d.Seconds)
	if p.duration > 0 {
		progress += " of " + cmdenv.Seconds(p.duration)
	}
	rate := loadpage.FormatRate(d.RequestsPerSecond) + " requests per second, now " + loadpage.FormatCount(last.Requests)
	if d.RateAsked > 0 {
		rate = fmt.Sprintf("asked %s, reached %s, now %s requests per second", loadpage.FormatRate(d.RateAsked), loadpage.FormatRate(d.RequestsPerSecond), loadpage.FormatCount(last.Requests))
	}
	formatQuantiles := func(p50, p99, largest int64, period string) string {
		return fmt.Sprintf("p50 %-9s p99 %-9s max %-9s %s", loadpage.FormatTime(p50), loadpage.FormatTime(p99), loadpage.FormatTime(largest), period)
	}
	out := []string{
		p.formatLine(columns, "", oneLine(d.URL)+" · "+progress),
		p.formatLine(columns, "", p.loadText),
		p.formatLine(columns, "rate", rate),
		p.drawSparkline(columns, func(s load.Second) float64 { return float64(s.Requests) }),
		p.formatLine(columns, "latency", formatQuantiles(d.Latency.P50, d.Latency.P99, d.Latency.Max, "since the beginning")),
		p.formatLine(columns, "", formatQuantiles(int64(last.P50), int64(last.P99), int64(last.Max), "in the last second")),
		p.drawSparkline(columns, func(s load.Second) float64 { return float64(s.P99) }),
		p.formatLine(columns, "errors", p.formatErrors(last)),
		p.formatLine(columns, "limit", d.Limit+": "+d.LimitWhy),
	}
	if rows >= minHeatRows {
		out = append(out, p.drawHeatMap(columns, min(rows-otherPanelLines, maxHeatLines))...)
	}
	return out[:min(len(out), rows)]
}

func (p panel) formatLine(columns int, label, text string) string {
	if room := columns - panelLabel; utf8.RuneCountInString(text) > room {
		text = string([]rune(text)[:room-1]) + "…"
	}
	return cmdenv.Paint(p.style.Bold, fmt.Sprintf("%-*s", panelLabel, label)) + text
}

func (p panel) formatErrors(last load.Second) string {
	var parts []string
	for _, class := range load.Classes() {
		if n := p.document.Errors[string(class)]; n > 0 {
			parts = append(parts, fmt.Sprintf("%s %s", class, loadpage.FormatCount(n)))
		}
	}
	if parts == nil {
		return "none"
	}
	return strings.Join(parts, ", ") + "; now " + loadpage.FormatCount(last.Errors)
}

// lastSeconds returns as many of the latest seconds as fit into the width.
func (p panel) lastSeconds(columns int) []load.Second {
	all := p.result.Timeline
	return all[max(0, len(all)-(columns-panelLabel)):]
}

// drawSparkline draws one bar per second, whose height is in proportion to the greatest value. The
// characters ▁ to █ are eighths of a row.
func (p panel) drawSparkline(columns int, value func(load.Second) float64) string {
	var b strings.Builder
	greatest := 0.0
	for _, s := range p.lastSeconds(columns) {
		greatest = max(greatest, value(s))
	}
	for _, s := range p.lastSeconds(columns) {
		eighths := 0
		if greatest > 0 {
			eighths = int(math.Round(value(s) / greatest * 8))
		}
		b.WriteRune([]rune(" ▁▂▃▄▅▆▇█")[eighths])
	}
	return cmdenv.Paint(p.style.Dim, strings.Repeat(" ", panelLabel)+b.String())
}

// drawHeatMap draws the number of requests by second and latency. A column is a second, a row a range
// of latencies. Rows and shades are logarithmic. It returns nil before the first request.
func (p panel) drawHeatMap(columns, rows int) []string {
	seconds := p.lastSeconds(columns)
	low, high, maxCount := int64(math.MaxInt64), int64(0), int64(0)
	forEachBin(seconds, func(_ int, b hist.Bin) { low, high = min(low, b.Low), max(high, b.High) })
	if high == 0 {
		return nil
	}
	low = max(low, 1)
	span := math.Log(float64(high) / float64(low))
	cells := make([][]int64, rows) // requests by row, from the bottom, and second
	for i := range cells {
		cells[i] = make([]int64, len(seconds))
	}
	forEachBin(seconds, func(column int, b hist.Bin) {
		height := math.Log(float64(max(b.Low, low))/float64(low)) / span // 0 to 1
		row := min(int(height*float64(rows)), rows-1)
		cells[row][column] += b.Count
		maxCount = max(maxCount, cells[row][column])
	})
	var out []string
	for row := rows - 1; row >= 0; row-- {
		var b strings.Builder
		for _, n := range cells[row] {
			shade := 0 // 1 to 4 by the logarithm of the number; 0 without requests
			if n > 0 {
				shade = 1 + min(int(4*math.Log(float64(n))/math.Log(float64(max(maxCount, 2)))), 3)
			}
			b.WriteRune([]rune(" ░▒▓█")[shade])
		}
		bottom := float64(low) * math.Exp(span*float64(row)/float64(rows))
		out = append(out, cmdenv.Paint(p.style.Dim, fmt.Sprintf("%*s ", panelLabel-1, loadpage.FormatTime(int64(bottom))))+b.String())
	}
	return out
}

func forEachBin(seconds []load.Second, visit func(i int, b hist.Bin)) {
	for i, s := range seconds {
		for _, b := range s.Bins {
			visit(i, b)
		}
	}
}
