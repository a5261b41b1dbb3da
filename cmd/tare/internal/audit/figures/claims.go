package figures

import (
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// claim is a ratio or a percentage that a sentence states of two things.
type claim struct {
	sentence
	low, high float64 // the same unless the sentence gives a range
	step      float64 // of the last digit written
	percent   bool
	times     bool   // "5 times faster", which some read as 6×
	word      string // that says which way: faster, less, reduction, in lower case
	kinds     []kind // that it may be of; empty: any
	atLeast   bool   // "over 2×"
	atMost    bool   // "up to 2×"
	about     bool   // "~2×"
	text      string // as written
	from, to  int    // where in the sentence
}

const aNumber = `(\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)`

var (
	ratioClaim   = regexp.MustCompile(`(?i)` + aNumber + `\s*(?:x|×)?(?:\s*(?:[-–—~]|to)\s*` + aNumber + `)?\s*(x|×|-?\s?fold|\stimes)(\+)?(?:\b|[\s*)]|$)`)
	percentClaim = regexp.MustCompile(aNumber + `(?:\s*%?\s*(?:[-–—]|to)\s*` + aNumber + `)?\s?%`)
	wayAfter     = regexp.MustCompile(`(?i)^[\s*_)]*(?:(?:the|as|in|of|cpu|encoding|time|memory|latency|throughput|performance|allocation)\s+){0,2}(faster|slower|quicker|less|fewer|lower|smaller|cheaper|lighter|more|higher|larger|bigger|greater|better|worse|speed-?up|improvement|improved|reduction|decrease|increase|overhead|saved|savings?)\b`)
	wayBefore    = regexp.MustCompile(`(?i)\b(faster|slower|reduce[sd]?|decrease[sd]?|increase[sd]?|improve[sd]?|speed-?up|improvement|reduction|overhead|dropped|lower|higher|cut|saves?|saved)\b[*_:]*\s*(?:(?:is|was|of|by|the|latency|memory|throughput|usage|time|allocations|about|around|roughly|nearly|almost|up to|over|at least|more than)\s+){0,4}[(~≈*_+]*$`)
	qualifier    = regexp.MustCompile(`(?i)(up to|over|more than|at least|about|around|roughly|nearly|almost|approximately|~|≈|>|≥)\s*[*_]*$`)
)

// claims returns what a sentence states as a ratio or percentage.
func (s sentence) claims() []claim {
	if !strings.ContainsAny(s.text, "0123456789") {
		return nil
	}
	var out []claim
	add := func(m []int, isPercent bool) {
		c := claim{sentence: s, percent: isPercent, from: m[0], to: m[1], text: s.text[m[0]:m[1]]}
		before, after := s.text[:m[0]], s.text[m[1]:]
		if r := lastRune(before); unicode.IsDigit(r) || r == '.' || unicode.IsLetter(r) || r == '-' || r == '/' {
			return
		}
		c.low, c.step, _, _ = parseNumber(s.text[m[2]:m[3]])
		if c.high = c.low; m[4] >= 0 {
			c.high, _, _, _ = parseNumber(s.text[m[4]:m[5]])
		}
		if c.high < c.low || c.low <= 0 {
			return
		}
		if !isPercent {
			c.times = strings.Contains(strings.ToLower(s.text[m[6]:m[7]]), "times")
			c.atLeast = m[8] >= 0
		}
		if w := wayAfter.FindStringSubmatch(after); w != nil {
			c.word = strings.ToLower(w[1])
		} else if w := wayBefore.FindStringSubmatch(before); w != nil && !c.times {
			c.word = strings.ToLower(w[1])
		}
		if c.word == "" {
			return
		}
		if q := qualifier.FindStringSubmatch(before); q != nil {
			switch strings.ToLower(q[1]) {
			case "up to":
				c.atMost = true
			case "over", "more than", "at least", ">", "≥":
				c.atLeast = true
			default:
				c.about = true
			}
		}
		c.kinds = findClaimKinds(before, c.word, after)
		c.text = strings.TrimSpace(c.text) + " " + c.word
		out = append(out, c)
	}
	for _, m := range ratioClaim.FindAllStringSubmatchIndex(s.text, 20) {
		add(m, false)
	}
	for _, m := range percentClaim.FindAllStringSubmatchIndex(s.text, 20) {
		add(append(slices.Clone(m), -1, -1, -1, -1), true)
	}
	slices.SortFunc(out, func(a, b claim) int { return a.from - b.from })
	return out
}

func lastRune(text string) rune {
	r := rune(0)
	for _, c := range text[max(0, len(text)-4):] {
		r = c
	}
	return r
}

// Words that say what kind of figures a claim is about.
var (
	allocWords  = regexp.MustCompile(`\ballocs?\b|\ballocation`)
	memoryWords = regexp.MustCompile(`\bmemory\b|\bram\b|\bbytes\b|\bheap\b`)
	rateWords   = regexp.MustCompile(`\bthroughput\b|\brequests?\b|\breq/s|\brps\b|\bops/s`)
	timeWords   = regexp.MustCompile(`\blatenc(?:y|ies)\b|\btime\b`)
)

// findClaimKinds returns the kinds of figures that a claim may be of, by its word and the words
// around it.
func findClaimKinds(before, word, after string) []kind {
	near := strings.ToLower(firstChars(after, 40))
	if end := strings.IndexAny(near, ",;"); end >= 0 {
		near = near[:end]
	}
	last := strings.ToLower(before[max(0, len(before)-30):])
	for _, text := range []string{near, last} {
		switch {
		case allocWords.MatchString(text):
			if memoryWords.MatchString(text) || word == "less" {
				return []kind{allocKind, byteKind}
			}
			return []kind{allocKind}
		case memoryWords.MatchString(text):
			return []kind{byteKind, allocKind}
		case rateWords.MatchString(text):
			return []kind{rateKind, byteRateKind}
		case timeWords.MatchString(text):
			return []kind{timeKind}
		}
	}
	switch word {
	case "faster", "slower", "quicker", "speedup", "speed-up":
		return []kind{timeKind, rateKind, byteRateKind}
	}
	return nil
}

func firstChars(text string, n int) string { return text[:min(n, len(text))] }

// isLess reports whether the claim is of a smaller figure, in percent of the greater.
func (c claim) isLess() bool {
	switch c.word {
	case "less", "fewer", "lower", "smaller", "cheaper", "lighter", "reduction", "decrease", "reduce", "reduced", "reduces", "decreased", "decreases", "dropped", "cut", "save", "saves", "saved", "saving", "savings":
		return true
	}
	return false
}

// isMore reports whether the claim is of a greater figure, in percent of the smaller.
func (c claim) isMore() bool {
	switch c.word {
	case "more", "higher", "larger", "bigger", "greater", "increase", "increased", "increases", "slower", "overhead":
		return true
	}
	return false
}

// canBeOf reports whether two figures can have the ratio that is claimed. Rounding is forgiven,
// also downwards.
func (c claim) canBeOf(a, b float64) bool {
	small, great := min(math.Abs(a), math.Abs(b)), max(math.Abs(a), math.Abs(b))
	if !(small > 0) {
		return true
	}
	if !c.percent {
		ratio := great / small
		return c.isOf(ratio, 0.05) || c.times && c.isOf(ratio-1, 0.05)
	}
	less, more := 100*(great-small)/great, 100*(great-small)/small
	switch {
	case c.isLess():
		return c.isOf(less, 0.05)
	case c.isMore():
		return c.isOf(more, 0.05)
	}
	return c.isOf(less, 0.05) || c.isOf(more, 0.05) || c.isOf(100*small/great, 0.05) || c.isOf(100*great/small, 0.05)
}

// isOf reports whether the claim is of x, with a share of x forgiven.
func (c claim) isOf(x, share float64) bool {
	slack := max(share*x, 0.51*c.step)
	if c.about {
		slack = max(slack, 0.15*x, c.step)
	}
	switch {
	case c.atLeast:
		return x >= c.low-slack
	case c.atMost:
		return x >= c.high-slack
	}
	return x >= c.low-slack && x <= c.high+slack || c.low == c.high && x >= c.low && x < c.low+c.step // cut off
}

// pair is two figures that a sentence compares, in the order of the sentence.
type pair struct {
	a, b      quantity
	connector string
	from, to  int
}

var (
	figure    = regexp.MustCompile(`\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?`)
	connector = regexp.MustCompile(`(?i)^[\s*_` + "`" + `]*(?:[A-Za-z/]+\s+)?(vs\.?|versus|against|compared (?:to|with)|instead of|rather than|/|→|->|=>|to|down to)(?:\s+(?:just|only|about|around|roughly|nearly|under|over))?[\s*_~≈` + "`" + `]*$`)
)

// pairs returns the figures that a sentence compares.
func (s sentence) pairs() []pair {
	type found struct {
		q        quantity
		from, to int
	}
	var all []found
	for _, m := range figure.FindAllStringIndex(s.text, 40) {
		if len(all) > 0 && m[0] < all[len(all)-1].to {
			continue
		}
		if r := lastRune(s.text[:m[0]]); unicode.IsLetter(r) || r == '.' || r == '-' {
			continue
		}
		if q, rest, ok := parseQuantity(s.text[m[0]:]); ok {
			all = append(all, found{q, m[0], len(s.text) - len(rest)})
		}
	}
	var out []pair
	for i := 1; i < len(all); i++ {
		a, b := all[i-1], all[i]
		m := connector.FindStringSubmatch(s.text[a.to:b.from])
		if m == nil || a.q.kind == percentKind || a.q.kind == factorKind || b.q.kind == percentKind || b.q.kind == factorKind {
			continue
		}
		if a.q.kind == plainKind && b.q.kind != plainKind {
			// 202 vs 602 allocations: the first has the unit of the second
			scale := b.q.value / b.q.raw
			a.q.kind, a.q.unit, a.q.value, a.q.step = b.q.kind, b.q.unit, a.q.raw*scale, a.q.step*scale
		}
		if a.q.kind == plainKind && strings.ContainsAny(m[1], "/→>") || a.q.kind == plainKind && strings.HasSuffix(m[1], "to") {
			continue // a fraction, a span
		}
		if a.q.kind == b.q.kind && a.q.value > 0 && b.q.value > 0 {
			out = append(out, pair{a.q, b.q, strings.ToLower(m[1]), a.from, b.to})
		}
	}
	return out
}

// figureBefore returns the figure with a unit that stands right before a claim, as in
// "607 ns/op (49x slower than b)".
func (s sentence) figureBefore(c claim) (quantity, bool) {
	const near = 30
	var last quantity
	found := false
	for _, m := range figure.FindAllStringIndex(s.text[:c.from], 40) {
		if r := lastRune(s.text[:m[0]]); unicode.IsLetter(r) || r == '.' || r == '-' {
			continue
		}
		q, rest, ok := parseQuantity(s.text[m[0]:])
		if end := len(s.text) - len(rest); ok && slices.Contains(c.kinds, q.kind) && end <= c.from && c.from-end < near {
			last, found = q, true
		}
	}
	return last, found
}

// pairOf returns the figures that a claim is of: right behind it in the sentence, or right
// before. Another claim between them takes them.
func (s sentence) pairOf(c claim, claims []claim) (pair, bool) {
	const near = 60
	for _, p := range s.pairs() {
		switch {
		case p.from >= c.to && p.from-c.to < near && !slices.ContainsFunc(claims, func(x claim) bool { return x.from > c.from && x.from < p.from }):
		case p.to <= c.from && c.from-p.to < near && !slices.ContainsFunc(claims, func(x claim) bool { return x.from < c.from && x.from >= p.to || x.to <= p.from && p.from-x.to < near }):
		default:
			continue
		}
		if len(c.kinds) == 0 || p.a.kind == plainKind || slices.Contains(c.kinds, p.a.kind) {
			return p, true
		}
	}
	return pair{}, false
}
