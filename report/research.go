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
	s := begun(r)
	chapters := researchChapters()
	if r.Recommended == "" {
		chapters = chapters[1:]
	}
	s.arrange(sections(r, forPaper), chapters)
	return send(w, Style{}, s.b.String())
}

// begun is a write-up's title and what it is written from.
func begun(r *tare.Result) *sheet {
	s := &sheet{}
	s.heading(1, plain("Research: "+r.Study))
	s.block(plain("Written from a result of tare" + when(r) + ". Every figure stands in the result document; no sentence rests on anything else."))
	return s
}

// answersFirst are the sections that a short write-up has before others, the first of each
// key: what was recommended and asked, then what answers it.
func answersFirst() []string {
	return []string{keyRecommended, keyAnswer, keyTally, keyQuestion, KeyDecomposition, KeyWorkload, KeyLimits, KeyCriteria, KeyPublished, KeyScaling, KeyBreakEven, KeyRecommendation, KeyCost, keyMethod, KeySemantics, keyObjective, KeyVerdict, KeyReading, KeyTradeOffs}
}

// ResearchWithin writes of [Research] the sections that so many words have room for, those
// that answer the question first, and names the others. whole is where they can be read, as
// a link of Markdown. The error is the writer's.
func ResearchWithin(w io.Writer, r *tare.Result, words int, whole string) error {
	all := sections(r, forPaper)
	chosen := make([]bool, len(all))
	left := words
	for _, key := range answersFirst() {
		i := slices.IndexFunc(all, func(x Section) bool { return x.Key == key })
		if i < 0 {
			continue
		}
		s := &sheet{}
		s.section(all[i])
		if n := len(strings.Fields(s.b.String())); n <= left {
			chosen[i], left = true, left-n
		}
	}
	var fit []Section
	var rest []string
	for i, x := range all {
		switch {
		case chosen[i]:
			fit = append(fit, x)
		case x.Heading != "" && x.Key == KeyWorkload:
			rest = append(rest, code(x.About))
		case x.Heading != "":
			rest = append(rest, plain(x.Heading))
		}
	}
	s := begun(r)
	chapters := slices.DeleteFunc(researchChapters(), func(c chapter) bool {
		return !slices.ContainsFunc(fit, func(x Section) bool { return slices.Contains(c.keys, x.Key) }) && c.heading != "Results"
	})
	s.arrange(fit, chapters)
	s.heading(2, "The rest")
	s.block("The complete report is " + whole + ". It also has: " + strings.Join(slices.Compact(rest), ", ") + ".")
	return send(w, Style{}, s.b.String())
}

// chapter is a heading and the sections beneath it. Without a heading each
// section has its own.
type chapter struct {
	level   int
	heading string
	keys    []string
}

// researchChapters are the chapters of a research paper.
func researchChapters() []chapter {
	all := []chapter{
		{2, "What was recommended, and whether it stands", []string{keyRecommended}},
		{2, "Objective", []string{keyQuestion, keyObjective}},
		{2, "Method", []string{keyMethod}},
		{2, "Results", nil},
		{3, "", []string{KeyMachines, KeyPublished, KeyWorkload, KeyCriteria, KeyScaling, KeyBreakEven, KeyDecomposition, KeySemantics}},
		{3, "How to read the tables", []string{KeyReading}},
		{3, "", []string{KeyClaims, KeyDrives, KeyExplanations, KeyProfiles, KeyFindings}},
		{2, "Key finding", []string{keyAnswer, keyTally, KeyVerdict}},
		{2, "Recommendation", []string{KeyRecommendation}},
		{2, "Trade-offs", []string{KeyTradeOffs}},
		{3, "", []string{keyManners, KeyAdoption, KeyCost}},
		{2, "", []string{KeyLimits}},
	}
	var groups [][]string
	for _, c := range all {
		groups = append(groups, c.keys)
	}
	for i, keys := range Arrange(groups...) {
		all[i].keys = keys
	}
	return all
}

