package figures

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// maxMeasures limits the figures of a page that are compared with its prose.
const maxMeasures = 4000

// Origins of figures. Those of a table have its number; the others have these.
const (
	acrossOrigin = -1        // figures of several tables with the same rows and columns
	benchOrigin  = 1_000_000 // plus the number of the block of results
	reportOrigin = 2_000_000 // figures of reports of load generators
)

// Limits of the labels by which newNaming distinguishes contenders.
const (
	minNameLength = 3   // bytes of a word
	maxLabels     = 200 // of a comparison
)

// prepareMeasures sets d.measured and d.groups, which several rules read.
func (d *document) prepareMeasures() {
	d.measured = d.collectMeasures()
	d.groups = compareMeasures(d.measured)
}

// collectMeasures returns the figures of a page with their subjects and metrics. Figures
// of one origin and metric compare with each other.
func (d *document) collectMeasures() []measure {
	var out []measure
	for i, t := range d.tables {
		out = append(out, t.measures(i)...)
		if len(out) > maxMeasures {
			return out[:maxMeasures]
		}
	}
	out = append(out, acrossTables(out)...)
	for _, b := range d.benches {
		for _, v := range b.values {
			u, ok := findUnit(v.unit)
			if !ok || len(out) > maxMeasures {
				continue
			}
			out = append(out, measure{
				quantity: quantity{value: v.value * u.size, kind: u.kind, unit: v.unit, raw: v.value},
				subject:  b.name,
				metric:   v.unit,
				heading:  strings.ToLower(b.heading),
				origin:   benchOrigin + b.group,
				line:     b.line,
				section:  b.section,
				higher:   u.kind == rateKind || u.kind == byteRateKind,
			})
		}
	}
	for _, l := range d.loads {
		subject := strings.ToLower(l.label + " " + l.path)
		add := func(m measured, k kind, metric string) {
			if m.isKnown() && len(out) <= maxMeasures {
				out = append(out, measure{
					quantity: quantity{value: m.value, kind: k, raw: m.value},
					subject:  subject,
					metric:   metric,
					origin:   reportOrigin,
					line:     m.line,
					section:  l.section,
					higher:   k == rateKind,
				})
			}
		}
		add(l.rate, rateKind, "rate")
		add(l.mean, timeKind, "mean")
	}
	return out
}

// acrossTables returns the figures of tables with the same rows and columns under different
// headings, as on a page with a table for each contender. The heading becomes the subject,
// and the row and the column the metric.
func acrossTables(all []measure) []measure {
	type cell struct{ row, column string }
	headings := map[cell][]string{}
	for _, m := range all {
		key := cell{m.subject, m.metric}
		if m.heading != "" && !slices.Contains(headings[key], m.heading) {
			headings[key] = append(headings[key], m.heading)
		}
	}
	var out []measure
	for _, m := range all {
		if len(headings[cell{m.subject, m.metric}]) > 1 && m.heading != "" {
			m.metric, m.subject, m.origin = m.subject+" "+m.metric, m.heading, acrossOrigin
			out = append(out, m)
		}
	}
	return out
}

// splitWords returns the words of a name in lower case: those of JSON_SimplePerson are json,
// simple, person and simpleperson.
func splitWords(text string) []string {
	var out []string
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		out = append(out, strings.ToLower(word))
		start, runes := 0, []rune(word)
		for i := 1; i < len(runes); i++ {
			isAfterLower := unicode.IsLower(runes[i-1])
			isBeforeLower := i+1 < len(runes) && unicode.IsLower(runes[i+1])
			if unicode.IsUpper(runes[i]) && (isAfterLower || isBeforeLower) {
				out = append(out, strings.ToLower(string(runes[start:i])))
				start = i
			}
		}
		if start > 0 {
			out = append(out, strings.ToLower(string(runes[start:])))
		}
	}
	return out
}

// commonWords are the words of labels that do not tell contenders from each other, between spaces.
const commonWords = " the and for with api performance benchmark benchmarks results result test time memory latency throughput average mean total request requests than faster slower more " +
	"less new old per ops allocs bytes map get set read write parallel run one all max min cpu large small simple "

// isCommon reports whether a word of a label does not tell contenders from each other.
func isCommon(word string) bool { return strings.Contains(commonWords, " "+word+" ") }

// canName reports whether a word of a label can name a contender: it is not a number, not
// short and not common.
func canName(word string) bool {
	_, err := strconv.Atoi(word)
	isNumber := err == nil
	return !isNumber && len(word) >= minNameLength && !isCommon(word)
}

// naming finds the labels that a text names.
type naming struct {
	words map[string][]string // by label, the words that tell it from most others
}

// newNaming returns the naming of labels that are compared with each other. A word distinguishes
// a label from others if at most half of the labels have the word.
func newNaming(labels []string) naming {
	n := naming{words: map[string][]string{}}
	count := map[string]int{}
	for _, label := range labels {
		seen := map[string]bool{}
		for _, w := range splitWords(label) {
			if !seen[w] {
				seen[w] = true
				count[w]++
			}
		}
	}
	for _, label := range labels {
		n.words[label] = nil
		for _, w := range splitWords(label) {
			isRare := count[w]*2 <= len(labels) || len(labels) <= 1
			if canName(w) && isRare && !slices.Contains(n.words[label], w) {
				n.words[label] = append(n.words[label], w)
			}
		}
	}
	return n
}

// findNamed returns the labels that a text names, sorted: by a word that distinguishes a label
// from others, or by all of its words.
func (n naming) findNamed(text string) []string {
	inText := map[string]bool{}
	for _, w := range splitWords(text) {
		inText[w] = true
	}
	var out []string
	for label, words := range n.words {
		hasWord := slices.ContainsFunc(words, func(w string) bool { return inText[w] })
		if hasWord || hasAllWords(label, inText) {
			out = append(out, label)
		}
	}
	slices.Sort(out)
	return out
}

// hasAllWords reports whether a text, given by its words, has all words of a label that can
// name a contender. It returns false if the label has no such word.
func hasAllWords(label string, inText map[string]bool) bool {
	found := false
	for _, w := range splitWords(label) {
		if !canName(w) {
			continue
		}
		if !inText[w] {
			return false
		}
		found = true
	}
	return found
}

// comparison holds the figures of one origin, metric and kind.
type comparison struct {
	origin   int
	metric   string
	kind     kind
	measures []measure
	naming   naming // of the subjects; its words are nil if there is one subject, or too many
}

// compareMeasures groups figures that compare with each other. It omits numbers without a
// unit, percentages, ratios and values that are not positive.
func compareMeasures(all []measure) []*comparison {
	type key struct {
		origin int
		metric string
		kind   kind
	}
	byKey := map[key]*comparison{}
	var out []*comparison
	for _, m := range all {
		if m.kind == plainKind || m.kind == percentKind || m.kind == factorKind || !(m.value > 0) {
			continue
		}
		k := key{m.origin, m.metric, m.kind}
		c := byKey[k]
		if c == nil {
			c = &comparison{origin: m.origin, metric: m.metric, kind: m.kind}
			byKey[k] = c
			out = append(out, c)
		}
		c.measures = append(c.measures, m)
	}
	for _, c := range out {
		var labels []string
		for _, m := range c.measures {
			if !slices.Contains(labels, m.subject) {
				labels = append(labels, m.subject)
			}
		}
		if len(labels) > 1 && len(labels) <= maxLabels {
			c.naming = newNaming(labels)
		}
	}
	return out
}
