package report

import (
	"fmt"
	"strings"

	"github.com/tarebench/tare"
)

const verdictHeading = "Verdict"

// addVerdicts adds the most important statements: results of criteria, differences and their origin, void
// measurements, and published claims.
func (s *Section) addVerdicts(r *tare.Result) {
	s.addText(Warned, describeInterruption(r))
	if len(r.Verdicts) == 0 {
		s.addText(Warned, noVerdict)
	}
	var items []Item
	add := func(label string, m Mark, texts ...string) {
		for _, text := range texts {
			items = append(items, Item{Label: label, Mark: m, Text: text})
		}
	}
	for _, v := range topVerdicts(r) {
		items = append(items, Item{Label: orDefault(string(v.Verdict), "no ruling"), Mark: markOfRuling(v.Verdict), Text: v.Sentence, Under: []string{describeRest(v)}})
	}
	found, rest := listHeadlines(r)
	for _, v := range found {
		add("found", Bold, v.Sentence)
	}
	items = append(items, unlabelledItems(Plain, rest)...)
	add("apart", Dim, describeAsides(r)...)
	add("why", Bold, explainDifferences(r)...)
	if voids := describeVoids(r); voids != "" {
		items = append(items, Item{Label: "void", Mark: Bad, parts: []Field{{Text: voids + " (see "}, {strings.ToLower(findingsHeading), heading}, {Text: ")."}}})
	}
	if outcomes := describeOutcomes(r.Claims); outcomes != "" {
		add("claims", Bold, outcomes)
	}
	s.addList("", items...)
}

// isCovered reports whether difference v need not be listed. A criterion is about it, or a finding voids it.
func isCovered(r *tare.Result, v tare.Verdict) bool {
	for _, other := range r.Verdicts {
		if other.Criterion != "" && other.Contender == v.Contender && other.Workload == v.Workload && other.Metric == v.Metric {
			return true
		}
	}
	return len(r.VoidsMetric(v.Contender, v.Workload, v.Metric)) > 0
}

// describeVoids names everything void, with the check. It omits traps that are void as expected.
func describeVoids(r *tare.Result) string {
	type scope struct{ check, metric, workload string }
	var scopes []scope
	contenders := map[scope][]string{} // titles
	for _, f := range r.Findings {
		if f.Severity != tare.Void || f.Expected {
			continue
		}
		s := scope{f.Check, f.Metric, f.Workload}
		if len(contenders[s]) == 0 {
			scopes = append(scopes, s)
		}
		contenders[s] = append(contenders[s], orDefault(contenderTitle(r, f.Contender), "everything"))
	}
	var parts []string
	for _, s := range scopes {
		text := joinNames(contenders[s])
		if s.workload != "" {
			text += " on " + s.workload
		}
		if s.metric != "" {
			text = s.metric + " of " + text
		}
		parts = append(parts, text+", by the check "+s.check)
	}
	return strings.Join(parts, "; ")
}

const noVerdict = "No verdict: what was measured supports no statement about any contender."

func describeInterruption(r *tare.Result) string {
	if r.Stopped != stoppedInterrupted {
		return ""
	}
	return "Interrupted: all of this rests on " + countNoun(r.RoundsDone, "whole round") + describePlanned(r) + "."
}

const maxIDs = 10 // claims that describeOutcomes can name, per outcome

// describeOutcomes names the claims with each outcome, or counts them.
func describeOutcomes(claims []tare.ClaimResult) string {
	var parts []string
	for _, o := range listDistinct(claims, outcomeText) {
		var ids []string
		for _, c := range claims {
			if outcomeText(c) == o {
				ids = append(ids, c.ID)
			}
		}
		if len(ids) > maxIDs { // the table of claims names them
			parts = append(parts, fmt.Sprintf("%s: %d of %d", o, len(ids), len(claims)))
			continue
		}
		parts = append(parts, o+": "+strings.Join(ids, ", "))
	}
	return strings.Join(parts, "; ")
}

func markOfRuling(ruling tare.Ruling) Mark {
	switch ruling {
	case tare.Met:
		return Good
	case tare.NotMet, tare.VoidRuling:
		return Bad
	}
	return Warned
}

// describeRest returns the criterion and the rounds that would decide it, unless the sentence of v has them.
func describeRest(v tare.Verdict) string {
	var parts []string
	if !strings.Contains(v.Sentence, v.Criterion) {
		parts = append(parts, "asked: "+v.Criterion)
	}
	if v.RoundsNeeded > 0 && !strings.Contains(v.Sentence, "would decide") {
		parts = append(parts, "about "+countNoun(v.RoundsNeeded, "round")+" would decide it")
	}
	return strings.Join(parts, "; ")
}
