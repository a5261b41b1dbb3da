package figures

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
	"github.com/tarebench/tare/internal/lazyregexp"
)

// criterionCannotFail returns the rule criterion-cannot-fail, which findCriterionCannotFail applies.
func criterionCannotFail() rule {
	return rule{Rule: audit.Rule{
		ID: "criterion-cannot-fail", Severity: tare.Warn,
		Title:   "A target is such that no figure could miss it: it is too far away, or made of the figures that it judges.",
		Why:     "A limit a thousand times above all figures decides nothing: it would hold for any of the sides, and for a much worse one. A median is never above the highest of the same runs.",
		Do:      "derive the limit from what a request may cost, and say what would have missed it",
		Command: "tare run routing",
		Bad:     "Target: overhead below 5 ms.\n\n| router | time |\n|---|---|\n| a | 1210 ns |\n| b | 1105 ns |\n",
		Good:    "Target: overhead below 500 ns.\n\n| router | time |\n|---|---|\n| a | 1210 ns |\n| b | 1105 ns |\n",
		Seen:    []string{"routing"},
	}, find: findCriterionCannotFail}
}

const (
	// maxMeasuredRatio is the ratio from which a limit is too far above the figure that it limits.
	maxMeasuredRatio = 100
	// maxLongestRatio is the ratio from which a limit in the text is too far above the
	// longest time of its section: the figure that it limits is not known.
	maxLongestRatio = 1000
)

// limited matches a target with the limit of a time.
var limited = lazyregexp.New(`(?i)\b(?:target|goal|threshold|criteri\w+|requirements?|budget|acceptable|acceptance|limit|slo|sla|objective|must|shall)\b[^.|]{0,60}?(?:<|≤|&lt;|below|under|less than|within|at most|no more than)\s*(\d[\d,]*(?:\.\d+)?)\s*(ns|µs|us|μs|ms|s|sec|seconds|milliseconds)\b`)

// extreme is an expression for the greatest of several figures.
const extreme = `(?:highest|largest|greatest|slowest|worst|longest|biggest|max(?:imum|imal)?|peak)\b`

