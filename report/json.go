package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/tarebench/tare"
)

// JSON writes r as an indented document of schema tare.result/1. Empty lists are [], and unprintable characters
// are escaped. NaN, infinite numbers and other schemas are errors.
func JSON(w io.Writer, r *tare.Result) error {
	doc := *r
	switch doc.Schema {
	case "":
		doc.Schema = tare.ResultSchema
	case tare.ResultSchema: // nothing to do
	default:
		return fmt.Errorf("write result: schema %q is not %s", doc.Schema, tare.ResultSchema)
	}
	fillNil(&doc.Metrics)
	fillNil(&doc.Contenders)
	fillNil(&doc.Workloads)
	fillNil(&doc.Rounds)
	fillNil(&doc.Values)
	fillNil(&doc.Comparisons)
	fillNil(&doc.Verdicts)
	fillNil(&doc.Claims)
	fillNil(&doc.Findings)
	fillNil(&doc.Conformance)
	fillNil(&doc.Trials)
	fillNil(&doc.Machine.Facilities)
	fillNil(&doc.Plan.Contenders)
	fillNil(&doc.Plan.Looks)
	fillNil(&doc.Plan.Slices)
	doc.Semantics = slices.Clone(doc.Semantics)
	for i := range doc.Semantics {
		fillNil(&doc.Semantics[i].Differences)
	}
	doc.Decomposition = slices.Clone(doc.Decomposition)
	for i := range doc.Decomposition {
		fillNil(&doc.Decomposition[i].Steps)
	}
	doc.Trials = slices.Clone(doc.Trials)
	for i := range doc.Trials {
		if doc.Trials[i].Samples == nil {
			doc.Trials[i].Samples = map[string]tare.Sample{}
		}
	}
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false) // criteria contain <= and >=
	e.SetIndent("", "  ")
	if err := e.Encode(&doc); err != nil {
		return fmt.Errorf("write result: %w", err)
	}
	if _, err := w.Write(escapeJSON(out.Bytes())); err != nil {
		return fmt.Errorf("write result: %w", err)
	}
	return nil
}

// escapeJSON escapes unprintable characters in a JSON document. Terminals obey more of them than encoding/json
// escapes.
func escapeJSON(doc []byte) []byte {
	var out []byte
	from := 0
	for i := 0; i < len(doc); {
		r, size := utf8.DecodeRune(doc[i:])
		if r != '\n' && !unicode.IsPrint(r) {
			out = append(out, doc[from:i]...)
			for _, unit := range utf16.Encode([]rune{r}) {
				out = fmt.Appendf(out, `\u%04x`, unit)
			}
			from = i + size
		}
		i += size
	}
	return append(out, doc[from:]...)
}

// fillNil replaces a nil list, which JSON would write as null.
func fillNil[T any](list *[]T) {
	if *list == nil {
		*list = []T{}
	}
}
