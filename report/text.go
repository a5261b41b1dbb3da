package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/tarebench/tare"
)

// Text writes r for a reader at a terminal: the question, the verdicts, then
// what they rest on. Lines stay within the style's width where words allow.
// The error is the writer's.
func Text(w io.Writer, r *tare.Result, s Style) error {
	p := opened(r, s)
	p.criteria(r)
	p.published(r)
	told := map[string]bool{}
	for _, work := range r.Workloads {
		p.workload(r, work, told)
	}
	p.scaling(r)
	p.breakEven(r)
	p.decomposition(r)
	p.reading(r)
	p.semantics(r)
	p.cost(r)
	p.adoption(r)
	p.claims(r)
	p.drives(r)
	p.profiles(r)
	p.findings(r)
	p.notWeighed(r)
	p.resolution(r)
	p.run(r)
	if _, err := io.WriteString(w, p.b.String()); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

// opened is a page with the answer, the question and the verdicts on it.
func opened(r *tare.Result, s Style) *page {
	p := &page{style: s, width: s.width()}
	if r.Answer == "" {
		p.line(s.paint(Bold, oneLine(r.Study)))
	} else {
		p.wrap(0, bodyIndent, r.Study+": "+r.Answer, Bold)
	}
	p.wrap(0, 0, r.Question, Plain)
	p.wrap(0, 0, departure(r), Warned)
	p.verdicts(r)
	return p
}

const rulingWidth = 12 // of INCONCLUSIVE

func (p *page) verdicts(r *tare.Result) {
	p.heading("VERDICT")
	if text := cutShort(r); text != "" {
		p.wrap(bodyIndent, bodyIndent, text, Warned)
	}
	if len(r.Verdicts) == 0 {
		p.wrap(bodyIndent, bodyIndent, noVerdict, Warned)
	}
	for _, v := range topmost(r) {
		p.verdict(v)
	}
	found, rest := headlines(r)
	for _, v := range found {
		p.labelled("FOUND", rulingWidth, Bold, v.Sentence)
	}
	if rest != "" {
		p.labelled("", rulingWidth, Dim, rest)
	}
	for _, sentence := range asides(r) {
		p.labelled("APART", rulingWidth, Dim, sentence)
	}
	for _, sentence := range because(r) {
		p.labelled("WHY", rulingWidth, Bold, sentence)
	}
	if voids := voided(r); voids != "" {
		p.labelled("VOID", rulingWidth, Bad, voids+" (see WHAT THE CHECKS FOUND).")
	}
	if outcomes := outcomes(r.Claims); outcomes != "" {
		p.labelled("CLAIMS", rulingWidth, Bold, outcomes)
	}
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

// ruling is the word for a ruling and how it is painted.
func rulingMark(ruling tare.Ruling) (word string, m Mark) {
	switch ruling {
	case tare.Met:
		return "MET", Good
	case tare.NotMet:
		return "NOT MET", Bad
	case tare.VoidRuling:
		return "VOID", Bad
	case tare.Inconclusive:
		return "INCONCLUSIVE", Warned
	}
	return "", Warned
}

func (p *page) verdict(v tare.Verdict) {
	word, colour := rulingMark(v.Verdict)
	p.labelled(word, rulingWidth, colour, v.Sentence)
	at := bodyIndent + rulingWidth + gap
	p.wrap(at, at, more(v), Dim)
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

// baseline is the id every ratio is taken to.
func baseline(r *tare.Result) string {
	for _, c := range r.Contenders {
		if c.Role == tare.RoleBaseline {
			return c.ID
		}
	}
	return ""
}
