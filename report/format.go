package report

import (
	"fmt"
	"io"

	"github.com/tarebench/tare"
)

// Format is one way to write a result.
type Format struct {
	Name    string // as people ask for it
	Summary string // one line, for help texts
	// Write writes one result.
	Write func(w io.Writer, r *tare.Result, s Style) error
	// Next writes a further result behind another, in the same file; nil: this
	// format holds one result, and several need a list around them.
	Next func(w io.Writer, r *tare.Result, s Style) error
}

// Formats is every format, the one for terminals first.
func Formats() []Format {
	return []Format{
		{"text", "tables for a terminal", Text, apart(Text)},
		{"brief", "the headline and up to three bars, on one scale for all studies", Brief, nextBrief},
		{"md", "the same as Markdown", unstyled(Markdown), apart(unstyled(Markdown))},
		{"json", "the result document (schema " + tare.ResultSchema + ")", unstyled(JSON), nil},
		{"benchfmt", "every round as Go benchmark lines, for benchstat -col /contender", unstyled(Benchfmt), apart(unstyled(Benchfmt))},
		{"csv", "one row per figure, difference in meaning, exponent, cost, step and line of a profile", unstyled(CSV), unstyled(moreCSV)},
		{"research", "a write-up in Markdown: objective, method, results, finding, recommendation, trade-offs", unstyled(Research), apart(unstyled(Research))},
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

// send writes a report that is made, in the characters that the style has.
func send(w io.Writer, s Style, text string) error {
	if s.ASCII {
		text = ascii.Replace(text)
	}
	if _, err := io.WriteString(w, text); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

// unstyled is a format that knows no style.
func unstyled(write func(io.Writer, *tare.Result) error) func(io.Writer, *tare.Result, Style) error {
	return func(w io.Writer, r *tare.Result, _ Style) error { return write(w, r) }
}

// apart is a format with an empty line before it.
func apart(write func(io.Writer, *tare.Result, Style) error) func(io.Writer, *tare.Result, Style) error {
	return func(w io.Writer, r *tare.Result, s Style) error {
		if _, err := io.WriteString(w, "\n"); err != nil {
			return err
		}
		return write(w, r, s)
	}
}
