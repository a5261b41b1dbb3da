package figures

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
	"github.com/tarebench/tare/internal/lazyregexp"
)

// This file has the rule scaling-claim. It finds sentences about growth, such as "the copy takes
// constant time regardless of size", on pages whose figures are of one or two sizes only.

// scalingClaim returns the rule scaling-claim.
func scalingClaim() rule {
	return rule{Rule: audit.Rule{
		ID: "scaling-claim", Severity: tare.Warn,
		Title:   "How cost grows is stated from two points or fewer.",
		Why:     "Two points fit every curve: only a third tells constant, linear and quadratic cost apart. And two measured cases often differ in more than their size.",
		Do:      "measure five sizes or more, a power of two or ten from each other, and fit the exponent",
		Command: "tare run ffi",
		Bad:     "| struct | time |\n|---|---|\n| small | 45 ns |\n| large | 51 ns |\n\nThe copy takes constant time regardless of size.\n",
		Good:    "| size | time |\n|---|---|\n| 16 | 45 ns |\n| 160 | 46 ns |\n| 1600 | 47 ns |\n| 16000 | 51 ns |\n\nThe copy takes constant time regardless of size.\n",
		Seen:    []string{"routing", "ffi"},
	}, find: findScalingClaim}
}

var (
	// growthRE matches a statement about growth. The comment of each line has an example.
	growthRE = lazyregexp.New(`(?i)\bscal\w+\b[^.]{0,40}\bO\([^)]{1,30}\)` + // scales as O(n)
		`|\bO\([^)]{1,30}\)[^.]{0,30}\b(?:performance|scaling|overhead|latency)\b` + // O(n) performance
		`|\bquadratic\w*|\bscales? (?:linearly|with|O\()|\blinear(?:ly)? (?:with|scaling|in)\b` + // scales linearly
		`|\b(?:constant|same)\b[^.]{0,30}\bregardless\b` + // constant time regardless
		`|\bregardless of (?:\w+ )?(?:size|complexity|depth|length|number)` + // regardless of size
		`|\b(?:advantage|overhead|gap|benefit|difference|improvement)\b[^.]{0,20}\b(?:grows?|increases?|widens)\s+with\b`) // the gap grows with
	// intentionRE matches intentions and questions: "designed for O(1)", "how does it scale?"
	intentionRE  = lazyregexp.New(`(?i)\b(?:how|whether|intend\w*|intention|goal|designed)\b|\?`)
	sizeNumberRE = lazyregexp.New(`\d+`)
)

// minSizes is the least number of measured sizes that can show how cost grows. The advice of the
// rule asks for more, to measure it well.
const minSizes = 3

// findScalingClaim reports the first sentence about growth, if the page has too few sizes to show
// it. The finding also names a later sentence that contradicts the first.
func findScalingClaim(d *document, report reportFunc) {
	if len(d.figures) == 0 || countSizes(d.figures) >= minSizes {
		return
	}
	found := d.collectGrowth()
	if len(found) == 0 {
		return
	}
	first := found[0]
	finding := fmt.Sprintf("%s: no figures on the page are of %d sizes or more", quote(first.text), minSizes)
	subject := firstWord(first.context) // e.g. "fastcopy" of "FastCopy takes constant time"
	for _, f := range found {
		isSameSubject := len(subject) >= minNameLength && strings.Contains(f.context, subject)
		if isSameSubject && f.isConstant() != first.isConstant() {
			finding += fmt.Sprintf("; line %d says %s", f.line, quote(f.text))
			break
		}
	}
	report(first.line, finding)
}

// growth is a statement about growth on a page.
type growth struct {
	line    int
	text    string // the match of growthRE
	context string // sentence and heading, in lower case
}

// isConstant reports whether the statement is that a cost does not grow.
func (g growth) isConstant() bool {
	text := strings.ToLower(g.text)
	return strings.Contains(text, "o(1)") || strings.Contains(text, "constant") || strings.Contains(text, "regardless")
}

// collectGrowth returns the statements about growth in sentences, then those in tables.
func (d *document) collectGrowth() []growth {
	var found []growth
	add := func(line int, text, heading string) {
		if m := growthRE.FindString(text); m != "" {
			found = append(found, growth{line, m, strings.ToLower(text + " " + heading)})
		}
	}
	for _, s := range d.sentences {
		if !negationRE.MatchString(s.text) && !intentionRE.MatchString(s.text) {
			add(s.line, s.text, s.heading)
		}
	}
	for _, t := range d.tables {
		for _, row := range t.rows {
			add(row.line, strings.Join(row.cells, " "), t.heading)
		}
	}
	return found
}

// countSizes returns the greatest number of sizes at which one operation was measured. For example,
// "copy 16" and "copy 160" are two sizes of one operation.
func countSizes(all []figure) int {
	// An operation is what remains of the labels of a figure without one number, the size. "copy 16"
	// and "copy 160" of a column "time" are the operation {"copy ", "", "time"} at two sizes.
	type operation struct{ before, after, other string }
	sizes := map[operation]map[int]bool{}
	maxSizes := 0
	add := func(label, other string) {
		for _, m := range sizeNumberRE.FindAllStringIndex(label, -1) {
			n, err := strconv.Atoi(label[m[0]:m[1]])
			if err != nil {
				continue
			}
			op := operation{label[:m[0]], label[m[1]:], other}
			if sizes[op] == nil {
				sizes[op] = map[int]bool{}
			}
			sizes[op][n] = true
			maxSizes = max(maxSizes, len(sizes[op]))
		}
	}
	for _, f := range all { // the size can be in a row, a column or the heading
		add(f.subject, f.metric)
		add(f.metric, f.subject)
		add(f.heading, f.subject)
	}
	return maxSizes
}