// arrange adds chapters. The heading of one with sections of its own level
// stands even where there are none.
func (s *sheet) arrange(all []Section, chapters []chapter) {
	for _, c := range chapters {
		headed := c.level == 2 && c.heading != ""
		if headed {
			s.heading(c.level, c.heading)
		}
		for _, x := range ordered(all, c.keys) {
			if !headed {
				s.heading(c.level, or(c.heading, x.titled()))
			}
			s.section(x)
		}
	}
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

// objective says who was asked, on what and by which measure.
func (s *Section) objective(r *tare.Result) {
	listed := func(heading string, items []Item) {
		if len(items) > 0 {
			s.say(Plain, heading)
			s.list("", items...)
		}
	}
	var items []Item
	for _, c := range r.Contenders {
		if c.Role != tare.RoleControl && c.Role != tare.RoleNull {
			items = append(items, Item{parts: introduced(c)})
		}
	}
	listed("Measured:", items)
	items = nil
	for _, w := range r.Workloads {
		what := strings.TrimPrefix(asked(r, w), "What is asked: ")
		items = append(items, Item{parts: []Field{coded(w.ID), {Text: ": "}, {Text: strings.TrimSpace(what + " " + driven(r, w))}}})
	}
	listed("On:", items)
	items = nil
	for i, name := range r.Metrics {
		m := metricNamed(name)
		line := name
		if m.Doc != "" {
			line += " (" + m.Unit + "): " + m.Doc
		}
		if i == 0 {
			line += "; the primary measure"
		}
		items = append(items, Item{Text: line})
	}
	listed("By:", items)
	listed("Asked of them before measuring:", unlabelled(Plain, criteria(r)...))
	if n := len(r.Claims); n > 0 {
		sources := distinct(r.Claims, func(c tare.ClaimResult) string { return c.Source })
		s.say(Plain, fmt.Sprintf("Compared with it: %s, from %s.", plural(n, "published claim"), strings.Join(sources, "; ")))
	}
}

// introduced says who a contender is and in which role it was measured.
func introduced(c tare.Contender) []Field {
	if c.Absent() {
		return []Field{{Text: c.Title() + ": left out; " + c.Error}}
	}
	line := []Field{{Text: c.Title()}}
	if c.Name != "" {
		line = append(line, Field{Text: ", "}, coded(c.String()))
	}
	switch c.Role {
	case tare.RoleBaseline:
		line = append(line, Field{Text: ": the baseline, which every ratio is taken to"})
	case tare.RoleApart:
		line = append(line, Field{Text: ": apart, as it does another job or part of one; of its answers only the status was compared, and it is never ranked"})
	case tare.RoleTrap:
		line = append(line, Field{Text: ": a trap, which repeats a published mistake and is never ranked"})
	}
	if c.Error != "" {
		line = append(line, Field{Text: ": it could not be built"})
	}
	return line
}

// criteria lists what was asked of whom.
func criteria(r *tare.Result) []string {
	var lines []string
	if crowded(r) {
		for _, c := range asks(r) {
			lines = append(lines, c.everybody()+": "+c.text)
		}
		return lines
	}
	for _, v := range ruled(r) {
		if line := fmt.Sprintf("%s on %s: %s", title(r, v.Contender), v.Workload, v.Criterion); !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	return lines
}

// method says how the figures came about.
func (s *Section) method(r *tare.Result) {
	lines := []string{"A round is every contender once, each in a fresh process; a round gives one figure per contender, and intervals rest on rounds only."}
	for _, c := range r.Contenders {
		switch c.Role {
		case tare.RoleControl:
			lines = append(lines, "The baseline ran a second time as the control: what the two differ by is noise, and no smaller difference is claimed.")
		case tare.RoleNull:
			lines = append(lines, "A null contender did nothing: its figures are the harness itself.")
		}
	}
	items := unlabelled(Plain, append(lines, resolutions(r)...)...)
	s.list("", append(items, run(r)...)...)
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

// turns says what was not measured because contenders took turns; nothing where
// all workloads had their own time.
func turns(r *tare.Result) []Field {
	var alone []Field
	for _, w := range r.Workloads {
		if w.Traffic != nil && w.Traffic.Segment > 0 {
			alone = append(alone, coded(w.ID))
		}
	}
	parts := []Field{{Text: "Contenders took turns by the slice: how one of them does when it has the machine to itself for long "}}
	switch {
	case len(alone) == 0:
		parts = append(parts, Field{Text: "was not measured ("})
	case len(alone) == len(r.Workloads):
		return nil
	default:
		parts = append(parts, Field{Text: "was measured on "})
		for i, id := range alone {
			switch {
			case i == 0:
			case i == len(alone)-1:
				parts = append(parts, Field{Text: " and "})
			default:
				parts = append(parts, Field{Text: ", "})
			}
			parts = append(parts, id)
		}
		parts = append(parts, Field{Text: " only ("})
	}
	return append(parts, coded("--isolation=trial"), Field{Text: " measures that)."})
}

// served reports whether requests reached servers.
func served(r *tare.Result) bool {
	return slices.ContainsFunc(r.Workloads, func(w tare.Workload) bool { return w.Traffic != nil })
}

// limits are what a reader must not take from the figures.
func limits(r *tare.Result) []Item {
	var items []Item
	add := func(texts ...string) { items = append(items, unlabelled(Plain, texts...)...) }
	add(fmt.Sprintf("It speaks of one run on one machine (%s); another machine, payload or version is another question.", plural(r.Machine.Cores, "core")))
	switch r.Plan.Isolation {
	case tare.Lockstep:
		if parts := turns(r); parts != nil {
			items = append(items, Item{parts: parts})
		}
	case tare.TrialWise:
		items = append(items, Item{parts: []Field{
			{Text: "Contenders ran one whole trial after another: what drifts on the machine within a round is in the ratios ("},
			coded("--isolation=lockstep"), {Text: " takes it out)."},
		}})
	}
	if served(r) && local(r) {
		add("Servers and load generator shared this machine: they took processor time from each other, and no network but loopback lay between them.")
	}
	if text := strings.Join(given(r), ", "); text != "" {
		add("Contenders were given " + text + ": without that it is another question.")
	}
	if asked := conducts(r); len(asked) > 0 {
		add("Answers were compared with " + references(asked) + " on the cases that were asked; other input may show other differences.")
	}
	if anyStruck(r) {
		add("Figures that are struck out did not pass their checks: they are shown for the record and no sentence here rests on them.")
	}
	add(open(r)...)
	for _, f := range r.Findings {
		if f.Severity == tare.Warn && f.Contender == "" {
			add(warning(f))
		}
	}
	for _, n := range notMeasured(r) {
		items = append(items, Item{parts: []Field{{Text: "Not measured: "}, {Text: n}}})
	}
	return items
}
