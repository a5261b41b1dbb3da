package figures

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// maxMeasures limits the figures of a page that are compared with its prose.
const maxMeasures = 4000

// Origins of figures that are of no table.
const (
	acrossOrigin = -1        // of several tables of one form
	benchOrigin  = 1_000_000 // and the number of the block
	reportOrigin = 2_000_000
)

// prepare collects what several rules read.
func (d *document) prepare() {
	d.measured = d.collectMeasures()
	d.groups = compareMeasures(d.measured)
}

// collectMeasures returns the figures of a page, with what they are of. Figures of one origin
// and metric compare with each other.
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
				quantity: quantity{value: v.value * u.size, kind: u.kind, unit: v.unit, raw: v.value}, subject: b.name, metric: v.unit, heading: strings.ToLower(b.heading),
				origin: benchOrigin + b.group, line: b.line, section: b.section, higher: u.kind == rateKind || u.kind == byteRateKind,
			})
		}
	}
	for _, l := range d.loads {
		subject := strings.ToLower(l.label + " " + l.path)
		add := func(m measured, k kind, metric string) {
			if m.isKnown() && len(out) <= maxMeasures {
				out = append(out, measure{quantity: quantity{value: m.value, kind: k, raw: m.value}, subject: subject, metric: metric, origin: reportOrigin, line: m.line, section: l.section, higher: k == rateKind})
			}
		}
		add(l.rate, rateKind, "rate")
		add(l.mean, timeKind, "mean")
	}
	return out
}

// acrossTables returns the figures of tables of one form under different headings, which
// compare the headings: a table for each contender, with the same rows and columns.
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
			if unicode.IsUpper(runes[i]) && (unicode.IsLower(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1])) {
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

// common are words of labels that do not tell contenders from each other.
const common = " the and for with api performance benchmark benchmarks results result test time memory latency throughput average mean total request requests than faster slower more " +
	"less new old per ops allocs bytes map get set read write parallel run one all max min cpu large small simple "

// isCommon reports whether a word of a label does not tell contenders from each other.
func isCommon(word string) bool { return strings.Contains(common, " "+word+" ") }

// naming finds which labels a text names.
type naming struct {
	words map[string][]string // of each label: those that tell it from others
}

// newNaming takes in the labels that are compared with each other.
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
			if _, err := strconv.Atoi(w); err != nil && len(w) >= 3 && !isCommon(w) && (count[w]*2 <= len(labels) || len(labels) <= 1) && !slices.Contains(n.words[label], w) {
				n.words[label] = append(n.words[label], w)
			}
		}
	}
	return n
}

// findNamed returns the labels that a text names by a word that tells them from others. The
// label of which the text has the most words comes instead of others that share them.
func (n naming) findNamed(text string) []string {
	in := map[string]bool{}
	for _, w := range splitWords(text) {
		in[w] = true
	}
	var out []string
	for label, words := range n.words {
		if slices.ContainsFunc(words, func(w string) bool { return in[w] }) || n.hasAllWords(label, in) {
			out = append(out, label)
		}
	}
	slices.Sort(out)
	return out
}

// hasAllWords reports whether a text has all words of a label that can name something.
func (n naming) hasAllWords(label string, in map[string]bool) bool {
	some := false
	for _, w := range splitWords(label) {
		if _, err := strconv.Atoi(w); err == nil || len(w) < 3 || isCommon(w) {
			continue
		}
		if some = true; !in[w] {
			return false
		}
	}
	return some
}

// comparison is figures of one origin and metric, by what they are of.
type comparison struct {
	origin   int
	metric   string
	kind     kind
	measures []measure
	naming   naming
}

// compareMeasures groups figures that compare with each other.
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
		if len(labels) > 1 && len(labels) <= 200 {
			c.naming = newNaming(labels)
		}
	}
	return out
}
