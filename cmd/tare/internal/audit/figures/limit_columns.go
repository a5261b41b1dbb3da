package figures

import (
	"fmt"
	"math"
	"slices"

	"github.com/tarebench/tare/internal/lazyregexp"
)

// This file is a part of the rule criterion-cannot-fail. It finds columns of limits that are computed from the column
// that they judge: each ceiling is the measured p99 plus 25 %.

var (
	// limitHeaderRE matches the header of limits, and passedCellRE a cell for a passed test.
	limitHeaderRE = lazyregexp.New(`(?i)^(?:limit|threshold|budget|ceiling|bound|target|allowed|allowance|max(?:imum)? allowed|cap|tolerance)s?\b`)
	passedCellRE  = lazyregexp.New(`(?i)^(?:pass(?:es|ed)?|ok|yes|met|green|held|✓|✔|✅)$`)
	// releasedHeaderRE matches the header of figures of a release, which baseHeaderRE does not.
	releasedHeaderRE = lazyregexp.New(`(?i)\b(?:last|reference|release[ds]?)\b`)
)

// findLimitsOfColumn reports a table whose limits are one multiple of the figures that they judge, and that all rows
// pass. Figures of an earlier version make a proper limit: of two columns with versions only the later one is judged.
func findLimitsOfColumn(t *table, all []figure, report reportFunc) {
	const minRows = 3 // two limits may have one ratio by chance
	limitColumn := slices.IndexFunc(t.header, limitHeaderRE.MatchString)
	if limitColumn < 0 || len(t.rows) < minRows || !t.hasOnlyPassed() {
		return
	}
	for column := len(t.header) - 1; column > 0; column-- {
		header := t.header[column]
		if column == limitColumn || baseHeaderRE.MatchString(header) || releasedHeaderRE.MatchString(header) || t.hasLaterVersion(column) {
			continue
		}
		least, greatest := 0.0, math.Inf(1) // multiples that the figures of all rows allow
		rows := 0
		for _, row := range t.rows {
			limit, okLimit := cellAt(all, row.line, limitColumn)
			measured, ok := cellAt(all, row.line, column)
			if !ok || !okLimit || limit.kind != measured.kind || !(measured.value > 0) {
				break
			}
			const halfStep = 0.51
			ratio := limit.value / measured.value
			rounding := ratio * halfStep * (limit.step/limit.value + measured.step/measured.value)
			least, greatest = max(least, ratio-rounding), min(greatest, ratio+rounding)
			rows++
		}
		if rows < len(t.rows) || least > greatest || greatest < 1 {
			continue
		}
		multiple := ""
		if least > 1 {
			multiple = formatNumber((least+greatest)/2) + " times "
		}
		report(t.rows[0].line, fmt.Sprintf("each %s is %sits %s: a limit that is made of the figures holds for them", quote(t.header[limitColumn]), multiple, quote(header)))
		return
	}
}

// cellAt returns the figure of a cell. It returns false for a cell without one.
func cellAt(all []figure, line, column int) (figure, bool) {
	i := slices.IndexFunc(all, func(f figure) bool { return f.line == line && f.column == column })
	if i < 0 {
		return figure{}, false
	}
	return all[i], true
}

// hasOnlyPassed reports whether a column says of all rows that they passed.
func (t *table) hasOnlyPassed() bool {
	for column := range t.header {
		isPassed := func(row tableRow) bool { return column < len(row.cells) && passedCellRE.MatchString(row.cells[column]) }
		if !slices.ContainsFunc(t.rows, func(row tableRow) bool { return !isPassed(row) }) {
			return true
		}
	}
	return false
}

// hasLaterVersion reports whether the header of a column has a version, and that of another column a later one.
func (t *table) hasLaterVersion(column int) bool {
	own := versionNameRE.FindString(t.header[column])
	return own != "" && slices.ContainsFunc(t.header, func(header string) bool {
		other := versionNameRE.FindString(header)
		return other != "" && isLaterVersion(other, own)
	})
}
