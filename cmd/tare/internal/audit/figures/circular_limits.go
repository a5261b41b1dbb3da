package figures

import (
	"math"
	"slices"
	"strings"

	"github.com/tarebench/tare/internal/lazyregexp"
)

// This file is a part of the rule criterion-cannot-fail. It finds limits that are made of the
// judged figures. For example, "the median must not exceed the slowest of the runs" is always true.

// Parts of regular expressions.
const (
	aLimit  = `\b(?:limit|threshold|target|budget|bound|ceiling)s?\b`
	extreme = `(?:highest|largest|greatest|slowest|worst|longest|biggest|max(?:imum|imal)?|peak)\b`
	lies    = `\b(?:lies|is|falls|stays|lie|are|be)\s+`
	ofTime  = `(?: (?:latency|time|duration))?` // in "median latency"
)

// These limits are always met.
var (
	// trivialLimitRE matches "errors below 100 %".
	trivialLimitRE = lazyregexp.New(`(?i)\b(?:error|failure|loss|failed)\b[^.;|]{0,40}` +
		`(?:at most|below|under|≤|<=?|no more than|not exceed)\s*100\s?%` +
		`|\b(?:success|availability|hit)\b[^.;|]{0,30}` +
		`(?:at least|above|≥|>=?|no less than)\s*0\s?%` +
		`|(?:at least|no (?:less|fewer) than|≥|>=)\s*(?:0\s?% of\b|(?:0|zero)\s?(?:req/s|requests? (?:per|a) second|ops/s|/s\b))` +
		`|(?:at most|no more than|≤|<=)\s*100\s?% of (?:the |all )?(?:requests|runs|calls|responses)\b`)
	// p99TwiceRE matches "p99 must stay below p99". They are of two sides.
	p99TwiceRE = lazyregexp.New(`(?i)\bp99\b.*\bp99\b(?:[^.]|$)`)
	// partLimitRE matches "failed requests do not exceed the number of requests".
	partLimitRE = lazyregexp.New(`(?i)\b(?:failed|failures?|errors?|timeouts?|misses|hits)\b[^.;|]{0,40}?` +
		`(?:not exceed|never exceed|at most|no more than|below|≤|<=)\s+(?:the )?(?:total(?: number of)?|number of(?: all)?|count of)\s+(?:requests|calls|lookups|responses|runs)\b`)
	// maxOfBothRE matches "new ≤ 1.05 × max(old, new)".
	maxOfBothRE = lazyregexp.New(`(?i)(?:≤|<=?|\b(?:below|under|at most|exceeds?|above|over|within)\b)(?:[^.;|]|\.\d){0,20}?\bmax(?:imum)?\s?\(\s*[\w ]+,\s*[\w ]+\)`)
	// ownFigureRE matches "its median", the judged figure, and ownRunsRE "its " before "runs".
	ownFigureRE = lazyregexp.New(`(?i)\b(?:its|their) (?:own )?(?:median|mean|average|typical|p50)\b`)
	ownRunsRE   = lazyregexp.New(`(?i)\b(?:its|their)\b`)
	// orderedLimitRE matches "the median must stay below p99 of base". The groups are "median" and
	// " of base".
	orderedLimitRE = lazyregexp.New(`(?i)\b(median|p50|mean|p90|p95|p99)\b` + ofTime + // the median
		`(?: (?:of|for) (?:the )?(?:new|old|candidate|base)(?: \w+)?)?\s+(?:must |shall |should |has to |is to )?(?:be |stay |stays |remain |remains |is |not )*` + // must stay
		`(?:below|under|at most|exceed|no more than|lower than|not (?:be )?(?:above|over)|≤|<=?)\s*` + // below
		`(?:the |its |their )?(?:own )?(?:p99(?:\.\d+)?|max(?:imum)?|slowest|worst)\b([^.;]{0,30})`) // p99 of base
	// reverseLimitRE matches "p99 at 200/s not below p50 at 200/s". The groups are "p99", " at
	// 200/s", "p50" and " at 200/s".
	reverseLimitRE = lazyregexp.New(`(?i)\b(p\d\d\d?(?:\.\d+)?|max(?:imum)?|median)` + ofTime + `\b` + // p99
		`((?:[^.;|<>≤≥]|\.\d){0,40}?)` + // at 200/s
		`\s+(?:must |shall |should |has to |is |to )*(?:be )?` + // must be
		`(?:(?:not|never|no) (?:be )?(?:below|under|lower than|less than|smaller than)|at least|≥|>=)\s+` + // not below
		`(?:the |its )?(p\d\d\d?(?:\.\d+)?|median|min(?:imum)?)` + ofTime + `\b` + // p50
		`((?:[^.;|,]|[.,]\d){0,40})`) // at 200/s
	// rangeOfRunsRE matches "between the fastest and the slowest of all runs". The group is " of
	// all runs".
	rangeOfRunsRE = lazyregexp.New(`(?i)\b(?:between|from|within|not (?:below|under|lower than))\s+` + // between
		`(?:the )?(?:smallest|lowest|least|fastest|best|min(?:imum|imal)?)\b[^.;]{0,40}?` + // the fastest
		`\b(?:and|to)\s+(?:not (?:above|over|higher than) )?(?:the )?` + // and the
		extreme + `([^.;]{0,90})`) // slowest of all runs
	// slowerOfTwoRE matches "above the slower of the two", and "the limit is the larger of both".
	slowerOfTwoRE = lazyregexp.New(`(?i)(?:\b(?:above|over|times|more than|plus|at most|exceeds?)|` + aLimit + `[^.;]{0,20}\bis)\s+` +
		`(?:the )?(?:slower|greater|larger|higher|worse|maximum)(?: one)? of (?:the )?(?:two|both|base|candidate|old|new)\b`)
	// betweenEndsRE matches "the median lies between the lowest and the highest".
	betweenEndsRE = lazyregexp.New(`(?i)\b(?:median|mean|average)\b[^.;]{0,40}` + // the median
		`\b(?:lies|is|falls|stays|lie|are|be|leaves?)\s+(?:between|within|(?:(?:in|inside|within|outside) )?(?:the |a )?(?:band|range|span|window)(?: between| from| of))\s+` + // lies between
		`(?:the |their |its )?(?:least|lowest|smallest|fastest|min(?:imum)?)(?: (?:run|value|figure|one))?` + // the lowest
		`\s+(?:and|to)\s+(?:the |their |its )?(?:greatest|highest|largest|slowest|max(?:imum)?)(?: (?:run|value|figure|one))?` + // and the highest
		`(?: of (?:them|these|its own|the same)\b[^.;]{0,20}|[.;]|$)`) // of them
	// limitAfterRunsRE matches "limits were set after the runs".
	limitAfterRunsRE = lazyregexp.New(`(?i)\b(?:limit|threshold|target|budget|bound|ceiling|criteri\w+|tolerance)\b[^.;]{0,40}` + // limits were
		`\b(?:set|chosen|derived|taken|picked|fixed|defined|computed)\b[^.;]{0,30}` + // set
		`\b(?:after (?:the|all|these) (?:runs|measurements|tests|results)\b` + // after the runs
		`|(?:from|by|on|with) (?:the same|these|those) (?:runs|results|figures|measurements|data|samples))`) // or from these results
	// ownMarginRE matches "the limit is its median plus 10 %".
	ownMarginRE = lazyregexp.New(`(?i)` + aLimit + // the limit
		`[^.;]{0,30}\b(?:is|are|equals?)\s+(?:its|their) (?:own )?(?:measured |median )?(?:p\d+|median|mean|average|latency|time)\b` + // is its median
		`[^.;]{0,40}\b(?:plus|and|times|with|from the table|increased by)\b` + // plus
		`|\b(?:puts?|sets?|is|are|makes?)\b[^.;]{0,30}` + aLimit + // or: sets
		`[^.;%]{0,20}\d\s?% (?:above|over) (?:the|its|their) (?:measured )?(?:median|mean|average|p\d+)\b`) // 5 % above its p99
	// ownRunMarginRE matches "the budget is the p99 of this run and a fifth on top".
	ownRunMarginRE = lazyregexp.New(`(?i)` + aLimit + // the budget
		`[^.;]{0,40}\b(?:is|are|equals?|comes? from|derived from)\s+` + // is
		`(?:the |its |their )?(?:measured |observed )?(?:p\d+|median|mean|average|latency|time|figure|result)\b` + // the p99
		`[^.;]{0,30}\b(?:of|from|in) (?:this|the same|that|these|its own|the measured|the judged) ` + // of this
		`(?:runs?|measurements?|tests?|results?|samples?|builds?|releases?)\b[^.;]{0,40}` + // run
		`\b(?:and|plus|times|with|on top|more|increased|rounded)\b`) // and a fifth
	// ownIntervalRE matches "the median is within the interval of its runs".
	ownIntervalRE = lazyregexp.New(`(?i)\b(?:median|mean|average)\b(?:[^.;]|\.\d){0,40}` + lies +
		`(?:within|in|inside) (?:the |its |their )?(?:\d\d(?:\.\d)?\s?% )?(?:confidence )?interval of (?:its|their|the same|these)\b`)
	// distanceBySpreadRE matches "the medians differ by more than the spread". pooledSpreadRE
	// matches "the spread is from the slowest of all runs to the fastest". Twenty or sixteen runs
	// are those of two sides.
	distanceBySpreadRE = lazyregexp.New(`(?i)\b(?:medians?|means?|averages?)\b[^.;]{0,60}` +
		`\b(?:(?:further|farther|more) apart than|differ by more than|difference (?:exceeds|is (?:above|more than|greater than)))\s+` +
		`(?:the|their|that|this) (?:\w+ )?(?:spread|range)\b`)
	pooledSpreadRE = lazyregexp.New(`(?i)\b(?:spread|range)\b[^.;]{0,20}?` +
		`\b(?:largest|highest|greatest|slowest|longest|max(?:imum|imal)?)\b[^.;]{0,30}` +
		`\b(?:all|both|twenty|sixteen|pooled|combined|together)\b[^.;]{0,40}` +
		`\b(?:smallest|lowest|least|fastest|shortest|min(?:imum|imal)?)\b`)
	// ownExtremeRE matches "no order is later than the slowest of the same replay" and "stays under the highest median
	// seen". It is of the measured figures themselves.
	ownExtremeRE = lazyregexp.New(`(?i)\bno(?: single| one)? (?:[\w-]+ ){1,8}?(?:later|longer|slower|more|higher|greater|larger|above|over|beyond|exceeds?)\s+(?:than )?(?:the )?` + // no order is later than
		`(?:latest|` + extreme + `)[^.;,]{0,40}?\b(?:of|in|from|among) (?:the same|that|this|these|those|its own|them)\b` + // the slowest of the same
		`|(?:under|below|at most|within|(?:not|never) (?:be |go |rise )?(?:exceed|above|over)|no (?:more|higher|slower) than)\s+(?:the )?(?:` + extreme + `)` + // or: under the highest
		`(?: [\w-]+)?,? (?:(?:that )?(?:was|we have|we|has been) )?(?:seen|measured|observed|recorded|reached|found)\b`) // median seen
	// extremeLimitRE matches "must not exceed the slowest of the runs of base". The groups are "the
	// slowest of the " and " of base".
	extremeLimitRE = lazyregexp.New(`(?i)(?:\b(?:band|limit|threshold|bound|ceiling|tolerance|budget|cap|target|it)\b[^.;]{0,50}` + // the limit
		`(?:\b(?:is|reach(?:es)?|up to|to|at|by|from|as|equals)|[:=])` + // is
		`|at most|(?:not|never) (?:be |go |rise |get )?(?:exceed|above|over|higher than|worse than|slower than)|no (?:more|higher|slower|worse|longer) than|(?:below|under|within)` + // or: not exceed
		`|(?:lower|less) than|≤|<=?|(?:more|higher|slower) than \d+(?:\.\d+)?\s?% (?:above|over|slower than))\s+` + // or: less than
		`(?:\d+(?:\.\d+)?\s?% (?:above|over|more than|slower than)\s+)?` + // 10 % above
		`((?:the |their |its |that |own |very |same |single )*` + // the
		extreme + `[^.;]{0,70}?)` + // slowest of the
		`\b(?:runs?|samples?|measurements?|repetitions?|rounds?|trials?|replays?|builds?|releases?|versions?)\b` + // runs
		`((?:[^.;]|\.\d){0,40})`) // of base
)