var (
	// limitWord matches words of a sentence about a limit.
	limitWord = lazyregexp.New(`(?i)\b(?:band|limit|threshold|bound|ceiling|tolerance|budget|criteri\w+|requirements?|gate|cap|target|allowed|allowance|accept\w*|slo|sla|must|shall|pass(?:es|ed)?|held back|met)\b`)
	// extremeLimit matches a limit that is the greatest of several runs. The groups are the words before
	// the runs, and those after them.
	extremeLimit = lazyregexp.New(`(?i)(?:\b(?:band|limit|threshold|bound|ceiling|tolerance|budget|cap|target|it)\b[^.;]{0,50}(?:\b(?:is|reach(?:es)?|up to|to|at|by|from|as|equals)|[:=])|at most|(?:not|never) (?:be |go |rise |get )?(?:exceed|above|over|higher than)|no (?:more|higher|slower) than|(?:below|under|within)|(?:lower|less) than|≤|<=?|(?:more|higher|slower) than \d+(?:\.\d+)?\s?% (?:above|over|slower than))\s+(?:\d+(?:\.\d+)?\s?% (?:above|over|more than|slower than)\s+)?((?:the |their |its |that |own |very |same |single )*` + extreme + `[^.;]{0,70}?)\b(?:runs?|samples?|measurements?|repetitions?|rounds?|trials?|replays?|builds?|releases?|versions?)\b((?:[^.;]|\.\d){0,40})`)
	// ownRange matches a range of runs that contains the runs that are judged. The group has the runs.
	ownRange = lazyregexp.New(`(?i)\b(?:between|from|within|not (?:below|under|lower than))\s+(?:the )?(?:smallest|lowest|least|fastest|best|min(?:imum|imal)?)\b[^.;]{0,40}?\b(?:and|to)\s+(?:not (?:above|over|higher than) )?(?:the )?` + extreme + `([^.;]{0,90})`)
	// slowerOfTwo matches a limit above the greater of the two sides that are compared.
	slowerOfTwo = lazyregexp.New(`(?i)\b(?:above|over|times|more than|plus|at most|exceeds?)\s+(?:the )?(?:slower|greater|larger|higher|worse|maximum)(?: one)? of (?:the )?(?:two|both|base|candidate|old|new)\b`)
	// betweenEnds matches a condition on the middle of runs that their least and greatest always meet, and
	// limitOrLabel the words around it.
	betweenEnds  = lazyregexp.New(`(?i)\b(?:median|mean|average)\b[^.;]{0,40}\b(?:lies|is|falls|stays|lie|are|be)\s+(?:between|within)\s+(?:the |their |its )?(?:least|lowest|smallest|fastest|min(?:imum)?)(?: (?:run|value|figure|one))?\s+and\s+(?:the |their |its )?(?:greatest|highest|largest|slowest|max(?:imum)?)(?: (?:run|value|figure|one))?(?: of (?:them|these|its own|the same)\b[^.;]{0,20}|[.;]|$)`)
	limitOrLabel = lazyregexp.New(`(?i)\b(?:counts? as|stable|pass(?:es|ed)?|accept\w*|criteri\w+|gate)\b`)
	// candidateRuns matches the runs of the side that is judged, or of all sides.
	candidateRuns = lazyregexp.New(`(?i)\b(?:runs?|samples?|measurements?|rounds?|trials?|results?)\b[^.;]{0,40}\b(?:candidates?|both|all|either|new|pr|branch|head)\b|\b(?:all|both|either|its own|the same)\b[^.;]{0,30}\b(?:runs?|samples?|measurements?|rounds?|trials?|results?)\b|\bof (?:the (?:twenty|sixteen)|both|all)\b`)
	// sameRuns matches words by which runs are those that are judged.
	sameRuns = lazyregexp.New(`(?i)\b(?:same|these|those|very|own)\b`)
	// allRuns and ofTable match runs of all sides, before and after the word, and candidate the label of the side
	// that is judged.
	allRuns   = lazyregexp.New(`(?i)\b(?:all|both)(?: of)?(?: the)?(?: \w+)?\s*$`)
	ofTable   = lazyregexp.New(`(?i)^\s*(?:(?:of|in|from) (?:the|this) (?:table|list)\b|listed\b|above\b|below\b)`)
	candidate = lazyregexp.New(`(?i)\bcandidate\b|\bnew\b|\bhead\b|\bthis (?:pr|branch|change|build)\b`)
	// typicalOf matches the figure that a limit judges, with its side.
	typicalOf = lazyregexp.New(`(?i)\b(?:median|mean|average|typical|p50)\b(?:[^.;]|\.\d){0,30}?\b(?:of|for|on) (?:the )?([\w.]*\w)`)
	// sideOf matches the side of runs, after the word.
	sideOf = lazyregexp.New(`(?i)^\s*(?:of|for|on|from|with) (?:the )?([\w.]*\w)`)
	// judged matches a figure that is never above the greatest of its runs.
	judged = lazyregexp.New(`(?i)\b(?:median|mean|average|typical|p50)\b`)
	// trivialLimit matches limits that hold for all figures.
	trivialLimit = lazyregexp.New(`(?i)\b(?:error|failure|loss|failed)\b[^.;|]{0,40}(?:at most|below|under|≤|<=?|no more than|not exceed)\s*100\s?%|\b(?:success|availability|hit)\b[^.;|]{0,30}(?:at least|above|≥|>=?|no less than)\s*0\s?%`)
	// orderedLimit matches a limit on a figure that is never above another one of its run.
	orderedLimit = lazyregexp.New(`(?i)\b(median|p50|mean|p90|p95)\b(?: (?:latency|time|duration))?\s+(?:must |shall |should |has to |is to )?(?:be |stay |stays |remain |remains |is |not )*(?:below|under|at most|exceed|no more than|lower than|≤|<=?)\s*(?:the |its )?(?:p99(?:\.\d+)?|max(?:imum)?|slowest|worst)\b([^.;]{0,30})`)
	// reverseLimit matches a limit below which a figure is never, as the median of the same run: "p99 at 200/s not
	// below p50 at 200/s". The groups are the two figures with their conditions.
	reverseLimit = lazyregexp.New(`(?i)\b(p\d\d\d?(?:\.\d+)?|max(?:imum)?|median)(?: (?:latency|time|duration))?\b((?:[^.;|<>≤≥]|\.\d){0,40}?)\s+(?:must |shall |should |has to |is |to )*(?:be )?(?:(?:not|never|no) (?:be )?(?:below|under|lower than|less than|smaller than)|at least|≥|>=)\s+(?:the |its )?(p\d\d\d?(?:\.\d+)?|median|min(?:imum)?)(?: (?:latency|time|duration))?\b((?:[^.;|,]|[.,]\d){0,40})`)
	// ownMargin matches a limit that is the judged figure and something more.
	ownMargin = lazyregexp.New(`(?i)\b(?:limit|threshold|target|budget|bound|ceiling)s?\b[^.;]{0,30}\b(?:is|are|equals?)\s+(?:its|their) (?:own )?(?:measured |median )?(?:p\d+|median|mean|average|latency|time)\b[^.;]{0,40}\b(?:plus|and|times|with|from the table|increased by)\b|\b(?:puts?|sets?|is|are|makes?)\b[^.;]{0,30}\b(?:limit|threshold|target|budget|bound|ceiling)s?\b[^.;%]{0,20}\d\s?% (?:above|over) (?:the|its|their) (?:measured )?(?:median|mean|average|p\d+)\b`)
	// apartBySpread matches a limit on the distance of two medians, and pooledSpread a spread that contains them:
	// that of all runs. Twenty and sixteen runs are those of two sides with ten and eight each.
	apartBySpread = lazyregexp.New(`(?i)\b(?:medians?|means?|averages?)\b[^.;]{0,60}\b(?:(?:further|farther|more) apart than|differ by more than|difference (?:exceeds|is (?:above|more than|greater than)))\s+(?:the|their|that|this) (?:\w+ )?(?:spread|range)\b`)
	pooledSpread  = lazyregexp.New(`(?i)\b(?:spread|range)\b[^.;]{0,20}?\b(?:largest|highest|greatest|slowest|longest|max(?:imum|imal)?)\b[^.;]{0,30}\b(?:all|both|twenty|sixteen|pooled|combined|together)\b[^.;]{0,40}\b(?:smallest|lowest|least|fastest|shortest|min(?:imum|imal)?)\b`)
	// brokenOff matches a command of a load generator that ends requests after a time. The groups are the number
	// and the unit, which is s if it is absent.
	brokenOff = lazyregexp.New(`^(?:(?:hey|oha|ghz)\b.*? -t[ =]?|ab\b.*? -s ?|(?:oha|ghz)\b.*? --timeout[ =]|vegeta\b.*? -timeout[ =])(\d+(?:\.\d+)?)(ms|s)?(?:\s|$)`)
	// scriptTimeout matches that option in a script of k6. The group is the time.
	scriptTimeout = lazyregexp.New(`\btimeout: *['"](\d+(?:\.\d+)?m?s)['"]`)
	// slowestLimit matches a limit on the slowest request, or on all requests.
	slowestLimit = lazyregexp.New(`(?i)\b(?:slowest|longest|worst|max(?:imum)?|no (?:single )?(?:request|response|call|answer)|\d+(?:\.\d+)?\s?% of (?:the |all )?(?:requests|responses|calls|answers))\b(?:[^.;|]|\.\d){0,60}?(?:above|over|exceeds?|exceeding|below|under|at most|within|(?:less|more|longer|slower) than|<|≤|>)\s*(\d[\d,]*(?:\.\d+)?)\s*(ns|µs|us|μs|ms|s|sec|seconds|milliseconds)\b`)
	// criterionHeader matches the header of a column of criteria.
	criterionHeader = lazyregexp.New(`(?i)^(?:acceptance )?(?:criteri(?:on|a)|requirements?|conditions?|targets?|goals?|assertions?|objectives?|slos?)$`)
	// afterwards matches a limit that was chosen by the figures that it judges.
	afterwards = lazyregexp.New(`(?i)\b(?:limit|threshold|target|budget|bound|ceiling|criteri\w+|tolerance)\b[^.;]{0,40}\b(?:set|chosen|derived|taken|picked|fixed|defined|computed)\b[^.;]{0,30}\b(?:after (?:the|all|these) (?:runs|measurements|tests|results)\b|(?:from|by|on|with) (?:the same|these|those) (?:runs|results|figures|measurements|data|samples))`)
)

