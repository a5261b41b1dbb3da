package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/tarebench/tare"
)

// CSV writes r as comma-separated values with a header (RFC 4180, lines end in a newline). The column section is
// the kind of a row:
//
//	figure     a value of one contender, workload and metric: value is the
//	           median over rounds, ratio is to the baseline
//	item       CPU time of one item of a request; text names the item
//	scaling    an exponent fitted over the workloads in workload
//	break-even the extra cost of the baseline on one shape; and the rate at
//	           which that is 1 % of a core
//	semantics  a case with another output than the reference; the number of
//	           cases; unsupported operations
//	adoption   a cost of adopting the contender, as value or text
//	cost       a value of what the difference costs
//	claim      a published claim without a measured value, and its outcome
//	decomposition
//	           a step, or the total, named in text: ratio is to against, the
//	           contender before; metric …_share is the step's share
//	driving    a statistic of the load on a server: a sum in value, or a range
//	           over rounds in value_low and value_high
//	profile    a function: its own use, or that with its calls; before them
//	           the total, with the file's name as text
//
// Unknown fields are empty. Do not use a value that is struck or has a check in void_by. Foreign text is one
// printable line. An apostrophe precedes text that a spreadsheet could take for a formula. The error is the
// writer's.
func CSV(w io.Writer, r *tare.Result) error { return writeCSV(w, r, true) }

// moreCSV writes CSV without its header, after another result.
func moreCSV(w io.Writer, r *tare.Result) error { return writeCSV(w, r, false) }

// writeCSV writes the rows of r, section by section.
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

// csvRow is one row about one contender. csvColumns returns the columns that print it.
type csvRow struct {
	section    string // kind of the row, see CSV
	r          *tare.Result
	workload   string // one or several ids; "" for all workloads
	contender  tare.Contender
	metric     tare.Metric
	value      *tare.Value      // nil if the row has no value
	comparison *tare.Comparison // nil if the row has no ratio
	difference *tare.Difference // semantic difference; nil in other sections
	bounded    bool             // value.Low and value.High are valid
	ranged     bool             // only the bounds value.Low and value.High are valid
	against    string           // the other contender or reference, on rows without comparison
	level      float64          // confidence of the interval, on rows without comparison; 0 if unknown
	void       []tare.Finding   // findings that void this row
	claim      string           // id and outcome of the claim, on rows without values
	text       string
}

const csvFigure = "figure"

// csvRows returns the rows of section figure, per workload, contender and metric. It omits rows without
// information.
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

// csvComparison returns the contender's comparison with the baseline, or nil. The baseline has one too, with its
// rank.
func csvComparison(r *tare.Result, workload, contender, metric, base string) *tare.Comparison {
	for i, c := range r.Comparisons {
		if c.Workload == workload && c.Contender == contender && c.Metric == metric && (c.Against == base || contender == base) {
			return &r.Comparisons[i]
		}
	}
	return nil
}

// joinCriteria returns the criteria about a measured value, with their results.
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

func (row csvRow) joinVoidChecks() string {
	return strings.Join(listDistinct(row.void, func(f tare.Finding) string { return f.Check }), "; ")
}
