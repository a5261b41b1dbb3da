package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/format"
)

// A break-even is the rate of operations from which a difference in cost matters. Workloads differ in shape: the
// members and levels of their structs.

const breakEvenHeading = "From which rate on it matters"

func (s *Section) addBreakEven(r *tare.Result) {
	for i, b := range r.BreakEven {
		if i > 0 {
			s.addSpace()
		}
		s.addText(Dim, explainBreakEven(r, b))
		s.addSpace()
		s.addTable("", b.Against+" against "+contenderTitle(r, b.Contender), newBreakEvenTable(r, b))
		s.addSpace()
		s.addText(Plain, b.Sentence)
	}
}

func explainBreakEven(r *tare.Result, b tare.BreakEvenResult) string {
	text := fmt.Sprintf("What %s costs more than %s, by %s: per operation, in percent of one core at a number of operations per second, and the rate at which it is 1 %% of a core. "+
		"Differences are taken round by round; intervals are at %s.", b.Against, contenderTitle(r, b.Contender), b.Metric, formatLevel(b.Level))
	if slices.ContainsFunc(b.Points, func(p tare.BreakEvenPoint) bool { return p.Levels > 0 }) {
		text += " Members are numbers, texts and arrays, those of nested structs included; levels are structs in structs."
	}
	return text
}

func newBreakEvenTable(r *tare.Result, b tare.BreakEvenResult) Table {
	hasShapes := slices.ContainsFunc(b.Points, func(p tare.BreakEvenPoint) bool { return p.Members > 0 || p.Levels > 0 })
	t := Table{Columns: []Column{{Name: "workload"}}}
	if hasShapes {
		t.Columns = append(t.Columns, Column{Name: "members", Right: true}, Column{Name: "levels", Right: true})
	}
	var lows []float64 // the smallest number determines the unit
	for _, p := range b.Points {
		lows = append(lows, p.MoreLow)
	}
	s := newScale(findMetric(b.Metric).Unit, lows)
	t.Columns = append(t.Columns, Column{Name: b.Against + " costs more", Unit: s.unit + " [interval]"})
	for _, rate := range b.Rates {
		t.Columns = append(t.Columns, Column{Name: "at " + formatRate(rate) + "/s", Unit: "% of a core", Right: true})
	}
	t.Columns = append(t.Columns, Column{Name: "1 % of a core", Unit: "at " + operationsNoun(r) + "/s [interval]"})
	for _, p := range b.Points {
		line := []Field{{Text: p.Workload}}
		if hasShapes {
			line = append(line, Field{Text: formatCount(p.Members)}, Field{Text: formatCount(p.Levels)})
		}
		line = append(line, Field{Text: s.formatValue(p.More) + " [" + s.formatValue(p.MoreLow) + ", " + s.formatValue(p.MoreHigh) + "]"})
		for _, cores := range p.Cores {
			line = append(line, Field{Text: formatCore(cores)})
		}
		rate := noValue
		if p.OnePercent > 0 {
			rate = formatPerSecond(p.OnePercent) + " [" + formatPerSecond(p.OnePercentLow) + ", " + formatPerSecond(p.OnePercentHigh) + "]"
		}
		t.Rows = append(t.Rows, Row{Cells: append(line, Field{Text: rate})})
	}
	return t
}

func formatCount(n int) string {
	if n == 0 {
		return noValue
	}
	return format.Grouped(float64(n), 0)
}

// csvBreakEven returns two rows per shape. One has the extra cost of the baseline, the other the rate at which it
// is 1 % of a core.
func csvBreakEven(r *tare.Result) []csvRow {
	var rows []csvRow
	for _, b := range r.BreakEven {
		for _, p := range b.Points {
			common := newCSVRow(r, "break-even", b.Contender) // fields of both rows
			common.workload = p.Workload
			common.against = b.Against
			common.level = b.Level
			common.bounded = true
			common.void = r.VoidsMetric(b.Contender, p.Workload, b.Metric)
			extra := common
			extra.metric = tare.Metric{Name: b.Metric + "_more", Unit: findMetric(b.Metric).Unit}
			extra.value = &tare.Value{Value: p.More, Low: p.MoreLow, High: p.MoreHigh, Rounds: p.Rounds}
			extra.text = describeShape(p)
			rows = append(rows, extra)
			if p.OnePercent > 0 {
				rate := common
				rate.metric = tare.Metric{Name: b.Metric + "_one_percent_rate", Unit: "1/s"}
				rate.value = &tare.Value{Value: p.OnePercent, Low: p.OnePercentLow, High: p.OnePercentHigh, Rounds: p.Rounds}
				rows = append(rows, rate)
			}
		}
	}
	return rows
}

func describeShape(p tare.BreakEvenPoint) string {
	var parts []string
	if p.Members > 0 {
		parts = append(parts, countNoun(p.Members, "member"))
	}
	if p.Levels > 0 {
		parts = append(parts, countNoun(p.Levels, "level"))
	}
	return strings.Join(parts, ", ")
}
