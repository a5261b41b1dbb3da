package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tarebench/tare"
)

const breakEvenHeading = "From which rate on it matters"

func (p *page) breakEven(r *tare.Result) {
	if len(r.BreakEven) == 0 {
		return
	}
	p.heading(strings.ToUpper(breakEvenHeading))
	for i, b := range r.BreakEven {
		if i > 0 {
			p.blank()
		}
		p.wrap(bodyIndent, bodyIndent, breakEvenMeans(r, b), p.style.Dim)
		p.blank()
		breakEven(r, b).print(p)
		p.blank()
		p.wrap(bodyIndent, bodyIndent, b.Sentence, nil)
	}
}

func (s *sheet) breakEven(r *tare.Result, level int) {
	if len(r.BreakEven) == 0 {
		return
	}
	s.heading(level, breakEvenHeading)
	for _, b := range r.BreakEven {
		s.block(plain(breakEvenMeans(r, b)))
		s.table(breakEven(r, b))
		s.block(plain(b.Sentence))
	}
}

// breakEvenMeans explains a table.
func breakEvenMeans(r *tare.Result, b tare.BreakEvenResult) string {
	text := fmt.Sprintf("What %s costs more than %s, by %s: per operation, in percent of one core at a number of operations per second, and the rate at which it is 1 %% of a core. "+
		"Differences are taken round by round; intervals are at %s.", b.Against, title(r, b.Contender), b.Metric, level(b.Level))
	if slices.ContainsFunc(b.Points, func(p tare.BreakEvenPoint) bool { return p.Levels > 0 }) {
		text += " Members are numbers, texts and arrays, those of nested structs included; levels are structs in structs."
	}
	return text
}

// breakEven is a row for every shape, and a column for every rate.
func breakEven(r *tare.Result, b tare.BreakEvenResult) table {
	shaped := slices.ContainsFunc(b.Points, func(p tare.BreakEvenPoint) bool { return p.Members > 0 || p.Levels > 0 })
	t := table{columns: []column{{name: "workload"}}}
	if shaped {
		t.columns = append(t.columns, column{name: "members", right: true}, column{name: "levels", right: true})
	}
	var least []float64
	for _, p := range b.Points {
		least = append(least, p.MoreLow)
	}
	s := scaleFor(metricNamed(b.Metric).Unit, least)
	t.columns = append(t.columns, column{name: b.Against + " costs more", unit: s.unit + " [interval]"})
	for _, rate := range b.Rates {
		t.columns = append(t.columns, column{name: "at " + asRate(rate) + "/s", unit: "% of a core", right: true})
	}
	t.columns = append(t.columns, column{name: "1 % of a core", unit: "at " + done(r) + "/s [interval]"})
	for _, p := range b.Points {
		line := []cell{{text: p.Workload}}
		if shaped {
			line = append(line, cell{text: orUnknown(p.Members)}, cell{text: orUnknown(p.Levels)})
		}
		line = append(line, cell{text: s.print(p.More) + " [" + s.print(p.MoreLow) + ", " + s.print(p.MoreHigh) + "]"})
		for _, cores := range p.Cores {
			line = append(line, cell{text: core(cores)})
		}
		one := nothing
		if p.OnePercent > 0 {
			one = perSecond(p.OnePercent) + " [" + perSecond(p.OnePercentLow) + ", " + perSecond(p.OnePercentHigh) + "]"
		}
		t.rows = append(t.rows, row{cells: append(line, cell{text: one})})
	}
	return t
}

// orUnknown prints a count that is not known where it is zero.
func orUnknown(n int) string {
	if n == 0 {
		return nothing
	}
	return grouped(float64(n), 0)
}

// csvBreakEven is a row for what the baseline costs more on every shape, and
// one for the rate at which that is 1 % of a core.
func csvBreakEven(r *tare.Result) []csvRow {
	var rows []csvRow
	for _, b := range r.BreakEven {
		for _, p := range b.Points {
			about := csvAbout(r, "break-even", b.Contender)
			about.workload, about.against, about.level, about.bounded = p.Workload, b.Against, b.Level, true
			about.void = r.VoidsMetric(b.Contender, p.Workload, b.Metric)
			more := about
			more.metric = tare.Metric{Name: b.Metric + "_more", Unit: metricNamed(b.Metric).Unit}
			more.value = &tare.Value{Value: p.More, Low: p.MoreLow, High: p.MoreHigh, Rounds: p.Rounds}
			more.text = shape(p)
			rows = append(rows, more)
			if p.OnePercent > 0 {
				about.metric = tare.Metric{Name: b.Metric + "_one_percent_rate", Unit: "1/s"}
				about.value = &tare.Value{Value: p.OnePercent, Low: p.OnePercentLow, High: p.OnePercentHigh, Rounds: p.Rounds}
				rows = append(rows, about)
			}
		}
	}
	return rows
}

// shape says in words what a point is of; empty where nobody knows.
func shape(p tare.BreakEvenPoint) string {
	var parts []string
	if p.Members > 0 {
		parts = append(parts, plural(p.Members, "member"))
	}
	if p.Levels > 0 {
		parts = append(parts, plural(p.Levels, "level"))
	}
	return strings.Join(parts, ", ")
}
