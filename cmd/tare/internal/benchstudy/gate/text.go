package gate

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tarebench/tare/cmd/tare/internal/project"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/report"
)

// This file writes the report of a gate for a terminal: a table of benchmarks, what was not
// compared, the verdict, and what to do.

// WriteText writes the report for a terminal. Unless all is set, a long table only counts the rows
// that pass.
func WriteText(w io.Writer, rep Report, st report.Style, all bool) error {
	rep = rep.legibleCopy()
	var b strings.Builder
	fmt.Fprintf(&b, "tare gate: %s against %s\n", rep.Head, rep.Base)
	if len(rep.Rows) > 0 {
		fmt.Fprintf(&b, "%s\n", rep.summary())
	}
	shown, rest := rep.listedRows(all)
	if len(shown) > 0 {
		b.WriteString("\n")
		writeTextTable(&b, rep, shown, st)
	}
	if rest != "" {
		fmt.Fprintf(&b, "\n  %s\n", rest)
	}
	rep.writeSkipped(&b, "\n", "  ", func(severity, text string) string {
		switch severity {
		case SeverityError:
			return format.Paint(st.Bad, "error: ") + text
		case SeverityWarning:
			return format.Paint(st.Warn, "warning: ") + text
		case "":
			return text
		}
		return format.Paint(st.Dim, "note: ") + text
	})
	fmt.Fprintf(&b, "\n%s\n", format.Paint(rep.verdictColour(st), rep.Sentence))
	if steps := rep.nextSteps(); len(steps) > 0 {
		b.WriteString("\nWhat to do:\n")
		for _, s := range steps {
			fmt.Fprintf(&b, "  %s\n", s.text)
			for _, line := range s.lines {
				fmt.Fprintf(&b, "      %s\n", line)
			}
		}
	}
	_, err := io.WriteString(w, report.WrapLines(b.String(), st.Width))
	return err
}

// legibleCopy returns a copy without the results, and without unprintable characters in texts. Some
// texts come from other machines.
func (rep Report) legibleCopy() Report {
	rep.Results = nil
	return report.LegibleAll(rep)
}

func (rep *Report) summary() string {
	return fmt.Sprintf("%s on %s, %s in %s; the family-wise error rate is at most %s",
		rep.describeCount(), format.List(rep.rowMetrics(), "and"), format.Count(rep.Rounds, "round"), formatSeconds(rep.Seconds), formatShare(rep.Alpha))
}

func (rep *Report) rowMetrics() []string {
	var out []string
	for _, r := range rep.Rows {
		if !slices.Contains(out, r.Metric) {
			out = append(out, r.Metric)
		}
	}
	slices.SortFunc(out, func(a, b string) int { return metricRank(a) - metricRank(b) })
	return out
}

func metricRank(metric string) int {
	known := slices.Concat(project.Metrics(), project.Latencies(), []string{"allocs"})
	if i := slices.Index(known, metric); i >= 0 {
		return i
	}
	return len(known)
}

func formatSeconds(s float64) string {
	if s >= 120 {
		return fmt.Sprintf("%d min %d s", int(s)/60, int(s)%60)
	}
	return fmt.Sprintf("%.0f s", s)
}

const maxRows = 24

// listedRows returns the rows to list, and a line that counts the others, or "" if all are listed.
func (rep *Report) listedRows(all bool) (rows []Row, rest string) {
	if all || len(rep.Rows) <= maxRows {
		return rep.Rows, ""
	}
	passing := 0
	for _, r := range rep.Rows {
		if r.Outcome == NoWorse {
			passing++
		} else {
			rows = append(rows, r)
		}
	}
	if passing > 0 {
		rest = fmt.Sprintf("%d more pass: at most %s worse (--all lists them)", passing, rep.marginText())
	}
	return rows, rest
}

func (rep *Report) rowCells(r Row) []string {
	base, head := formatAmount(r.Base, r.Unit), formatAmount(r.Head, r.Unit)
	if r.Unit != "" && !strings.HasPrefix(r.Unit, "ns") { // the head's cell has the unit of both
		base = format.Average(r.Base)
	}
	verdict := rep.rowVerdict(r)
	if r.Waived != nil {
		verdict += ", waived"
	}
	change, interval := r.changeCells()
	return []string{verdict, rep.rowTitle(r), r.Metric, base, head, change, interval}
}

// changeCells returns the cells of a row's change and its interval, or "". The first matching case
// decides: a void row has no values, and a row with a limit has the interval of the head's value.
func (r Row) changeCells() (change, interval string) {
	switch {
	case r.Outcome == Void:
		return "", ""
	case r.Exact:
		return formatSigned(r.Head - r.Base), "exactly"
	case r.hasLimit():
		if r.Base > 0 {
			change = Row{Ratio: r.Head / r.Base}.formatChange()
		}
		if r.hasInterval() {
			interval = formatAmount(r.Low, r.Unit) + " to " + formatAmount(r.High, r.Unit)
		}
		return change, interval
	case r.Ratio > 0:
		return r.formatChanges()
	}
	return "", ""
}

func formatSigned(difference float64) string {
	text := format.Average(difference)
	switch {
	case text == "-0":
		return "0"
	case difference > 0 && text != "0":
		return "+" + text
	}
	return text
}

const (
	verdictColumn   = 0
	benchmarkColumn = 1
)

func columnHeads() []string {
	return []string{"verdict", "benchmark", "metric", "base", "head", "change", "interval"}
}

