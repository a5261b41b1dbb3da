package report

import (
	"fmt"
	"io"

	"github.com/tarebench/tare"
)

// Format is one way to write a result.
type Format struct {
	Name    string // value of --format
	Summary string // one line, for help texts
	// Write writes one result.
	Write func(w io.Writer, r *tare.Result, s Style) error
	// Next writes a further result to the same file. If it is nil, a file contains only one result, and the caller
	// puts several into a list.
	Next func(w io.Writer, r *tare.Result, s Style) error
}

// Formats returns all formats, the format for terminals first.
func Formats() []Format {
	return []Format{
		{
			Name: "text", Summary: "tables for a terminal",
			Write: Text, Next: withBlankLine(Text),
		},
		{
			Name: "brief", Summary: "the headline and up to three bars, on one scale for all studies",
			Write: Brief, Next: nextBrief,
		},
		{
			Name: "md", Summary: "the same as Markdown",
			Write: withoutStyle(Markdown), Next: withBlankLine(withoutStyle(Markdown)),
		},
		{
			Name: "json", Summary: "the result document (schema " + tare.ResultSchema + ")",
			Write: withoutStyle(JSON), Next: nil,
		},
		{
			Name: "benchfmt", Summary: "every round as Go benchmark lines, for benchstat -col /contender",
			Write: withoutStyle(Benchfmt), Next: withBlankLine(withoutStyle(Benchfmt)),
		},
		{
			Name: "csv", Summary: "one row per figure, difference in meaning, exponent, cost, step and line of a profile",
			Write: withoutStyle(CSV), Next: withoutStyle(moreCSV),
		},
		{
			Name: "research", Summary: "a write-up in Markdown: objective, method, results, finding, recommendation, trade-offs",
			Write: withoutStyle(Research), Next: withBlankLine(withoutStyle(Research)),
		},
	}
}

// FormatNamed returns the format called name. It returns false for an unknown name.
func FormatNamed(name string) (Format, bool) {
	for _, f := range Formats() {
		if f.Name == name {
			return f, true
		}
	}
	return Format{}, false
}

// writeText writes a complete report, in ASCII if s requires it.
func writeText(w io.Writer, s Style, text string) error {
	if s.ASCII {
		text = asciiReplacer.Replace(text)
	}
	if _, err := io.WriteString(w, text); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

// withoutStyle converts a function without a style to the type of Format.Write.
func withoutStyle(write func(io.Writer, *tare.Result) error) func(io.Writer, *tare.Result, Style) error {
	return func(w io.Writer, r *tare.Result, _ Style) error { return write(w, r) }
}

// withBlankLine returns a function that writes an empty line first.
func withBlankLine(write func(io.Writer, *tare.Result, Style) error) func(io.Writer, *tare.Result, Style) error {
	return func(w io.Writer, r *tare.Result, s Style) error {
		if _, err := io.WriteString(w, "\n"); err != nil {
			return err
		}
		return write(w, r, s)
	}
}
