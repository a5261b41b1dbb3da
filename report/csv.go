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
// under a header. The column section says what a row is:
//
//	figure     one workload, contender and metric. value is the median over
//	           rounds in unit, ratio the contender's figure over that of the
//	           baseline.
//	item       CPU time of one of the items that requests carry, and what it is.
//	scaling    a fitted exponent; workload names all it was fitted over.
//	break-even what the baseline costs more than the contender on one shape, which
//	           text says; and the rate at which that is 1 % of a core.
//	semantics  one case in which the contender's answer is not the reference's;
//	           and, as metrics, how many cases it was asked and what it could
//	           not be asked.
//	adoption   one thing that taking the contender in brings; value or text.
//	cost       one figure of what the difference comes to.
//	claim      a published claim that stands beside no figure, and what became
//	           of it: a statement; what is only reported, with the published
//	           figure; a count of modules, as value; a trend, as the
//	           factor by which the ratio moves along its workloads.
//	decomposition
//	           one step of a decomposition, or the whole of it, as text says:
//	           ratio is the contender's figure over that of against, the one
//	           before it; and as metric …_share the step's part of the whole.
//	driving    one thing recorded about how a server was driven: value is a count
//	           over all rounds; where there is none, value_low and value_high are
//	           the least and the most of any round.
//	profile    one function of a profile: what it used itself, or with what it
//	           called; before them the total, with the file's name as text.
//
// What there is not is empty. A figure that is struck, or beside which void_by
// names a check, must not be used. Text from elsewhere is in one line of
// characters that print; where a spreadsheet would take it for a formula an
// apostrophe stands before it. The error is the writer's.
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
	for _, row := range slices.Concat(csvRows(r), csvItems(r), csvScaling(r), csvBreakEven(r), csvSemantics(r), csvAdoption(r), csvCost(r), csvStatements(r), csvDecomposition(r), csvDriving(r), csvProfiles(r)) {
		for i, c := range cells {
			record[i] = c.print(row)
		}
		out.Write(record) //nolint:errcheck // Flush keeps the error
	}
	out.Flush()
	if err := out.Error(); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

// csvRow is one row: about one contender, as a rule on one workload by one
// metric.
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
	ranged     bool             // value is nothing but its bounds
	against    string           // where there is no comparison
	level      float64          // likewise
	void       []tare.Finding   // that void what the row says
	claim      string           // id and outcome, where the row is about one claim
	text       string
}

// csvFigure is the section of what was measured.
const csvFigure = "figure"

// csvRows lists the figures in the result's own order: those with a figure, and
// those without one about which there is a verdict, a claim or a void.
func csvRows(r *tare.Result) []csvRow {
	base := r.Baseline()
	var rows []csvRow
	for _, w := range r.Workloads {
		v := look(r, w.ID, map[string]bool{})
		for _, c := range r.Contenders {
			for _, metric := range r.Metrics {
				row := csvRow{section: csvFigure, r: r, workload: w.ID, contender: c, metric: metricNamed(metric), void: r.VoidsMetric(c.ID, w.ID, metric), bounded: true}
				if i := slices.IndexFunc(r.Values, func(x tare.Value) bool {
					return x.Workload == w.ID && x.Contender == c.ID && x.Metric == metric
				}); i >= 0 {
					row.value = &r.Values[i]
				}
				row.comparison = csvComparison(r, w.ID, c.ID, metric, base)
				if row.value != nil || row.comparison != nil || row.criteria() != "" || row.claims() != "" || v.present(c.ID) && slices.Contains(v.metrics(), metric) {
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

func (row csvRow) claims() string {
	if row.section != csvFigure {
		return row.claim
	}
	var parts []string
	for _, c := range row.r.Claims {
		if c.Workload == row.workload && c.Contender == row.contender.ID && c.Metric == row.metric.Name {
			parts = append(parts, c.ID+": "+became(c))
		}
	}
	return strings.Join(parts, "; ")
}

func (row csvRow) voidBy() string {
	var checks []string
	for _, f := range row.void {
		if !slices.Contains(checks, f.Check) {
			checks = append(checks, f.Check)
		}
	}
	return strings.Join(checks, "; ")
}
