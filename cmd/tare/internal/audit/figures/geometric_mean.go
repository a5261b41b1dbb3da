package figures

import (
	"fmt"
	"math"

	"github.com/tarebench/tare/internal/lazyregexp"
)

// This file is a part of the rule ratio-differs. It compares stated geometric means with those of the table before
// the sentence: "the geometric mean of the ratio is 2.11" below the ratios 1.73, 1.82 and 2.31.

// meanRE matches "the geometric mean of the ratio is 2.11". The group is the number.
var meanRE = lazyregexp.New(`(?i)\bgeo(?:metric )?mean\b[^.;\d]{0,60}?\b(?:is|was|of|at|to)\s+(?:about |around |only )?` + aNumber)

// findWrongMeans reports geometric means that are not those of a column of the table before the sentence, or of
// the ratios of two columns.
func (d *document) findWrongMeans(report reportFunc) {
	for _, s := range d.sentences {
		m := meanRE.FindStringSubmatchIndex(s.text)
		index := d.tableBefore(s)
		if m == nil || index < 0 {
			continue
		}
		stated, step, _, ok := parseNumber(s.text[m[2]:m[3]])
		means := d.tables[index].geometricMeans()
		if !ok || len(means) == 0 {
			continue
		}
		nearest := means[0]
		for _, mean := range means {
			if math.Abs(mean-stated) < math.Abs(nearest-stated) {
				nearest = mean
			}
		}
		const tolerance = 0.02 // the cells are rounded
		if math.Abs(nearest-stated) > max(step, tolerance*stated) {
			report(s.lineAt(m[2]), fmt.Sprintf("%s: the geometric mean of the nearest column, or ratio of two columns, is %s", quote(s.text[m[0]:m[1]]), formatNumber(nearest)))
		}
	}
}

// geometricMeans returns the geometric means of the columns of a table, and of the ratios of two columns.
func (t *table) geometricMeans() []float64 {
	const minRows = 3
	var columns [][]float64 // logarithms; nil for a column with other cells
	for i := range t.header {
		var logs []float64
		for _, row := range t.rows {
			if i >= len(row.cells) {
				break
			}
			if q, ok := parseCell(row.cells[i]); ok && q.value > 0 {
				logs = append(logs, math.Log(q.value))
			}
		}
		if len(logs) >= minRows && len(logs) == len(t.rows) {
			columns = append(columns, logs)
		}
	}
	var out []float64
	for i, a := range columns {
		mean := 0.0
		for _, x := range a {
			mean += x / float64(len(a))
		}
		out = append(out, math.Exp(mean))
		for _, b := range columns[:i] {
			difference := 0.0
			for j := range b {
				difference += (a[j] - b[j]) / float64(len(b))
			}
			out = append(out, math.Exp(difference), math.Exp(-difference))
		}
	}
	return out
}
