package figures

import (
	"cmp"
	"strings"

	"github.com/tarebench/tare/internal/lazyregexp"
)

// This file finds the ratios of a sentence that are in words: "twice as fast", "a third of the
// memory", "halves the time", "an order of magnitude faster".

// aFraction is a regular expression for a part in words.
const aFraction = `(?:a|one) (?:third|quarter|fifth|sixth|seventh|eighth|ninth|tenth|twelfth|twentieth)`

// wordRatioRE matches "twice as fast", "half the time" or "twice the requests of". The groups are
// "twice", "as fast" and, in the second form, "time".
var wordRatioRE = lazyregexp.New(`(?i)\b(twice|thrice|double|half|` + aFraction + `)\s+` +
	`(?:(as\s+(?:fast|quick|slow|much|many|long|large|big|high))\b` +
	`|(?:of )?(?:the|its) (time|latency|memory|heap|allocations|throughput|bytes|rate` +
	`|(?:requests|events|messages|queries|operations|orders|rows|records|jobs|lookups|writes|reads)(?: (?:per|a) second)? (?:of|that))\b)`)

// boundBeforeRE matches "more than " or "less than " before a ratio. The group is "more than".
// lessBoundRE matches that of a fraction, such as half.
var (
	boundBeforeRE = lazyregexp.New(`(?i)\b(more than|over|at least|less than|under|below)\s+$`)
	lessBoundRE   = lazyregexp.New(`(?i)^(?:less than|under|below)$`)
)

// countOfRE matches "messages of".
var countOfRE = lazyregexp.New(`(?i) (?:of|that)$`)

// cutToRE matches "cuts the allocations to a third". The groups are "the allocations" and "a
// third".
var cutToRE = lazyregexp.New(`(?i)\b(?:cuts?|reduces?d?|brings?|brought|lowers?` +
	`|lowered|shrinks?|shrank|falls?|fell|drops?|dropped|goes|went|down)\b` +
	`([^.,;:\d]{0,40}?) to (` + aFraction + `|(?:one )?half)\b`)

// halfAgainRE matches " as much again" after "half": the ratio is 1.5.
var halfAgainRE = lazyregexp.New(`(?i)^\s*as (?:much|many|long|large|big|high)(?: \w+)? again\b`)

// savedBeforeRE matches "saves about ". A side that saves a third takes two thirds.
var savedBeforeRE = lazyregexp.New(`(?i)\b(?:sav(?:es?|ed|ing)|loses?|lost|less by|cuts?)\s+(?:us )?(?:about |around |roughly |nearly |almost |over |more than )?$`)

// savedAfterRE matches " of the time is gone" after a share.
var savedAfterRE = lazyregexp.New(`(?i)^[^,.;]{0,60}\b(?:is|are|was|were) (?:gone|saved|spared|avoided|removed|cut)\b`)

// wordTolerance is the share by which a ratio in words may differ from the exact one.
const wordTolerance = 0.2

// wordClaims returns claims such as "twice as fast". "A third of the memory" is 3 with the word
// less.
func (s sentence) wordClaims() []claim {
	var out []claim
	for _, m := range wordRatioRE.FindAllStringSubmatchIndex(s.text, maxClaims) {
		name := strings.ToLower(s.text[m[2]:m[3]])
		ratio := parseFraction(name)
		if halfAgainRE.MatchString(s.text[m[3]:]) || savedBeforeRE.MatchString(s.text[:m[0]]) || savedAfterRE.MatchString(s.text[m[3]:]) {
			continue // the words state another ratio
		}
		isFraction := name != "twice" && name != "thrice" && name != "double"
		c := claim{
			sentence: s, text: s.text[m[0]:m[1]], start: m[0], end: m[3],
			low: ratio, high: ratio, step: wordTolerance * ratio, isApproximate: true,
		}
		hasWord := m[4] >= 0
		switch {
		case hasWord:
			c.word = strings.Join(strings.Fields(strings.ToLower(s.text[m[4]:m[5]])), " ")
			if isFraction { // "half as fast" is "2x as slow"
				opposites := map[string]string{"as fast": "as slow", "as quick": "as slow", "as slow": "as fast", "as long": "shorter"}
				c.word = cmp.Or(opposites[c.word], "less")
			}
		case isFraction:
			c.word = "less"
		default:
			c.word = "more"
		}
		if bound := boundBeforeRE.FindStringSubmatch(s.text[:m[0]]); bound != nil && isFraction == lessBoundRE.MatchString(bound[1]) {
			c.atLeast, c.isApproximate, c.step = true, false, 0
		}
		if c.kinds = findClaimKinds(s.text[:m[0]], c.word, s.text[m[3]:]); c.kinds == nil && !hasWord && countOfRE.MatchString(s.text[m[6]:m[7]]) {
			c.kinds = []kind{rateKind} // "twice the messages of"
		}
		out = append(out, c)
	}
	for _, m := range cutToRE.FindAllStringSubmatchIndex(s.text, maxClaims) {
		ratio := parseFraction(s.text[m[4]:m[5]])
		out = append(out, claim{
			sentence: s, text: s.text[m[0]:m[1]], start: m[4], end: m[5], word: "less",
			low: ratio, high: ratio, step: wordTolerance * ratio, isApproximate: true,
			kinds: findClaimKinds(s.text[:m[4]], "less", ""),
		})
	}
	return out
}