// findCircularLimits reports limits that are made of the figures that they judge.
func findCircularLimits(d *document, report reportFunc) {
	compared := 0
	for i, s := range d.sentences {
		text := stripMarks(s.text)
		if m := trivialLimit.FindString(text); m != "" {
			report(s.line, fmt.Sprintf("%s: each figure meets it", quote(m)))
			continue
		}
		if m := orderedLimit.FindStringSubmatch(text); m != nil && limitWord.MatchString(text) && !baseHeader.MatchString(m[2]) && !sideOf.MatchString(m[2]) {
			report(s.line, fmt.Sprintf("%s: no run has that figure above the other", quote(m[0])))
			continue
		}
		if m := findReverseLimit(text); m != "" && limitWord.MatchString(text) {
			report(s.line, fmt.Sprintf("%s: no run has that figure below the other", quote(m)))
			continue
		}
		if m := ownRange.FindStringSubmatch(text); m != nil && candidateRuns.MatchString(m[1]) && judged.MatchString(text) && limitWord.MatchString(text) {
			report(s.line, fmt.Sprintf("%s: the range contains the runs that it judges, and their middle is always in it", quote(m[0])))
			continue
		}
		if m := slowerOfTwo.FindStringIndex(text); m != nil && limitWord.MatchString(text) && candidate.MatchString(text[m[0]:]) {
			report(s.line, fmt.Sprintf("%s: the limit grows with the figure that it judges", quote(text[m[0]:m[1]])))
			continue
		}
		if m := betweenEnds.FindString(text); m != "" && limitOrLabel.MatchString(text) {
			report(s.line, fmt.Sprintf("%s: the middle of runs is always between their ends", quote(m)))
			continue
		}
		if m := afterwards.FindString(text); m != "" && !negation.MatchString(text) {
			report(s.line, fmt.Sprintf("%s: a limit that is made of the figures holds for them", quote(m)))
			continue
		}
		if m := ownMargin.FindString(text); m != "" && !negation.MatchString(m) && !baseHeader.MatchString(text) {
			report(s.line, fmt.Sprintf("%s: a limit that is made of the figures holds for them", quote(m)))
			continue
		}
		if m := apartBySpread.FindString(text); m != "" && d.hasText(pooledSpread) {
			report(s.line, fmt.Sprintf("%s: the spread is of the runs of both, and their middles are always within it", quote(m)))
			continue
		}
		context := text // with the sentences before and after, which may have the figure that is judged
		for _, j := range []int{i - 1, i + 1} {
			const maxGap = 3
			if j >= 0 && j < len(d.sentences) && d.sentences[j].heading == s.heading && max(s.line-d.sentences[j].line, d.sentences[j].line-s.line) <= maxGap {
				context += " " + stripMarks(d.sentences[j].text)
			}
		}
		m := extremeLimit.FindStringSubmatch(text)
		if m == nil || !judged.MatchString(context) || !limitWord.MatchString(context) {
			continue
		}
		const maxLimits = 100
		if compared++; compared > maxLimits {
			return
		}
		_, after, _ := strings.Cut(text, m[1])
		isOfAll := allRuns.MatchString(m[1]) && (!baseHeader.MatchString(m[2]) || candidate.MatchString(after))
		isSame := sameRuns.MatchString(m[1]) || isOfAll || ofTable.MatchString(m[2]) && d.hasCandidate()
		if side := sideOf.FindStringSubmatch(m[2]); side != nil {
			for _, t := range typicalOf.FindAllStringSubmatch(context, maxFigures) {
				isSame = isSame || strings.EqualFold(t[1], side[1]) && canName(strings.ToLower(side[1]))
			}
		}
		if isSame || d.hasExtreme(context) {
			report(s.line, fmt.Sprintf("%s: the limit is the greatest of the runs that it judges, and their middle is never above it", quote(m[0])))
		}
	}
}

