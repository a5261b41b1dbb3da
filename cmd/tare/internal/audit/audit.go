// Package audit defines the rules and findings of tare audit. A rule is a mistake in benchmarks,
// and a finding is a place with it. Package gobench reads Go files. Package figures reads results
// and pages.
package audit

import (
	"cmp"
	"slices"

	"github.com/tarebench/tare"
)

// Rule is a mistake in benchmarks.
type Rule struct {
	ID       string        `json:"id"`       // lower case, words joined by -
	Severity tare.Severity `json:"severity"` // the highest of its findings
	Title    string        `json:"title"`
	Why      string        `json:"why"`     // how it changes the measurements
	Do       string        `json:"do"`      // without a full stop
	Command  string        `json:"command"` // the tare command to use instead
	Bad      string        `json:"bad"`     // an example with the mistake
	Good     string        `json:"good"`    // the example without it
	Lang     string        `json:"lang"`    // of the examples: go or text
	Seen     []string      `json:"seen"`    // URLs or studies of tare
}

// Finding is a place with the mistake of a rule.
type Finding struct {
	Rule     string        `json:"rule"` // ID
	Severity tare.Severity `json:"severity"`
	File     string        `json:"file,omitempty"`   // as the user named it; - for standard input
	Line     int           `json:"line,omitempty"`   // from 1; 0 for the entire file
	Column   int           `json:"column,omitempty"` // from 1, in bytes; 0 if unknown
	Name     string        `json:"name,omitempty"`   // the Go benchmark; "" unless there is exactly one
	What     string        `json:"what"`             // without a full stop
	Why      string        `json:"why"`
	Do       string        `json:"do"`
	Command  string        `json:"command"`
}

// NewFinding returns a finding of the rule.
func (r Rule) NewFinding(file string, line, column int, what string) Finding {
	return Finding{
		Rule: r.ID, Severity: r.Severity, File: file, Line: line, Column: column,
		What: what, Why: r.Why, Do: r.Do, Command: r.Command,
	}
}

// SortFindings sorts findings by place and removes duplicates.
func SortFindings(findings []Finding) []Finding {
	compare := func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column),
			cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.What, b.What))
	}
	slices.SortStableFunc(findings, compare)
	return slices.CompactFunc(findings, func(a, b Finding) bool { return compare(a, b) == 0 })
}
