// Package publish writes the trends of studies as a page with charts, as a badge, and as OpenMetrics.
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

// page is the data of page.html.
type page struct {
	Title, Written, Headline string
	Policy                   string
	Style                    template.CSS
	Studies                  []study
}

// IsDrawn reports whether a chart has a drawing.
func (page) IsDrawn(c chart) bool { return c.Drawing != "" }

type study struct {
	Study, Metric, Against, Direction string // Against is the reference; Direction says which ratios are better
	Machines                          []machine
	Left                              []string // results that could not be read, a line each
}

type machine struct {
	Name, Span, Between string   // Span is the number of runs, Between a sentence about how much they vary
	Charts              []chart  // changed ones first
	Drawn               bool     // there are enough runs for drawings
	Left                []string // entries that the newest run skipped, a line each
	Runs                []run
}

type chart struct {
	Name, Last, Change string
	Mark               string // CSS class of Change
	order              int    // a smaller order comes first
	Drawing            template.HTML
	Steps              []string
}

type run struct {
	Number                  int    // from 1, the oldest first
	When, Of, Rounds, Stale string // Of is a version; Stale names differences from the newest run
}

// maxStale is the largest number of named differences of a run.
const maxStale = 2

// Page writes the trends of a repository as one HTML file without references to other files.
func Page(w io.Writer, title string, trends []history.Trend, now time.Time) error {
	style := html.Style()
	p := page{Title: title, Written: format.Minute(now), Policy: html.Policy(style, ""), Style: template.CSS(style)} //nolint:gosec // compiled in
	var total Standing
	for _, t := range trends {
		s := study{Study: t.Study, Metric: t.Metric, Against: t.Against, Direction: history.DescribeDirection(t.Metric), Left: t.Unreadable}
		for _, m := range t.Machines {
			s.Machines = append(s.Machines, machineOf(m, t.Metric))
		}
		if len(s.Machines)+len(s.Left) > 0 {
			p.Studies = append(p.Studies, s)
		}
		standing := StandingOf(t)
		total.Better += standing.Better
		total.Worse += standing.Worse
		total.Steady += standing.Steady
		total.Unknown += standing.Unknown
	}
	p.Headline = total.headlineText(len(p.Studies))
	return pageTemplate.Execute(w, p)
}

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
	manyContenders := false // there is more than one
	for _, s := range m.Series {
		manyContenders = manyContenders || s.Contender != m.Series[0].Contender
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
			c.order, c.Mark = 0, "more"
		default: // better
			c.order, c.Mark = 1, "less"
		}
		if manyContenders {
			c.Name += " · " + s.Contender
		}
		if s.Last != nil {
			c.Last = s.Last.Bounds()
		}
		for _, step := range s.Steps {
			c.Steps = append(c.Steps, stepText(m, s, step))
		}
		out.Charts = append(out.Charts, c)
	}
	slices.SortStableFunc(out.Charts, func(a, b chart) int { return a.order - b.order })
	for _, l := range m.NotWeighed {
		out.Left = append(out.Left, l.What+": "+l.Why)
	}
	for i := len(m.Runs) - 1; i >= 0; i-- {
		r := m.Runs[i]
		stale := strings.Join(r.Stale[:min(maxStale, len(r.Stale))], "; ")
		if more := len(r.Stale) - maxStale; more > 0 {
			stale += fmt.Sprintf("; %d more", more)
		}
		out.Runs = append(out.Runs, run{Number: i + 1, When: format.Minute(r.Started), Of: r.Version(""), Rounds: fmt.Sprint(r.Rounds), Stale: stale})
	}
	return out
}

// stepText describes the run of a step, the commits before and after, and the ratios.
func stepText(m history.Machine, s history.Series, index int) string {
	var before *history.Point
	for _, p := range s.Points[:index] {
		if p != nil && !p.Void {
			before = p
		}
	}
	text := fmt.Sprintf("run %d (%s)", index+1, format.Minute(m.Runs[index].Started))
	if before == nil {
		return text
	}
	from, to := history.Commit(m.Runs[before.Run].Version(s.Contender)), history.Commit(m.Runs[index].Version(s.Contender))
	if from != "" && to != "" && from != to {
		text += ": commits " + from + ".." + to
	}
	if p := s.Points[index]; p != nil {
		text += fmt.Sprintf(", %s before, then %s", before.Bounds(), p.Bounds())
	}
	return text
}

const minRuns = 3

// drawSeries draws ratios on a logarithmic scale, or counts if one is zero.
func drawSeries(m history.Machine, s history.Series) template.HTML {
	drawCounts := history.HasZeroCount(s.Points)
	t := plot.Trend{Runs: len(m.Runs), Steps: s.Steps}
	const margin = 0.05  // see plot.NewLogAxis
	var values []float64 // for the axis; 0 if a point has no interval
	maxCount := 1.0
	for i, p := range s.Points {
		switch {
		case p == nil:
			continue
		case p.Void:
			t.Marks = append(t.Marks, plot.Mark{Run: i, Void: true})
			continue
		case drawCounts:
			t.Marks = append(t.Marks, plot.Mark{Run: i, Value: p.Count.Value})
			maxCount = max(maxCount, p.Count.Value)
			continue
		case !(p.Ratio > 0): // also if it is NaN
			continue
		}
		mark := plot.Mark{Run: i, Value: p.Ratio}
		if p.Bounded() {
			mark.Low, mark.High = p.Low, p.High
		}
		t.Marks, values = append(t.Marks, mark), append(values, mark.Value, mark.Low, mark.High)
	}
	t.Axis = plot.NewLogAxis(margin, values...)
	if drawCounts {
		t.Axis = plot.Axis{High: maxCount}
	}
	return t.HTML(s.Workload + ", ratio by run")
}
