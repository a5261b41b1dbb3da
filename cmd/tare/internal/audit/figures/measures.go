package figures

import (
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/tarebench/tare/internal/lazyregexp"
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
	d.metrics = newMetricNamings(d.groups)
	d.grids = newGrids(d, d.measured)
	slices.SortStableFunc(d.grids, func(a, b *grid) int { return a.line - b.line })
	d.blocks, d.ratios = newBlocks(d.groups), newRatioIndex(d.grids)
	d.verdicts = map[claimKey]verdict{}
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

// nameToken matches a word, or a number with points such as 5.2.1.
var nameToken = lazyregexp.New(`[\p{L}\p{N}]+(?:\.\p{N}+)*`)

// splitWords returns the words of a name in lower case: those of JSON_SimplePerson are json,
// simple, person and simpleperson.
func splitWords(text string) []string {
	var out []string
	for _, m := range nameToken.FindAllStringIndex(text, -1) {
		word := text[m[0]:m[1]]
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

// nameWords returns the words of a text in the form in which names are compared: singular, with
// a number joined to the word before it and to the one after it, and "version 8" as v8.
func nameWords(text string) []string {
	words := splitWords(text)
	var out []string
	for i, w := range words {
		w = stemWord(w)
		out = append(out, w)
		isNumber := w[0] >= '0' && w[0] <= '9' && strings.Trim(w, "0123456789.") == ""
		if isNumber && i+1 < len(words) {
			out = append(out, w+stemWord(words[i+1]))
		}
		if isNumber && i > 0 && canName(words[i-1]) {
			out = append(out, stemWord(words[i-1])+w)
		}
		if isNumber && i > 0 && (words[i-1] == "version" || words[i-1] == "release") {
			out = append(out, "v"+w)
		}
	}
	return out
}

// stemWord returns a word without the endings of its forms: encode, encodes, encoded and encoding are encod.
func stemWord(word string) string {
	const minStem = 4
	word = trimPlural(word)
	for _, ending := range []string{"ing", "ion", "ed", "e"} {
		if stem, ok := strings.CutSuffix(word, ending); ok && len(stem) >= minStem {
			return stem
		}
	}
	return word
}

// trimPlural returns a word without the ending of a plural.
func trimPlural(word string) string {
	switch {
	case len(word) <= 3 || strings.HasSuffix(word, "ss") || strings.HasSuffix(word, "us"):
		return word
	case strings.HasSuffix(word, "ies"):
		return strings.TrimSuffix(word, "ies") + "y"
	case strings.HasSuffix(word, "ches"), strings.HasSuffix(word, "shes"), strings.HasSuffix(word, "sses"), strings.HasSuffix(word, "xes"):
		return strings.TrimSuffix(word, "es")
	}
	return strings.TrimSuffix(word, "s")
}

// wordSet holds the words of a text as nameWords returns them, without those of "as fast as": they do not
// name a row that is called fast.
type wordSet map[string]bool

// equative matches the words of a comparison with "as".
var equative = lazyregexp.New(`(?i)\bas (?:fast|quick|slow|much|many|long|large|big|high|heavy)\b`)

func newWordSet(text string) wordSet {
	out := wordSet{}
	for _, w := range nameWords(equative.ReplaceAllString(text, " ")) {
		out[w] = true
	}
	return out
}

// commonWords are the words of labels that do not tell contenders from each other, between spaces.
const commonWords = " the and for with api performance benchmark benchmarks results result test time memory latency throughput average mean total request requests than faster slower more " +
	"less new old per ops op alloc allocs byte bytes map get set read write parallel run one all max min cpu large small simple only base other both still also even here there now this that its from than into over "

// isCommon reports whether a word of a label does not tell contenders from each other.
func isCommon(word string) bool { return strings.Contains(commonWords, " "+word+" ") }

// isMinor reports whether a common word tells apart labels that have another word in common.
func isMinor(word string) bool {
	return strings.Contains(" large small simpl read write get set map parallel all one memory cpu ", " "+word+" ")
}

// canName reports whether a word of a label can name a contender: it is not a number, not
// short and not common.
func canName(word string) bool {
	_, err := strconv.Atoi(word)
	isNumber := err == nil
	isLong := len(word) >= minNameLength || len(word) == 2 && word[0] == 'v' && word[1] >= '0' && word[1] <= '9'
	return !isNumber && isLong && !isCommon(word)
}

// naming finds the labels that a text names.
type naming struct {
	words  map[string][]string // by label, the words that tell it from most others
	shared map[string][]string // by label, its other words: several labels have them, or they are common
	full   map[string][]string // by label, all its words that can name a contender
}

// newNaming returns the naming of labels that are compared with each other. A word distinguishes
// a label from others if at most half of the labels have the word.
func newNaming(labels []string) naming {
	n := naming{words: map[string][]string{}, shared: map[string][]string{}, full: map[string][]string{}}
	count := map[string]int{}
	for _, label := range labels {
		seen := map[string]bool{}
		for _, w := range nameWords(label) {
			if !seen[w] {
				seen[w] = true
				count[w]++
			}
		}
	}
	for _, label := range labels {
		n.words[label] = nil
		for _, w := range splitWords(label) {
			if canName(w) {
				n.full[label] = append(n.full[label], stemWord(w))
			}
		}
		for _, w := range nameWords(label) {
			isRare := count[w]*2 <= len(labels) || len(labels) <= 1
			if isMinor(w) || canName(w) && !isRare {
				n.shared[label] = append(n.shared[label], w)
			} else if canName(w) && !slices.Contains(n.words[label], w) {
				n.words[label] = append(n.words[label], w)
			}
		}
	}
	return n
}

// findNamed returns the labels that a text with words names, sorted: by a word that distinguishes
// a label from others, or by all of its words. Of two labels of which the text has words, it
// omits the one whose words are all those of the other, which has more.
func (n naming) findNamed(text wordSet) []string {
	var out []string
	found := map[string][]string{} // by named label, its words in the text
	for label, words := range n.words {
		if !slices.ContainsFunc(words, func(w string) bool { return text[w] }) && !text.hasAll(n.full[label]) {
			continue
		}
		out = append(out, label)
		for _, w := range slices.Concat(words, n.shared[label]) {
			if text[w] {
				found[label] = append(found[label], w)
			}
		}
	}
	out = slices.DeleteFunc(out, func(label string) bool {
		return slices.ContainsFunc(slices.Clone(out), func(other string) bool {
			return len(found[other]) > len(found[label]) && containsAll(found[other], found[label])
		})
	})
	slices.Sort(out)
	return out
}

// containsAll reports whether all has each of words.
func containsAll(all, words []string) bool {
	return !slices.ContainsFunc(words, func(w string) bool { return !slices.Contains(all, w) })
}

// hasAll reports whether a text has all of words. It returns false if there are none.
func (text wordSet) hasAll(words []string) bool {
	return len(words) > 0 && !slices.ContainsFunc(words, func(w string) bool { return !text[w] })
}

// comparison holds the figures of one origin, metric and kind.
type comparison struct {
	origin   int
	metric   string
	kind     kind
	measures []measure
	naming   naming // of the subjects; its words are nil if there is one subject, or too many
}

// metricKey identifies the groups of one origin and kind, such as the columns of times of a table.
type metricKey struct {
	origin int
	kind   kind
}

// newMetricNamings returns the namings of the metrics of groups with one origin and kind.
func newMetricNamings(groups []*comparison) map[metricKey]naming {
	metrics := map[metricKey][]string{}
	for _, g := range groups {
		key := metricKey{g.origin, g.kind}
		metrics[key] = append(metrics[key], g.metric)
	}
	out := map[metricKey]naming{}
	for key, all := range metrics {
		if len(all) > 1 && len(all) <= maxLabels {
			out[key] = newNaming(all)
		}
	}
	return out
}

// isOtherMetric reports whether a text with words names another metric of the same kind than that of a group.
func (d *document) isOtherMetric(g *comparison, words wordSet) bool {
	named := d.metrics[metricKey{g.origin, g.kind}].findNamed(words)
	return len(named) > 0 && !slices.Contains(named, g.metric)
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
