package figures

import (
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/tarebench/tare/internal/lazyregexp"
)

// Limits of the labels of a labelMatcher.
const (
	minNameLength = 3   // bytes of a word that can name a contender
	maxLabels     = 200 // labels of one matcher
)

// This file finds which rows and columns of a table a sentence is about, by the words of their labels.

// nameTokenRE matches a word, or a number with points such as 5.2.1.
var nameTokenRE = lazyregexp.New(`[\p{L}\p{N}]+(?:\.\p{N}+)*`)

// splitWords returns the words of a name in lower case: json, simple, person and simpleperson for
// JSON_SimplePerson.
func splitWords(text string) []string {
	var out []string
	for _, m := range nameTokenRE.FindAllStringIndex(text, -1) {
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

// nameWords returns the words of a text as names are compared: without endings, and with numbers also
// joined to the word before and after. "Version 8 codecs" has vers, 8, 8codec, vers8, v8 and codec.
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

// stemWord returns a word without its ending: encod for encode, encodes, encoded and encoding.
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

// wordSet holds the words of a text as nameWords returns them. It omits comparisons such as "as fast as",
// which do not name a row with the label "fast".
type wordSet map[string]bool

// equativeRE matches the beginning of a comparison such as "as fast as".
var equativeRE = lazyregexp.New(`(?i)\bas (?:fast|quick|slow|much|many|long|large|big|high|heavy|expensive|costly)\b`)

func newWordSet(text string) wordSet {
	out := wordSet{}
	for _, w := range nameWords(equativeRE.ReplaceAllString(text, " ")) {
		out[w] = true
	}
	return out
}

// commonWords are words of labels that do not distinguish contenders, between spaces.
const commonWords = " the and for with api performance benchmark benchmarks results result test time memory latency throughput average mean total request requests than faster slower more " +
	"less new old per ops op alloc allocs byte bytes map get set read write parallel run one all max min cpu large small simple only base other both still also even here there now this that its from than into over "

// isCommon reports whether a word is one of commonWords.
func isCommon(word string) bool { return strings.Contains(commonWords, " "+word+" ") }

// isMinor reports whether a common word can distinguish labels that share another word: read and write in
// "cache read" and "cache write".
func isMinor(word string) bool {
	return strings.Contains(" large small simpl read write get set map parallel all one memory cpu ", " "+word+" ")
}

// isOperation reports whether a minor word is the name of an operation. It names a label that has no other name.
func isOperation(word string) bool {
	return strings.Contains(" read write get set ", " "+word+" ")
}

// canName reports whether a word of a label can name a contender: it is not a number, not common and not
// short, except for a version such as v2.
func canName(word string) bool {
	_, err := strconv.Atoi(word)
	isNumber := err == nil
	isVersion := len(word) == 2 && word[0] == 'v' && word[1] >= '0' && word[1] <= '9'
	isLong := len(word) >= minNameLength || isVersion
	return !isNumber && isLong && !isCommon(word)
}

// labelMatcher finds the labels that a text names: of the labels "fast codec" and "plain codec", the
// text "the fast one takes 2 ms" names the first. The zero value has no labels. All fields are by
// label.
type labelMatcher struct {
	words  map[string][]string // rare words, which at most half of the labels have: each names the label; of "GET, 128 B", get
	shared map[string][]string // other words, and minor words: they decide between labels that are named
	full   map[string][]string // all words that can name a contender: together they name the label
}

// isEmpty reports whether the matcher has no labels.
func (n labelMatcher) isEmpty() bool { return n.words == nil }

// newLabelMatcher returns the matcher of labels that are compared with each other.
func newLabelMatcher(labels []string) labelMatcher {
	n := labelMatcher{words: map[string][]string{}, shared: map[string][]string{}, full: map[string][]string{}}
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
			isOnly := isMinor(w) && isRare && len(n.full[label]) == 0 && isOperation(w)
			if isOnly {
				n.words[label] = append(n.words[label], w)
			} else if isMinor(w) || canName(w) && !isRare {
				n.shared[label] = append(n.shared[label], w)
			} else if canName(w) && !slices.Contains(n.words[label], w) {
				n.words[label] = append(n.words[label], w)
			}
		}
	}
	return n
}

// findNamed returns the labels that a text names, sorted. The text names a label if it has a rare word of
// the label, or all words of it. findNamed drops such a label if the text has the same words and more
// words of another label: "fast codec v2" does not name "fast codec" if there is a label "fast codec v2".
func (n labelMatcher) findNamed(text wordSet) []string {
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
