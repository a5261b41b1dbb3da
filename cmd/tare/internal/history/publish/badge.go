package publish

import (
	"fmt"
	"html/template"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/tarebench/tare/cmd/tare/internal/history"
	"github.com/tarebench/tare/internal/format"
)

// Standing contains the number of benchmarks with each verdict in the newest runs. A benchmark is
// better or worse if its level has changed from run to run.
type Standing struct{ Better, Worse, Steady, Unknown int }

// StandingOf counts the series of the machine that ran last. A series is a program on a workload.
// Unreadable results and skipped workloads count as unknown.
func StandingOf(t history.Trend) (s Standing) {
	if len(t.Machines) == 0 {
		return s
	}
	known := map[string]bool{}
	for _, series := range t.Machines[0].Series {
		known[series.Workload] = true
		if series.Contender == t.Against {
			continue
		}
		hasVerdict := series.Missing == "" && (series.Change == history.Changed || series.Change == history.NotShown)
		switch {
		case !hasVerdict:
			s.Unknown++
		case series.Change == history.NotShown:
			s.Steady++
		case series.IsWorse(t.Metric):
			s.Worse++
		default:
			s.Better++
		}
	}
	for _, l := range t.Machines[0].NotWeighed { // skipped workloads without a series
		if !known[strings.TrimPrefix(l.What, "workload ")] {
			s.Unknown++
		}
	}
	s.Unknown += len(t.Unreadable)
	return s
}

// noVerdict is the colour of missing verdicts.
const noVerdict = "#59636e"

func (s Standing) badgeText() (text, colour string) {
	switch {
	case s.Worse > 0:
		text, colour = fmt.Sprintf("%d worse", s.Worse), "#cf222e"
	case s.Better > 0:
		text, colour = fmt.Sprintf("%d better", s.Better), "#1a7f37"
	case s.Steady > 0:
		text, colour = format.Count(s.Steady, "benchmark")+" steady", "#1a7f37"
	default:
		return "no history", noVerdict
	}
	if s.Unknown > 0 {
		text += fmt.Sprintf(", %d not known", s.Unknown)
		if s.Worse == 0 {
			colour = noVerdict
		}
	}
	return text, colour
}

// letterWidth is the approximate width of a character, in pixels.
const letterWidth = 6.6

// Badge writes an SVG of 20 pixels' height for a README: the label on the left, the text on the right.
func Badge(w io.Writer, label string, s Standing) error {
	text, colour := s.badgeText()
	const padding = 12 // pixels, both sides together
	labelWidth := letterWidth*float64(utf8.RuneCountInString(label)) + padding
	textWidth := letterWidth*float64(utf8.RuneCountInString(text)) + padding
	name := template.HTMLEscapeString(label)
	_, err := fmt.Fprintf(w, `<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="20" role="img" aria-label="%s: %s"><title>%[2]s: %[3]s</title>`+
		`<rect width="%.0[1]f" height="20" rx="3" fill="#3d444d"/><rect x="%.0[4]f" width="%.0[5]f" height="20" rx="3" fill="%[6]s"/><rect x="%.0[4]f" width="4" height="20" fill="%[6]s"/>`+
		`<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11" text-anchor="middle"><text x="%.1[7]f" y="14">%[2]s</text><text x="%.1[8]f" y="14">%[3]s</text></g></svg>`+"\n",
		labelWidth+textWidth, name, text, labelWidth, textWidth, colour, labelWidth/2, labelWidth+textWidth/2)
	return err
}
