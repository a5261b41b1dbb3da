package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/tarebench/tare"
)

// Research writes r as a write-up in Markdown: objective, method, results, key
// finding, recommendation, trade-offs, and what all of it does not say. Every
// sentence follows from what the result holds: who is recommended follows from
// ranks, what is called less or more from intervals, and where the result
// supports nothing, that is what is written. The error is the writer's.
func Research(w io.Writer, r *tare.Result) error {
	s := &sheet{}
	s.heading(1, plain("Research: "+r.Study))
	s.block(plain("Written from a result of tare" + when(r) + ". Every figure stands in the result document; no sentence rests on anything else."))
	s.heading(2, "Objective")
	s.objective(r)
	s.heading(2, "Method")
	s.method(r)
	s.heading(2, "Results")
	s.results(r)
	s.heading(2, "Key finding")
	s.answer(r)
	s.block(all([]string{tally(r)}, plain)...)
	s.verdicts(r, "what the checks found")
	s.heading(2, "Recommendation")
	s.recommendation(r)
	s.heading(2, "Trade-offs")
	s.tradeOffs(r)
	s.heading(2, "What this does not say")
	s.list(limits(r, plain, code)...)
	return s.send(w)
}

func when(r *tare.Result) string {
	var parts []string
	if !r.Started.IsZero() {
		parts = append(parts, "started "+r.Started.UTC().Format("2006-01-02 15:04:05 UTC"))
	}
	if r.Seed != "" {
		parts = append(parts, "seed "+r.Seed)
	}
	if len(parts) == 0 {
		return ""
	}
	return " (" + strings.Join(parts, ", ") + ")"
}

// objective says what was asked, of whom and by which measure.
func (s *sheet) objective(r *tare.Result) {
	s.block(plain(r.Question))
	s.block(all([]string{departure(r)}, plain)...)
	var lines []string
	for _, c := range r.Contenders {
		line := plain(c.Title())
		if c.Name != "" {
			line += ", " + code(c.String())
		}
		switch c.Role {
		case tare.RoleBaseline:
			line += ": the baseline, which every ratio is taken to"
		case tare.RoleApart:
			line += ": apart, as it does another job or part of one; of its answers only the status was compared, and it is never ranked"
		case tare.RoleTrap:
			line += ": a trap, which repeats a published mistake and is never ranked"
		case tare.RoleControl, tare.RoleNull:
			continue
		}
		switch {
		case c.Absent():
			line = plain(c.Title() + ": left out; " + c.Error)
		case c.Error != "":
			line += ": it could not be built"
		}
		lines = append(lines, line)
	}
	if len(lines) > 0 {
		s.block("Weighed:")
		s.list(lines...)
	}
	lines = nil
	for _, w := range r.Workloads {
		what := strings.TrimPrefix(asked(r, w), "What is asked: ")
		lines = append(lines, code(w.ID)+": "+plain(strings.TrimSpace(what+" "+driven(r, w))))
	}
	if len(lines) > 0 {
		s.block("On:")
		s.list(lines...)
	}
	lines = nil
	for i, name := range r.Metrics {
		m := metricNamed(name)
		line := name
		if m.Doc != "" {
			line += " (" + m.Unit + "): " + m.Doc
		}
		if i == 0 {
			line += "; the primary measure"
		}
		lines = append(lines, plain(line))
	}
	if len(lines) > 0 {
		s.block("By:")
		s.list(lines...)
	}
	if lines = criteria(r); len(lines) > 0 {
		s.block("Asked of them before measuring:")
		s.list(lines...)
	}
	if n := len(r.Claims); n > 0 {
		sources := distinct(r.Claims, func(c tare.ClaimResult) string { return c.Source })
		s.block(plain(fmt.Sprintf("Held against it: %s, from %s.", plural(n, "published claim"), strings.Join(sources, "; "))))
	}
}

