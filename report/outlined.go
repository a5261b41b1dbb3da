package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tarebench/tare"
)

// How the sections of an outline come about: what [Text] prints, as blocks.

func (s *Section) verdicts(r *tare.Result) {
	s.say(Warned, cutShort(r))
	if len(r.Verdicts) == 0 {
		s.say(Warned, noVerdict)
	}
	var items []Item
	for _, v := range topmost(r) {
		word, mark := rulingMark(v.Verdict)
		items = append(items, Item{Label: strings.ToLower(or(word, "no ruling")), Mark: mark, Text: v.Sentence, Under: all([]string{more(v)}, verbatim)})
	}
	found, rest := headlines(r)
	for _, v := range found {
		items = append(items, Item{Label: "found", Mark: Bold, Text: v.Sentence})
	}
	items = append(items, unlabelled(rest)...)
	add := func(label string, m Mark, texts ...string) {
		for _, text := range texts {
			items = append(items, Item{Label: label, Mark: m, Text: text})
		}
	}
	add("apart", Dim, asides(r)...)
	add("why", Bold, because(r)...)
	if voids := voided(r); voids != "" {
		add("void", Bad, voids+" (see what the checks found).")
	}
	if outcomes := outcomes(r.Claims); outcomes != "" {
		add("claims", Bold, outcomes)
	}
	s.list("", items...)
}

func (s *Section) criteria(r *tare.Result) {
	if !crowded(r) {
		return
	}
	s.say(Dim, criteriaMeans+differenceMeans(r))
	for _, c := range asks(r) {
		s.show("", c.text, c.table(r))
	}
}

func (s *Section) published(r *tare.Result) {
	b, ok := boardOf(r)
	if !ok {
		return
	}
	s.say(Dim, b.means())
	for _, t := range b.tables() {
		s.show("", "", t)
	}
	s.say(Warned, b.missing())
}

func (s *Section) recommendation(r *tare.Result) {
	advised, closing := recommended(r)
	var items []Item
	for _, a := range advised {
		items = append(items, Item{Label: a.workload, Mark: Code, Text: capital(a.text), Under: a.price})
	}
	s.list("", items...)
	s.say(Dim, closing)
}

func (s *Section) tradeOffs(r *tare.Result) {
	t, means := tradeOffs(r)
	s.say(Dim, means)
	s.show("trade-offs", "", t)
}

func (s *Section) workload(r *tare.Result, w tare.Workload, told map[string]bool) {
	v := look(r, w.ID, told)
	s.say(Dim, asked(r, w), driven(r, w), answered(r, w.ID), v.failed())
	if v.empty() {
		s.say(Warned, nobodyMeasured)
		return
	}
	t := v.primary()
	for i, line := range t.Rows {
		t.Rows[i].Notes = once(r, told, line)
	}
	s.show("primary", "", t)
	s.say(Dim, v.unranked())
	if t, means := v.latencies(); means != "" {
		s.say(Dim, means)
		s.show("latencies", "latencies", t)
	}
	if t, means := v.bothSides(); means != "" {
		s.say(Dim, means)
		s.show("sides", "both sides of a request", t)
	}
	if t, ok := v.others(); ok {
		s.say(Dim, othersMislead)
		s.show("others", "the other measures", t)
	}
}

// once are the notes of a row without who its contender is where an earlier table
// says so.
func once(r *tare.Result, told map[string]bool, line Row) []string {
	c, _ := r.Contender(line.Who)
	is := identity(c)
	if is == "" || c.Role == tare.RoleControl || c.Role == tare.RoleNull {
		return line.Notes
	}
	if key := "who " + line.Who; !told[key] {
		told[key] = true
		return line.Notes
	}
	return slices.DeleteFunc(slices.Clone(line.Notes), func(note string) bool { return note == is })
}

func (s *Section) scaling(r *tare.Result) {
	if len(r.Scaling) == 0 {
		return
	}
	s.say(Dim, scalingMeans(r))
	s.list("", unlabelled(sizes(r)...)...)
	s.show("exponents", "exponents", exponents(r))
}

