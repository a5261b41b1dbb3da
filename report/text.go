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
	p := &page{style: s, width: s.width()}
	p.line(paint(s.Bold, oneLine(r.Study)))
	p.wrap(0, 0, r.Question, nil)
	p.wrap(0, 0, departure(r), s.Warn)
	p.verdicts(r)
	told := map[string]bool{}
	for _, work := range r.Workloads {
		p.workload(r, work, told)
	}
	p.scaling(r)
	p.reading(r)
	p.semantics(r)
	p.cost(r)
	p.adoption(r)
	p.claims(r)
	p.findings(r)
	p.notWeighed(r)
	p.resolution(r)
	p.run(r)
	if _, err := io.WriteString(w, p.b.String()); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

const rulingWidth = 12 // of INCONCLUSIVE

func (p *page) verdicts(r *tare.Result) {
	p.heading("VERDICT")
	if text := cutShort(r); text != "" {
		p.wrap(bodyIndent, bodyIndent, text, p.style.Warn)
	}
	if len(r.Verdicts) == 0 {
		p.wrap(bodyIndent, bodyIndent, noVerdict, p.style.Warn)
	}
	for _, v := range r.Verdicts {
		if v.Criterion != "" {
			p.verdict(v)
		}
	}
	told, rest := headlines(r)
	for _, v := range told {
		p.labelled("FOUND", rulingWidth, p.style.Bold, v.Sentence)
	}
	if rest != "" {
		p.labelled("", rulingWidth, p.style.Dim, rest)
	}
	if voids := voided(r); voids != "" {
		p.labelled("VOID", rulingWidth, p.style.Bad, voids+" (see WHAT THE CHECKS FOUND).")
	}
	if outcomes := outcomes(r.Claims); outcomes != "" {
		p.labelled("CLAIMS", rulingWidth, p.style.Bold, outcomes)
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
	return len(r.Voids(v.Contender, v.Workload)) > 0
}

// voided names what does not count in this run; traps that came out as
// expected are no surprise and stay out of it.
func voided(r *tare.Result) string {
	var parts []string
	for _, f := range r.Findings {
		if f.Severity != tare.Void || f.Expected {
			continue
		}
		about := title(r, f.Contender)
		switch {
		case f.Contender == "" && f.Workload == "":
			about = "everything"
		case f.Contender == "":
			about = "everything on " + f.Workload
		case f.Workload != "":
			about += " on " + f.Workload
		}
		parts = append(parts, about+", by the check "+f.Check)
	}
	if len(parts) == 0 {
		return ""
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

// outcomes counts the claims by what became of them.
func outcomes(claims []tare.ClaimResult) string {
	var parts []string
	for _, o := range distinct(claims, func(c tare.ClaimResult) string { return string(c.Outcome) }) {
		var ids []string
		for _, c := range claims {
			if string(c.Outcome) == o {
				ids = append(ids, c.ID)
			}
		}
		parts = append(parts, o+": "+strings.Join(ids, ", "))
	}
	return strings.Join(parts, "; ")
}

func (p *page) verdict(v tare.Verdict) {
	word, colour := "", p.style.Warn
	switch v.Verdict {
	case tare.Met:
		word, colour = "MET", p.style.Good
	case tare.NotMet:
		word, colour = "NOT MET", p.style.Bad
	case tare.VoidRuling:
		word, colour = "VOID", p.style.Bad
	case tare.Inconclusive:
		word = "INCONCLUSIVE"
	}
	p.labelled(word, rulingWidth, colour, v.Sentence)
	at := bodyIndent + rulingWidth + gap
	p.wrap(at, at, more(v), p.style.Dim)
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

func (p *page) reading(r *tare.Result) {
	mark := "crossed out"
	if p.style.Strike == nil {
		mark = "~12.3~"
	}
	words := reading(r, mark)
	if len(words) == 0 {
		return
	}
	p.heading("HOW TO READ THIS")
	for _, w := range words {
		p.labelled(w.label, 11, p.style.Dim, w.text)
	}
}

// reading explains the words and marks that the tables use; mark is how a
// struck figure looks.
func reading(r *tare.Result, mark string) []said {
	base := baseline(r)
	if len(r.Workloads) == 0 || base == "" {
		return nil
	}
	var out []said
	say := func(word, text string) { out = append(out, said{word, text}) }
	say("ratio", fmt.Sprintf("a contender's figure divided by that of %s, round by round: 0.5 is half of it, 1 the same, 2 twice%s", base, better(r)))
	if len(r.Comparisons) > 0 {
		say("interval", "where the true ratio lies, with the confidence given; one that holds 1 means: not told apart")
	}
	if ranked(r) {
		say("rank", "best to worst place the evidence allows; contenders that share a letter of their group were not told apart")
	}
	say("figures", "medians over rounds; each round is one fresh process per contender")
	if anyStruck(r) {
		say(mark, "a figure whose checks failed: shown for the record, used nowhere")
	}
	if anyTrap(r) {
		say("†", "a trap: it repeats a published mistake on purpose, to show that the checks catch it")
	}
	return out
}

// better says which way the primary metric is better.
func better(r *tare.Result) string {
	if len(r.Metrics) == 0 {
		return ""
	}
	m := metricNamed(r.Metrics[0])
	if m.Direction == "" {
		return ""
	}
	return "; " + string(m.Direction) + " is better"
}

func ranked(r *tare.Result) bool {
	for _, c := range r.Comparisons {
		if c.RankLow > 0 {
			return true
		}
	}
	return false
}

func anyStruck(r *tare.Result) bool {
	for _, v := range r.Values {
		if v.Struck {
			return true
		}
	}
	return false
}

func anyTrap(r *tare.Result) bool {
	for _, c := range r.Contenders {
		if c.Role == tare.RoleTrap {
			return true
		}
	}
	return false
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