// These match the text around a limit. A page compares a candidate, which is judged, with a base.
var (
	// limitWordRE matches words for limits, and passWordRE for passing.
	limitWordRE = lazyregexp.New(`(?i)\b(?:band|limit|threshold|bound|ceiling|tolerance|budget|criteri\w+` +
		`|requirements?|gate|cap|target|allowed|allowance|accept\w*|slo|sla|must|shall|pass(?:es|ed)?|held back|met)\b`)
	passWordRE = lazyregexp.New(`(?i)\b(?:counts? as|stable|pass(?:es|ed)?|accept\w*|criteri\w+|gate)\b`)
	// typicalFigureRE matches the middle of runs, such as a median. In "median of gin"
	// typicalOfSideRE has the group "gin".
	typicalFigureRE = lazyregexp.New(`(?i)\b(?:median|mean|average|typical|p50)\b`)
	typicalOfSideRE = lazyregexp.New(`(?i)\b(?:median|mean|average|typical|p50)\b(?:[^.;]|\.\d){0,30}?\b(?:of|for|on) (?:the )?([\w.]*\w)`)
	// sideAfterRE matches " of gin" after "runs". The group is "gin".
	sideAfterRE = lazyregexp.New(`(?i)^\s*(?:of|for|on|from|with) (?:the )?([\w.]*\w)`)
	// candidateRE matches a label, and candidateRunsRE runs of the candidate or of all.
	candidateRE     = lazyregexp.New(`(?i)\bcandidate\b|\bnew\b|\bhead\b|\bthis (?:pr|branch|change|build)\b`)
	candidateRunsRE = lazyregexp.New(`(?i)\b(?:runs?|samples?|measurements?|rounds?|trials?|results?)\b[^.;]{0,40}\b(?:candidates?|both|all|either|new|pr|branch|head)\b` +
		`|\b(?:all|both|either|its own|the same)\b[^.;]{0,30}\b(?:runs?|samples?|measurements?|rounds?|trials?|results?)\b` +
		`|\bof (?:the (?:twenty|sixteen)|both|all)\b`)
	// sameRunsRE matches "these" for known runs. allRunsRE matches "all" before "runs". ofTableRE
	// matches " of the table" after "runs".
	sameRunsRE = lazyregexp.New(`(?i)\b(?:same|these|those|very|own)\b`)
	allRunsRE  = lazyregexp.New(`(?i)\b(?:all|both)(?: of)?(?: the)?(?: \w+)?\s*$`)
	ofTableRE  = lazyregexp.New(`(?i)^\s*(?:(?:of|in|from) (?:the|this) (?:table|list)\b|listed\b|above\b|below\b)`)
)

