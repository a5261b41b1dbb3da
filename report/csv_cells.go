package report

import (
	"math"
	"strconv"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/format"
)

// csvColumn is one column of format csv. text returns "" if a row has no text there.
type csvColumn struct {
	name string
	text func(csvRow) string
}

// maxField limits the characters of a text. The result document has all of it.
const maxField = 400

// formatCell returns a number as it is, and text in a form that is safe for terminals and spreadsheets.
func (c csvColumn) formatCell(row csvRow) string {
	text := c.text(row)
	if x, err := strconv.ParseFloat(text, 64); err == nil && !math.IsInf(x, 0) && !math.IsNaN(x) {
		return text
	}
	return CSVText(text)
}

// CSVText returns a text from outside as a field of CSV. It replaces unprintable characters, shortens the text,
// and prevents spreadsheets from reading a formula.
func CSVText(text string) string { return guardFormula(format.Clip(showLiteral(text), maxField)) }

// csvColumns returns the columns, the same for all rows. The helpers newValueColumn to newRankColumn make columns
// that only some rows fill.
func csvColumns() []csvColumn {
	newValueColumn := func(name string, text func(tare.Value) string) csvColumn {
		return csvColumn{name, func(row csvRow) string {
			if row.value == nil {
				return ""
			}
			return text(*row.value)
		}}
	}
	newIntervalColumn := func(name string, text func(tare.Value) string) csvColumn {
		return csvColumn{name, func(row csvRow) string {
			if row.value == nil || !row.bounded {
				return ""
			}
			return text(*row.value)
		}}
	}
	newFigureColumn := func(name string, text func(tare.Value) string) csvColumn {
		return csvColumn{name, func(row csvRow) string {
			if row.value == nil || row.section != csvFigure {
				return ""
			}
			return text(*row.value)
		}}
	}
	newDifferenceColumn := func(name string, text func(tare.Difference) string) csvColumn {
		return csvColumn{name, func(row csvRow) string {
			if row.difference == nil {
				return ""
			}
			return text(*row.difference)
		}}
	}
	newRatioColumn := func(name string, text func(tare.Comparison) string) csvColumn {
		return csvColumn{name, func(row csvRow) string {
			c := row.comparison
			if c == nil || c.Against == c.Contender {
				return ""
			}
			hasOnlyRank := row.section == csvFigure && row.contender.Role == tare.RoleBaseline
			if hasOnlyRank {
				return ""
			}
			return text(*c)
		}}
	}
	newRankColumn := func(name string, text func(tare.Comparison) string) csvColumn {
		return csvColumn{name, func(row csvRow) string {
			if row.comparison == nil || row.comparison.RankLow == 0 {
				return ""
			}
			return text(*row.comparison)
		}}
	}
	against := newRatioColumn("against", func(c tare.Comparison) string { return c.Against })
	level := newRatioColumn("level", func(c tare.Comparison) string { return formatPositive(c.Level) })
	return []csvColumn{
		{"study", func(row csvRow) string { return row.r.Study }},
		{"started", func(row csvRow) string {
			if row.r.Started.IsZero() {
				return ""
			}
			return row.r.Started.UTC().Format(time.RFC3339)
		}},
		{"workload", func(row csvRow) string { return row.workload }},
		{"contender", func(row csvRow) string { return row.contender.ID }},
		{"role", func(row csvRow) string { return string(row.contender.Role) }},
		{"name", func(row csvRow) string { return row.contender.Name }},
		{"version", func(row csvRow) string { return row.contender.Version }},
		{"metric", func(row csvRow) string { return row.metric.Name }},
		{"unit", func(row csvRow) string { return row.metric.Unit }},
		{"value", func(row csvRow) string {
			if row.value == nil || row.ranged {
				return ""
			}
			return formatNumber(row.value.Value)
		}},
		newIntervalColumn("value_low", func(v tare.Value) string { return formatNumber(v.Low) }),
		newIntervalColumn("value_high", func(v tare.Value) string { return formatNumber(v.High) }),
		newValueColumn("rounds", func(v tare.Value) string { return formatPositiveInt(v.Rounds) }),
		newFigureColumn("struck", func(v tare.Value) string { return strconv.FormatBool(v.Struck) }),
		{"void_by", csvRow.joinVoidChecks},
		{"against", func(row csvRow) string {
			return orDefault(row.against, against.text(row))
		}},
		newRatioColumn("ratio", func(c tare.Comparison) string { return formatPositive(c.Ratio) }),
		newRatioColumn("ratio_low", func(c tare.Comparison) string { return formatPositive(c.Low) }),
		newRatioColumn("ratio_high", func(c tare.Comparison) string { return formatPositive(c.High) }),
		{"level", func(row csvRow) string {
			return orDefault(formatPositive(row.level), level.text(row))
		}},
		newRatioColumn("exact", func(c tare.Comparison) string { return strconv.FormatBool(c.Exact) }),
		newRatioColumn("exploratory", func(c tare.Comparison) string { return strconv.FormatBool(c.Exploratory) }),
		newRankColumn("rank_low", func(c tare.Comparison) string { return strconv.Itoa(c.RankLow) }),
		newRankColumn("rank_high", func(c tare.Comparison) string { return strconv.Itoa(c.RankHigh) }),
		newRankColumn("letters", func(c tare.Comparison) string { return c.Letters }),
		{"criteria", csvRow.joinCriteria},
		{"claims", csvRow.joinClaims},
		{"section", func(row csvRow) string { return row.section }},
		newDifferenceColumn("property", func(d tare.Difference) string { return d.Property }),
		newDifferenceColumn("op", func(d tare.Difference) string { return d.Op }),
		newDifferenceColumn("case", func(d tare.Difference) string { return d.Case }),
		newDifferenceColumn("class", func(d tare.Difference) string { return string(d.Class) }),
		newDifferenceColumn("asked", func(d tare.Difference) string { return d.Asked }),
		newDifferenceColumn("reference_answer", func(d tare.Difference) string { return d.Reference }),
		newDifferenceColumn("answer", func(d tare.Difference) string { return d.Got }),
		{"text", func(row csvRow) string { return row.text }},
	}
}

func formatNumber(x float64) string {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return ""
	}
	return strconv.FormatFloat(x, 'f', -1, 64)
}

func formatPositive(x float64) string {
	if !(x > 0) {
		return ""
	}
	return formatNumber(x)
}

func formatPositiveInt(n int) string {
	if n <= 0 {
		return ""
	}
	return strconv.Itoa(n)
}
