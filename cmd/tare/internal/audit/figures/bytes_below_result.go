package figures

import (
	"fmt"
	"slices"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
)

// bytesBelowResult returns the rule about this mistake: an operation allocates less than its result takes.
func bytesBelowResult() rule {
	return rule{audit.Rule{
		ID: "bytes-below-result", Severity: tare.Warn, Title: "An operation allocates less than its result takes.",
		Why:     "What a call returns has to be somewhere: if it allocates fewer bytes than the result has, the call fails early, copies a part, or returns memory that it does not own.",
		Do:      "check the error and compare the result with the input in the benchmark, once before the loop",
		Command: "tare run ffi", Lang: "text",
		Bad:  "~~~c\ntypedef struct {\n    int id;\n    char name[64];\n    double total;\n} Order;\n~~~\n\n~~~\nBenchmarkCopyOrder-8   20000000   51.2 ns/op   32 B/op   1 allocs/op\n~~~\n",
		Good: "~~~c\ntypedef struct {\n    int id;\n    char name[64];\n    double total;\n} Order;\n~~~\n\n~~~\nBenchmarkCopyOrder-8   20000000   51.2 ns/op   112 B/op   2 allocs/op\n~~~\n",
		Seen: []string{"ffi"},
	}, findBytesBelowResult}
}

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
			// The text names a struct by its type, or by the line above it.
			if size >= float64(s.size) || !slices.ContainsFunc(append(splitWords(firstWord(s.label)), splitWords(s.name)...), func(w string) bool {
				return len(w) >= 4 && slices.Contains(words, w)
			}) {
				continue
			}
			report(b.line, fmt.Sprintf("%s allocates %s B/op, and the struct %s has %d bytes (line %d)", b.name, formatNumber(size), s.name, s.size, s.line))
			break
		}
	}
}

// firstWord returns the word before the first space.
func firstWord(text string) string {
	for i, r := range text {
		if r == ' ' {
			return text[:i]
		}
	}
	return text
}
