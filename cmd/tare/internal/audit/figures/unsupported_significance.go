package figures

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
	"github.com/tarebench/tare/internal/lazyregexp"
)

// This file is the rule unsupported-significance. It finds changes that are called significant or
// certain without support. For example, "a is reliably faster" stands on a page with p=0.4 for a.

// unsupportedSignificance finds changes that are called significant or certain without support: "a
// is reliably faster" on a page with p=0.4 for a.
func unsupportedSignificance() rule {
	return rule{Rule: audit.Rule{
		ID: "unsupported-significance", Severity: tare.Warn,
		Title:   "Significance is stated, and nothing on the page supports it.",
		Why:     "Significance is a statement about repetitions. A longer run (-benchtime) narrows the mean of that run, and predicts nothing of the next.",
		Do:      "repeat each side eight times or more and give the interval, or p and n",
		Command: benchAllCommand,
		Bad:     "Run with -benchtime=5s for statistically significant results.\n\n| side | time |\n|---|---|\n| a | 1180 ns |\n| b | 1105 ns |\n",
		Good:    "Run with -count=10 and compared by benchstat for statistically significant results.\n\n| side | time |\n|---|---|\n| a | 1180 ns ± 2% |\n| b | 1105 ns ± 1% |\n",
		Seen:    []string{"routing", "json-encode", "ffi"},
	}, find: findUnsupportedSignificance}
}

// findUnsupportedSignificance reports sentences that call a change significant although the page
// does not show it. It also reports such sentences on pages without any sign of repetitions.
func findUnsupportedSignificance(d *document, report reportFunc) {
	findGainsAgainstBenchstat(d, report)
	findUnclearGains(d, report)
	d.findSignificantBests(report)
	if d.hasFigures() && !d.hasRepetitions() {
		for _, s := range d.sentences {
			if m := significanceRE.FindStringIndex(s.text); m != nil && !isDenied(s.text, m[1]) {
				report(s.line, fmt.Sprintf("%s: the page has no number of runs, no interval and no p", quote(s.text[m[0]:m[1]])))
			}
		}
	}
}

var (
	// fewRunsRE matches "best of three runs" and "a single run".
	fewRunsRE = lazyregexp.New(`(?i)\b(?:best|fastest|better) of (?:two|three|four|five|[2-5])\b` +
		`|\b(?:means?|medians?|averages?) of (?:two|three|[23])\b` +
		`|\b(?:a single|only one|one) run\b`)
	// significantGainRE matches "significantly faster". The group is "significantly".
	significantGainRE = lazyregexp.New(`(?i)\b(significant(?:ly)?)\b[^.;,]{0,30}\b(?:faster|slower|quicker|less|fewer|lower|higher|more|better|worse|improvement|gain|difference)\b`)
	// gainIsSignificantRE matches "the gain is small but significant". The group is "significant".
	gainIsSignificantRE = lazyregexp.New(`(?i)\b(?:gains?|differences?|improvements?|changes?)\b[^.;,]{0,40}\b(significant)\b`)
)

// findSignificantBests reports significance of figures that are the best of few runs.
func (d *document) findSignificantBests(report reportFunc) {
	type section struct {
		fewRuns     string
		hasEvidence bool
	}
	sections := map[string]section{}
	for _, s := range d.sentences {
		x := sections[s.path]
		x.fewRuns = cmp.Or(x.fewRuns, fewRunsRE.FindString(s.text))
		x.hasEvidence = x.hasEvidence || evidenceRE.MatchString(s.text)
		sections[s.path] = x
	}
	for _, s := range d.sentences {
		m, x := significantGainRE.FindStringSubmatchIndex(s.text), sections[s.path]
		if m == nil {
			m = gainIsSignificantRE.FindStringSubmatchIndex(s.text)
		}
		hasTable := slices.ContainsFunc(d.tables, func(t *table) bool { return t.path == s.path && !t.hasEvidence() })
		if m != nil && x.fewRuns != "" && !x.hasEvidence && hasTable && !isDenied(s.text, m[1]) {
			report(s.lineAt(m[2]), fmt.Sprintf("%s is said of figures that are of %s, without an interval or a test", quote(s.text[m[2]:m[3]]), quote(x.fewRuns)))
		}
	}
}

// hasEvidence reports whether a cell of the table has an interval or a p-value.
func (t *table) hasEvidence() bool {
	return evidenceRE.MatchString(strings.Join(t.header, " ")) || slices.ContainsFunc(t.rows, func(r tableRow) bool { return evidenceRE.MatchString(strings.Join(r.cells, " ")) })
}

func (d *document) hasFigures() bool {
	hasTable := false
	for i, t := range d.tables {
		hasTable = hasTable || len(t.figures(i)) > 0
	}
	return hasTable || len(d.benches) > 0 || len(d.reports) > 0
}

