package report

import (
	"fmt"
	"strings"

	"github.com/tarebench/tare"
)

const verdictHeading = "Verdict"

// verdicts adds the rulings and differences, then what is void and what became
// of the claims.
func (s *Section) verdicts(r *tare.Result) {
	s.say(Warned, cutShort(r))
	if len(r.Verdicts) == 0 {
		s.say(Warned, noVerdict)
	}
	var items []Item
	add := func(label string, m Mark, texts ...string) {
		for _, text := range texts {
			items = append(items, Item{Label: label, Mark: m, Text: text})
		}
	}
	for _, v := range topmost(r) {
		items = append(items, Item{Label: or(string(v.Verdict), "no ruling"), Mark: rulingMark(v.Verdict), Text: v.Sentence, Under: []string{more(v)}})
	}
	found, rest := headlines(r)
	for _, v := range found {
		add("found", Bold, v.Sentence)
	}
	items = append(items, unlabelled(Plain, rest)...)
	add("apart", Dim, asides(r)...)
	add("why", Bold, because(r)...)
	if voids := voided(r); voids != "" {
		items = append(items, Item{Label: "void", Mark: Bad, parts: []Field{{Text: voids + " (see "}, {strings.ToLower(findingsHeading), heading}, {Text: ")."}}})
	}
	if outcomes := outcomes(r.Claims); outcomes != "" {
		add("claims", Bold, outcomes)
	}
	s.list("", items...)
}

// toldElsewhere reports whether the difference v is in the sentence of a
// criterion on the same figures, or among what is void.
func toldElsewhere(r *tare.Result, v tare.Verdict) bool {
	for _, other := range r.Verdicts {
		if other.Criterion != "" && other.Contender == v.Contender && other.Workload == v.Workload && other.Metric == v.Metric {
			return true
		}
	}
	return len(r.VoidsMetric(v.Contender, v.Workload, v.Metric)) > 0
}

// voided names what does not count in this run; traps that came out as
// expected are no surprise and stay out of it.
func voided(r *tare.Result) string {
	type kind struct{ check, metric, workload string }
	var kinds []kind
	about := map[kind][]string{}
	for _, f := range r.Findings {
		if f.Severity != tare.Void || f.Expected {
			continue
		}
		k, who := kind{f.Check, f.Metric, f.Workload}, title(r, f.Contender)
		if f.Contender == "" {
			who = "everything"
		}
		if len(about[k]) == 0 {
			kinds = append(kinds, k)
		}
		about[k] = append(about[k], who)
	}
	var parts []string
	for _, k := range kinds {
		text := inWords(about[k])
		if k.workload != "" {
			text += " on " + k.workload
		}
		if k.metric != "" {
			text = k.metric + " of " + text
		}
		parts = append(parts, text+", by the check "+k.check)
	}
	return strings.Join(parts, "; ")
}

const noVerdict = "No verdict: what was measured supports no statement about any contender."

// cutShort says that the run ended before its time; empty where it did not.
func cutShort(r *tare.Result) string {
	if r.Stopped != stoppedInterrupted {
		return ""
	}
	return "Interrupted: all of this rests on " + plural(r.RoundsDone, "whole round") + planned(r) + "."
}

const idsMost = 10 // claims of one outcome that are named at the top

// outcomes names the claims by what became of them, or counts those of which
// there are many.
func outcomes(claims []tare.ClaimResult) string {
	var parts []string
	for _, o := range distinct(claims, became) {
		var ids []string
		for _, c := range claims {
			if became(c) == o {
				ids = append(ids, c.ID)
			}
		}
		if len(ids) > idsMost { // they stand in the table
			parts = append(parts, fmt.Sprintf("%s: %d of %d", o, len(ids), len(claims)))
			continue
		}
		parts = append(parts, o+": "+strings.Join(ids, ", "))
	}
	return strings.Join(parts, "; ")
}

// rulingMark is how a ruling is painted.
func rulingMark(ruling tare.Ruling) Mark {
	switch ruling {
	case tare.Met:
		return Good
	case tare.NotMet, tare.VoidRuling:
		return Bad
	}
	return Warned
}

// more is what a verdict holds beyond its sentence, which says it all as a
// rule.
func more(v tare.Verdict) string {
	var parts []string
	if !strings.Contains(v.Sentence, v.Criterion) {
		parts = append(parts, "asked: "+v.Criterion)
	}
	if v.RoundsNeeded > 0 && !strings.Contains(v.Sentence, "would decide") {
		parts = append(parts, "about "+plural(v.RoundsNeeded, "round")+" would decide it")
	}
	return strings.Join(parts, "; ")
}
