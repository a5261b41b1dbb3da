package report

import (
	"slices"
	"strings"

	"github.com/tarebench/tare"
)

type sectionRule struct {
	key, heading string
	formats      formatSet                    // formats with the section
	write        func(*Section, *tare.Result) // adds the blocks; nil for KeyWorkload
}

const allFormats formatSet = 0

// listSectionRules returns the sections of a report in their order.
func listSectionRules() []sectionRule {
	return []sectionRule{
		{keyAnswer, "", forMarkdown, (*Section).addAnswer},
		{keyRecommended, "", forPaper, (*Section).addRecommended},
		{keyQuestion, "", forMarkdown, func(s *Section, r *tare.Result) { s.addText(Plain, r.Question, describeDeparture(r)) }},
		{keyObjective, "", forPaper, (*Section).addObjective},
		{keyMethod, "", forPaper, (*Section).addMethod},
		{KeyMachines, machinesHeading, allFormats, (*Section).addMachines},
		{keyTally, "", forPaper, func(s *Section, r *tare.Result) {
			s.addText(Plain, strings.TrimSpace(tallyCriteria(r)+" "+explainTally(r)))
		}},
		{KeyVerdict, verdictHeading, forText | forMarkdown, (*Section).addVerdicts},
		{KeyRulings, "Criteria", forHTML, (*Section).addRulings},
		{KeyCriteria, criteriaHeading, allFormats, (*Section).addCriteria},
		{KeyPublished, publishedHeading, forText | forMarkdown, (*Section).addPublished},
		{KeyRecommendation, "What the ranks support", forPaper | forHTML, (*Section).addRecommendation},
		{KeyTradeOffs, "Trade-offs", forPaper, (*Section).addTradeOffs},
		{keyManners, "What else changes", forPaper, (*Section).addBehaviour},
		{KeyWorkload, "", forText | forMarkdown, nil}, // one per workload
		{KeyScaling, scalingHeading, allFormats, (*Section).addScaling},
		{KeyBreakEven, breakEvenHeading, allFormats, (*Section).addBreakEven},
		{KeyDecomposition, decompositionHeading, allFormats, (*Section).addDecomposition},
		{KeyReading, "How to read this", allFormats, func(s *Section, r *tare.Result) { s.addList("", explainTerms(r)...) }},
		{KeySemantics, semanticsHeading, allFormats, (*Section).addSemantics},
		{KeyCost, costHeading, forText | forMarkdown, (*Section).addCost},
		{KeyCost, costHeading, forHTML, (*Section).addCostLines},
		{KeyAdoption, adoptionHeading, allFormats, (*Section).addAdoption},
		{KeyClaims, "Published claims", forText | forMarkdown, (*Section).addClaims},
		{KeyClaims, "Published claims", forHTML, (*Section).addOrderedClaims},
		{KeyDrives, driveHeading, allFormats, (*Section).addLoad},
		{KeyExplanations, explanationHeading, allFormats, (*Section).addExplanations},
		{KeyProfiles, profileHeading, allFormats, (*Section).addProfiles},
		{KeyFindings, findingsHeading, forText | forMarkdown, (*Section).addFindings},
		{KeyChecked, findingsHeading, forHTML, (*Section).addFindingsByCheck},
		{KeyLimits, limitsHeading, forPaper, func(s *Section, r *tare.Result) { s.addList("", listLimits(r)...) }},
		{KeyLimits, limitsHeading, forHTML, func(s *Section, r *tare.Result) { s.addList("", listRunLimits(r)...) }},
		{KeyNotWeighed, "Not measured", forText | forSummary | forHTML, func(s *Section, r *tare.Result) { s.addList("", unlabelledItems(Plain, listNotMeasured(r)...)...) }},
		{KeyResolution, "What this machine resolves", forText | forSummary | forHTML, (*Section).addResolution},
		{KeyRun, "This run", forText | forSummary | forHTML, func(s *Section, r *tare.Result) { s.addList("", describeRun(r)...) }},
	}
}

// addAnswer adds the headline and figures, if the result answers the study's question.
func (s *Section) addAnswer(r *tare.Result) {
	if r.Answer != "" {
		headline, figures := Headline(r)
		s.addText(Bold, headline)
		s.addText(Plain, figures)
	}
}

// Outline returns the sections of a report of r for a page with its own layout.
func Outline(r *tare.Result) []Section { return newSections(r, forHTML) }

// newSections returns the sections of a report for the formats in m, without empty ones.
func newSections(r *tare.Result, m formatSet) []Section {
	var out []Section
	add := func(s Section) {
		s.Blocks = slices.DeleteFunc(s.Blocks, func(b Block) bool { return !b.formats.overlaps(m) })
		if len(s.Blocks) > 0 {
			out = append(out, s)
		}
	}
	for _, p := range listSectionRules() {
		switch {
		case !p.formats.overlaps(m): // not in these formats
		case p.key == KeyWorkload:
			shown := map[string]bool{}
			for _, w := range r.Workloads {
				s := Section{Key: p.key, About: w.ID, Heading: oneLine(w.ID + headingSuffix(w))}
				s.addWorkload(r, w, shown)
				add(s)
			}
		default:
			add(newSection(p.key, p.heading, func(s *Section) { p.write(s, r) }))
		}
	}
	return out
}

func newSection(key, heading string, write func(*Section)) Section {
	s := Section{Key: key, Heading: heading}
	write(&s)
	return s
}

// Arrange completes groups of keys, so that no section is forgotten. It inserts each missing key after its
// predecessor in a report. The first group must not be empty.
func Arrange(groups ...[]string) [][]string {
	out := make([][]string, len(groups))
	groupOf := map[string]int{} // index by key
	for i, keys := range groups {
		out[i] = slices.Clone(keys)
		for _, key := range keys {
			groupOf[key] = i
		}
	}
	previous := groups[0][0]
	for _, p := range listSectionRules() {
		if _, isNamed := groupOf[p.key]; !isNamed {
			i := groupOf[previous]
			groupOf[p.key] = i
			out[i] = slices.Insert(out[i], slices.Index(out[i], previous)+1, p.key)
		}
		previous = p.key
	}
	return out
}

func selectSections(all []Section, keys []string) []Section {
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
