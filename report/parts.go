package report

import (
	"slices"

	"github.com/tarebench/tare"
)

// part is a section as a report has it: what writes it, and in which formats it
// stands.
type part struct {
	key, heading string
	formats      medium
	write        func(*Section, *tare.Result)
}

// parts are the sections of a report in their order. A new section is a line
// here: a format that has an order of its own puts it after the one before it.
func parts() []part {
	return []part{
		{keyAnswer, "", forMarkdown, (*Section).answer},
		{keyRecommended, "", forPaper, func(s *Section, r *tare.Result) { s.say(Plain, r.Recommended) }},
		{keyQuestion, "", forMarkdown, func(s *Section, r *tare.Result) { s.say(Plain, r.Question, departure(r)) }},
		{keyObjective, "", forPaper, (*Section).objective},
		{keyMethod, "", forPaper, (*Section).method},
		{KeyMachines, machinesHeading, 0, (*Section).machines},
		{keyTally, "", forPaper, func(s *Section, r *tare.Result) { s.say(Plain, tally(r)) }},
		{KeyVerdict, verdictHeading, forText | forMarkdown, (*Section).verdicts},
		{KeyRulings, "Criteria", forHTML, (*Section).rulingTable},
		{KeyCriteria, criteriaHeading, 0, (*Section).criteria},
		{KeyPublished, publishedHeading, forText | forMarkdown, (*Section).published},
		{KeyRecommendation, "What the ranks support", forPaper | forHTML, (*Section).recommendation},
		{KeyTradeOffs, "Trade-offs", forPaper, (*Section).tradeOffs},
		{keyManners, "What else changes", forPaper, (*Section).manners},
		{KeyWorkload, "", forText | forMarkdown, nil}, // one for each workload
		{KeyScaling, scalingHeading, 0, (*Section).scaling},
		{KeyBreakEven, breakEvenHeading, 0, (*Section).breakEven},
		{KeyDecomposition, decompositionHeading, 0, (*Section).decomposition},
		{KeyReading, "How to read this", 0, func(s *Section, r *tare.Result) { s.list("", reading(r)...) }},
		{KeySemantics, semanticsHeading, 0, (*Section).semantics},
		{KeyCost, costHeading, forText | forMarkdown, (*Section).cost},
		{KeyCost, costHeading, forHTML, (*Section).costLines},
		{KeyAdoption, adoptionHeading, 0, (*Section).adoption},
		{KeyClaims, "Published claims", forText | forMarkdown, (*Section).claims},
		{KeyClaims, "Published claims", forHTML, (*Section).claimsOrdered},
		{KeyDrives, driveHeading, 0, (*Section).drives},
		{KeyExplanations, explanationHeading, 0, (*Section).explanations},
		{KeyProfiles, profileHeading, 0, (*Section).profiles},
		{KeyFindings, findingsHeading, forText | forMarkdown, (*Section).findings},
		{KeyChecked, findingsHeading, forHTML, (*Section).checkedFindings},
		{KeyLimits, "What this does not say", forPaper | forHTML, func(s *Section, r *tare.Result) { s.list("", limits(r)...) }},
		{KeyNotWeighed, "Not measured", forText | forSummary | forHTML, func(s *Section, r *tare.Result) { s.list("", unlabelled(Plain, notMeasured(r)...)...) }},
		{KeyResolution, "What this machine resolves", forText | forSummary | forHTML, (*Section).resolution},
		{KeyRun, "This run", forText | forSummary | forHTML, func(s *Section, r *tare.Result) { s.list("", run(r)...) }},
	}
}

// answer adds the headline and its line of figures, if the study has an answer.
func (s *Section) answer(r *tare.Result) {
	if r.Answer != "" {
		headline, figures := Headline(r)
		s.say(Bold, headline)
		s.say(Plain, figures)
	}
}

// Outline is the report of r in sections for a page that lays them out itself,
// those that have nothing to say left out.
func Outline(r *tare.Result) []Section { return sections(r, forHTML) }

// sections are the report of r in what is for a medium, those that have nothing
// to say left out.
func sections(r *tare.Result, m medium) []Section {
	var out []Section
	add := func(s Section) {
		s.Blocks = slices.DeleteFunc(s.Blocks, func(b Block) bool { return !b.medium.has(m) })
		if len(s.Blocks) > 0 {
			out = append(out, s)
		}
	}
	for _, p := range parts() {
		switch {
		case !p.formats.has(m):
		case p.key == KeyWorkload:
			told := map[string]bool{}
			for _, w := range r.Workloads {
				s := Section{Key: p.key, About: w.ID, Heading: oneLine(w.ID + suffix(w))}
				s.workload(r, w, told)
				add(s)
			}
		default:
			add(filled(p.key, p.heading, func(s *Section) { p.write(s, r) }))
		}
	}
	return out
}

// filled is a section with what write adds.
func filled(key, heading string, write func(*Section)) Section {
	s := Section{Key: key, Heading: heading}
	write(&s)
	return s
}

// Arrange completes the order that a format has: a section that no group of keys
// names is put after the one that comes before it in a report.
func Arrange(groups ...[]string) [][]string {
	out := make([][]string, len(groups))
	where := map[string]int{} // the group of a key
	for i, keys := range groups {
		out[i] = slices.Clone(keys)
		for _, key := range keys {
			where[key] = i
		}
	}
	before := groups[0][0]
	for _, p := range parts() {
		if _, named := where[p.key]; !named {
			group := where[before]
			where[p.key] = group
			out[group] = slices.Insert(out[group], slices.Index(out[group], before)+1, p.key)
		}
		before = p.key
	}
	return out
}

// ordered are the sections of these keys, in the order of the keys.
func ordered(all []Section, keys []string) []Section {
	var out []Section
	for _, key := range keys {
		for _, s := range all {
			if s.Key == key {
				out = append(out, s)
			}
		}
	}
	return out
}
