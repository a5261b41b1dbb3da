package loadcmd

import (
	"fmt"
	"math"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/loadpage"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/load"
	"github.com/tarebench/tare/load/hist"
	"github.com/tarebench/tare/report"
)

// panel is a leg so far, as a terminal shows it.
type panel struct {
	d     load.Document
	r     *load.Result
	how   string
	of    time.Duration // how long it will measure; zero: it is not known
	style report.Style
}

const (
	panelLabel = 11 // columns of a line's label
	panelLeast = 30 // columns, below which only the first lines are drawn
	heatLeast  = 22 // rows from which there is room for a heat map
	heatMost   = 16 // lines of it
	panelRest  = 11 // lines beside it
)

// lines draw the panel for a terminal of that size.
func (p panel) lines(columns, rows int) []string {
	columns, rows = max(columns-1, panelLeast), max(rows-1, 1)
	d, last := p.d, load.Second{}
	seconds := p.r.Timeline
	if n := len(seconds); n > 0 {
		last = seconds[n-1]
	}
	progress := fmt.Sprintf("%.0f s", d.Seconds)
	if p.of > 0 {
		progress += " of " + cmdenv.Seconds(p.of)
	}
	out := []string{p.line(columns, "", format.Line(d.URL, 0)+" · "+progress), p.line(columns, "", p.how)}
	rate := loadpage.Thousands(d.RequestsPerSecond) + " requests per second, now " + loadpage.Counted(last.Requests)
	if d.RateAsked > 0 {
		rate = fmt.Sprintf("asked %s, reached %s, now %s requests per second", loadpage.Thousands(d.RateAsked), loadpage.Thousands(d.RequestsPerSecond), loadpage.Counted(last.Requests))
	}
	out = append(out, p.line(columns, "rate", rate))
	out = append(out, p.spark(columns, func(s load.Second) float64 { return float64(s.Requests) }))
	out = append(out, p.line(columns, "latency", fmt.Sprintf("p50 %-9s p99 %-9s max %-9s since the beginning", loadpage.Spell(d.Latency.P50), loadpage.Spell(d.Latency.P99), loadpage.Spell(d.Latency.Max))))
	out = append(out, p.line(columns, "", fmt.Sprintf("p50 %-9s p99 %-9s max %-9s in the last second", loadpage.Spell(int64(last.P50)), loadpage.Spell(int64(last.P99)), loadpage.Spell(int64(last.Max)))))
	out = append(out, p.spark(columns, func(s load.Second) float64 { return float64(s.P99) }))
	out = append(out, p.line(columns, "errors", p.errors(last)))
	out = append(out, p.line(columns, "limit", d.Limit+": "+d.LimitWhy))
	if rows >= heatLeast {
		out = append(out, p.heat(columns, min(rows-panelRest, heatMost))...)
	}
	return out[:min(len(out), rows)]
}

// line is a label and text, cut to the width.
func (p panel) line(columns int, label, text string) string {
	if room := columns - panelLabel; utf8.RuneCountInString(text) > room {
		text = string([]rune(text)[:room-1]) + "…"
	}
	return cmdenv.Paint(p.style.Bold, fmt.Sprintf("%-*s", panelLabel, label)) + text
}

// errors are those since the beginning, by class.
func (p panel) errors(last load.Second) string {
	var parts []string
	for _, class := range load.Classes() {
		if n := p.d.Errors[string(class)]; n > 0 {
			parts = append(parts, fmt.Sprintf("%s %s", class, loadpage.Counted(n)))
		}
	}
	if parts == nil {
		return "none"
	}
	return strings.Join(parts, ", ") + "; now " + loadpage.Counted(last.Errors)
}

// seconds are the last ones for which there is room.
func (p panel) seconds(columns int) []load.Second {
	all := p.r.Timeline
	return all[max(0, len(all)-(columns-panelLabel)):]
}

// spark draws a value of each second.
func (p panel) spark(columns int, value func(load.Second) float64) string {
	var b strings.Builder
	most := 0.0
	for _, s := range p.seconds(columns) {
		most = max(most, value(s))
	}
	for _, s := range p.seconds(columns) {
		level := 0
		if most > 0 {
			level = int(math.Round(value(s) / most * 8))
		}
		b.WriteRune([]rune(" ▁▂▃▄▅▆▇█")[level])
	}
	return cmdenv.Paint(p.style.Dim, strings.Repeat(" ", panelLabel)+b.String())
}

// heat draws how many requests of each second had each latency, in so many
// lines.
func (p panel) heat(columns, rows int) []string {
	seconds := p.seconds(columns)
	low, high, most := int64(math.MaxInt64), int64(0), int64(0)
	each(seconds, func(_ int, b hist.Bin) { low, high = min(low, b.Low), max(high, b.High) })
	if high == 0 {
		return nil
	}
	low = max(low, 1)
	span := math.Log(float64(high) / float64(low))
	cells := make([][]int64, rows)
	for i := range cells {
		cells[i] = make([]int64, len(seconds))
	}
	each(seconds, func(at int, b hist.Bin) {
		row := min(int(math.Log(float64(max(b.Low, low))/float64(low))/span*float64(rows)), rows-1)
		cells[row][at] += b.Count
		most = max(most, cells[row][at])
	})
	var out []string
	for row := rows - 1; row >= 0; row-- {
		var b strings.Builder
		for _, n := range cells[row] {
			shade := 0
			if n > 0 {
				shade = 1 + min(int(4*math.Log(float64(n))/math.Log(float64(max(most, 2)))), 3)
			}
			b.WriteRune([]rune(" ░▒▓█")[shade])
		}
		bottom := float64(low) * math.Exp(span*float64(row)/float64(rows))
		out = append(out, cmdenv.Paint(p.style.Dim, fmt.Sprintf("%*s ", panelLabel-1, loadpage.Spell(int64(bottom))))+b.String())
	}
	return out
}

// each visits the bins of seconds.
func each(seconds []load.Second, visit func(at int, b hist.Bin)) {
	for at, s := range seconds {
		for _, b := range s.Bins {
			visit(at, b)
		}
	}
}