// findCircularLimits reports limits in sentences that the figures always meet.
func findCircularLimits(d *document, report reportFunc) {
	const maxLimits = 100
	compared := 0 // limits that needed the text around the sentence
	for i, s := range d.sentences {
		text := stripMarks(s.text)
		if why := d.whyAlwaysMet(text); why != "" {
			report(s.line, why)
			continue
		}
		m := extremeLimitRE.FindStringSubmatch(text)
		if m == nil {
			continue
		}
		context := d.textAround(i)
		if !typicalFigureRE.MatchString(context) || !limitWordRE.MatchString(context) {
			continue
		}
		if compared++; compared > maxLimits {
			return
		}
		if d.isOfJudgedRuns(text, m[1], m[2], context) || d.hasExtreme(context) {
			report(s.line, quote(m[0])+": the limit is the greatest of the runs that it judges, and their middle is never above it")
		}
	}
}

// whyAlwaysMet returns the text of a finding if the sentence alone shows that its limit is always
// met, else "".
func (d *document) whyAlwaysMet(text string) string {
	if m := trivialLimitRE.FindString(text); m != "" {
		return quote(m) + ": each figure meets it"
	}
	if m := partLimitRE.FindString(text); m != "" {
		return quote(m) + ": a part never exceeds the number of all"
	}
	if m := maxOfBothRE.FindString(text); m != "" && candidateRE.MatchString(m) {
		return quote(m) + ": the limit grows with the figure that it judges"
	}
	if m := orderedLimitRE.FindStringSubmatch(text); m != nil && limitWordRE.MatchString(text) {
		isOfOtherSide := baseHeaderRE.MatchString(m[2]) || sideAfterRE.MatchString(m[2]) || p99TwiceRE.MatchString(m[0])
		if !isOfOtherSide {
			return quote(m[0]) + ": no run has that figure above the other"
		}
	}
	if m := findReverseLimit(text); m != "" && limitWordRE.MatchString(text) {
		return quote(m) + ": no run has that figure below the other"
	}
	if m := rangeOfRunsRE.FindStringSubmatch(text); m != nil && candidateRunsRE.MatchString(m[1]) {
		if typicalFigureRE.MatchString(text) && limitWordRE.MatchString(text) {
			return quote(m[0]) + ": the range contains the runs that it judges, and their middle is always in it"
		}
	}
	if m := slowerOfTwoRE.FindStringIndex(text); m != nil && limitWordRE.MatchString(text) && (candidateRE.MatchString(text[m[0]:]) || d.hasCandidate()) {
		return quote(text[m[0]:m[1]]) + ": the limit grows with the figure that it judges"
	}
	if m := betweenEndsRE.FindString(text); m != "" && passWordRE.MatchString(text) {
		return quote(m) + ": the middle of runs is always between their ends"
	}
	if m := ownExtremeRE.FindString(text); m != "" && (limitWordRE.MatchString(text) || passWordRE.MatchString(text)) && !baseHeaderRE.MatchString(text) {
		return quote(m) + ": the greatest of the figures is never below one of them"
	}
	if m := ownIntervalRE.FindString(text); m != "" && !baseHeaderRE.MatchString(text) {
		return quote(m) + ": the middle of runs is always in their interval"
	}
	const isCircular = ": a limit that is made of the figures holds for them"
	if m := limitAfterRunsRE.FindString(text); m != "" && !negationRE.MatchString(text) {
		return quote(m) + isCircular
	}
	if m := ownMarginRE.FindString(text); m != "" && !negationRE.MatchString(m) && !baseHeaderRE.MatchString(text) {
		return quote(m) + isCircular
	}
	if m := ownRunMarginRE.FindString(text); m != "" && !negationRE.MatchString(m) && !baseHeaderRE.MatchString(text) {
		return quote(m) + isCircular
	}
	if m := distanceBySpreadRE.FindString(text); m != "" && d.hasText(pooledSpreadRE) {
		return quote(m) + ": the spread is of the runs of both, and their middles are always within it"
	}
	return ""
}