func isNumeric(column int) bool { return column >= 3 && column <= 5 }

func writeTextTable(b *strings.Builder, rep Report, rows []Row, st report.Style) {
	var lines [][]string // cells by row
	for _, r := range rows {
		lines = append(lines, rep.rowCells(r))
	}
	widths := make([]int, len(columnHeads()))
	for _, cells := range append([][]string{columnHeads()}, lines...) {
		for i, cell := range cells {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	writeLine := func(cells []string, colour func(column int) func(string) string) {
		var line strings.Builder
		for i, cell := range cells {
			pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			cell = format.Paint(colour(i), cell)
			if isNumeric(i) {
				line.WriteString("  " + pad + cell)
			} else {
				line.WriteString("  " + cell + pad)
			}
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
	writeLine(columnHeads(), func(int) func(string) string { return st.Bold })
	for i, r := range rows {
		writeLine(lines[i], func(column int) func(string) string {
			if column == verdictColumn {
				return rowColour(r, st)
			}
			return nil // plain text
		})
		if note := rep.rowNote(r); note != "" {
			fmt.Fprintf(b, "      %s\n", format.Paint(st.Dim, note))
		}
		for _, line := range rep.explainRow(r) {
			fmt.Fprintf(b, "      %s\n", report.Legible(line))
		}
	}
}

// rowNote returns the line below a row that explains it, or "" if its numbers suffice.
func (rep *Report) rowNote(r Row) string {
	switch {
	case rep.repeatsVoid(r):
		// The earlier row has the note.
	case r.Waived != nil:
		return r.Waived.String()
	case r.Outcome == Void:
		if r.Advice != "" {
			return r.Sentence + " → " + r.Advice
		}
		return r.Sentence
	case r.Outcome == Open || r.Untimed:
		return r.Sentence
	}
	return ""
}

// repeatsVoid reports whether an earlier row of the same benchmark and machine is void for the same
// reason.
func (rep *Report) repeatsVoid(r Row) bool {
	first := slices.IndexFunc(rep.Rows, func(o Row) bool {
		isSame := o.Benchmark == r.Benchmark && o.Machine == r.Machine
		return isSame && o.Outcome == Void && o.Sentence == r.Sentence
	})
	return first >= 0 && rep.Rows[first].Metric != r.Metric
}

// rowColour returns the style of a row's verdict; nil for plain text.
func rowColour(r Row, st report.Style) func(string) string {
	switch {
	case r.Waived != nil || r.Outcome == Open:
		return st.Warn
	case r.Outcome == Worse || r.Outcome == Void:
		return st.Bad
	case r.Outcome == Better:
		return st.Good
	}
	return nil
}

func (rep *Report) verdictColour(st report.Style) func(string) string {
	switch {
	case rep.Blocked:
		return st.Bad
	case rep.Outcome == Open || rep.Outcome == Nothing:
		return st.Warn
	}
	return st.Good
}

// writeSkipped writes two lists: the benchmarks that were not compared, and the remarks. before
// precedes each list, e.g. an empty line. formatLine formats a text of a severity, which is "" for a
// benchmark that was skipped without an error.
func (rep *Report) writeSkipped(b *strings.Builder, before, indent string, formatLine func(severity, text string) string) {
	if len(rep.Skipped) > 0 {
		b.WriteString(before + "Not compared:\n")
		for _, same := range groupByReason(rep.Skipped) {
			severity := ""
			if same[0].Broken {
				severity = SeverityError
			}
			b.WriteString(indent + formatLine(severity, rep.describeSkipped(same)) + "\n")
		}
	}
	for i, r := range rep.Remarks {
		if i == 0 {
			b.WriteString(before)
		}
		b.WriteString(indent + formatLine(r.Severity, r.Text) + "\n")
	}
}

// groupByReason groups entries with the same reason, in the order of the first.
func groupByReason(entries []Skipped) [][]Skipped {
	var groups [][]Skipped
	index := map[Skipped]int{} // index of a group, by an entry without its name
	for _, entry := range entries {
		withoutName := entry
		withoutName.What = ""
		i, ok := index[withoutName]
		if !ok {
			i, index[withoutName] = len(groups), len(groups)
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], entry)
	}
	return groups
}

func (rep *Report) describeSkipped(same []Skipped) string {
	if len(same) == 1 {
		return fmt.Sprintf("%s: %s", rep.shortName(same[0].What), same[0].Why)
	}
	names := make([]string, len(same))
	for i, entry := range same {
		names[i] = rep.shortName(entry.What)
	}
	return fmt.Sprintf("%s (%d): %s", same[0].Why, len(same), strings.Join(names, ", "))
}

const maxReasons = 5

// explainRow returns the lines about the causes of a row's difference. A benchmark has several rows,
// but only its first worse, better or void row shows the causes.
func (rep *Report) explainRow(r Row) []string {
	if r.result == nil {
		return nil
	}
	explained := slices.IndexFunc(rep.Rows, func(o Row) bool {
		isSame := o.Benchmark == r.Benchmark && o.Machine == r.Machine
		return isSame && (o.Outcome == Worse || o.Outcome == Better || o.Outcome == Void)
	})
	if explained < 0 || rep.Rows[explained].Metric != r.Metric {
		return nil
	}
	for _, e := range r.result.Explanations {
		if e.Workload == r.workload {
			return report.Reasons(e, maxReasons)
		}
	}
	return nil
}
