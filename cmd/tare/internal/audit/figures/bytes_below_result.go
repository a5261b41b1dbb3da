package figures

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
)

// bytesBelowResult returns the rule bytes-below-result, which findBytesBelowResult applies.
func bytesBelowResult() rule {
	return rule{Rule: audit.Rule{
		ID: "bytes-below-result", Severity: tare.Warn,
		Title:   "An operation allocates less than its result takes.",
		Why:     "What a call returns has to be somewhere: if it allocates fewer bytes than the result has, the call fails early, copies a part, or returns memory that it does not own.",
		Do:      "check the error and compare the result with the input in the benchmark, once before the loop",
		Command: "tare run ffi",
		Bad:     "~~~c\ntypedef struct {\n    int id;\n    char name[64];\n    double total;\n} Order;\n~~~\n\n~~~\nBenchmarkCopyOrder-8   20000000   51.2 ns/op   32 B/op   1 allocs/op\n~~~\n",
		Good:    "~~~c\ntypedef struct {\n    int id;\n    char name[64];\n    double total;\n} Order;\n~~~\n\n~~~\nBenchmarkCopyOrder-8   20000000   51.2 ns/op   112 B/op   2 allocs/op\n~~~\n",
		Seen:    []string{"ffi"},
	}, find: findBytesBelowResult}
}

// findBytesBelowResult reports benchmarks that allocate fewer bytes than the result that
// they report, or than a struct on the page that shares a word with their name.
func findBytesBelowResult(d *document, report reportFunc) {
	for _, b := range d.benches {
		size, ok := b.value("B/op")
		n, _ := b.value("allocs/op")
		if !ok || !(size > 0) || !(n > 0) {
			continue
		}
		for _, unit := range []string{"result-B/op", "result-bytes/op", "resp-B/op", "response-bytes/op", "body-bytes/op", "out-bytes/op", "output-bytes/op", "encoded-bytes/op"} {
			if result, ok := b.value(unit); ok && size < result {
				report(b.line, fmt.Sprintf("%s allocates %s B/op and returns %s %s", b.name, formatNumber(size), formatNumber(result), unit))
			}
		}
		words := splitWords(b.name)
		for _, s := range d.structs {
			// The name of a struct is that of its type, or the first word of the line above it.
			names := append(splitWords(firstWord(s.label)), splitWords(s.name)...)
			isNamed := slices.ContainsFunc(names, func(w string) bool {
				return len(w) >= minSharedWord && slices.Contains(words, w)
			})
			if size >= float64(s.size) || !isNamed {
				continue
			}
			report(b.line, fmt.Sprintf("%s allocates %s B/op, and the struct %s has %d bytes (line %d)", b.name, formatNumber(size), s.name, s.size, s.line))
			break
		}
	}
}

// minSharedWord is the least length of a word that relates a struct to a benchmark.
const minSharedWord = 4

// firstWord returns the text before the first space.
func firstWord(text string) string {
	word, _, _ := strings.Cut(text, " ")
	return word
}
