// Package audit defines the rules and findings of the command tare audit. A rule is a mistake in
// benchmarks. A finding is a place that has the mistake. Package gobench reads Go files, and
// package figures reads results and pages.
package audit

import (
	"cmp"
	"slices"

	"github.com/tarebench/tare"
)

// Rule is a mistake in benchmarks that tare audit recognizes.
type Rule struct {
	ID       string        `json:"id"`       // lower case, words joined by -
	Severity tare.Severity `json:"severity"` // highest severity of its findings
	Title    string        `json:"title"`
	Why      string        `json:"why"`     // how the mistake changes the measurements
	Do       string        `json:"do"`      // advice, without a full stop
	Command  string        `json:"command"` // the tare command that measures properly
	Bad      string        `json:"bad"`     // an example with the mistake
	Good     string        `json:"good"`    // the same example without it
	Lang     string        `json:"lang"`    // language of the examples in Markdown: go, text
	Seen     []string      `json:"seen"`    // URLs or studies of tare with the mistake
}

// Finding is a place in a file that breaks a rule.
type Finding struct {
	Rule     string        `json:"rule"` // ID of the rule
	Severity tare.Severity `json:"severity"`
	File     string        `json:"file,omitempty"`   // as the user named it; - for standard input
	Line     int           `json:"line,omitempty"`   // from 1; 0 for the whole file
	Column   int           `json:"column,omitempty"` // from 1, in bytes; 0 if unknown
	Name     string        `json:"name,omitempty"`   // of the Go benchmark; "" unless there is exactly one
	What     string        `json:"what"`             // a sentence without a full stop
	Why      string        `json:"why"`              // as in Rule, or more exact
	Do       string        `json:"do"`
	Command  string        `json:"command"`
}

// NewFinding returns a finding of the rule. The caller may make its advice more exact.
func (r Rule) NewFinding(file string, line, column int, what string) Finding {
	return Finding{
		Rule: r.ID, Severity: r.Severity, File: file, Line: line, Column: column,
		What: what, Why: r.Why, Do: r.Do, Command: r.Command,
	}
}

// SortFindings sorts findings by file, line, column, rule and text. It removes duplicates.
func SortFindings(findings []Finding) []Finding {
	compare := func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column),
			cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.What, b.What))
	}
	slices.SortStableFunc(findings, compare)
	return slices.CompactFunc(findings, func(a, b Finding) bool { return compare(a, b) == 0 })
}
