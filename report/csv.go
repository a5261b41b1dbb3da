package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/tarebench/tare"
)

// CSV writes r as comma-separated values (RFC 4180, lines end in a newline)
// under a header. The column section is the kind of a row:
//
//	figure     one workload, contender and metric. value is the median over
//	           rounds in unit, ratio the contender's value over that of the
//	           baseline.
//	item       CPU time of one item of a request; text names the item.
//	scaling    a fitted exponent; workload names all that it was fitted over.
//	break-even the extra cost of the baseline over the contender on one shape,
//	           in text; and the rate at which it is 1 % of a core.
//	semantics  one case in which the contender's output differs from the
//	           reference's; and, as metrics, the number of cases and the
//	           operations that it does not support.
//	adoption   one cost of adopting the contender; value or text.
//	cost       one value of what the difference costs.
//	claim      a published claim without a measured value of its own, and its
//	           outcome: a statement; a reported value, as published; a count of
//	           modules, as value; a trend, as the factor by which the ratio
//	           moves along its workloads.
//	decomposition
//	           one step of a decomposition, or its total, named in text: ratio
//	           is the contender's value over that of against, the one before
//	           it; and as metric …_share the step's part of the total.
//	driving    one statistic of the load on a server: value is a count over all
//	           rounds; or value_low and value_high are the least and the
//	           greatest value of a round.
//	profile    one function of a profile: its own use, or that with its calls;
//	           before them the total, with the file's name as text.
//
// Unknown fields are empty. A value that is struck, or with a check in void_by,
// must not be used. Foreign text is in one line of printable characters, after an
// apostrophe if a spreadsheet could take it for a formula. The error is the writer's.
func CSV(w io.Writer, r *tare.Result) error { return writeCSV(w, r, true) }

// moreCSV writes CSV without its header, to follow another result.
func moreCSV(w io.Writer, r *tare.Result) error { return writeCSV(w, r, false) }

// writeCSV writes the rows of r, section by section, and before them the names of the columns if hasHeader is true.
func writeCSV(w io.Writer, r *tare.Result, hasHeader bool) error {
	out := csv.NewWriter(w)
	columns := csvColumns()
	record := make([]string, len(columns))
	if hasHeader {
		for i, c := range columns {
			record[i] = c.name
		}
		out.Write(record) //nolint:errcheck // Flush keeps the error
	}
	for _, row := range slices.Concat(csvRows(r), csvItems(r), csvScaling(r), csvBreakEven(r), csvSemantics(r), csvAdoption(r), csvCost(r), csvStatements(r), csvDecomposition(r), csvLoad(r), csvProfiles(r)) {
		for i, c := range columns {
			record[i] = c.formatCell(row)
		}
		out.Write(record) //nolint:errcheck // Flush keeps the error
	}
	out.Flush()
	if err := out.Error(); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

// csvRow is one row. It is about one contender, and usually about one workload and metric. csvColumns returns the
// columns that print it.
type csvRow struct {
	section    string // kind of the row, as in the documentation of CSV
	r          *tare.Result
	workload   string // id, or several ids separated by spaces; "" if the row is about all workloads
	contender  tare.Contender
	metric     tare.Metric
	value      *tare.Value      // nil if the row has no value
	comparison *tare.Comparison // nil if the row has no ratio
	difference *tare.Difference // semantic difference; nil on rows of other sections
	bounded    bool             // value.Low and value.High are valid
	ranged     bool             // value is a range: only value.Low and value.High are valid
	against    string           // contender or reference with which the row compares, on rows without comparison
	level      float64          // confidence of the interval on rows without comparison; 0 if unknown
	void       []tare.Finding   // findings that void the row
	claim      string           // id and outcome of the claim that the row is about; rows of values get theirs from joinClaims
	text       string
}

// csvFigure is the section of measured values.
const csvFigure = "figure"

// csvRows returns the rows of section figure: one per workload, contender and metric, in the order of the result. It
// omits a row without a value, comparison, criterion and claim, unless the metric applies to the workload and the
// contender has data there (view.hasData).
func csvRows(r *tare.Result) []csvRow {
	base := r.Baseline()
	var rows []csvRow
	for _, w := range r.Workloads {
		v := newView(r, w.ID)
		for _, c := range r.Contenders {
			for _, metric := range r.Metrics {
				row := csvRow{
					section: csvFigure, r: r, workload: w.ID, contender: c, metric: findMetric(metric),
					void: r.VoidsMetric(c.ID, w.ID, metric), bounded: true,
				}
				if i := slices.IndexFunc(r.Values, func(x tare.Value) bool {
					return x.Workload == w.ID && x.Contender == c.ID && x.Metric == metric
				}); i >= 0 {
					row.value = &r.Values[i]
				}
				row.comparison = csvComparison(r, w.ID, c.ID, metric, base)
				hasResult := row.value != nil || row.comparison != nil || row.joinCriteria() != "" || row.joinClaims() != ""
				if hasResult || v.hasData(c.ID) && slices.Contains(v.listMetrics(), metric) {
					rows = append(rows, row)
				}
			}
		}
	}
	return rows
}

// csvComparison returns the contender's comparison with the baseline, or nil if there is none. The baseline has a
// comparison too, which contains its rank.
func csvComparison(r *tare.Result, workload, contender, metric, base string) *tare.Comparison {
	for i, c := range r.Comparisons {
		if c.Workload == workload && c.Contender == contender && c.Metric == metric && (c.Against == base || contender == base) {
			return &r.Comparisons[i]
		}
	}
	return nil
}

// joinCriteria returns the criteria about the row's value with their results. It returns "" on rows of other sections
// than figure.
func (row csvRow) joinCriteria() string {
	if row.section != csvFigure {
		return ""
	}
	var parts []string
	for _, v := range row.r.Verdicts {
		if v.Criterion != "" && v.Workload == row.workload && v.Contender == row.contender.ID && v.Metric == row.metric.Name {
			parts = append(parts, v.Criterion+": "+string(v.Verdict))
		}
	}
	return strings.Join(parts, "; ")
}

// joinClaims returns the ids of the claims about the row with their outcomes.
func (row csvRow) joinClaims() string {
	if row.section != csvFigure {
		return row.claim
	}
	var parts []string
	for _, c := range row.r.Claims {
		if c.Workload == row.workload && c.Contender == row.contender.ID && c.Metric == row.metric.Name {
			parts = append(parts, c.ID+": "+outcomeText(c))
		}
	}
	return strings.Join(parts, "; ")
}

// joinVoidChecks returns the distinct checks that void the row.
func (row csvRow) joinVoidChecks() string {
	return strings.Join(listDistinct(row.void, func(f tare.Finding) string { return f.Check }), "; ")
}
