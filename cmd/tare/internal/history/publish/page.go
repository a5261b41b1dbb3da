// Package publish writes what became of studies from run to run for others to
// read: a page with a chart for each benchmark, a badge, and OpenMetrics.
package publish

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"math"
	"strings"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/history"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/report/html"
)

//go:embed page.html
var pageText string

//go:embed page.css
var pageStyle string

var pageTemplate = template.Must(template.New("page").Parse(pageText))

type page struct {
	Title, Written string
	Policy         string
	Style          template.CSS
	Studies        []study
}

type study struct {
	Study, Metric, Against, Direction string
	Machines                          []machine
	Left                              []string // results that could not be read, a line each
}

type machine struct {
	Name, Span, Between string
	Charts              []chart
	Left                []string // what the newest run left out, a line each
	Runs                []run
}

type chart struct {
	Name, Last, Change string
	Drawing            template.HTML
	Steps              []string
}

type run struct {
	Number                  int
	When, Of, Rounds, Stale string
}

// staleMost is how many differences of a stale run the page names.
const staleMost = 2

// Page writes the trends of a repository as one file that needs no other.
func Page(w io.Writer, title string, trends []history.Trend, now time.Time) error {
	p := page{Title: title, Written: format.Minute(now), Policy: html.Policy(pageStyle, ""), Style: template.CSS(pageStyle)} //nolint:gosec // compiled in
	for _, t := range trends {
		s := study{Study: t.Study, Metric: t.Metric, Against: t.Against, Direction: direction(t.Metric), Left: t.Left}
		for _, m := range t.Machines {
			s.Machines = append(s.Machines, machineOf(m, t.Metric))
		}
		if len(s.Machines)+len(s.Left) > 0 {
			p.Studies = append(p.Studies, s)
		}
	}
	return pageTemplate.Execute(w, p)
}

// direction says which side of 1 is the better one.
func direction(metric string) string {
	m, ok := tare.MetricNamed(metric)
	switch {
	case !ok:
		return ""
	case m.Direction == tare.HigherIsBetter:
		return " (above 1 is better)"
	}
	return " (below 1 is better)"
}

func machineOf(m history.Machine, metric string) machine {
	out := machine{Name: m.Name, Span: format.Count(len(m.Runs), "run")}
	if m.Known {
		out.Between = fmt.Sprintf("From run to run ratios vary by %s (standard deviation) beyond their intervals.", format.Percent(math.Expm1(m.Between)))
	}
	several := false
	for _, s := range m.Series {
		several = several || s.Contender != m.Series[0].Contender
	}
	for _, s := range m.Series {
		c := chart{Name: s.Workload, Last: "void", Change: m.DescribeChange(s, metric), Drawing: draw(m, s)}
		if several {
			c.Name += " · " + s.Contender
		}
		if s.Last != nil {
			c.Last = s.Last.Bounds()
		}
		for _, at := range s.Steps {
			c.Steps = append(c.Steps, stepText(m, s, at))
		}
		out.Charts = append(out.Charts, c)
	}
	for _, l := range m.Left {
		out.Left = append(out.Left, l.What+": "+l.Why)
	}
	for i := len(m.Runs) - 1; i >= 0; i-- {
		r := m.Runs[i]
		stale := strings.Join(r.Stale[:min(staleMost, len(r.Stale))], "; ")
		if more := len(r.Stale) - staleMost; more > 0 {
			stale += fmt.Sprintf("; %d more", more)
		}
		out.Runs = append(out.Runs, run{i + 1, format.Minute(r.Started), r.Version(""), fmt.Sprint(r.Rounds), stale})
	}
	return out
}

// stepText returns in which run, and between which commits, a ratio became another one.
func stepText(m history.Machine, s history.Series, at int) string {
	var before *history.Point
	for _, p := range s.Points[:at] {
		if p != nil && !p.Void {
			before = p
		}
	}
	text := fmt.Sprintf("run %d (%s)", at+1, format.Minute(m.Runs[at].Started))
	if before == nil {
		return text
	}
	from, to := history.Commit(m.Runs[before.Run].Version(s.Contender)), history.Commit(m.Runs[at].Version(s.Contender))
	if from != "" && to != "" && from != to {
		text += ": commits " + from + ".." + to
	}
	if p := s.Points[at]; p != nil {
		text += fmt.Sprintf(", %s before, then %s", before.Bounds(), p.Bounds())
	}
	return text
}

