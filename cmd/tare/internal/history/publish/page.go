// Package publish writes the trends of studies for others to read: a page with a chart for each
// benchmark, a badge, and OpenMetrics.
package publish

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/tarebench/tare/cmd/tare/internal/history"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/internal/plot"
	"github.com/tarebench/tare/report/html"
)

//go:embed page.html
var pageText string

var pageTemplate = template.Must(template.New("page").Parse(pageText))

type page struct {
	Title, Written, Headline string
	Policy                   string
	Style                    template.CSS
	Studies                  []study
}

// IsDrawn reports whether a row has a drawing.
func (page) IsDrawn(c chart) bool { return c.Drawing != "" }

type study struct {
	Study, Metric, Against, Direction string
	Machines                          []machine
	Left                              []string // results that could not be read, a line each
}

type machine struct {
	Name, Span, Between string
	Charts              []chart  // those that changed first
	Drawn               bool     // there are enough runs for drawings
	Left                []string // entries that the newest run skipped, a line each
	Runs                []run
}

type chart struct {
	Name, Last, Change string
	Mark               string // of Change
	order              int
	Drawing            template.HTML
	Steps              []string
}

type run struct {
	Number                  int
	When, Of, Rounds, Stale string
}

// maxStale limits the differences of a stale run that the page names.
const maxStale = 2

// Page writes the trends of a repository as one file without references to others.
func Page(w io.Writer, title string, trends []history.Trend, now time.Time) error {
	style := html.Style()
	p := page{Title: title, Written: format.Minute(now), Policy: html.Policy(style, ""), Style: template.CSS(style)} //nolint:gosec // compiled in
	var all Standing
	for _, t := range trends {
		s := study{Study: t.Study, Metric: t.Metric, Against: t.Against, Direction: history.DescribeDirection(t.Metric), Left: t.Left}
		for _, m := range t.Machines {
			s.Machines = append(s.Machines, machineOf(m, t.Metric))
		}
		if len(s.Machines)+len(s.Left) > 0 {
			p.Studies = append(p.Studies, s)
		}
		one := StandingOf(t)
		all = Standing{all.Better + one.Better, all.Worse + one.Worse, all.Steady + one.Steady, all.Unknown + one.Unknown}
	}
	p.Headline = all.headlineText(len(p.Studies))
	return pageTemplate.Execute(w, p)
}

// headlineText returns how many benchmarks changed in the newest runs, of how many.
func (s Standing) headlineText(studies int) string {
	if studies == 0 {
		return "No result was kept yet."
	}
	known := s.Better + s.Worse + s.Steady
	text := fmt.Sprintf("%d of %s changed: %d worse, %d better", s.Better+s.Worse, format.Count(known, "benchmark"), s.Worse, s.Better)
	if s.Better+s.Worse == 0 {
		text = "No change is shown in " + format.Count(known, "benchmark")
	}
	if s.Unknown > 0 {
		text += fmt.Sprintf("; %d not known", s.Unknown)
	}
	return text + "."
}

func machineOf(m history.Machine, metric string) machine {
	out := machine{Name: m.Name, Span: format.Count(len(m.Runs), "run"), Drawn: len(m.Runs) >= minRuns}
	if m.Known {
		out.Between = fmt.Sprintf("From run to run ratios vary by %s (standard deviation) beyond their intervals.", format.Percent(math.Expm1(m.Between)))
	}
	several := false
	for _, s := range m.Series {
		several = several || s.Contender != m.Series[0].Contender
	}
	for _, s := range m.Series {
		c := chart{Name: s.Workload, Last: "void", Change: m.DescribeChange(s, metric)}
		if out.Drawn {
			c.Drawing = drawSeries(m, s)
		}
		switch {
		case s.Change != history.Changed:
			c.order, c.Mark = 2, "dim"
		case s.IsWorse(metric):
			c.Mark = "more"
		default:
			c.order, c.Mark = 1, "less"
		}
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
	slices.SortStableFunc(out.Charts, func(a, b chart) int { return a.order - b.order })
	for _, l := range m.Left {
		out.Left = append(out.Left, l.What+": "+l.Why)
	}
	for i := len(m.Runs) - 1; i >= 0; i-- {
		r := m.Runs[i]
		stale := strings.Join(r.Stale[:min(maxStale, len(r.Stale))], "; ")
		if more := len(r.Stale) - maxStale; more > 0 {
			stale += fmt.Sprintf("; %d more", more)
		}
		out.Runs = append(out.Runs, run{i + 1, format.Minute(r.Started), r.Version(""), fmt.Sprint(r.Rounds), stale})
	}
	return out
}

// stepText returns in which run, and between which commits, a ratio changed.
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

// minRuns is the smallest number of runs for a drawing.
const minRuns = 3

// drawSeries draws a series, runs from left to right: its ratios on a logarithmic scale, or the
// contender's counts if a count is zero.
func drawSeries(m history.Machine, s history.Series) template.HTML {
	counts := history.HasZero(s.Points)
	t := plot.Trend{Runs: len(m.Runs), Steps: s.Steps}
	var values []float64
	most := 1.0
	for i, p := range s.Points {
		switch {
		case p == nil:
			continue
		case p.Void:
			t.Marks = append(t.Marks, plot.Mark{Run: i, Void: true})
			continue
		case counts:
			t.Marks, most = append(t.Marks, plot.Mark{Run: i, Value: p.Count.Value}), max(most, p.Count.Value)
			continue
		case !(p.Ratio > 0):
			continue
		}
		mark := plot.Mark{Run: i, Value: p.Ratio}
		if p.Bounded() {
			mark.Low, mark.High = p.Low, p.High
		}
		t.Marks, values = append(t.Marks, mark), append(values, mark.Value, mark.Low, mark.High)
	}
	t.Axis = plot.NewLogAxis(0.05, values...)
	if counts {
		t.Axis = plot.Axis{High: most}
	}
	return t.HTML(s.Workload + ", ratio by run")
}
