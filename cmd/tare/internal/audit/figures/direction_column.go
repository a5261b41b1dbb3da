package figures

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tarebench/tare/internal/lazyregexp"
)

// This file is a part of the rule direction-differs. It checks sentences about one column of the table before them: "the
// hash has the slowest get", "the tree has the lower p99" and "the tree beats the log on put".

var (
	// rankRE matches "the hash has the slowest get". The groups are "the hash", "slowest" and " get".
	rankRE = lazyregexp.New(`(?i)([^.,;:()]*?)\b(?:has|have|had|shows?|needs?|takes?) the ` +
		`(slowest|fastest|quickest|lowest|highest|smallest|largest|longest|shortest|slower|faster|quicker|lower|higher|smaller|larger|longer|shorter)\b([^.,;:()]*)`)
	// beatsRE matches "the tree beats the log on put". The groups are "the tree", "the log" and "put".
	beatsRE = lazyregexp.New(`(?i)([^.,;:()]*?)\b(?:beats|outperforms|outpaces|is ahead of|are ahead of)\b([^.,;:()]*?)\b(?:on|in|for|at)\b([^.,;:()]*)`)
	// partOfRowsRE matches words that exclude rows from a comparison.
	partOfRowsRE = lazyregexp.New(`(?i)\b(?:of (?:the|these|those|both)|among|except|besides?|apart|other than|next|second|third|almost|nearly|not|never|no|if|when|would|should|expected?)\b`)
)

// findWrongRank reports a row that is the slowest or the better one of a column by a sentence, but not by the figures.
func (d *document) findWrongRank(s sentence, report reportFunc) {
	index := d.tableBefore(s)
	if index < 0 || partOfRowsRE.MatchString(s.text) {
		return
	}
	d.findWrongExtreme(s, index, report)
	d.findWrongWinner(s, index, report)
}

// findWrongExtreme reports "the hash has the slowest get" if another row of the table is slower.
func (d *document) findWrongExtreme(s sentence, index int, report reportFunc) {
	for _, m := range rankRE.FindAllStringSubmatchIndex(s.text, maxFigures) {
		word := strings.ToLower(s.text[m[4]:m[5]])
		rows := d.tables[index].namedRows(s.text[m[2]:m[3]])
		column := d.namedColumn(index, s.text[m[6]:m[7]])
		isComparative := strings.HasSuffix(word, "er")
		if len(rows) != 1 || len(column) < 2 || isComparative && len(column) != 2 {
			continue
		}
		i := slices.IndexFunc(column, func(f figure) bool { return f.line == rows[0] })
		if i < 0 {
			continue
		}
		f := column[i]
		isRate := f.kind == rateKind || f.kind == byteRateKind
		isGreatest := false
		switch word {
		case "slowest", "slower":
			isGreatest = !isRate
		case "fastest", "faster", "quickest", "quicker":
			isGreatest = isRate
		case "highest", "higher", "largest", "larger", "longest", "longer":
			isGreatest = true
		}
		const leastDifference = 0.01 // share; less may be rounding
		j := slices.IndexFunc(column, func(x figure) bool {
			return (x.value > f.value) == isGreatest && !isNear(x.value, f.value, leastDifference)
		})
		if j >= 0 {
			report(s.lineAt(m[4]), fmt.Sprintf("the %s is said of %s, with %s (line %d), and %s has %s", word, quote(f.subject), formatValue(f.quantity), f.line, quote(column[j].subject), formatValue(column[j].quantity)))
		}
	}
}

// findWrongWinner reports "the tree beats the log on put" if the log is faster.
func (d *document) findWrongWinner(s sentence, index int, report reportFunc) {
	for _, m := range beatsRE.FindAllStringSubmatchIndex(s.text, maxFigures) {
		t := d.tables[index]
		first, second := t.namedRows(s.text[m[2]:m[3]]), t.namedRows(s.text[m[4]:m[5]])
		if len(first) != 1 || len(second) != 1 || first[0] == second[0] {
			continue
		}
		var a, b figure
		for _, f := range d.namedColumn(index, s.text[m[6]:m[7]]) {
			switch f.line {
			case first[0]:
				a = f
			case second[0]:
				b = f
			}
		}
		if o := newSpeedOrder("faster"); a.line > 0 && b.line > 0 && o.isContradictedBy(a.kind, a.value, b.value) {
			report(s.lineAt(m[2]), fmt.Sprintf("%s does not beat %s: they have %s and %s (lines %d and %d)", quote(a.subject), quote(b.subject), formatValue(a.quantity), formatValue(b.quantity), a.line, b.line))
		}
	}
}

// namedColumn returns the figures of the only column of times, rates or bytes whose header a text names, or nil.
func (d *document) namedColumn(index int, text string) []figure {
	words := map[string]bool{}
	for _, w := range splitWords(text) {
		words[stemWord(w)] = true
	}
	var out []figure
	for _, column := range d.columnsOf(index, []kind{timeKind, rateKind, byteRateKind, byteKind}) {
		header := bracketUnitRE.ReplaceAllString(column[0].header, "")
		names := slices.DeleteFunc(splitWords(header), func(w string) bool {
			_, isUnit := lookUpUnit(w)
			return isUnit || len(w) < minNameLength
		})
		isNamed := len(names) > 0 && !slices.ContainsFunc(names, func(w string) bool { return !words[stemWord(w)] })
		if !isNamed {
			continue
		}
		if out != nil {
			return nil
		}
		out = column
	}
	return out
}