// The place of a chart, in units of the drawing.
const (
	width, height = 560, 150
	left, right   = 44, 12
	top, bottom   = 12, 20
)

// ticks are ratios that lines may be drawn at.
func ticks(low, high float64) []float64 {
	for _, step := range []float64{0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10} {
		first := math.Ceil(low/step) * step
		if n := int((high-first)/step) + 1; n <= 4 {
			var out []float64
			for i := range max(n, 0) {
				out = append(out, first+float64(i)*step)
			}
			return out
		}
	}
	return []float64{low, high}
}

// draw draws a series, a run beside the other: its ratios on a logarithmic scale, or what
// the contender took if a count is zero.
func draw(m history.Machine, s history.Series) template.HTML {
	least, most := math.Inf(1), math.Inf(-1)
	counts := history.HasZero(s.Points)
	value := func(p *history.Point) (x float64, ok bool) {
		switch {
		case p == nil || p.Void:
			return 0, false
		case counts:
			return p.Count.Value, true
		}
		return p.Ratio, p.Ratio > 0
	}
	for _, p := range s.Points {
		if x, ok := value(p); ok {
			least, most = min(least, x), max(most, x)
			if p.Bounded() && !counts {
				least, most = min(least, p.Low), max(most, p.High)
			}
		}
	}
	if least > most {
		least, most = 1, 1
	}
	scale := math.Log
	if counts {
		scale = func(x float64) float64 { return x }
		least, most = least-0.5, most+0.5
	} else {
		least, most = least/1.01, most*1.01 // what hardly moves does not look like much
	}
	x := func(run int) float64 {
		return left + (float64(run)+0.5)/float64(len(m.Runs))*(width-left-right)
	}
	y := func(ratio float64) float64 {
		return top + (scale(most)-scale(ratio))/(scale(most)-scale(least))*(height-top-bottom)
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<svg viewBox="0 0 %d %d" role="img" aria-label="%s">`, width, height, template.HTMLEscapeString(s.Workload+", ratio by run"))
	for _, t := range ticks(least, most) {
		class := "grid"
		if math.Abs(t-1) < 1e-9 {
			class = "one"
		}
		fmt.Fprintf(&b, `<line class="%s" x1="%d" x2="%d" y1="%.1f" y2="%.1f"/><text x="%d" y="%.1f" text-anchor="end">%s</text>`, class, left, width-right, y(t), y(t), left-4, y(t)+4, format.Trimmed(t, 2))
	}
	var band, line, dots, void strings.Builder
	move := "M"
	for i, p := range s.Points {
		at, ok := value(p)
		switch {
		case !ok && (p == nil || !p.Void):
			move = "M"
		case p.Void:
			move = "M"
			fmt.Fprintf(&void, "M%.1f %dl6 6m0-6l-6 6", x(i)-3, height-bottom-7)
		default:
			if p.Bounded() && !counts {
				fmt.Fprintf(&band, "M%.1f %.1fV%.1f", x(i), y(p.Low), y(p.High))
			}
			fmt.Fprintf(&line, "%s%.1f %.1f", move, x(i), y(at))
			fmt.Fprintf(&dots, "M%.1f %.1fh0", x(i), y(at))
			move = "L"
		}
	}
	for _, path := range []struct{ class, d string }{{"band", band.String()}, {"data", line.String()}, {"dots", dots.String()}, {"void", void.String()}} {
		if path.d != "" {
			fmt.Fprintf(&b, `<path class="%s" d="%s"/>`, path.class, path.d)
		}
	}
	for _, at := range s.Steps {
		fmt.Fprintf(&b, `<line class="step" x1="%.1f" x2="%.1f" y1="%d" y2="%d"/><text class="at" x="%.1f" y="10" text-anchor="middle">%d</text>`, x(at)-2, x(at)-2, top, height-bottom, x(at)-2, at+1)
	}
	fmt.Fprintf(&b, `<text x="%d" y="%d">%s</text>`, left, height-5, day(m.Runs[0].Started))
	if len(m.Runs) > 1 {
		fmt.Fprintf(&b, `<text x="%d" y="%d" text-anchor="end">%s</text>`, width-right, height-5, day(m.Runs[len(m.Runs)-1].Started))
	}
	b.WriteString("</svg>")
	return template.HTML(b.String()) // of numbers, and a name that is escaped
}

func day(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.DateOnly)
}
