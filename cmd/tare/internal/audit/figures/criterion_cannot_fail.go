package figures

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
	"github.com/tarebench/tare/internal/lazyregexp"
)

// This file is the rule criterion-cannot-fail. It finds limits that no figure could miss. For
// example, "p99 below 5 s" is a limit for requests that end after a timeout of 2 s.

// criterionCannotFail finds limits that no figure could miss.
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
	// maxMeasuredRatio is the least reported ratio of a limit to a measured time.
	maxMeasuredRatio = 100
	// maxLongestRatio is the same for a sentence, to the longest time.
	maxLongestRatio = 1000
)

func findCriterionCannotFail(d *document, report reportFunc) {
	findCircularLimits(d, report)
	limits := d.limits
	for i, t := range d.tables {
		findLimitsOfColumn(t, t.figures(i), report)
		limits = append(limits, t.limits()...)
		findReverseCriteria(t, report)
	}
	for _, l := range limits {
		if l.measured > 0 && l.value >= maxMeasuredRatio*l.measured {
			report(l.line, fmt.Sprintf("the limit of %s for %s is %s times what was measured, %s", formatTime(l.value), l.name, formatNumber(l.value/l.measured), formatTime(l.measured)))
		}
	}
	findLimitsBeyondTimeout(d, report)
	findLimitsAboveLongest(d, report)
}