// hasCandidate reports whether a row of a table is about the side that is judged.
func (d *document) hasCandidate() bool {
	return slices.ContainsFunc(d.tables, func(t *table) bool {
		return slices.ContainsFunc(t.rows, func(row tableRow) bool { return len(row.cells) > 0 && candidate.MatchString(row.cells[0]) })
	})
}

// findReverseLimit returns the limit of a text that keeps a quantile from being below a lower one of the
// same distribution. It returns "" if there is none, or if the two figures have different conditions.
func findReverseLimit(text string) string {
	m := reverseLimit.FindStringSubmatch(text)
	if m == nil {
		return ""
	}
	first, second := strings.ToLower(strings.TrimSpace(m[2])), strings.ToLower(strings.TrimSpace(m[4]))
	if first != second || parseQuantileName(m[1]) <= parseQuantileName(m[3]) {
		return ""
	}
	return strings.TrimSpace(m[0])
}

// servedRate matches a criterion on the rate of answers, and upperLimit one that is met by less.
var (
	servedRate = lazyregexp.New(`(?i)^(?:achieved|attained|served|answered|sustained)? ?(?:rate|throughput|requests (?:per|a) second|rps)$`)
	upperLimit = lazyregexp.New(`(?i)^(?:at most|no more than|below|under|up to|≤|<=?)\s*\d`)
)

