// Package audit has the types of the command tare audit. A rule is a mistake in benchmarks, and a finding is
// a place in a file that has the mistake. Two packages, called readers, define rules and find the places:
// gobench in Go files, and figures in results and pages. Package rules lists the rules of both.
package audit

import (
	"cmp"
	"slices"

	"github.com/tarebench/tare"
)

// Rule is a mistake in benchmarks that a reader recognizes.
type Rule struct {
	ID       string        `json:"id"`       // lower case, words joined by -
	Severity tare.Severity `json:"severity"` // highest severity of its findings
	Title    string        `json:"title"`    // a sentence that names the mistake
	Why      string        `json:"why"`      // sentences on how the mistake changes the figures
	Do       string        `json:"do"`       // advice, without a full stop
	Command  string        `json:"command"`  // the tare command that measures properly
	Bad      string        `json:"bad"`      // an example that yields a finding
	Good     string        `json:"good"`     // the same example without the mistake
	Lang     string        `json:"lang"`     // language of the examples in Markdown: go, text
	Seen     []string      `json:"seen"`     // URLs, or studies of tare, in which the mistake was seen
}

// Finding is a place in a file that breaks a rule.
type Finding struct {
	Rule     string        `json:"rule"` // ID of the rule
	Severity tare.Severity `json:"severity"`
	File     string        `json:"file,omitempty"`   // path as the user named it; - for standard input
	Line     int           `json:"line,omitempty"`   // from 1; 0 if the finding is about the file
	Column   int           `json:"column,omitempty"` // from 1, in bytes; 0 if unknown
	Name     string        `json:"name,omitempty"`   // name of the Go benchmark; "" unless there is exactly one
	What     string        `json:"what"`             // a sentence on the mistake at this place, without a full stop
	Why      string        `json:"why"`              // the rule's reason, advice and command, or more exact ones
	Do       string        `json:"do"`
	Command  string        `json:"command"`
}

// NewFinding returns a finding with the severity, reason, advice and command of the
// rule. The caller may then make them more exact.
func (r Rule) NewFinding(file string, line, column int, what string) Finding {
	return Finding{
		Rule: r.ID, Severity: r.Severity, File: file, Line: line, Column: column,
		What: what, Why: r.Why, Do: r.Do, Command: r.Command,
	}
}

// SortFindings sorts findings by file, line, column, rule and text, and removes
// duplicates, which are equal in all five.
func SortFindings(findings []Finding) []Finding {
	compare := func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column),
			cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.What, b.What))
	}
	slices.SortStableFunc(findings, compare)
	return slices.CompactFunc(findings, func(a, b Finding) bool { return compare(a, b) == 0 })
}
