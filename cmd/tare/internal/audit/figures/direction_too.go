package figures

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tarebench/tare/internal/lazyregexp"
)

// This file is a part of the rule direction-differs. It checks a second order of a sentence that names only a column:
// "packing takes 2.7 times as long, and unpacking is slower too". The first part of the sentence tells which two rows
// it compares.

var (
	// tooRE matches "unpacking is slower too" and "unpacking is also slower". The groups are "unpacking" and "slower" of
	// either form.
	tooRE = lazyregexp.New(`(?i)\b([\w-]+) (?:is|are|was|were|gets|runs) (slower|faster|quicker),? (?:too|as well|also|likewise)\b` +
		`|\b([\w-]+) (?:is|are|was|were|gets|runs) (?:also|likewise|again) (slower|faster|quicker)\b`)
	// amountRE matches "9.7 ns slower". The groups are 9.7, ns and slower.
	amountRE = lazyregexp.New(`(?i)(\d+(?:\.\d+)?) ?(ns|µs|us|ms|s) (slower|faster|quicker|longer|shorter|more|less)\b`)
)

// rowPair holds two rows that a sentence compares, by line. The sentence says something of the first.
type rowPair struct{ subject, reference int }

// findWrongToo reports a column that is "slower too" by a sentence, and faster by the figures.
func (d *document) findWrongToo(s sentence, claims []claim, report reportFunc) {
	m := tooRE.FindStringSubmatchIndex(s.text)
	index := d.tableBefore(s)
	if m == nil || index < 0 || negationRE.MatchString(s.text[:m[1]]) {
		return
	}
	subject, word := s.text[max(m[2], m[6]):max(m[3], m[7])], s.text[max(m[4], m[8]):max(m[5], m[9])]
	o := newSpeedOrder(strings.ToLower(word))
	columns := d.columnsOf(index, o.kinds)
	var named []int
	for column, figures := range columns {
		words := splitWords(bracketUnitRE.ReplaceAllString(figures[0].header, ""))
		if slices.ContainsFunc(words, func(w string) bool { return stemWord(w) == stemWord(strings.ToLower(subject)) }) {
			named = append(named, column)
		}
	}
	if len(named) != 1 {
		return
	}
	target := columns[named[0]]
	delete(columns, named[0])
	pairs := d.comparedRows(s, claims, index, columns, m[0])
	if len(pairs) != 1 {
		return
	}
	var a, b figure
	for _, f := range target {
		switch f.line {
		case pairs[0].subject:
			a = f
		case pairs[0].reference:
			b = f
		}
	}
	if a.line > 0 && b.line > 0 && o.isContradictedBy(a.kind, a.value, b.value) {
		report(s.lineAt(m[0]), fmt.Sprintf("%q is said of %s, with %s (line %d), and %s has %s", o.word, quote(a.subject), formatValue(a.quantity), a.line, quote(b.subject), formatValue(b.quantity)))
	}
}

// columnsOf returns the figures of some kinds of a table, by column.
func (d *document) columnsOf(index int, kinds []kind) map[int][]figure {
	out := map[int][]figure{}
	for _, f := range d.figures {
		if f.origin == index && slices.Contains(kinds, f.kind) && f.value > 0 {
			out[f.column] = append(out[f.column], f)
		}
	}
	return out
}

// comparedRows returns the pairs of rows whose figures have the ratios or differences that a sentence states before an
// offset, in the stated direction. It must name one of the rows.
func (d *document) comparedRows(s sentence, claims []claim, index int, columns map[int][]figure, end int) []rowPair {
	lines := d.tables[index].namedRows(s.text)
	var out []rowPair
	add := func(matches func(a, b figure) bool) {
		for _, figures := range columns {
			for _, a := range figures {
				for _, b := range figures {
					p := rowPair{a.line, b.line}
					isNamed := slices.Contains(lines, a.line) || slices.Contains(lines, b.line)
					if a.line != b.line && isNamed && matches(a, b) && !slices.Contains(out, p) {
						out = append(out, p)
					}
				}
			}
		}
	}
	for _, c := range claims {
		if c.end > end {
			continue
		}
		add(func(a, b figure) bool {
			sign := c.expectedSign(a.kind)
			return sign != 0 && (a.value > b.value) == (sign > 0) && c.matchesPairWithin(a.value, b.value, c.ownTolerance())
		})
	}
	for _, m := range amountRE.FindAllStringSubmatch(s.text[:end], maxFigures) {
		amount, _, ok := parseQuantity(m[1] + " " + m[2])
		isMore := slices.Contains([]string{"slower", "longer", "more"}, strings.ToLower(m[3]))
		add(func(a, b figure) bool {
			const halfStep = 0.51
			isAmount := ok && math.Abs(math.Abs(a.value-b.value)-amount.value) <= halfStep*amount.step
			return isAmount && (a.value > b.value) == isMore
		})
	}
	return out
}