// findReverseCriteria reports such limits in a column of criteria of a table.
func findReverseCriteria(t *table, report reportFunc) {
	column := slices.IndexFunc(t.header, criterionHeader.MatchString)
	if column < 0 {
		return
	}
	target := slices.IndexFunc(t.header, targetHeader.MatchString)
	for _, row := range t.rows {
		if target >= 0 && target != column && max(target, column) < len(row.cells) && servedRate.MatchString(row.cells[column]) && upperLimit.MatchString(row.cells[target]) {
			report(row.line, fmt.Sprintf("%s %s: a server that answers less meets it, too", quote(row.cells[column]), quote(row.cells[target])))
		}
	}
	for _, row := range t.rows {
		if column >= len(row.cells) {
			continue
		}
		if m := findReverseLimit(row.cells[column]); m != "" {
			report(row.line, fmt.Sprintf("%s: no run has that figure below the other", quote(m)))
		}
	}
}

// hasExtreme reports whether a text has the greatest figure of a row of a table, and a smaller one that is
// its median or mean, as in "up to 31.2 ms; the median is 28.2 ms".
func (d *document) hasExtreme(text string) bool {
	const minRow = 4 // figures of a row of runs
	var stated []float64
	for _, m := range figure.FindAllStringIndex(text, maxFigures) {
		if x, _, _, ok := parseNumber(text[m[0]:m[1]]); ok {
			stated = append(stated, x)
		}
	}
	for _, t := range d.tables {
		for _, row := range t.rows {
			var all []float64
			step := 0.0
			for _, cell := range row.cells[min(1, len(row.cells)):] {
				if q, ok := parseCell(cell); ok {
					all = append(all, q.raw)
					step = max(step, q.step)
				}
			}
			if len(all) < minRow || !slices.Contains(stated, slices.Max(all)) {
				continue
			}
			slices.Sort(all)
			sum := 0.0
			for _, x := range all {
				sum += x
			}
			mean, middle := sum/float64(len(all)), all[len(all)/2]
			if slices.ContainsFunc(stated, func(x float64) bool {
				return x < all[len(all)-1] && (math.Abs(x-mean) <= step || math.Abs(x-middle) <= step)
			}) {
				return true
			}
		}
	}
	return false
}

