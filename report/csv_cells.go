package report

import (
	"math"
	"strconv"
	"time"

	"github.com/tarebench/tare"
)

// csvCell is one column.
type csvCell struct {
	name string
	text func(csvRow) string
}

// maxField is the maximal length of a text in characters. The document has all of it.
const maxField = 400

// formatCell returns the cell of a row. Numbers stay as they are; text is made safe for terminals and
// spreadsheets.
func (c csvCell) formatCell(row csvRow) string {
	text := c.text(row)
	if x, err := strconv.ParseFloat(text, 64); err == nil && !math.IsInf(x, 0) && !math.IsNaN(x) {
		return text
	}
	return CSVText(text)
}

// CSVText is foreign text as a field of CSV: letter by letter, cut off where it is long,
// and no formula.
func CSVText(text string) string { return guardFormula(truncateText(showLiteral(text), maxField)) }

func csvCells() []csvCell {
	value := func(name string, of func(tare.Value) string) csvCell {
		return csvCell{name, func(row csvRow) string {
			if row.value == nil {
				return ""
			}
			return of(*row.value)
		}}
	}
	bound := func(name string, of func(tare.Value) string) csvCell {
		return csvCell{name, func(row csvRow) string {
			if row.value == nil || !row.bounded {
				return ""
			}
			return of(*row.value)
		}}
	}
	figure := func(name string, of func(tare.Value) string) csvCell {
		return csvCell{name, func(row csvRow) string {
			if row.value == nil || row.section != csvFigure {
				return ""
			}
			return of(*row.value)
		}}
	}
	differs := func(name string, of func(tare.Difference) string) csvCell {
		return csvCell{name, func(row csvRow) string {
			if row.difference == nil {
				return ""
			}
			return of(*row.difference)
		}}
	}
	compared := func(name string, of func(tare.Comparison) string) csvCell {
		return csvCell{name, func(row csvRow) string {
			if c := row.comparison; c != nil && c.Against != c.Contender && (row.contender.Role != tare.RoleBaseline || row.section != csvFigure) {
				return of(*c)
			}
			return ""
		}}
	}
	ranked := func(name string, of func(tare.Comparison) string) csvCell {
		return csvCell{name, func(row csvRow) string {
			if row.comparison == nil || row.comparison.RankLow == 0 {
				return ""
			}
			return of(*row.comparison)
		}}
	}
	return []csvCell{
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
		bound("value_low", func(v tare.Value) string { return formatNumber(v.Low) }),
		bound("value_high", func(v tare.Value) string { return formatNumber(v.High) }),
		value("rounds", func(v tare.Value) string { return formatPositiveInt(v.Rounds) }),
		figure("struck", func(v tare.Value) string { return strconv.FormatBool(v.Struck) }),
		{"void_by", csvRow.joinVoidChecks},
		{"against", func(row csvRow) string {
			return orDefault(row.against, compared("", func(c tare.Comparison) string { return c.Against }).text(row))
		}},
		compared("ratio", func(c tare.Comparison) string { return formatPositive(c.Ratio) }),
		compared("ratio_low", func(c tare.Comparison) string { return formatPositive(c.Low) }),
		compared("ratio_high", func(c tare.Comparison) string { return formatPositive(c.High) }),
		{"level", func(row csvRow) string {
			return orDefault(formatPositive(row.level), compared("", func(c tare.Comparison) string { return formatPositive(c.Level) }).text(row))
		}},
		compared("exact", func(c tare.Comparison) string { return strconv.FormatBool(c.Exact) }),
		compared("exploratory", func(c tare.Comparison) string { return strconv.FormatBool(c.Exploratory) }),
		ranked("rank_low", func(c tare.Comparison) string { return strconv.Itoa(c.RankLow) }),
		ranked("rank_high", func(c tare.Comparison) string { return strconv.Itoa(c.RankHigh) }),
		ranked("letters", func(c tare.Comparison) string { return c.Letters }),
		{"criteria", csvRow.joinCriteria},
		{"claims", csvRow.joinClaims},
		{"section", func(row csvRow) string { return row.section }},
		differs("property", func(d tare.Difference) string { return d.Property }),
		differs("op", func(d tare.Difference) string { return d.Op }),
		differs("case", func(d tare.Difference) string { return d.Case }),
		differs("class", func(d tare.Difference) string { return string(d.Class) }),
		differs("asked", func(d tare.Difference) string { return d.Asked }),
		differs("reference_answer", func(d tare.Difference) string { return d.Reference }),
		differs("answer", func(d tare.Difference) string { return d.Got }),
		{"text", func(row csvRow) string { return row.text }},
	}
}

// formatNumber prints x to its last digit, or "" if it is not finite.
func formatNumber(x float64) string {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return ""
	}
	return strconv.FormatFloat(x, 'f', -1, 64)
}

// formatPositive prints x, or "" if it is not above 0.
func formatPositive(x float64) string {
	if !(x > 0) {
		return ""
	}
	return formatNumber(x)
}

// formatPositiveInt prints n, or "" if it is not above 0.
func formatPositiveInt(n int) string {
	if n <= 0 {
		return ""
	}
	return strconv.Itoa(n)
}