// criteria lists what was asked of whom.
func criteria(r *tare.Result) []string {
	var lines []string
	if crowded(r) {
		for _, c := range asks(r) {
			lines = append(lines, plain(c.everybody()+": "+c.text))
		}
		return lines
	}
	for _, v := range ruled(r) {
		if line := plain(fmt.Sprintf("%s on %s: %s", title(r, v.Contender), v.Workload, v.Criterion)); !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	return lines
}

// method says how the figures came about.
func (s *sheet) method(r *tare.Result) {
	lines := []string{"A round is every contender once, each in a fresh process; a round gives one figure per contender, and intervals rest on rounds only."}
	for _, c := range r.Contenders {
		switch c.Role {
		case tare.RoleControl:
			lines = append(lines, "The baseline ran a second time as the control: what the two differ by is noise, and no smaller difference is claimed.")
		case tare.RoleNull:
			lines = append(lines, "A null contender did nothing: its figures are the harness itself.")
		}
	}
	lines = append(lines, all(resolutions(r), plain)...)
	s.list(append(lines, defined(run(r))...)...)
}

// results are the tables, the claims and the findings.
func (s *sheet) results(r *tare.Result) {
	s.published(r, 3)
	told := map[string]bool{}
	for _, w := range r.Workloads {
		s.heading(3, "Workload "+code(w.ID)+suffix(w))
		s.workload(r, w, told)
	}
	s.criteria(r, 3)
	s.scaling(r, 3)
	s.breakEven(r, 3)
	s.decomposition(r, 3)
	s.semantics(r, 3)
	if words := reading(r, "~~12.3~~"); len(words) > 0 {
		s.heading(3, "How to read the tables")
		s.list(defined(words)...)
	}
	if len(r.Claims) > 0 {
		s.heading(3, "Published claims")
		s.claims(r)
	}
	s.drives(r, 3)
	s.profiles(r, 3)
	s.heading(3, "What the checks found")
	s.findings(r)
}

// tally counts the criteria by what became of them; empty where there is none.
func tally(r *tare.Result) string {
	count, total := map[tare.Ruling]int{}, 0
	for _, v := range r.Verdicts {
		if v.Criterion != "" {
			count[v.Verdict]++
			total++
		}
	}
	if total == 0 {
		return ""
	}
	var parts []string
	for _, ruling := range []tare.Ruling{tare.Met, tare.NotMet, tare.Inconclusive, tare.VoidRuling} {
		if n := count[ruling]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, ruling))
		}
	}
	if total == 1 {
		return "The one criterion is " + strings.TrimPrefix(strings.Join(parts, ""), "1 ") + "."
	}
	return fmt.Sprintf("Of %d criteria: %s.", total, strings.Join(parts, ", "))
}

// open are the criteria that are neither met nor not met, one by one or, where
// there are many verdicts, each with how often.
func open(r *tare.Result) []string {
	var lines []string
	for _, c := range asks(r) {
		came := c.came(tare.Inconclusive)
		if crowded(r) && len(came) > 0 {
			lines = append(lines, fmt.Sprintf("Whether %s holds is open in %d of %d cases: inconclusive means neither met nor not met.", c.text, len(came), len(c.verdicts)))
			continue
		}
		for _, v := range came {
			lines = append(lines, fmt.Sprintf("Whether %s holds for %s on %s is open: inconclusive means neither met nor not met.", v.Criterion, v.Contender, v.Workload))
		}
	}
	return lines
}

// turns says what was not measured because contenders took turns; code marks a
// name that is to be read letter by letter.
func turns(r *tare.Result, code func(string) string) []string {
	var alone []string
	for _, w := range r.Workloads {
		if w.Traffic != nil && w.Traffic.Segment > 0 {
			alone = append(alone, code(w.ID))
		}
	}
	text := "Contenders took turns by the slice: how one of them does when it has the machine to itself for long was not measured (" + code("--isolation=trial") + " measures that)."
	switch {
	case len(alone) == 0:
		return []string{text}
	case len(alone) == len(r.Workloads):
		return nil
	}
	return []string{strings.Replace(text, "was not measured", "was measured on "+inWords(alone)+" only", 1)}
}

// served reports whether requests reached servers.
func served(r *tare.Result) bool {
	return slices.ContainsFunc(r.Workloads, func(w tare.Workload) bool { return w.Traffic != nil })
}

// limits are what a reader must not take from the figures, in texts that plain
// makes readable and with names that code marks.
func limits(r *tare.Result, plain, code func(string) string) []string {
	lines := []string{plain(fmt.Sprintf("It speaks of one run on one machine (%s); another machine, payload or version is another question.", plural(r.Machine.Cores, "core")))}
	switch r.Plan.Isolation {
	case tare.Lockstep:
		lines = append(lines, turns(r, code)...)
	case tare.TrialWise:
		lines = append(lines, "Contenders ran one whole trial after another: what drifts on the machine within a round is in the ratios ("+code("--isolation=lockstep")+" takes it out).")
	}
	if served(r) && local(r) {
		lines = append(lines, "Servers and load generator shared this machine: they took processor time from each other, and no network but loopback lay between them.")
	}
	if text := strings.Join(given(r), ", "); text != "" {
		lines = append(lines, plain("Contenders were given "+text+": without that it is another question."))
	}
	if asked := conducts(r); len(asked) > 0 {
		lines = append(lines, plain("Answers were held against "+references(asked)+" on the cases that were asked; other input may show other differences."))
	}
	if anyStruck(r) {
		lines = append(lines, "Figures that are struck out did not pass their checks: they are shown for the record and no sentence here rests on them.")
	}
	lines = append(lines, all(open(r), plain)...)
	for _, f := range r.Findings {
		if f.Severity == tare.Warn && f.Contender == "" {
			lines = append(lines, plain(warning(f)))
		}
	}
	for _, n := range all(notWeighed(r), plain) {
		lines = append(lines, "Not weighed: "+n)
	}
	return lines
}