// textAround returns sentence i with its neighbours, which may name the judged figure.
func (d *document) textAround(i int) string {
	const maxGap = 3 // lines
	s := d.sentences[i]
	text := stripMarks(s.text)
	for _, j := range []int{i - 1, i + 1} {
		if j < 0 || j >= len(d.sentences) {
			continue
		}
		other := d.sentences[j]
		gap := max(s.line-other.line, other.line-s.line)
		if other.heading == s.heading && gap <= maxGap {
			text += " " + stripMarks(other.text)
		}
	}
	return text
}

// isOfJudgedRuns reports whether a limit judges the runs that it is made of. before and after are
// the groups of extremeLimitRE. context is the text around the sentence.
func (d *document) isOfJudgedRuns(text, before, after, context string) bool {
	if sameRunsRE.MatchString(before) || ownRunsRE.MatchString(before) && ownFigureRE.MatchString(text) {
		return true
	}
	_, rest, _ := strings.Cut(text, before)
	if allRunsRE.MatchString(before) && (!baseHeaderRE.MatchString(after) || candidateRE.MatchString(rest)) {
		return true
	}
	if ofTableRE.MatchString(after) && d.hasCandidate() {
		return true
	}
	side := sideAfterRE.FindStringSubmatch(after)
	if side == nil || !canName(strings.ToLower(side[1])) {
		return false
	}
	return slices.ContainsFunc(typicalOfSideRE.FindAllStringSubmatch(context, maxFigures), func(m []string) bool {
		return strings.EqualFold(m[1], side[1])
	})
}

