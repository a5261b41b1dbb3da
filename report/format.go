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
	// Next writes a further result after another, in the same file; nil if this
	// format holds one result, and several need a list around them.
	Next func(w io.Writer, r *tare.Result, s Style) error
}

// Formats is every format, the one for terminals first.
func Formats() []Format {
	return []Format{
		{"text", "tables for a terminal", Text, withBlankLine(Text)},
		{"brief", "the headline and up to three bars, on one scale for all studies", Brief, nextBrief},
		{"md", "the same as Markdown", withoutStyle(Markdown), withBlankLine(withoutStyle(Markdown))},
		{"json", "the result document (schema " + tare.ResultSchema + ")", withoutStyle(JSON), nil},
		{"benchfmt", "every round as Go benchmark lines, for benchstat -col /contender", withoutStyle(Benchfmt), withBlankLine(withoutStyle(Benchfmt))},
		{"csv", "one row per figure, difference in meaning, exponent, cost, step and line of a profile", withoutStyle(CSV), withoutStyle(moreCSV)},
		{"research", "a write-up in Markdown: objective, method, results, finding, recommendation, trade-offs", withoutStyle(Research), withBlankLine(withoutStyle(Research))},
	}
}

// FormatNamed finds a format by its name.
func FormatNamed(name string) (Format, bool) {
	for _, f := range Formats() {
		if f.Name == name {
			return f, true
		}
	}
	return Format{}, false
}

// writeText writes a complete report, in ASCII if the style demands it.
func writeText(w io.Writer, s Style, text string) error {
	if s.ASCII {
		text = ascii.Replace(text)
	}
	if _, err := io.WriteString(w, text); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

// withoutStyle adapts a writer that ignores the style.
func withoutStyle(write func(io.Writer, *tare.Result) error) func(io.Writer, *tare.Result, Style) error {
	return func(w io.Writer, r *tare.Result, _ Style) error { return write(w, r) }
}

// withBlankLine returns a writer that begins with an empty line.
func withBlankLine(write func(io.Writer, *tare.Result, Style) error) func(io.Writer, *tare.Result, Style) error {
	return func(w io.Writer, r *tare.Result, s Style) error {
		if _, err := io.WriteString(w, "\n"); err != nil {
			return err
		}
		return write(w, r, s)
	}
}
