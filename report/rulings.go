package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/format"
)

// A criterion is a limit that a study sets in advance, such as time ratio <= 0.8. A ruling is its result: met, not
// met, inconclusive or void.

// KeyRulings is the key of the section of a page with the rulings.
const KeyRulings = "rulings"

// addRulings adds a table of the rulings, or counts if there are too many, and what is void.
func (s *Section) addRulings(r *tare.Result) {
	s.addText(Plain, r.Answer)
	s.addText(Warned, describeInterruption(r))
	if len(listRulings(r)) == 0 && len(r.Verdicts) == 0 {
		s.addText(Warned, noVerdict)
	}
	t := Table{Columns: []Column{{Name: "verdict"}, {Name: "contender"}, {Name: "on"}, {Name: "asked"}, {Name: "measured"}}}
	for _, ruling := range rulingOrder() {
		for _, v := range topVerdicts(r) {
			if v.Verdict != ruling {
				continue
			}
			measured := v.Sentence
			if x, ok := newView(r, v.Workload).findComparison(v.Contender, v.Metric); ok && v.Contender != "" {
				measured = format.Headline(x.Ratio) + "×"
				if x.Bounded() {
					measured += " (" + format.Headline(x.Low) + "–" + format.Headline(x.High) + ")"
				}
			}
			if v.RoundsNeeded > 0 {
				measured += ", about " + countNoun(v.RoundsNeeded, "round") + " would decide"
			}
			t.Rows = append(t.Rows, Row{Who: v.Contender, Cells: []Field{
				{signOfRuling(ruling) + " " + string(ruling), markOfRuling(ruling)},
				{Text: orDefault(contenderTitle(r, v.Contender), "several")}, // "several" counts other verdicts
				{Text: orDefault(v.Workload, noValue)},
				{Text: v.Criterion},
				{Text: measured},
			}})
		}
	}
	s.addTable("rulings", "", t)
	if voids := describeVoids(r); voids != "" {
		s.addText(Bad, "Void: "+voids+".")
	}
	s.addText(Plain, genericHeadline(r))
}

func signOfRuling(ruling tare.Ruling) string {
	switch ruling {
	case tare.Met:
		return "✓"
	case tare.NotMet, tare.VoidRuling:
		return "✕"
	}
	return "?"
}

// TallyRulings counts the rulings by result: "9 not met, 2 inconclusive".
func TallyRulings(r *tare.Result) string {
	var parts []string
	for _, ruling := range rulingOrder() {
		n := 0
		for _, v := range listRulings(r) {
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

// KeyChecked is the key of the section with the findings of the checks.
const KeyChecked = "checked"

// addFindingsByCheck adds an entry per check and severity. Equal messages share a line.
func (s *Section) addFindingsByCheck(r *tare.Result) {
	s.addText(Dim, describeProbes(r)...)
	marks := map[tare.Severity]Mark{tare.Void: Bad, tare.Warn: Warned, tare.Note: Dim}
	type key struct {
		check    string
		severity tare.Severity
	}
	open := openFindings(r)
	var keys []key
	byKey := map[key][]tare.Finding{}
	for _, f := range open {
		k := key{f.Check, f.Severity}
		if byKey[k] == nil {
			keys = append(keys, k)
		}
		byKey[k] = append(byKey[k], f)
	}
	if len(open) == 0 {
		s.addText(Plain, nothingFound)
	}
	var items []Item
	for _, k := range keys {
		findings := byKey[k]
		items = append(items, Item{
			Label: string(k.severity), Mark: marks[k.severity], Check: k.check, Text: countNoun(len(findings), "finding"),
			Under: mergeFindings(r, findings), Advice: joinAdvice(findings),
		})
	}
	s.addList("findings", items...)
	s.addText(Dim, describeTrapFindings(r))
}

func mergeFindings(r *tare.Result, all []tare.Finding) []string {
	var messages []string
	scopes := map[string][]string{} // by message
	for _, f := range all {
		messages = appendNew(messages, f.Message)
		if scope := listScope(r, f); len(scope) > 0 {
			scopes[f.Message] = append(scopes[f.Message], strings.Join(scope, " · "))
		}
	}
	var out []string
	for _, message := range messages {
		line := message
		if scope := strings.Join(scopes[message], ", "); scope != "" {
			line = scope + ": " + message
		}
		out = append(out, line)
	}
	return out
}

func joinAdvice(all []tare.Finding) string {
	var out []string
	for _, f := range all {
		if f.Advice != "" && !slices.Contains(out, f.Advice) {
			out = append(out, f.Advice)
		}
	}
	return strings.Join(out, "; ")
}
