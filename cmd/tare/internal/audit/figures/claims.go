package figures

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tarebench/tare/internal/lazyregexp"
)

// claim is a ratio or percentage in a sentence, e.g. "2x faster" or "20-30% less memory".
type claim struct {
	sentence
	low, high     float64 // different only for a range
	step          float64 // one unit of the last digit
	isPercent     bool    // else low and high are ratios
	saysTimes     bool    // "5 times faster" may mean 6×
	word          string  // e.g. faster, less, as fast
	kinds         []kind  // what it is about; nil for any
	atLeast       bool    // "over 2×"
	atMost        bool    // "up to 2×"
	isApproximate bool    // "~2×"
	isVerb        bool    // "halves the memory": its subject has the smaller figure
	text          string  // number and word, for findings
	start, end    int     // bytes of the number in the sentence
}

// maxClaims limits the claims in a sentence, by form.
const maxClaims = 20

// A claim may differ from the figures by the greater tolerance.
const (
	claimTolerance = 0.05 // share of the figure
	claimSteps     = 0.51 // units of the last digit: 0.5 for rounding, and some room
	aboutTolerance = 0.15 // share of the figure, after "about"
)

// aNumber is a regular expression with one group.
const aNumber = `(\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)`

var (
	// ratioClaimRE matches "2 to 3x+". The groups are 2, 3, x and +.
	ratioClaimRE = lazyregexp.New(`(?i)` + aNumber + `\s*(?:x|×)?(?:\s*(?:[-–—~]|to)\s*` + aNumber + `)?\s*(x|×|-?\s?fold|\stimes)(\+)?(?:\b|[\s*)]|$)`)
	// percentClaimRE matches "20-30 %". The groups are 20 and 30.
	percentClaimRE = lazyregexp.New(aNumber + `(?:\s*%?\s*(?:[-–—]|to)\s*` + aNumber + `)?\s?%`)
	// wayAfterRE matches the direction in "20% less", and wayBeforeRE in "reduced memory by 20%".
	// The groups are "less" and "reduced".
	wayAfterRE = lazyregexp.New(`(?i)^[\s*_)]*` +
		`(?:(?:the|as|in|of|cpu|encoding|time|memory|latency|throughput|performance|allocation)\s+){0,2}` + // memory
		`(as\s+(?:fast|quick|slow|much|many|long|large|big|high|heavy|expensive|costly)` + // as fast
		`|longer|shorter|faster|slower|quicker|less|fewer|lower|smaller|cheaper|lighter|more|higher|larger|bigger|greater|better|worse|speed-?up` + // or: less
		`|improvement|improved|reduction|decrease|increase|overhead|saved|savings?|off)\b`)
	wayBeforeRE = lazyregexp.New(`(?i)\b(faster|slower|reduce[sd]?|decrease[sd]?|increase[sd]?|improve[sd]?|speed-?up` + // reduced
		`|improvement|reduction|overhead|dropped|drops|falls?|fell|fallen|declined?` +
		`|shrinks?|shrank|shrunk|sinks?|sank|sunk|rises?|rose|risen|grows?|grew|grown` +
		`|climbs?|(?:goes|went|gone|comes|came) (?:down|up)|(?:is|was|were|are) (?:down|up)` + // goes down
		`|lower|higher|cut|saves?|saved)\b[*_:]*\s*` +
		`(?:(?:is|was|of|by|the|latency|memory|throughput|usage|time|allocations|about|around|roughly|nearly|almost|up to|over|at least|more than)\s+){0,4}` + // the memory by
		`[(~≈*_+]*$`) // ~
	// wayByRE matches "cuts the memory allocated per request by about ". The group is "cuts".
	wayByRE = lazyregexp.New(`(?i)\b(reduce[sd]?|decrease[sd]?|increase[sd]?|lower(?:s|ed)|raise[sd]?|cuts?|shrinks?|falls?|fell|drops?|dropped|rises?|rose|grows?|grew)\b` +
		`[^.,;:\d]{1,60}? by (?:about |around |roughly |nearly |almost |some |another )?[(~≈*_+]*$`)
	// quantityAfterRE matches " the throughput of" after "4 times".
	quantityAfterRE = lazyregexp.New(`(?i)^[\s*_)]*the\s+(?:throughput|bandwidth|latency|time|memory|heap|bytes` +
		`|[a-z]+s|[a-z]+s? (?:per|a) second)\s+of\b`)
	// "3 times as fast on a and 4 times on b" names the direction once. These match the texts after
	// and before "4 times".
	listedAfterRE   = lazyregexp.New(`(?i)^\s*(?:on|for|with|in|at)\s`)
	listedBetweenRE = lazyregexp.New(`(?i)^[^.;:]{0,60}(?:,|\band)\s*$`)
	// qualifierRE matches "up to", "over" or "about" before a number.
	qualifierRE = lazyregexp.New(`(?i)(up to|over|more than|at least|about|around|roughly|nearly|almost|approximately|~|≈|>|≥)\s*[*_]*$`)
)

