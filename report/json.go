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

// JSON writes r as an indented document of schema tare.result/1. Lists that
// hold nothing are written as empty lists, never as null, and characters that
// do not print as escapes. A result of another
// schema, or one that holds a number JSON has no word for, is an error.
func JSON(w io.Writer, r *tare.Result) error {
	doc := *r
	switch doc.Schema {
	case "":
		doc.Schema = tare.ResultSchema
	case tare.ResultSchema:
	default:
		return fmt.Errorf("write result: schema %q is not %s", doc.Schema, tare.ResultSchema)
	}
	listed(&doc.Metrics)
	listed(&doc.Contenders)
	listed(&doc.Workloads)
	listed(&doc.Rounds)
	listed(&doc.Values)
	listed(&doc.Comparisons)
	listed(&doc.Verdicts)
	listed(&doc.Claims)
	listed(&doc.Findings)
	listed(&doc.Conformance)
	listed(&doc.Trials)
	listed(&doc.Machine.Facilities)
	listed(&doc.Plan.Contenders)
	listed(&doc.Plan.Looks)
	listed(&doc.Plan.Slices)
	doc.Semantics = slices.Clone(doc.Semantics)
	for i := range doc.Semantics {
		listed(&doc.Semantics[i].Differences)
	}
	doc.Decomposition = slices.Clone(doc.Decomposition)
	for i := range doc.Decomposition {
		listed(&doc.Decomposition[i].Steps)
	}
	doc.Trials = slices.Clone(doc.Trials)
	for i := range doc.Trials {
		if doc.Trials[i].Samples == nil {
			doc.Trials[i].Samples = map[string]tare.Sample{}
		}
	}
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false) // criteria hold <= and >=
	e.SetIndent("", "  ")
	if err := e.Encode(&doc); err != nil {
		return fmt.Errorf("write result: %w", err)
	}
	if _, err := w.Write(escaped(out.Bytes())); err != nil {
		return fmt.Errorf("write result: %w", err)
	}
	return nil
}

// escaped is a document in which what does not print is escaped, as
// encoding/json escapes only what stands below a space: a terminal obeys other
// characters too. In JSON they can stand in texts only.
func escaped(doc []byte) []byte {
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

func listed[T any](list *[]T) {
	if *list == nil {
		*list = []T{}
	}
}