func (d *document) hasRepetitions() bool {
	isRepeated := slices.ContainsFunc(d.benches, func(b *bench) bool { return b.runs >= minRuns })
	return isRepeated || len(d.statRows) > 0 || d.hasText(evidenceRE)
}

// findGainsAgainstBenchstat reports gains without a significant change in benchstat.
func findGainsAgainstBenchstat(d *document, report reportFunc) {
	unchanged := map[string]statRow{} // rows without a significant change, by name
	for _, row := range d.statRows {
		if row.p > maxP {
			unchanged[strings.ToLower(processorsRE.ReplaceAllString(row.name, ""))] = row
		}
	}
	unchangedGroups := d.findUnchangedGroups()
	for _, s := range d.sentences {
		m := gainRE.FindStringIndex(s.text)
		if len(unchanged) == 0 || m == nil || isDenied(s.text, m[1]) {
			continue
		}
		for clause := range strings.SplitSeq(s.text, ";") {
			m := certaintyRE.FindStringIndex(clause)
			if m == nil || !strings.HasPrefix(strings.ToLower(clause[m[0]:]), "significan") || isDenied(clause, m[1]) {
				continue
			}
			for _, word := range strings.Fields(strings.ToLower(clause)) {
				if row, ok := unchangedGroups[strings.Trim(word, ".,:;`*")]; ok {
					report(s.line, fmt.Sprintf("a significant difference is said of %s, and benchstat has p=%v (line %d)", quote(word), row.p, row.line))
					break
				}
			}
		}
		for _, word := range strings.Fields(strings.ToLower(s.text)) {
			if row, ok := unchanged[strings.Trim(word, ".,:;`*")]; ok {
				report(s.line, fmt.Sprintf("%s is said of %s, and benchstat has p=%v for it (line %d)", quote(s.text[m[0]:m[1]]), row.name, row.p, row.line))
				break
			}
		}
	}
}

// findUnchangedGroups returns the first rows of benchmarks whose times all have no significant change, by the first
// part of their names in lower case: sobel for Sobel/640x480 and Sobel/2448x2048.
func (d *document) findUnchangedGroups() map[string]statRow {
	out := map[string]statRow{}
	changed := map[string]bool{}
	for _, row := range d.statRows {
		group, _, hasCases := strings.Cut(strings.ToLower(row.name), "/")
		isTime := strings.HasPrefix(row.unit, "sec") || strings.HasPrefix(row.unit, "time")
		switch {
		case !hasCases || !isTime:
		case row.p <= maxP:
			changed[group] = true
		case out[group].line == 0:
			out[group] = row
		}
	}
	maps.DeleteFunc(out, func(group string, _ statRow) bool { return changed[group] })
	return out
}

var (
	// gainRE matches a change, such as "faster".
	gainRE = lazyregexp.New(`(?i)\b(?:faster|slower|improve\w*|gain\w*|regress\w*|speed-?up|speeds? (?:\w+ )?up|sped (?:\w+ )?up|profits?|win|wins)\b`)
	// significanceRE matches "statistically significant".
	significanceRE = lazyregexp.New(`(?i)\bstatistical(?:ly)?\s+(?:\w+\s+)?(?:significan\w*|stab\w+|reliab\w+|robust\w*|valid\w*|confiden\w+|meaningful|sound|accura\w+)`)
	// evidenceRE matches signs of repetitions, such as "±", "p = 0.03" or "n=10".
	evidenceRE = lazyregexp.New(`(?i)±|\+/-|p\s?[=<]\s?0?\.\d|p-value|\bn\s?=\s?\d` +
		`|95\s?%|99\s?% (?:ci|confidence)|confidence interval|standard deviation|std ?dev` +
		`|-count[= ]?\d|benchstat|welch|mann|t-test|bootstrap|coefficient of variation`)
	// certaintyRE matches words such as "reliably" or "confirmed".
	certaintyRE = lazyregexp.New(`(?i)\b(?:reliabl[ey]|significan(?:t|tly|ce)|consistent(?:ly)?|real|genuine(?:ly)?` +
		`|certain(?:ly)?|definite(?:ly)?|clear(?:ly)?|solid|proven|proves|confirm(?:s|ed)` +
		`|robust(?:ly)?|reproducib(?:le|ly)|repeatabl[ey]|undeniabl[ey]|measurabl[ey]|trustworthy|dependabl[ey]|stable|beyond (?:any |all )?doubt|undoubtedly|unmistakabl[ey])\b`)
	// doubtRE matches words such as "within noise" or "perhaps".
	doubtRE = lazyregexp.New(`(?i)\bnois[ey]|\binsignificant|\bwithin\b|\btie\b|\bunchanged|\bindistinguishable|\bunclear` +
		`|\binconclusive|\bperhaps|\bseem|\btend|\bunless|\b(?:in|some) doubt|\bdoubtful|\bwithout\b|\bchance\b|\bsmall enough|\bn\.s\.`)
	// pInTextRE matches "p = 0.21". The group is 0.21.
	pInTextRE = lazyregexp.New(`(?i)\bp\s?(?:-value|value)?\s?(?:=|of|is|:)\s?(0?\.\d+)`)
)