// findCriterionCannotFail reports limits of k6, of tables and of sentences that are far
// above the measured times, and limits that are made of the figures that they judge.
func findCriterionCannotFail(d *document, report reportFunc) {
	findCircularLimits(d, report)
	limits := d.limits
	for _, t := range d.tables {
		limits = append(limits, t.limits()...)
		findReverseCriteria(t, report)
	}
	for _, l := range limits {
		if l.measured > 0 && l.value >= maxMeasuredRatio*l.measured {
			report(l.line, fmt.Sprintf("the limit of %s for %s is %s times what was measured, %s", formatTime(l.value), l.name, formatNumber(l.value/l.measured), formatTime(l.measured)))
		}
	}
	findLimitsBeyondTimeout(d, report)
	longest := map[int]measure{} // by section: a page may have several studies
	for _, m := range d.measured {
		if m.kind == timeKind && m.origin >= 0 && m.value > longest[m.section].value {
			longest[m.section] = m
		}
	}
	reported := map[int]bool{}
	for _, s := range d.sentences {
		top := longest[s.section]
		if !(top.value > 0) || reported[s.section] {
			continue
		}
		m := limited.FindStringSubmatch(stripMarks(s.text))
		if m == nil {
			continue
		}
		limit, _, ok := parseQuantity(m[1] + " " + m[2])
		if ok && limit.kind == timeKind && limit.value >= maxLongestRatio*top.value {
			report(s.line, fmt.Sprintf("the limit of %s is %s times the longest time on the page, %s (line %d)", formatTime(limit.value), formatNumber(limit.value/top.value), formatTime(top.value), top.line))
			reported[s.section] = true
		}
	}
}

// findLimitsBeyondTimeout reports limits on the slowest request, or on all of them, that are not below the time
// after which the load generator ends a request.
func findLimitsBeyondTimeout(d *document, report reportFunc) {
	timeouts := d.findTimeouts()
	if len(timeouts) == 0 {
		return
	}
	check := func(line int, text string) {
		m := slowestLimit.FindStringSubmatch(text)
		if m == nil {
			return
		}
		bound, _, ok := parseQuantity(m[1] + " " + m[2])
		for _, end := range timeouts {
			if ok && bound.kind == timeKind && bound.value >= end.value {
				report(line, fmt.Sprintf("%s: %s (line %d) ends a request after %s, and no answer takes longer", quote(m[0]), quote(end.text), end.line, formatTime(end.value)))
				return
			}
		}
	}
	for _, s := range d.sentences {
		if text := stripMarks(s.text); limitWord.MatchString(text) || limitWord.MatchString(s.path) {
			check(s.line, text)
		}
	}
	for _, t := range d.tables {
		column := slices.IndexFunc(t.header, criterionHeader.MatchString)
		for _, row := range t.rows {
			if column >= 0 && column < len(row.cells) {
				check(row.line, row.cells[column])
			}
		}
	}
}

// findTimeouts returns the times after which the scripts and the load generators of the page end a request.
func (d *document) findTimeouts() []timeout {
	out := slices.Clone(d.timeouts)
	for _, c := range d.commands {
		if m := brokenOff.FindStringSubmatch(c.text); m != nil {
			out = appendTimeout(out, c.line, m[0], m[1]+cmp.Or(m[2], "s"))
		}
	}
	return out
}

// appendTimeout appends a time such as 5s with the text that it is from, unless it is not above 0.
func appendTimeout(all []timeout, line int, text, value string) []timeout {
	if q, _, ok := parseQuantity(value); ok && q.kind == timeKind && q.value > 0 {
		all = append(all, timeout{line, text, q.value})
	}
	return all
}

var (
	targetHeader = lazyregexp.New(`(?i)^(?:target|goal|threshold|limit|requirement|objective|slo|sla|budget)s?$`)
	actualHeader = lazyregexp.New(`(?i)^(?:actual|result|measured|achieved|value|observed|current)s?$`)
)

// limits returns the upper limits of times in a table with a column of targets such as
// "< 5 ms" and a column of results. It returns nil for other tables.
func (t *table) limits() []limit {
	target, actual := -1, -1
	for i, header := range t.header {
		switch header = strings.TrimSpace(header); {
		case targetHeader.MatchString(header):
			target = i
		case actualHeader.MatchString(header) && actual < 0:
			actual = i
		}
	}
	if target < 0 || actual < 0 {
		return nil
	}
	var out []limit
	for _, row := range t.rows {
		if max(target, actual) >= len(row.cells) {
			continue
		}
		text := strings.TrimSpace(row.cells[target])
		bound := strings.TrimLeft(text, "<≤= ")
		isUpperLimit := bound != text
		upper, ok := parseCell(bound)
		got, okGot := parseCell(row.cells[actual])
		if ok && okGot && isUpperLimit && upper.kind == timeKind && got.kind == timeKind {
			out = append(out, limit{line: row.line, name: quote(row.cells[0]), value: upper.value, measured: got.value})
		}
	}
	return out
}
