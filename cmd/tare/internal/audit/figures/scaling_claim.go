package figures

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
)

// scalingClaim returns the rule about this mistake: how cost grows is stated from two points or fewer.
func scalingClaim() rule {
	return rule{audit.Rule{
		ID: "scaling-claim", Severity: tare.Warn, Title: "How cost grows is stated from two points or fewer.",
		Why:     "Through two points goes any curve: constant, linear and quadratic cost differ from the third on, and the two often differ in more than size.",
		Do:      "measure five sizes or more, a power of two or ten apart, and fit the exponent",
		Command: "tare run ffi", Lang: "text",
		Bad:  "| struct | time |\n|---|---|\n| small | 45 ns |\n| large | 51 ns |\n\nThe copy takes constant time regardless of size.\n",
		Good: "| size | time |\n|---|---|\n| 16 | 45 ns |\n| 160 | 46 ns |\n| 1600 | 47 ns |\n| 16000 | 51 ns |\n\nThe copy takes constant time regardless of size.\n",
		Seen: []string{"routing", "ffi"},
	}, findScalingClaim}
}

var (
	growth = regexp.MustCompile(`(?i)\bscal\w+\b[^.]{0,40}\bO\([^)]{1,30}\)|\bO\([^)]{1,30}\)[^.]{0,30}\b(?:performance|scaling|overhead|latency)\b|\bquadratic\w*|\bscales? (?:linearly|with|O\()|\blinear(?:ly)? (?:with|scaling|in)\b|\b(?:constant|same)\b[^.]{0,30}\bregardless\b|\bregardless of (?:\w+ )?(?:size|complexity|depth|length|number)|\b(?:advantage|overhead|gap|benefit|difference|improvement)\b[^.]{0,20}\b(?:grows?|increases?|widens)\s+with\b`)
	asked  = regexp.MustCompile(`(?i)\b(?:how|whether|intend\w*|intention|goal|designed)\b|\?`)
	sized  = regexp.MustCompile(`\d+`)
)

// minSizes is the least number of sizes for a statement about growth.
const minSizes = 3

func findScalingClaim(d *document, report reportFunc) {
	all := d.measured
	if len(all) == 0 || countSizes(all) >= minSizes {
		return
	}
	type statement struct {
		line    int
		text    string
		context string // the sentence and its heading
	}
	var found []statement
	add := func(line int, text, heading string) {
		if m := growth.FindString(text); m != "" {
			found = append(found, statement{line, m, strings.ToLower(text + " " + heading)})
		}
	}
	for _, s := range d.sentences {
		if !negation.MatchString(s.text) && !asked.MatchString(s.text) {
			add(s.line, s.text, s.heading)
		}
	}
	for _, t := range d.tables {
		for _, row := range t.rows {
			add(row.line, strings.Join(row.cells, " "), t.heading)
		}
	}
	if len(found) == 0 {
		return
	}
	what := fmt.Sprintf("%s: no figures on the page are of %d sizes or more", quote(found[0].text), minSizes)
	isConstant := func(text string) bool {
		text = strings.ToLower(text)
		return strings.Contains(text, "o(1)") || strings.Contains(text, "constant") || strings.Contains(text, "regardless")
	}
	subject, _, _ := strings.Cut(found[0].context, " ")
	for _, f := range found {
		if len(subject) >= 3 && strings.Contains(f.context, subject) && isConstant(f.text) != isConstant(found[0].text) {
			what += fmt.Sprintf("; line %d says %s", f.line, quote(f.text))
			break
		}
	}
	report(found[0].line, what)
}

// countSizes returns of how many sizes one thing was measured: labels or headers that differ
// in a number only.
func countSizes(all []measure) int {
	sizes := map[string]map[int]bool{}
	most := 0
	add := func(label, rest string) {
		for _, at := range sized.FindAllStringIndex(label, -1) {
			n, err := strconv.Atoi(label[at[0]:at[1]])
			if err != nil {
				continue
			}
			key := label[:at[0]] + "\x00" + label[at[1]:] + "\x00" + rest
			if sizes[key] == nil {
				sizes[key] = map[int]bool{}
			}
			sizes[key][n] = true
			most = max(most, len(sizes[key]))
		}
	}
	for _, m := range all {
		add(m.subject, m.metric)
		add(m.metric, m.subject)
		add(m.heading, m.subject)
	}
	return most
}
