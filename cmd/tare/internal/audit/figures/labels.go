package figures

import (
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/tarebench/tare/internal/lazyregexp"
)

// This file finds the rows and columns that a sentence names: "the fast one" names "fast codec".

const (
	minNameLength = 3   // bytes of a word that can name a contender
	maxLabels     = 200 // of one matcher
)

// nameTokenRE matches a word, or a number such as 5.2.1.
var nameTokenRE = lazyregexp.New(`[\p{L}\p{N}]+(?:\.\p{N}+)*`)

// splitWords returns words in lower case. For JSON_SimplePerson these are json, simple, person and
// simpleperson.
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

// nameWords returns the words of a text for comparisons with labels. It removes endings and also
// joins a number to its neighbours. "Version 8 codecs" has vers, 8, 8codec, vers8, v8 and codec.
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

// stemWord removes the ending of a word. It returns encod for encode, encodes, encoded and encoding.
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

// wordSet holds the words of a text that may name a label. It omits comparisons such as "as fast
// as", which do not name a row "fast".
type wordSet map[string]bool

var equativeRE = lazyregexp.New(`(?i)\bas (?:fast|quick|slow|much|many|long|large|big|high|heavy|expensive|costly)\b`)

func newWordSet(text string) wordSet {
	out := wordSet{}
	for _, w := range nameWords(equativeRE.ReplaceAllString(text, " ")) {
		out[w] = true
	}
	if standardLibraryRE.MatchString(text) {
		out[standardLibrary] = true
	}
	return out
}

// standardLibrary is the word by which a text names a label such as encoding/json.
const standardLibrary = "stdlib"

var (
	standardLibraryRE = lazyregexp.New(`(?i)\bstandard library\b|\bstd ?lib\b`)
	// standardPackageRE matches the path of a package of Go's standard library with two parts or more.
	standardPackageRE = lazyregexp.New(`(?:^|[^\w./-])(?:archive|compress|container|crypto|database|encoding|hash|html|image|log|math|mime|net|os|regexp|text|unicode)/[a-z0-9]+\b`)
)

// labelWords returns the words of a label, and standardLibrary for a package of it.
func labelWords(label string) []string {
	words := nameWords(label)
	if standardPackageRE.MatchString(label) {
		words = append(words, standardLibrary)
	}
	return words
}

// commonWords has the words, between spaces, that do not distinguish contenders.
const commonWords = " the and for with api performance benchmark benchmarks results result test time memory latency throughput average mean total request requests than faster slower more " +
	"less new old per ops op alloc allocs byte bytes map get set read write parallel run one all max min cpu large small simple only base other both still also even here there now this that its from than into over "

func isCommon(word string) bool { return strings.Contains(commonWords, " "+word+" ") }

// isMinor reports whether a common word can distinguish labels, e.g. "cache read" and "cache
// write".
func isMinor(word string) bool {
	return strings.Contains(" large small simpl read write get set map parallel all one memory cpu ", " "+word+" ")
}

// isOperation reports whether a minor word can be a complete label.
func isOperation(word string) bool {
	return strings.Contains(" read write get set ", " "+word+" ")
}

// canName reports whether a word can name a contender. Short words cannot, but v2 can.
func canName(word string) bool {
	_, err := strconv.Atoi(word)
	isNumber := err == nil
	isVersion := len(word) == 2 && word[0] == 'v' && word[1] >= '0' && word[1] <= '9'
	isLong := len(word) >= minNameLength || isVersion
	return !isNumber && isLong && !isCommon(word)
}

// labelMatcher finds the labels that a text names. Its fields are by label.
type labelMatcher struct {
	rareWords  map[string][]string // at most half of the labels have one; each names the label
	otherWords map[string][]string // they decide between named labels
	allWords   map[string][]string // together they name the label
}

func (n labelMatcher) isEmpty() bool { return n.rareWords == nil }

func newLabelMatcher(labels []string) labelMatcher {
	n := labelMatcher{rareWords: map[string][]string{}, otherWords: map[string][]string{}, allWords: map[string][]string{}}
	count := map[string]int{}
	for _, label := range labels {
		seen := map[string]bool{}
		for _, w := range labelWords(label) {
			if !seen[w] {
				seen[w] = true
				count[w]++
			}
		}
	}
	for _, label := range labels {
		n.rareWords[label] = nil
		for _, w := range splitWords(label) {
			if canName(w) {
				n.allWords[label] = append(n.allWords[label], stemWord(w))
			}
		}
		for _, w := range labelWords(label) {
			isRare := count[w]*2 <= len(labels) || len(labels) <= 1
			isOnly := isMinor(w) && isRare && len(n.allWords[label]) == 0 && isOperation(w)
			if isOnly {
				n.rareWords[label] = append(n.rareWords[label], w)
			} else if isMinor(w) || canName(w) && !isRare {
				n.otherWords[label] = append(n.otherWords[label], w)
			} else if canName(w) && !slices.Contains(n.rareWords[label], w) {
				n.rareWords[label] = append(n.rareWords[label], w)
			}
		}
	}
	return n
}

// findNamed returns the labels that a text names, sorted. If both "fast codec" and "fast codec v2"
// are labels, the text "fast codec v2" names only the second.
func (n labelMatcher) findNamed(text wordSet) []string {
	var out []string
	found := map[string][]string{} // by label
	for label, words := range n.rareWords {
		if !slices.ContainsFunc(words, func(w string) bool { return text[w] }) && !text.hasAll(n.allWords[label]) {
			continue
		}
		out = append(out, label)
		for _, w := range slices.Concat(words, n.otherWords[label]) {
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

func containsAll(all, words []string) bool {
	return !slices.ContainsFunc(words, func(w string) bool { return !slices.Contains(all, w) })
}

// hasAll reports whether the text has all of words. It returns false if words is empty.
func (text wordSet) hasAll(words []string) bool {
	return len(words) > 0 && !slices.ContainsFunc(words, func(w string) bool { return !text[w] })
}
