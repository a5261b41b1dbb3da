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
	for _, row := range slices.Concat(csvRows(r), csvItems(r), csvScaling(r), csvBreakEven(r), csvSemantics(r), csvAdoption(r), csvCost(r), csvStatements(r), csvDecomposition(r), csvDriving(r), csvProfiles(r)) {
		for i, c := range cells {
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

// csvRow is one row. It is about one contender, and usually about one workload and metric.
type csvRow struct {
	section    string
	r          *tare.Result
	workload   string
	contender  tare.Contender
	metric     tare.Metric
	value      *tare.Value      // nil: none
	comparison *tare.Comparison // nil: none
	difference *tare.Difference // nil: none
	bounded    bool             // value has an interval
	ranged     bool             // value has bounds only
	against    string           // if comparison is nil
	level      float64          // if comparison is nil
	void       []tare.Finding   // that void the row
	claim      string           // id and outcome, if the row is about one claim
	text       string
}

// csvFigure is the section of measured values.
const csvFigure = "figure"

// csvRows returns the values in the order of the result: those with a value, and those without one that have a
// verdict, a claim or a void finding.
func csvRows(r *tare.Result) []csvRow {
	base := r.Baseline()
	var rows []csvRow
	for _, w := range r.Workloads {
		v := newView(r, w.ID)
		for _, c := range r.Contenders {
			for _, metric := range r.Metrics {
				row := csvRow{section: csvFigure, r: r, workload: w.ID, contender: c, metric: findMetric(metric), void: r.VoidsMetric(c.ID, w.ID, metric), bounded: true}
				if i := slices.IndexFunc(r.Values, func(x tare.Value) bool {
					return x.Workload == w.ID && x.Contender == c.ID && x.Metric == metric
				}); i >= 0 {
					row.value = &r.Values[i]
				}
				row.comparison = csvComparison(r, w.ID, c.ID, metric, base)
				if row.value != nil || row.comparison != nil || row.joinCriteria() != "" || row.joinClaims() != "" || v.hasData(c.ID) && slices.Contains(v.listMetrics(), metric) {
					rows = append(rows, row)
				}
			}
		}
	}
	return rows
}

// csvComparison returns the contender's comparison with the baseline, or nil. The baseline has a comparison
// too, which contains its rank.
func csvComparison(r *tare.Result, workload, contender, metric, base string) *tare.Comparison {
	for i, c := range r.Comparisons {
		if c.Workload == workload && c.Contender == contender && c.Metric == metric && (c.Against == base || contender == base) {
			return &r.Comparisons[i]
		}
	}
	return nil
}

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
	var checks []string
	for _, f := range row.void {
		if !slices.Contains(checks, f.Check) {
			checks = append(checks, f.Check)
		}
	}
	return strings.Join(checks, "; ")
}