// parseFraction returns the denominator of a fraction in words: 3 for "a third", and 2 for "half" or
// an unknown word.
func parseFraction(name string) float64 {
	ratio := 2.0
	for suffix, value := range map[string]float64{
		"thrice": 3, "third": 3, "quarter": 4, "fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8, "ninth": 9, "tenth": 10, "twelfth": 12, "twentieth": 20,
	} {
		if strings.HasSuffix(name, suffix) {
			ratio = value
		}
	}
	return ratio
}

// verbRatioRE matches "halves the memory" and "has doubled the throughput". The groups are
// "halves" and "memory".
var verbRatioRE = lazyregexp.New(`(?i)\b(halves?|halved|doubles?|doubled|triples?|tripled|quadruples?|quadrupled)\s+` +
	`(?:the |its |their |our )(?:[\w-]+ ){0,2}?(time|times|latency|latencies|memory|heap|footprint|size|throughput|rate|speed|allocations|bytes|cost|duration|usage|bandwidth)\b`)

// magnitudeRE matches "an order of magnitude faster". The groups are "an" and "faster".
var magnitudeRE = lazyregexp.New(`(?i)\b(an|one|two|three) orders? of magnitude\s+(faster|slower|quicker|more|less|fewer|smaller|larger|lower|higher)\b`)

// byFractionRE matches "falls by a third". The groups are "falls" and "a third".
var byFractionRE = lazyregexp.New(`(?i)\b(falls?|fell|drops?|dropped|shrinks?|shrank|sinks?|sank|reduces?|reduced|rises?|rose|grows?|grew|increases?|increased)\b` +
	`[^.,;:\d]{0,40}? by ((?:about |around |roughly |nearly |almost )?(?:half|` + aFraction + `))\b`)

// verbClaims returns claims such as "halves the memory", "an order of magnitude faster" and "falls by
// a third".
func (s sentence) verbClaims() []claim {
	var out []claim
	for _, m := range verbRatioRE.FindAllStringSubmatchIndex(s.text, maxClaims) {
		if infinitiveRE.MatchString(s.text[:m[0]]) {
			continue // a wish, or an imperative
		}
		verb := strings.ToLower(s.text[m[2]:m[3]])
		c := claim{sentence: s, text: s.text[m[0]:m[1]], start: m[0], end: m[1], low: 2, word: "more", isApproximate: true, isVerb: true}
		switch verb[0] {
		case 'h':
			c.word = "less"
		case 't':
			c.low = 3
		case 'q':
			c.low = 4
		}
		c.high, c.step = c.low, wordTolerance*c.low
		c.kinds = findClaimKinds(s.text[:m[0]], c.word, s.text[m[4]:])
		out = append(out, c)
	}
	for _, m := range magnitudeRE.FindAllStringSubmatchIndex(s.text, maxClaims) {
		ratio := 10.0
		for range int(parseNumeral(s.text[m[2]:m[3]])) - 1 {
			ratio *= 10
		}
		const roughly = 0.6 // half of it is the slack: 7 is about an order of magnitude
		c := claim{sentence: s, text: s.text[m[0]:m[1]], start: m[0], end: m[4], low: ratio, high: ratio, step: roughly * ratio, atLeast: true}
		c.word = strings.ToLower(s.text[m[4]:m[5]])
		c.kinds = findClaimKinds(s.text[:m[0]], c.word, s.text[m[5]:])
		out = append(out, c)
	}
	for _, m := range byFractionRE.FindAllStringSubmatchIndex(s.text, maxClaims) {
		percent := 100 / parseFraction(s.text[m[4]:m[5]])
		c := claim{
			sentence: s, text: s.text[m[0]:m[1]], start: m[4], end: m[5], word: strings.ToLower(s.text[m[2]:m[3]]),
			low: percent, high: percent, step: wordTolerance * percent, isPercent: true, isApproximate: true,
		}
		c.kinds = findClaimKinds(s.text[:m[4]], c.word, s.text[m[5]:])
		out = append(out, c)
	}
	return out
}

// infinitiveRE matches the words before a verb that states no fact: "to halve", "would halve".
var infinitiveRE = lazyregexp.New(`(?i)\b(?:to|will|would|could|should|can|may|might|not|cannot|never|if [^,.;]{0,40}|did|does|do)\s+$`)