// findUnclearGains reports sentences that call an unclear change certain or a gain. An unclear
// change is not significant by a p-value, an interval or ±.
func findUnclearGains(d *document, report reportFunc) {
	compared := 0
	pairs := d.collectUnclearPairs()
	for _, s := range d.sentences {
		end := max(endOf(certaintyRE, s.text), endOf(gainRE, s.text))
		if end == 0 || isDenied(s.text, end) || doubtRE.MatchString(throughClause(s.text, end)) {
			continue
		}
		certainty := certaintyRE.FindString(s.text) // "" if the sentence only states a gain
		if m := pInTextRE.FindStringSubmatch(s.text); m != nil && certainty != "" {
			if p, err := strconv.ParseFloat(m[1], 64); err == nil && p > maxP {
				report(s.line, fmt.Sprintf("%s is said of a change with p = %s", quote(certainty), m[1]))
				continue
			}
		}
		if compared++; compared > maxCompared {
			return
		}
		if p, offset := s.selectUnclearPair(pairs); p != nil && certainty != "" {
			report(s.lineAt(offset), fmt.Sprintf("%s is said of %s and %s: they differ by less than their spread allows", quote(certainty), p.a.text, p.b.text))
			continue
		}
		if row := d.findUnclearAmongAll(s, certainty); row != nil {
			report(s.lineAt(0), fmt.Sprintf("%s is said of all rows, and %s has %s (line %d)", quote(certainty), quote(row.label), row.evidence, row.line))
			continue
		}
		words := newWordSet(s.subject())
		for _, g := range d.nearGrids(s.line) {
			if row, offset := g.selectUnclearRow(s, words, certainty != ""); row != nil {
				text := quote(cmp.Or(certainty, gainRE.FindString(s.text)))
				report(s.lineAt(offset), fmt.Sprintf("%s is said of %s, which has %s (line %d)", text, quote(row.label), row.evidence, row.line))
				break
			}
		}
	}
}

// allRowsRE matches "all three queries" or "each of the benchmarks".
var allRowsRE = lazyregexp.New(`(?i)\b(?:each|every|all)\b(?: of)?(?: the)?` +
	`(?: (?:two|three|four|five|six|seven|eight|nine|ten|\d+))? (?:\w+ )?` +
	`(?:rows?|quer(?:y|ies)|cases?|benchmarks?|sizes?|inputs?|files?|operations?|workloads?|steps?|of them)\b`)

// bothRowsRE matches "both stages", about a table with two rows.
var bothRowsRE = lazyregexp.New(`(?i)\bboth (?:of them|[a-z]+s)\b`)

// findUnclearAmongAll returns an unclear row if a sentence calls all rows significant.
func (d *document) findUnclearAmongAll(s sentence, certainty string) *unclearRow {
	isAll := strings.HasPrefix(strings.ToLower(certainty), "significan") && allRowsRE.MatchString(s.text)
	isBoth := certainty != "" && bothRowsRE.MatchString(s.text) && gainRE.MatchString(s.text)
	if !isAll && !isBoth {
		return nil
	}
	var last *grid
	for _, g := range d.nearGrids(s.line) {
		if g.line < s.line && (last == nil || g.line > last.line) {
			last = g
		}
	}
	if last == nil || len(last.unclear) == 0 || last.unclear[0].line > s.line || !isAll && len(last.labels) != 2 {
		return nil
	}
	return &last.unclear[0]
}

// unclearPair holds the two figures with ± of a row or column. They do not differ significantly.
type unclearPair struct {
	a, b   meanSpread
	change float64 // in percent of a, without its sign
	isRow  bool    // in a row: a sentence needs the label or both figures
	label  string  // in lower case
}

// isOf reports whether a sentence may be about the pair. It names a row by its label, or by all words
// of it: "large joins" for "join, large".
func (p unclearPair) isOf(sentence string) bool {
	if !p.isRow {
		return true
	}
	hasLabel := p.label != "" && strings.Contains(strings.ToLower(sentence), p.label)
	return hasLabel || newWordSet(sentence).hasAll(nameWords(p.label))
}