// findLimitsAboveLongest reports limits far above the longest time, once for each section. A
// section is below a heading of level 1.
func findLimitsAboveLongest(d *document, report reportFunc) {
	longest := map[int]figure{} // by section
	for _, f := range d.figures {
		if f.kind == timeKind && f.origin >= 0 && f.value > longest[f.section].value {
			longest[f.section] = f
		}
	}
	reported := map[int]bool{}
	for _, s := range d.sentences {
		top := longest[s.section]
		if !(top.value > 0) || reported[s.section] {
			continue
		}
		m := timeLimitRE.FindStringSubmatch(stripMarks(s.text))
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

// Parts of regular expressions, with two groups each.
const (
	aTime       = `\s*(\d[\d,]*(?:\.\d+)?)\s*(ns|µs|us|μs|ms|s|sec|seconds|milliseconds)\b`          // 5 ms
	aStatedTime = `(\d+(?:\.\d+)?|one|two|` + numberWords + `) ?(ms|s|sec|seconds?|milliseconds?)\b` // two seconds
)

// timeLimitRE matches "Target: overhead below 5 ms". The groups are 5 and ms.
var timeLimitRE = lazyregexp.New(`(?i)\b(?:target|goal|threshold|criteri\w+|requirements?|budget` +
	`|acceptable|acceptance|limit|slo|sla|objective|must|shall)\b[^.|]{0,60}?` +
	`(?:<|≤|&lt;|below|under|less than|within|at most|no more than)` + aTime)

var (
	// slowestLimitRE matches "no request exceeds 5 s". The groups are 5 and s.
	slowestLimitRE = lazyregexp.New(`(?i)\b(?:slowest|longest|worst|max(?:imum)?` + // the slowest
		`|no (?:single )?(?:request|response|call|answer|delivery|query|message|job|operation|transaction|upload|download|lookup|order)` + // or: no request
		`|\d+(?:\.\d+)?\s?% of (?:the |all )?(?:requests|responses|calls|answers))\b` + // or: 100 % of requests
		`(?:[^.;|]|\.\d){0,60}?(?:above|over|exceeds?|exceeding|below|under|at most|within|(?:less|more|longer|slower) than|<|≤|>)` + aTime) // exceeds
	// timeoutOptionRE matches "hey -n 1000 -t 5s". The groups are 5 and s. Without a unit the time
	// is in s.
	timeoutOptionRE = lazyregexp.New(`^(?:(?:hey|oha|ghz)\b.*? -t[ =]?|ab\b.*? -s ?` +
		`|(?:oha|ghz)\b.*? --timeout[ =]|vegeta\b.*? -timeout[ =])(\d+(?:\.\d+)?)(ms|s)?(?:\s|$)`)
	// quantileLimitRE matches "p99 ≤ 2.5 s". The groups are 2.5 and s.
	quantileLimitRE = lazyregexp.New(`(?i)\bp\d\d\d?(?:\.\d+)?\b[^.;|\d]{0,30}?` +
		`(?:below|under|at most|within|less than|no more than|<=?|≤)` + aTime)
	// statedTimeoutRE matches "hey gives a request up after two seconds" and "a client timeout of
	// 500 ms". The groups are the number and unit of each form.
	statedTimeoutRE = lazyregexp.New(`(?i)\b(?:gives?|given|times?|timed|hangs? up|abort\w*|cancel\w*|abandon\w*|cuts? off)\b` + // gives up
		`[^.;]{0,40}?\bafter ` + aStatedTime + // after two seconds
		`|\btimeout (?:of|is|was) ` + aStatedTime) // or: a timeout of 500 ms
	// loadWordsRE matches words about load generators.
	loadWordsRE = lazyregexp.New(`(?i)\b(?:wrk2?|ab|hey|oha|vegeta|k6|ghz|clients?|generator|requests?)\b`)
	// scriptTimeoutRE matches "timeout: '5s'" in a script of k6. The group is 5s.
	scriptTimeoutRE = lazyregexp.New(`\btimeout: *['"](\d+(?:\.\d+)?m?s)['"]`)
)

// findLimitsBeyondTimeout reports limits at or above a timeout: no response can miss them.
func findLimitsBeyondTimeout(d *document, report reportFunc) {
	timeouts := d.findTimeouts()
	if len(timeouts) == 0 {
		return
	}
	check := func(line int, text string) {
		m := slowestLimitRE.FindStringSubmatch(text)
		if m == nil {
			m = quantileLimitRE.FindStringSubmatch(text)
		}
		if m == nil {
			return
		}
		bound, _, ok := parseQuantity(m[1] + " " + m[2])
		for _, end := range timeouts {
			if ok && bound.kind == timeKind && bound.value >= end.seconds {
				report(line, fmt.Sprintf("%s: %s (line %d) ends a request after %s, and no answer takes longer", quote(m[0]), quote(end.option), end.line, formatTime(end.seconds)))
				return
			}
		}
	}
	for _, s := range d.sentences { // s.path has the headings above
		if text := stripMarks(s.text); limitWordRE.MatchString(text) || limitWordRE.MatchString(s.path) {
			check(s.line, text)
		}
	}
	for _, t := range d.tables {
		column, limit := slices.IndexFunc(t.header, criterionHeaderRE.MatchString), slices.IndexFunc(t.header, targetHeaderRE.MatchString)
		for _, row := range t.rows {
			if column < 0 || column >= len(row.cells) {
				continue
			}
			text := row.cells[column]
			if limit >= 0 && limit != column && limit < len(row.cells) {
				text += " " + row.cells[limit] // "p99" and "≤ 500 ms"
			}
			check(row.line, text)
		}
	}
}

func (d *document) findTimeouts() []timeout {
	out := slices.Clone(d.timeouts)
	for _, c := range d.commands {
		if m := timeoutOptionRE.FindStringSubmatch(c.text); m != nil {
			out = appendTimeout(out, c.line, m[0], m[1]+cmp.Or(m[2], "s"))
		}
	}
	for _, s := range d.sentences {
		m := statedTimeoutRE.FindStringSubmatch(s.text)
		if m == nil || !loadWordsRE.MatchString(s.text) {
			continue
		}
		number, unit := cmp.Or(m[1], m[3]), cmp.Or(m[2], m[4])
		if n := parseNumeral(number); n > 0 {
			number = formatNumber(n)
		}
		out = appendTimeout(out, s.line, m[0], number+" "+unit)
	}
	return out
}

func appendTimeout(all []timeout, line int, option, value string) []timeout {
	if q, _, ok := parseQuantity(value); ok && q.kind == timeKind && q.value > 0 {
		all = append(all, timeout{line: line, option: option, seconds: q.value})
	}
	return all
}

var (
	// criterionHeaderRE matches criteria, targetHeaderRE targets such as "< 5 ms", and
	// actualHeaderRE results.
	criterionHeaderRE = lazyregexp.New(`(?i)^(?:acceptance )?(?:criteri(?:on|a)|requirements?|conditions?|targets?|goals?|assertions?|objectives?|slos?)$`)
	targetHeaderRE    = lazyregexp.New(`(?i)^(?:target|goal|threshold|limit|requirement|objective|slo|sla|budget)s?$`)
	actualHeaderRE    = lazyregexp.New(`(?i)^(?:actual|result|measured|achieved|value|observed|current)s?$`)
)

// limits returns the limits in a table with targets and results.
func (t *table) limits() []limit {
	target, actual := -1, -1
	for i, header := range t.header {
		switch header = strings.TrimSpace(header); {
		case targetHeaderRE.MatchString(header):
			target = i
		case actualHeaderRE.MatchString(header) && actual < 0:
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

var (
	// servedRateRE matches "throughput", and upperLimitRE "at most 900".
	servedRateRE = lazyregexp.New(`(?i)^(?:achieved|attained|served|answered|sustained)? ?(?:rate|throughput|requests (?:per|a) second|rps)$`)
	upperLimitRE = lazyregexp.New(`(?i)^(?:at most|no more than|below|under|up to|≤|<=?)\s*\d`)
)

// These match "p99" and "≤ p99.9". The group is p99.9.
var (
	quantileCellRE  = lazyregexp.New(`(?i)^(?:p\d\d\d?(?:\.\d+)?|median)$`)
	quantileUpperRE = lazyregexp.New(`(?i)^(?:≤|<=?|at most|below|under)\s*(p\d\d\d?(?:\.\d+)?|max(?:imum)?)$`)
)

// findReverseCriteria reports limits in a table that a worse server meets too.
func findReverseCriteria(t *table, report reportFunc) {
	column := slices.IndexFunc(t.header, criterionHeaderRE.MatchString)
	if column < 0 && slices.ContainsFunc(t.header, targetHeaderRE.MatchString) {
		column = 0
	}
	if column < 0 {
		return
	}
	target := slices.IndexFunc(t.header, targetHeaderRE.MatchString)
	if column == target {
		column = 0 // the first cell names what the target is of
	}
	for _, row := range t.rows {
		if column >= len(row.cells) {
			continue
		}
		criterion := row.cells[column]
		if target >= 0 && target != column && target < len(row.cells) {
			limit := quantileUpperRE.FindStringSubmatch(row.cells[target])
			if own := quantileCellRE.FindString(criterion); limit != nil && own != "" && parseQuantileName(own) < parseQuantileName(limit[1]) {
				report(row.line, fmt.Sprintf("%s %s: no run has that figure above the other", quote(criterion), quote(row.cells[target])))
			}
			if m := trivialLimitRE.FindString(criterion + " " + row.cells[target]); m != "" {
				report(row.line, quote(m)+": each figure meets it")
			}
		}
		if m := findReverseLimit(criterion); m != "" {
			report(row.line, fmt.Sprintf("%s: no run has that figure below the other", quote(m)))
		}
		hasTarget := target >= 0 && target != column && target < len(row.cells)
		if hasTarget && servedRateRE.MatchString(criterion) && upperLimitRE.MatchString(row.cells[target]) {
			report(row.line, fmt.Sprintf("%s %s: a server that answers less meets it, too", quote(criterion), quote(row.cells[target])))
		}
	}
}