// claims returns the claims of a sentence. A claim needs a word for the direction, such as less.
func (s sentence) claims() []claim {
	out := slices.Concat(s.wordClaims(), s.numeralClaims(), s.verbClaims(), s.numberClaims())
	slices.SortFunc(out, func(a, b claim) int { return a.start - b.start })
	return out
}

// numberClaims returns the claims with digits: ratios, then percentages.
func (s sentence) numberClaims() []claim {
	if !strings.ContainsAny(s.text, "0123456789") {
		return nil
	}
	var out []claim
	for _, m := range ratioClaimRE.FindAllStringSubmatchIndex(s.text, maxClaims) {
		c, ok := s.newClaim(m[:6])
		if !ok {
			continue
		}
		c.saysTimes = strings.Contains(strings.ToLower(s.text[m[6]:m[7]]), "times")
		c.atLeast = m[8] >= 0 // "2x+"
		if c.setWords(out) {
			out = append(out, c)
		}
	}
	for _, m := range percentClaimRE.FindAllStringSubmatchIndex(s.text, maxClaims) {
		c, ok := s.newClaim(m)
		if c.isPercent = true; ok && c.setWords(out) {
			out = append(out, c)
		}
	}
	return out
}

// newClaim returns the claim at a number, unless it is a part of a name. m has the offsets of a
// match and of its groups: the number and the end of a range.
func (s sentence) newClaim(m []int) (claim, bool) {
	r := lastRune(s.text[:m[0]])
	if unicode.IsDigit(r) || unicode.IsLetter(r) || r == '.' || r == '-' || r == '/' {
		return claim{}, false
	}
	c := claim{sentence: s, start: m[0], end: m[1]}
	c.low, c.step, _, _ = parseNumber(s.text[m[2]:m[3]])
	c.high = c.low
	if hasRange := m[4] >= 0; hasRange {
		c.high, _, _, _ = parseNumber(s.text[m[4]:m[5]])
	}
	return c, c.high >= c.low && c.low > 0
}

// setWords sets the fields that depend on the words around the number. It returns false if no word
// gives the direction, such as faster. previous has the earlier claims of the sentence.
func (c *claim) setWords(previous []claim) bool {
	text := c.sentence.text
	before, after := text[:c.start], text[c.end:]
	shown := "" // text after the number in a finding, if not c.word
	if m := wayAfterRE.FindStringSubmatch(after); m != nil {
		c.word = strings.Join(strings.Fields(strings.ToLower(m[1])), " ")
		c.saysTimes = c.saysTimes && !strings.HasPrefix(c.word, "as ") // "5 times as fast" is 5×
	} else if m := wayBeforeRE.FindStringSubmatch(before); m != nil && !c.saysTimes {
		words := strings.Fields(strings.ToLower(m[1]))
		c.word = words[len(words)-1] // of "goes down": down
	} else if m := wayByRE.FindStringSubmatch(before); m != nil && c.isPercent {
		c.word = strings.ToLower(m[1])
	} else if m := quantityAfterRE.FindString(after); m != "" && c.saysTimes && c.low > 1 {
		c.word, c.saysTimes, shown = "as high", false, strings.TrimSpace(m)
	}
	if n := len(previous); c.word == "" && c.saysTimes && n > 0 { // "…, and 4 times on b"
		last := previous[n-1]
		if listedAfterRE.MatchString(after) && listedBetweenRE.MatchString(text[last.end:c.start]) {
			c.word, c.saysTimes = last.word, last.saysTimes
		}
	}
	c.readQualifier(before)
	c.kinds = findClaimKinds(before, c.word, after)
	c.text = strings.TrimSpace(text[c.start:c.end]) + " " + cmp.Or(shown, c.word)
	return c.word != ""
}

