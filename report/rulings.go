package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tarebench/tare"
)

// KeyRulings is the section of a page that lists how criteria came out.
const KeyRulings = "rulings"

// rulingTable adds a row for each criterion, contender and workload, or counts
// where there are too many; then what is void.
func (s *Section) rulingTable(r *tare.Result) {
	s.say(Plain, r.Answer)
	s.say(Warned, cutShort(r))
	if len(ruled(r)) == 0 && len(r.Verdicts) == 0 {
		s.say(Warned, noVerdict)
	}
	t := Table{Columns: []Column{{Name: "verdict"}, {Name: "contender"}, {Name: "on"}, {Name: "asked"}, {Name: "measured"}}}
	for _, ruling := range rulings() {
		for _, v := range topmost(r) {
			if v.Verdict != ruling {
				continue
			}
			row := Row{Who: v.Contender, Cells: []Field{{signOf(ruling) + " " + string(ruling), rulingMark(ruling)}, {Text: or(title(r, v.Contender), "several")}, {Text: or(v.Workload, nothing)}, {Text: v.Criterion}, {Text: v.Sentence}}}
			if x, ok := look(r, v.Workload, nil).comparison(v.Contender, v.Metric); ok && v.Contender != "" {
				row.Cells[4].Text = shortRatio(x.Ratio) + "×"
				if x.Bounded() {
					row.Cells[4].Text += " (" + shortRatio(x.Low) + "–" + shortRatio(x.High) + ")"
				}
			}
			if v.RoundsNeeded > 0 {
				row.Cells[4].Text += ", about " + plural(v.RoundsNeeded, "round") + " would decide"
			}
			t.Rows = append(t.Rows, row)
		}
	}
	s.show("rulings", "", t)
	if voids := voided(r); voids != "" {
		s.say(Bad, "Void: "+voids+".")
	}
	s.say(Plain, generic(r))
}

// signOf returns the mark of a ruling.
func signOf(ruling tare.Ruling) string {
	switch ruling {
	case tare.Met:
		return "✓"
	case tare.NotMet, tare.VoidRuling:
		return "✕"
	}
	return "?"
}

// TallyRulings counts how criteria came out: "9 not met, 2 inconclusive"; "" without
// criteria.
func TallyRulings(r *tare.Result) string {
	var parts []string
	for _, ruling := range rulings() {
		n := 0
		for _, v := range ruled(r) {
			if v.Verdict == ruling {
				n++
			}
		}
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, ruling))
		}
	}
	return strings.Join(parts, ", ")
}

// KeyChecked is the section of a page that lists findings.
const KeyChecked = "checked"

// checkedFindings adds an item for each check and severity. What several findings
// say alike is said once, with all that it is said of.
func (s *Section) checkedFindings(r *tare.Result) {
	s.say(Dim, probed(r)...)
	marks := map[tare.Severity]Mark{tare.Void: Bad, tare.Warn: Warned, tare.Note: Dim}
	type key struct {
		check    string
		severity tare.Severity
	}
	open := found(r)
	var keys []key
	of := map[key][]tare.Finding{}
	for _, f := range open {
		k := key{f.Check, f.Severity}
		if of[k] == nil {
			keys = append(keys, k)
		}
		of[k] = append(of[k], f)
	}
	if len(open) == 0 {
		s.say(Plain, nothingFound)
	}
	var items []Item
	for _, k := range keys {
		items = append(items, Item{Label: string(k.severity), Mark: marks[k.severity], Check: k.check, Text: plural(len(of[k]), "finding"), Under: alikeFindings(r, of[k]), Advice: adviceOf(of[k])})
	}
	s.list("findings", items...)
	s.say(Dim, trapsFound(r))
}

// alikeFindings returns a line for each message, with all that it is said of.
func alikeFindings(r *tare.Result, all []tare.Finding) []string {
	var messages []string
	about := map[string][]string{}
	for _, f := range all {
		parts := []string{}
		if f.Contender != "" {
			parts = append(parts, title(r, f.Contender))
		}
		for _, part := range []string{f.Workload, f.Metric} {
			if part != "" {
				parts = append(parts, part)
			}
		}
		if !slices.Contains(messages, f.Message) {
			messages = append(messages, f.Message)
		}
		if len(parts) > 0 {
			about[f.Message] = append(about[f.Message], strings.Join(parts, " · "))
		}
	}
	var out []string
	for _, m := range messages {
		if who := strings.Join(about[m], ", "); who != "" {
			m = who + ": " + m
		}
		out = append(out, m)
	}
	return out
}

// adviceOf returns the different advice of findings, joined.
func adviceOf(all []tare.Finding) string {
	var out []string
	for _, f := range all {
		if f.Advice != "" && !slices.Contains(out, f.Advice) {
			out = append(out, f.Advice)
		}
	}
	return strings.Join(out, "; ")
}