func (s *Section) breakEven(r *tare.Result) {
	for _, b := range r.BreakEven {
		s.say(Dim, breakEvenMeans(r, b))
		s.show("", b.Against+" against "+title(r, b.Contender), breakEven(r, b))
		s.say(Plain, b.Sentence)
	}
}

func (s *Section) decomposition(r *tare.Result) {
	if len(r.Decomposition) == 0 {
		return
	}
	s.say(Dim, decompositionMeans)
	for _, d := range r.Decomposition {
		s.say(Bold, posed(r, d))
		if len(d.Steps) == 0 {
			s.say(Warned, d.Sentence)
			continue
		}
		s.say(Plain, d.Sentence)
		s.show("steps", d.ID, shares(r, d))
	}
}

func (s *Section) semantics(r *tare.Result) {
	asked := conducts(r)
	if len(asked) == 0 {
		return
	}
	s.say(Dim, examinedBy(r, asked), meaning(asked))
	s.say(Plain, alike(asked))
	rows, differ := differing(asked)
	if len(rows) == 0 {
		return
	}
	parts, legend := chunked(differ)
	s.say(Dim, legend)
	for _, each := range parts {
		s.show("", "differences", matrix(rows, each))
	}
	var items []Item
	var shown []string
	for _, c := range asked {
		if len(c.Differences) > 0 {
			items = append(items, unlabelled(c.summary(r))...)
		}
		for _, p := range rows {
			shown = append(shown, c.field(p))
		}
	}
	s.list("", items...)
	s.say(Dim, unlisted(shown))
}

func (s *Section) cost(r *tare.Result) {
	parts := costs(r)
	if len(parts) == 0 {
		return
	}
	s.say(Dim, costMeans(r, parts))
	for _, part := range parts {
		s.say(Plain, part.means)
		s.show("", part.means, part.table)
	}
}

func (s *Section) adoption(r *tare.Result) {
	t := adoptions(r)
	if len(t.Rows) == 0 {
		return
	}
	s.say(Dim, adoptionMeans(r))
	s.show("", "", t)
}

func (s *Section) claims(r *tare.Result) {
	if len(r.Claims) == 0 {
		return
	}
	s.say(Dim, claimsMean(r))
	sources := distinct(r.Claims, func(c tare.ClaimResult) string { return c.Source })
	if len(sources) == 1 {
		s.say(Dim, "Published in: "+sources[0]+".")
	}
	s.show("claims", "", claimTable(r, sources))
	if parted(r) {
		s.say(Dim, sharesMean)
		s.show("", "parts of a whole", ofWhole(r))
	}
}

func (s *Section) drives(r *tare.Result) {
	parts := drives(r)
	if len(parts) == 0 {
		return
	}
	s.say(Dim, driveMeans(parts))
	for _, part := range parts {
		s.say(Plain, part.means)
		s.show("", part.means, part.table)
	}
}

func (s *Section) profiles(r *tare.Result) {
	if len(r.Profiles) == 0 {
		return
	}
	s.say(Dim, profileMeans)
	for i, x := range r.Profiles {
		s.say(Bold, profiled(r, x))
		s.show("", "functions", functions(x))
		s.Blocks = append(s.Blocks, Block{Key: "flame", About: fmt.Sprint(i), Text: oneLine(filed(x, oneLine)), Mark: Dim})
		if x.Gap == nil {
			continue
		}
		s.say(Bold, differs(r, x))
		for _, half := range halves(x) {
			t := apportioned(r, x, half)
			if len(t.Rows) == 0 {
				s.say(Dim, half.none())
				continue
			}
			s.show("gap", half.kind+"s", t)
		}
	}
}

func (s *Section) findings(r *tare.Result) {
	s.say(Dim, probed(r)...)
	marks := map[tare.Severity]Mark{tare.Void: Bad, tare.Warn: Warned, tare.Note: Dim}
	open := found(r)
	var items []Item
	for i, f := range open {
		items = append(items, Item{Label: string(f.Severity), Mark: marks[f.Severity], Text: wording(r, f), Advice: advised(open, i), Check: f.Check})
	}
	if len(open) == 0 {
		s.say(Plain, nothingFound)
	}
	s.list("findings", items...)
	s.say(Dim, trapsFound(r))
}
