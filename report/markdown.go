package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/tarebench/tare"
)

// Markdown writes r as a document for a repository or a review: what [Text]
// says, in headings, lists and tables. The error is the writer's.
func Markdown(w io.Writer, r *tare.Result) error {
	s := &sheet{}
	s.heading(1, plain(r.Study))
	s.answer(r)
	s.block(plain(r.Question))
	s.block(all([]string{departure(r)}, plain)...)
	s.heading(2, "Verdict")
	s.verdicts(r, "what the checks found")
	s.criteria(r, 2)
	s.published(r, 2)
	told := map[string]bool{}
	for _, work := range r.Workloads {
		s.heading(2, "Workload "+code(work.ID)+suffix(work))
		s.workload(r, work, told)
	}
	s.scaling(r, 2)
	s.breakEven(r, 2)
	s.decomposition(r, 2)
	if words := reading(r, "~~12.3~~"); len(words) > 0 {
		s.heading(2, "How to read this")
		s.list(defined(words)...)
	}
	s.semantics(r, 2)
	s.cost(r, 2)
	if adopted(r) {
		s.heading(2, adoptionHeading)
		s.adoption(r)
	}
	if len(r.Claims) > 0 {
		s.heading(2, "Published claims")
		s.claims(r)
	}
	s.drives(r, 2)
	s.profiles(r, 2)
	s.heading(2, "What the checks found")
	s.findings(r)
	if len(notWeighed(r)) > 0 {
		s.heading(2, "Not weighed")
		s.list(all(notWeighed(r), plain)...)
	}
	if lines := resolutions(r); len(lines) > 0 {
		s.heading(2, "What this machine resolves")
		s.list(all(lines, plain)...)
		s.block(resolutionMeans)
	}
	s.heading(2, "This run")
	s.list(defined(run(r))...)
	return s.send(w)
}

// answer is what a result answers to the study's question, where it does.
func (s *sheet) answer(r *tare.Result) {
	if r.Answer != "" {
		s.block("**" + plain(r.Answer) + "**")
	}
}

// verdicts lists the rulings and differences, then what is void and what
// became of the claims. where is the place that says more about the void.
func (s *sheet) verdicts(r *tare.Result, where string) {
	if text := cutShort(r); text != "" {
		s.block("**" + text + "**")
	}
	if len(r.Verdicts) == 0 {
		s.block("**" + noVerdict + "**")
	}
	var lines []string
	add := func(word, text string) { lines = append(lines, "**"+word+"**: "+plain(text)) }
	for _, v := range topmost(r) {
		text := v.Sentence
		if m := more(v); m != "" {
			text = strings.TrimSuffix(text, ".") + "; " + m + "."
		}
		add(or(string(v.Verdict), "no ruling"), text)
	}
	found, rest := headlines(r)
	for _, v := range found {
		add("found", v.Sentence)
	}
	if rest != "" {
		lines = append(lines, plain(rest))
	}
	for _, sentence := range asides(r) {
		add("apart", sentence)
	}
	for _, sentence := range because(r) {
		add("why", sentence)
	}
	if voids := voided(r); voids != "" {
		add("void", voids+" (see "+where+").")
	}
	if outcomes := outcomes(r.Claims); outcomes != "" {
		add("claims", outcomes)
	}
	s.list(lines...)
}

// workload adds everything measured on one workload.
func (s *sheet) workload(r *tare.Result, w tare.Workload, told map[string]bool) {
	v := look(r, w.ID, told)
	s.block(plain(strings.Join(all([]string{asked(r, w), driven(r, w), answered(r, w.ID), v.failed()}, oneLine), " ")))
	if v.empty() {
		s.block(nobodyMeasured)
		return
	}
	t := v.primary()
	s.table(t)
	s.list(noted(r, t)...)
	if line := v.unranked(); line != "" {
		s.block(plain(line))
	}
	if latencies, means := v.latencies(); means != "" {
		s.block(plain(means))
		s.table(latencies)
	}
	if sides, means := v.bothSides(); means != "" {
		s.block(plain(means))
		s.table(sides)
	}
	if others, ok := v.others(); ok {
		s.block(othersMislead)
		s.table(others)
	}
}

// noted are the notes of a table's rows, one line for each row that has any.
func noted(r *tare.Result, t Table) []string {
	var lines []string
	for _, row := range t.Rows {
		c, _ := r.Contender(row.Who)
		var notes []string
		for _, note := range row.Notes {
			if note == identity(c) {
				notes = append(notes, code(note)) // an @ makes it an address elsewhere
				continue
			}
			notes = append(notes, plain(note))
		}
		if len(notes) > 0 {
			lines = append(lines, plain(c.Title())+": "+strings.Join(notes, "; "))
		}
	}
	return lines
}

// claims adds the table of what was published beside what was measured.
func (s *sheet) claims(r *tare.Result) {
	about := claimsMean(r)
	sources := distinct(r.Claims, func(c tare.ClaimResult) string { return c.Source })
	if len(sources) == 1 {
		about += " Published in: " + sources[0] + "."
	}
	s.block(plain(about))
	t := Table{Columns: []Column{
		{Name: "claim"}, {Name: "it said"}, {Name: "of"}, {Name: "outcome"}, {Name: "measure"},
		{Name: "published", Unit: "ratio"}, {Name: "measured", Unit: "ratio [interval]"}, {Name: "why"},
	}}
	for i, c := range r.Claims {
		statement := "“" + c.Statement + "”"
		if len(sources) > 1 {
			statement += ", " + c.Source
		}
		about := claimedOf(r, c, " on ")
		why := strings.TrimPrefix(reason(r.Claims, i), "why: ")
		t.Rows = append(t.Rows, Row{Cells: []Field{
			{Text: c.ID}, {Text: statement}, {Text: about}, {Text: became(c)}, {Text: measure(c)},
			{Text: published(c)}, measuredClaim(c), {Text: why},
		}})
	}
	s.table(t)
	if parted(r) {
		s.block(plain(sharesMean))
		s.table(ofWhole(r))
	}
}

// findings lists what the checks saw, void first.
func (s *sheet) findings(r *tare.Result) {
	open := found(r)
	s.list(all(probed(r), plain)...)
	var lines []string
	for i, f := range open {
		line := fmt.Sprintf("**%s** %s", f.Severity, plain(wording(r, f)))
		if advice := advised(open, i); advice != "" {
			line += " → " + plain(advice)
		}
		lines = append(lines, line)
	}
	if len(open) == 0 {
		s.block(nothingFound)
	}
	s.list(lines...)
	s.block(all([]string{trapsFound(r)}, plain)...)
}

// defined is words with their texts, one line each.
func defined(words []said) []string {
	var lines []string
	for _, w := range words {
		label := ""
		if w.label != "" {
			label = "**" + w.label + "**: "
		}
		lines = append(lines, label+plain(w.text))
	}
	return lines
}

// all applies f to the texts that are not empty.
func all(texts []string, f func(string) string) []string {
	var out []string
	for _, text := range texts {
		if text != "" {
			out = append(out, f(text))
		}
	}
	return out
}

func or(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}