// readQualifier reads the words right before the number of a claim, such as "up to" or "about".
func (c *claim) readQualifier(before string) {
	m := qualifierRE.FindStringSubmatch(before)
	if m == nil {
		return
	}
	switch strings.ToLower(m[1]) {
	case "up to":
		c.atMost = true
	case "over", "more than", "at least", ">", "≥":
		c.atLeast = true
	default:
		c.isApproximate = true
	}
}

// lastRune returns the last character of text, or 0 if text is empty.
func lastRune(text string) rune {
	r := rune(0)
	for _, c := range text[max(0, len(text)-utf8.UTFMax):] {
		r = c
	}
	return r
}

// These match words for kinds of figures, in lower case.
var (
	allocWordsRE  = lazyregexp.New(`\ballocs?\b|\ballocation`)
	allocVerbRE   = lazyregexp.New(`\ballocat(?:es?|ed|ing)\b`) // bytes or allocations
	memoryWordsRE = lazyregexp.New(`\bmemory\b|\bram\b|\bbytes\b|\bheap\b`)
	sizeWordsRE   = lazyregexp.New(`\d+[ -]?bytes?\b`) // the size of an input
	rateWordsRE   = lazyregexp.New(`\bthroughput\b|\bthe (?:rate|load|traffic)\b|\bbandwidth\b|\bper second\b|\ba second\b|\brequests\b|\brequest rate\b|\breq/s|\brps\b|\bops/s`)
	timeWordsRE   = lazyregexp.New(`\blatenc(?:y|ies)\b|\btime\b|\bp\d\d\d?\b`)
)

// andVerbRE matches the beginning of another clause, such as "and saves".
var andVerbRE = lazyregexp.New(`\b(?:and|but) (?:saves?|needs?|takes?|costs?|uses?|writes?|gains?|loses?)\b`)

// findClaimKinds returns the kinds of figures that a claim may be about, or nil for any kind. Words
// near the claim, such as "memory", take precedence over the claim's own word.
func findClaimKinds(before, word, after string) []kind {
	switch word {
	case "longer", "shorter", "as long", "as expensive", "as costly": // a request takes longer
		return []kind{timeKind}
	}
	wordsBefore, wordsAfter := wordsAround(before, after)
	for _, text := range []string{wordsAfter, wordsBefore} {
		if kinds := findNamedKinds(text, word); kinds != nil {
			return kinds
		}
	}
	switch word {
	case "faster", "slower", "quicker", "speedup", "speed-up", "as fast", "as quick", "as slow":
		return []kind{timeKind, rateKind, byteRateKind}
	case "smaller", "bigger", "larger":
		return []kind{byteKind}
	}
	return nil
}

// clauseAfterRE matches the beginning of the next clause, such as " and the".
var clauseAfterRE = lazyregexp.New(`[,;]|\b(?:and the|but|while|whereas)\b`)

// wordsAround returns the words of a claim's clause near the claim, in lower case.
func wordsAround(before, after string) (wordsBefore, wordsAfter string) {
	const maxBefore, maxAfter = 30, 40 // bytes
	wordsAfter = strings.ToLower(firstBytes(after, maxAfter))
	if m := clauseAfterRE.FindStringIndex(wordsAfter); m != nil {
		wordsAfter = wordsAfter[:m[0]]
	}
	wordsBefore = strings.ToLower(before[max(0, len(before)-maxBefore):])
	if i := strings.LastIndexAny(wordsBefore, ":;"); i >= 0 {
		wordsBefore = wordsBefore[i+1:]
	}
	if m := andVerbRE.FindAllStringIndex(wordsBefore, maxFigures); len(m) > 0 {
		wordsBefore = wordsBefore[m[len(m)-1][0]:]
	}
	return wordsBefore, wordsAfter
}

// findNamedKinds returns the kinds that a text names, in lower case. word is that of the claim.
func findNamedKinds(text, word string) []kind {
	text = sizeWordsRE.ReplaceAllString(text, "")
	isSpeed := word == "faster" || word == "slower" || word == "quicker" || strings.HasSuffix(word, "as fast") || word == "as slow"
	switch {
	case isSpeed && (allocWordsRE.MatchString(text) || allocVerbRE.MatchString(text) || memoryWordsRE.MatchString(text)):
		return nil // in "faster with less memory" the speed is not about memory
	case allocWordsRE.MatchString(text):
		if memoryWordsRE.MatchString(text) || word == "less" {
			return []kind{allocKind, byteKind}
		}
		return []kind{allocKind}
	case memoryWordsRE.MatchString(text), allocVerbRE.MatchString(text):
		return []kind{byteKind, allocKind}
	case rateWordsRE.MatchString(text):
		return []kind{rateKind, byteRateKind}
	case timeWordsRE.MatchString(text):
		return []kind{timeKind}
	}
	return nil
}