// collectUnclearPairs returns the pairs of figures with ± that do not differ significantly. It
// returns nil unless the page says what ± means.
func (d *document) collectUnclearPairs() []unclearPair {
	var out []unclearPair
	for _, t := range d.tables {
		for col := range t.header {
			if a, b, ok := t.spreadsOf(col); ok && len(t.rows) == 2 {
				out = append(out, unclearPair{a: a, b: b, change: computeShare(a.value, b.value)})
			}
		}
		for _, row := range t.rows {
			if list := row.spreads(); len(list) == 2 && len(out) < maxCompared {
				a, b, label := list[0], list[1], strings.ToLower(stripMarks(row.cells[0]))
				out = append(out, unclearPair{a: a, b: b, change: computeShare(a.value, b.value), isRow: true, label: label})
			}
		}
	}
	if len(out) == 0 {
		return nil
	}
	runs := 0.0 // runs of each side; 0 if ± is a confidence interval
	switch {
	case d.hasText(deviationRE):
		if runs = d.countStatedRuns(); runs < 2 {
			return nil
		}
	case !d.hasText(confidenceRE):
		return nil
	}
	return slices.DeleteFunc(out, func(p unclearPair) bool { return differSignificantly(p.a, p.b, runs) })
}

// selectUnclearPair returns the pair of a sentence and its offset there.
func (s sentence) selectUnclearPair(pairs []unclearPair) (found *unclearPair, offset int) {
	if len(pairs) == 0 {
		return nil, 0
	}
	for _, stated := range s.pairs() {
		for i := range pairs {
			if pairs[i].a.value == stated.a.raw && pairs[i].b.value == stated.b.raw {
				return &pairs[i], stated.start
			}
		}
	}
	for _, m := range percentClaimRE.FindAllStringSubmatchIndex(s.text, maxFigures) {
		value, step, _, ok := parseNumber(s.text[m[2]:m[3]])
		for i, p := range pairs {
			if ok && p.isOf(s.text) && math.Abs(p.change-value) <= claimSteps*step {
				return &pairs[i], m[0]
			}
		}
	}
	return nil, 0
}

// selectUnclearRow returns the unclear row of a sentence, and the offset of its change there.
func (g *grid) selectUnclearRow(s sentence, words wordSet, isCertain bool) (found *unclearRow, offset int) {
	if len(g.unclear) == 0 {
		return nil, 0
	}
	labels := g.rowMatcher.findNamed(words)
	if len(labels) > 1 && isCertain { // the clause of the certainty names fewer
		if m := certaintyRE.FindStringIndex(s.text); m != nil {
			start := 0
			if all := conjunctionRE.FindAllStringIndex(s.text[:m[0]], maxFigures); len(all) > 0 {
				start = all[len(all)-1][1]
			}
			end := len(s.text)
			if next := conjunctionRE.FindStringIndex(s.text[m[1]:]); next != nil {
				end = m[1] + next[0]
			}
			if own := g.rowMatcher.findNamed(newWordSet(s.text[start:end])); len(own) == 1 {
				labels = own
			}
		}
	}
	for i := range g.unclear {
		row := &g.unclear[i]
		isNamed := slices.Contains(labels, row.label)
		for _, m := range percentClaimRE.FindAllStringSubmatchIndex(s.text, maxFigures) {
			value, step, _, ok := parseNumber(s.text[m[2]:m[3]])
			isStated := ok && slices.ContainsFunc(row.changes, func(x float64) bool { return math.Abs(x-value) <= claimSteps*step })
			isExact := step < 1 && (len(labels) == 0 || isCertain) // 3.7 % identifies the row without its name
			if isStated && (isNamed || isExact) {
				return row, m[0]
			}
		}
		if isCertain && isNamed && len(labels) == 1 && gainRE.MatchString(s.text) {
			return row, 0
		}
	}
	return nil, 0
}

// endOf returns the offset of the end of the first match, or 0 without a match.
func endOf(pattern *lazyregexp.Regexp, text string) int {
	if m := pattern.FindStringIndex(text); m != nil {
		return m[1]
	}
	return 0
}

// throughClause returns the text up to the end of the clause at offset end.
func throughClause(text string, end int) string {
	if i := strings.IndexAny(text[end:], ",;:"); i >= 0 {
		return text[:end+i]
	}
	return text
}

// isDenied reports whether a clause up to a match has a negation or condition.
func isDenied(text string, end int) bool {
	text = relativeClauseRE.ReplaceAllString(throughClause(text, end), " ")
	return negationRE.MatchString(hasBecomeRE.ReplaceAllString(text, " "))
}

// hasBecomeRE matches "has become". negationRE takes "become" for a possibility.
var hasBecomeRE = lazyregexp.New(`(?i)\b(?:has|have|had) become\b`)

// relativeClauseRE matches a clause about a noun, such as ", which is not new,". Its negation does
// not deny the sentence.
var relativeClauseRE = lazyregexp.New(`(?i), (?:which|who|that|whose|where)\b[^,;]*,`)