func (d *document) hasCandidate() bool {
	return slices.ContainsFunc(d.tables, func(t *table) bool {
		return slices.ContainsFunc(t.header, candidateRE.MatchString) || slices.ContainsFunc(t.rows, func(row tableRow) bool { return len(row.cells) > 0 && candidateRE.MatchString(row.cells[0]) })
	})
}

// findReverseLimit returns the part of a text that limits a quantile from below by a lower quantile,
// or "". The conditions of both, such as "at 200/s", must be equal.
func findReverseLimit(text string) string {
	m := reverseLimitRE.FindStringSubmatch(text)
	if m == nil {
		return ""
	}
	isSameCondition := strings.EqualFold(strings.TrimSpace(m[2]), strings.TrimSpace(m[4]))
	if !isSameCondition || parseQuantileName(m[1]) <= parseQuantileName(m[3]) {
		return ""
	}
	return strings.TrimSpace(m[0])
}

// hasExtreme reports whether a text states the greatest figure and the middle of a row: "up to
// 31.2 ms; the median is 28.2 ms".
func (d *document) hasExtreme(text string) bool {
	var stated []float64
	for _, m := range numberRE.FindAllStringIndex(text, maxFigures) {
		if x, _, _, ok := parseNumber(text[m[0]:m[1]]); ok {
			stated = append(stated, x)
		}
	}
	return slices.ContainsFunc(d.tables, func(t *table) bool {
		return slices.ContainsFunc(t.rows, func(row tableRow) bool { return row.hasStatedExtreme(stated) })
	})
}

func (r tableRow) hasStatedExtreme(stated []float64) bool {
	const minRuns = 4 // fewer figures are no row of runs
	var runs []float64
	sum, step := 0.0, 0.0
	for _, cell := range r.cells[min(1, len(r.cells)):] {
		if q, ok := parseCell(cell); ok {
			runs = append(runs, q.raw)
			sum += q.raw
			step = max(step, q.step)
		}
	}
	if len(runs) < minRuns || !slices.Contains(stated, slices.Max(runs)) {
		return false
	}
	slices.Sort(runs)
	mean, median := sum/float64(len(runs)), runs[len(runs)/2]
	return slices.ContainsFunc(stated, func(x float64) bool {
		isMiddle := math.Abs(x-mean) <= step || math.Abs(x-median) <= step
		return isMiddle && x < runs[len(runs)-1]
	})
}