func firstBytes(text string, n int) string { return text[:min(n, len(text))] }

// isLess reports whether the claim is a decrease: its percentage is a share of the greater figure.
func (c claim) isLess() bool {
	switch c.word {
	case "less", "fewer", "lower", "lowers", "lowered", "smaller", "shorter", "cheaper", "lighter", "reduction", "decrease", "reduce", "reduced", "reduces", "decreased", "decreases", "dropped", "drops", "fall", "falls", "fell", "fallen", "decline", "declined", "shrink", "shrinks", "shrank", "shrunk", "sink", "sinks", "sank", "sunk", "down", "cut", "save", "saves", "saved", "saving", "savings", "off", "cuts":
		return true
	}
	return false
}

// isMore reports whether the claim is an increase: its percentage is a share of the smaller figure.
func (c claim) isMore() bool {
	switch c.word {
	case "more", "higher", "raise", "raised", "raises", "larger", "bigger", "greater", "longer", "increase", "increased", "increases", "rise", "rises", "rose", "risen", "grow", "grows", "grew", "grown", "climb", "climbs", "up", "slower", "overhead":
		return true
	}
	return false
}

// matchesPair reports whether two figures, in any order, have the claimed ratio. It returns true if
// a figure is 0.
func (c claim) matchesPair(a, b float64) bool { return c.matchesPairWithin(a, b, claimTolerance) }

// matchesPairWithin is matchesPair with another tolerance, which is a share.
func (c claim) matchesPairWithin(a, b, tolerance float64) bool {
	small, great := min(math.Abs(a), math.Abs(b)), max(math.Abs(a), math.Abs(b))
	if !(small > 0) {
		return true
	}
	if !c.isPercent {
		ratio := great / small
		return c.matchesValue(ratio, tolerance) || c.saysTimes && c.matchesValue(ratio-1, tolerance)
	}
	less, more := 100*(great-small)/great, 100*(great-small)/small
	switch {
	case c.isLess():
		return c.matchesValue(less, tolerance)
	case c.word == "slower": // 75 % more time or 75 % less speed
		return c.matchesValue(more, tolerance) || c.matchesValue(less, tolerance)
	case c.isMore():
		return c.matchesValue(more, tolerance)
	}
	for _, x := range []float64{less, more, 100 * small / great, 100 * great / small} {
		if c.matchesValue(x, tolerance) {
			return true
		}
	}
	return false
}

// matchesValue reports whether the claim is x. tolerance is a share of x.
func (c claim) matchesValue(x, tolerance float64) bool {
	slack := max(tolerance*x, claimSteps*c.step)
	if c.isApproximate {
		slack = max(slack, aboutTolerance*x, c.step)
	}
	switch {
	case c.atLeast:
		return x >= c.low-slack
	case c.atMost:
		return x >= c.high-slack // another row may support "up to"
	}
	isInRange := x >= c.low-slack && x <= c.high+slack
	isTruncated := c.low == c.high && x >= c.low && x < c.low+c.step // 2.59 printed as 2.5
	return isInRange || isTruncated
}

// pair holds two figures of a sentence, e.g. "41 µs vs 50 µs".
type pair struct {
	a, b       quantity
	connector  string // vs, to or /; in lower case
	start, end int    // bytes of both in the sentence
}

var (
	numberRE = lazyregexp.New(`\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?`)
	// connectorRE matches " per call against about ". The group is "against".
	connectorRE = lazyregexp.New(`(?i)^[\s*_` + "`" + `]*(?:[A-Za-z/]+\s+)?` +
		`(vs\.?|versus|against|compared (?:to|with)|instead of|rather than|/|→|->|=>|to|down to)` +
		`(?:\s+(?:just|only|about|around|roughly|nearly|under|over|the (?:\w+[- ])?\w+['’]s))?[\s*_~≈` + "`" + `]*$`)
)

// maxFigures limits the figures of a sentence.
const maxFigures = 40

