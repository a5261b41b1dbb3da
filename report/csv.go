package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tarebench/tare"
)

// CSV writes r as comma-separated values (RFC 4180, lines end in a newline)
// under a header: one row per workload, contender and metric. value is the
// median over rounds in unit, ratio the contender's figure over that of the
// baseline; what there is not is empty. A figure that is struck, or beside
// which void_by names a check, must not be used. The error is the writer's.
func CSV(w io.Writer, r *tare.Result) error { return writeCSV(w, r, true) }

// moreCSV is CSV without its header, to follow another result.
func moreCSV(w io.Writer, r *tare.Result) error { return writeCSV(w, r, false) }

func writeCSV(w io.Writer, r *tare.Result, header bool) error {
	out := csv.NewWriter(w)
	cells := csvCells()
	record := make([]string, len(cells))
	if header {
		for i, c := range cells {
			record[i] = c.name
		}
		out.Write(record) //nolint:errcheck // Flush keeps the error
	}
	for _, row := range csvRows(r) {
		for i, c := range cells {
			record[i] = c.of(row)
		}
		out.Write(record) //nolint:errcheck // Flush keeps the error
	}
	out.Flush()
	if err := out.Error(); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

// csvRow is everything about one contender on one workload by one metric.
type csvRow struct {
	r          *tare.Result
	workload   string
	contender  tare.Contender
	metric     tare.Metric
	value      *tare.Value      // nil: none
	comparison *tare.Comparison // nil: none
}

// csvRows lists the rows in the result's own order: those with a figure, and
// those without one about which there is a verdict, a claim or a void.
func csvRows(r *tare.Result) []csvRow {
	base := baseline(r)
	var rows []csvRow
	for _, w := range r.Workloads {
		v := look(r, w.ID, Style{}, map[string]bool{})
		for _, c := range r.Contenders {
			for _, metric := range r.Metrics {
				row := csvRow{r: r, workload: w.ID, contender: c, metric: metricNamed(metric)}
				if i := slices.IndexFunc(r.Values, func(x tare.Value) bool {
					return x.Workload == w.ID && x.Contender == c.ID && x.Metric == metric
				}); i >= 0 {
					row.value = &r.Values[i]
				}
				row.comparison = csvComparison(r, w.ID, c.ID, metric, base)
				if row.value != nil || row.comparison != nil || row.criteria() != "" || row.claims() != "" || v.present(c.ID) {
					rows = append(rows, row)
				}
			}
		}
	}
	return rows
}

// csvComparison is the contender against the baseline. The baseline's own
// holds its rank, whoever it is against.
func csvComparison(r *tare.Result, workload, contender, metric, base string) *tare.Comparison {
	for i, c := range r.Comparisons {
		if c.Workload == workload && c.Contender == contender && c.Metric == metric && (c.Against == base || contender == base) {
			return &r.Comparisons[i]
		}
	}
	return nil
}

func (row csvRow) criteria() string {
	var parts []string
	for _, v := range row.r.Verdicts {
		if v.Criterion != "" && v.Workload == row.workload && v.Contender == row.contender.ID && v.Metric == row.metric.Name {
			parts = append(parts, v.Criterion+": "+string(v.Verdict))
		}
	}
	return strings.Join(parts, "; ")
}

func (row csvRow) claims() string {
	var parts []string
	for _, c := range row.r.Claims {
		if c.Workload == row.workload && c.Contender == row.contender.ID && c.Metric == row.metric.Name {
			parts = append(parts, c.ID+": "+string(c.Outcome))
		}
	}
	return strings.Join(parts, "; ")
}

func (row csvRow) voidBy() string {
	var checks []string
	for _, f := range row.r.Voids(row.contender.ID, row.workload) {
		if !slices.Contains(checks, f.Check) {
			checks = append(checks, f.Check)
		}
	}
	return strings.Join(checks, "; ")
}

// csvCell is one column.
type csvCell struct {
	name string
	of   func(csvRow) string
}

func csvCells() []csvCell {
	value := func(name string, of func(tare.Value) string) csvCell {
		return csvCell{name, func(row csvRow) string {
			if row.value == nil {
				return ""
			}
			return of(*row.value)
		}}
	}
	compared := func(name string, of func(tare.Comparison) string) csvCell {
		return csvCell{name, func(row csvRow) string {
			if c := row.comparison; c != nil && c.Against != c.Contender && row.contender.Role != tare.RoleBaseline {
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
		value("value", func(v tare.Value) string { return number(v.Value) }),
		value("value_low", func(v tare.Value) string { return number(v.Low) }),
		value("value_high", func(v tare.Value) string { return number(v.High) }),
		value("rounds", func(v tare.Value) string { return strconv.Itoa(v.Rounds) }),
		value("struck", func(v tare.Value) string { return strconv.FormatBool(v.Struck) }),
		{"void_by", csvRow.voidBy},
		compared("against", func(c tare.Comparison) string { return c.Against }),
		compared("ratio", func(c tare.Comparison) string { return positive(c.Ratio) }),
		compared("ratio_low", func(c tare.Comparison) string { return positive(c.Low) }),
		compared("ratio_high", func(c tare.Comparison) string { return positive(c.High) }),
		compared("level", func(c tare.Comparison) string { return positive(c.Level) }),
		compared("exact", func(c tare.Comparison) string { return strconv.FormatBool(c.Exact) }),
		compared("exploratory", func(c tare.Comparison) string { return strconv.FormatBool(c.Exploratory) }),
		ranked("rank_low", func(c tare.Comparison) string { return strconv.Itoa(c.RankLow) }),
		ranked("rank_high", func(c tare.Comparison) string { return strconv.Itoa(c.RankHigh) }),
		ranked("letters", func(c tare.Comparison) string { return c.Letters }),
		{"criteria", csvRow.criteria},
		{"claims", csvRow.claims},
	}
}

// number is x to its last digit; empty where it is none.
func number(x float64) string {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return ""
	}
	return strconv.FormatFloat(x, 'f', -1, 64)
}

// positive is a figure that is there only above zero.
func positive(x float64) string {
	if !(x > 0) {
		return ""
	}
	return number(x)
}
