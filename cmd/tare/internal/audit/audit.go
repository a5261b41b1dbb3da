// Package audit holds what readers of other people's benchmarks share: rules,
// findings, and the writers of findings. A reader, such as gobench, imports it
// and yields findings of rules of its own; package rules lists them all.
package audit

import (
	"cmp"
	"slices"

	"github.com/tarebench/tare"
)

// Rule is one mistake that a reader knows. Each has an example of it and one
// without it, and says where it was seen in public.
type Rule struct {
	ID       string        `json:"id"`       // lower case, words joined by -
	Severity tare.Severity `json:"severity"` // of its findings, at worst
	Title    string        `json:"title"`    // a sentence: what is wrong
	Why      string        `json:"why"`      // what it does to the figures
	Do       string        `json:"do"`       // what to do, without a full stop
	Command  string        `json:"command"`  // the command of tare that measures it properly
	Bad      string        `json:"bad"`      // an example that yields a finding
	Good     string        `json:"good"`     // the same without it
	Lang     string        `json:"lang"`     // of the examples, as Markdown names it: go, text
	Seen     []string      `json:"seen"`     // addresses, or study ids of tare, where it was seen
}

// Finding is a rule that something breaks.
type Finding struct {
	Rule     string        `json:"rule"`
	Severity tare.Severity `json:"severity"`
	File     string        `json:"file,omitempty"`   // as the user named it; - for standard input
	Line     int           `json:"line,omitempty"`   // from 1; 0 if it is about the whole file
	Column   int           `json:"column,omitempty"` // from 1, in bytes; 0 if unknown
	Name     string        `json:"name,omitempty"`   // of the Go benchmark; "" if it is about none, or several
	What     string        `json:"what"`             // what is wrong with these figures: a sentence without a full stop
	Why      string        `json:"why"`
	Do       string        `json:"do"`
	Command  string        `json:"command"`
}

// NewFinding returns a finding of the rule, with the rule's severity, reason,
// advice and command, which the caller may then make more exact.
func (r Rule) NewFinding(file string, line, column int, what string) Finding {
	return Finding{
		Rule: r.ID, Severity: r.Severity, File: file, Line: line, Column: column,
		What: what, Why: r.Why, Do: r.Do, Command: r.Command,
	}
}

// SortFindings orders findings by file, line, column, rule and text, and drops
// those that are equal in all of these.
func SortFindings(findings []Finding) []Finding {
	compare := func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column),
			cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.What, b.What))
	}
	slices.SortStableFunc(findings, compare)
	return slices.CompactFunc(findings, func(a, b Finding) bool { return compare(a, b) == 0 })
}