// pairs returns the figures that the sentence compares: two of one kind with a connector between
// them.
func (s sentence) pairs() []pair {
	type match struct {
		q          quantity
		start, end int
	}
	var all []match
	for _, m := range numberRE.FindAllStringIndex(s.text, maxFigures) {
		if len(all) > 0 && m[0] < all[len(all)-1].end {
			continue // a part of the previous figure, e.g. 30 in 1m30s
		}
		if r := lastRune(s.text[:m[0]]); unicode.IsLetter(r) || r == '.' || r == '-' {
			continue
		}
		if q, rest, ok := parseQuantity(s.text[m[0]:]); ok {
			all = append(all, match{q, m[0], len(s.text) - len(rest)})
		}
	}
	var out []pair
	for i := 1; i < len(all); i++ {
		a, b := all[i-1], all[i]
		m := connectorRE.FindStringSubmatch(s.text[a.end:b.start])
		isRelative := func(k kind) bool { return k == percentKind || k == factorKind }
		if m == nil || isRelative(a.q.kind) || isRelative(b.q.kind) {
			continue
		}
		if a.q.kind == plainKind && b.q.kind != plainKind {
			// In "202 vs 602 allocations" the first has the unit of the second.
			scale := b.q.value / b.q.raw
			a.q.kind, a.q.unit, a.q.value, a.q.step = b.q.kind, b.q.unit, a.q.raw*scale, a.q.step*scale
		}
		isFraction, isSpan := strings.ContainsAny(m[1], "/→>"), strings.HasSuffix(m[1], "to")
		if a.q.kind == plainKind && (isFraction || isSpan) {
			continue // "3/4" and "3 to 4" compare nothing
		}
		if a.q.kind == b.q.kind && a.q.value > 0 && b.q.value > 0 {
			out = append(out, pair{a: a.q, b: b.q, connector: strings.ToLower(m[1]), start: a.start, end: b.end})
		}
	}
	return out
}

// figureBefore returns the figure shortly before a claim, as in "607 ns/op (49x slower than b)". It
// ignores limits, and figures of an earlier clause.
func (s sentence) figureBefore(c claim) (quantity, bool) {
	const maxDistance = 30 // bytes
	var last quantity
	found := false
	for _, m := range numberRE.FindAllStringIndex(s.text[:c.start], maxFigures) {
		if r := lastRune(s.text[:m[0]]); unicode.IsLetter(r) || r == '.' || r == '-' {
			continue
		}
		q, rest, ok := parseQuantity(s.text[m[0]:])
		end := len(s.text) - len(rest)
		isNearby := end <= c.start && c.start-end < maxDistance && !strings.Contains(s.text[end:c.start], ";")
		if ok && isNearby && slices.Contains(c.kinds, q.kind) && !boundBeforeRE.MatchString(s.text[:m[0]]) {
			last, found = q, true
		}
	}
	return last, found
}

// maxPairDistance is the most bytes between a claim and a pair of figures that belongs to it.
const maxPairDistance = 60

// pairOf returns the pair next to a claim, as in "2x faster (41 µs vs 82 µs)".
func (s sentence) pairOf(c claim, claims []claim) (pair, bool) {
	for _, p := range s.pairs() {
		if !c.isFollowedBy(p, claims) && !c.isPrecededBy(p, claims) {
			continue
		}
		if len(c.kinds) == 0 || p.a.kind == plainKind || slices.Contains(c.kinds, p.a.kind) {
			return p, true
		}
	}
	return pair{}, false
}

// clauseEndRE matches the end of a sentence before a name in lower case: "space. gob".
var clauseEndRE = lazyregexp.New(`[\p{L})][.!?]\s`)

// isFollowedBy reports whether the pair is shortly after the claim.
func (c claim) isFollowedBy(p pair, claims []claim) bool {
	isFar := p.start < c.end || p.start-c.end >= maxPairDistance
	if isFar || clauseEndRE.MatchString(c.sentence.text[c.end:p.start]) {
		return false
	}
	return !slices.ContainsFunc(claims, func(other claim) bool { return other.start > c.start && other.start < p.start })
}

var clauseStartRE = lazyregexp.New(`(?i)\b(?:and|but|while|whereas)\b`)

// isPrecededBy reports whether the pair is shortly before the claim. After another claim it belongs
// to that one.
func (c claim) isPrecededBy(p pair, claims []claim) bool {
	if p.end > c.start || c.start-p.end >= maxPairDistance || clauseStartRE.MatchString(c.sentence.text[p.end:c.start]) {
		return false
	}
	return !slices.ContainsFunc(claims, func(other claim) bool {
		isBetween := other.start < c.start && other.start >= p.end
		isBeforePair := other.end <= p.start && p.start-other.end < maxPairDistance
		return isBetween || isBeforePair
	})
}
