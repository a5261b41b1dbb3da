package report

import (
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/format"
)

// Format research is a result in the form of a research paper, with chapters.

const limitsHeading = "What this does not say"

// Research writes r as a paper in Markdown: objective, method, results, key finding, recommendation, trade-offs
// and limits. Recommendations follow from ranks, "less" and "more" from intervals. If the result supports no
// statement, the paper states this. The error is the writer's.
func Research(w io.Writer, r *tare.Result) error {
	s := newResearchDocument(r)
	chapters := researchChapters()
	if r.Recommended == "" { // the publication recommended nothing
		chapters = slices.DeleteFunc(chapters, func(c chapter) bool { return c.heading == recommendedHeading })
	}
	s.writeChapters(newSections(r, forPaper), chapters)
	return writeText(w, Style{}, s.b.String())
}

// newResearchDocument returns a document with the title and the source of the numbers.
func newResearchDocument(r *tare.Result) *markdownDocument {
	s := &markdownDocument{}
	s.writeHeading(1, escapeText("Research: "+r.Study))
	s.writeBlock(escapeText("tare wrote this from the result of one run" + describeStart(r) + ". Measured figures are from its result document." + describePublishedSource(r)))
	return s
}

// describePublishedSource returns the sentence about what is not from the result.
func describePublishedSource(r *tare.Result) string {
	if r.Recommended == "" && len(r.Claims) == 0 {
		return ""
	}
	if slices.ContainsFunc(r.Claims, func(c tare.ClaimResult) bool { return slices.ContainsFunc(c.Shown, isProgram) }) {
		return " What was published is from the publication, and how its programs work is from their code: both are linked."
	}
	return " What was published is from the publication, which is linked."
}

// sectionPriority returns the sections of a short write-up, the most important first. Of several sections with one
// key, only the first counts.
func sectionPriority() []string {
	return []string{
		keyRecommended, keyAnswer, keyTally, keyQuestion,
		KeyLimits, KeyDecomposition, KeyWorkload, KeyReading, KeyCriteria, KeyPublished, KeyScaling, KeyBreakEven, KeyRecommendation,
		KeyCost, keyMethod, KeySemantics, keyObjective, KeyVerdict, KeyTradeOffs,
	}
}

// ResearchWithin writes a short version of [Research], of at most words words. It names the omitted sections.
// whole is the address of the complete report, as a Markdown link. The error is the writer's.
func ResearchWithin(w io.Writer, r *tare.Result, words int, whole string) error {
	all := newSections(r, forPaper)
	fits := fitSections(all, words)
	var included []Section
	var omitted []string // names
	for i, x := range all {
		switch {
		case fits[i]:
			included = append(included, x)
		case x.Heading != "" && x.Key == KeyWorkload:
			omitted = append(omitted, formatCode(x.About))
		case x.Heading != "":
			omitted = append(omitted, escapeText(x.Heading))
		}
	}
	s := newResearchDocument(r)
	chapters := slices.DeleteFunc(researchChapters(), func(c chapter) bool {
		hasSections := slices.ContainsFunc(included, func(x Section) bool { return slices.Contains(c.keys, x.Key) })
		return !hasSections && c.heading != resultsHeading // the sections of the results are in chapters below
	})
	s.writeChapters(included, chapters)
	s.writeHeading(2, "The rest")
	s.writeBlock("The complete report is " + whole + ". It also has: " + strings.Join(slices.Compact(omitted), ", ") + ".")
	return writeText(w, Style{}, s.b.String())
}

// fitSections reports for each section whether a write-up of this many words includes it. Sections that are too
// long are skipped.
func fitSections(all []Section, words int) []bool {
	fits := make([]bool, len(all))
	remaining := words
	for _, key := range sectionPriority() {
		i := slices.IndexFunc(all, func(x Section) bool { return x.Key == key })
		if i < 0 {
			continue
		}
		s := &markdownDocument{}
		s.writeSection(all[i])
		if n := len(strings.Fields(s.b.String())); n <= remaining {
			fits[i] = true
			remaining -= n
		}
	}
	return fits
}

type chapter struct {
	level   int      // level of the Markdown heading
	heading string   // "" if sections have headings
	keys    []string // keys of the sections
}

const (
	recommendedHeading = "What was published, and whether it stands"
	resultsHeading     = "Results"
)

// researchChapters returns the chapters with the keys of all sections.
func researchChapters() []chapter {
	all := []chapter{
		{2, recommendedHeading, []string{keyRecommended}},
		{2, "Objective", []string{keyQuestion, keyObjective}},
		{2, "Method", []string{keyMethod}},
		{2, resultsHeading, nil},
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

// writeChapters writes chapters, each with its sections that are in all. A chapter of level 2 with a heading has
// only that heading. It is written even without sections.
func (s *markdownDocument) writeChapters(all []Section, chapters []chapter) {
	for _, c := range chapters {
		hasOneHeading := c.level == 2 && c.heading != ""
		if hasOneHeading {
			s.writeHeading(c.level, c.heading)
		}
		for _, x := range selectSections(all, c.keys) {
			if !hasOneHeading {
				s.writeHeading(c.level, orDefault(c.heading, x.formatTitle()))
			}
			s.writeSection(x)
		}
	}
}

// describeStart returns the start and the seed in brackets, or "".
func describeStart(r *tare.Result) string {
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

// addRecommended adds what a publication recommended, and whether the result confirms it. It also adds the
// conditions and links to publications and code.
func (s *Section) addRecommended(r *tare.Result) {
	if r.Recommended == "" {
		return
	}
	var items []Item // items of the present list
	for line := range strings.Lines(r.Recommended) {
		line = strings.TrimSpace(line)
		if text, isItem := strings.CutPrefix(line, "- "); isItem {
			items = append(items, Item{Text: text})
			continue
		}
		s.addList("", items...)
		items = nil
		if line != "" {
			s.addText(Plain, line)
		}
	}
	s.addList("", items...)
	s.addText(Plain, describeConditions(r))
	parts := []Field{{Text: "Published: "}}
	for _, c := range r.Claims {
		link := linkField(c.Source, c.SourceURL)
		switch {
		case c.SourceURL == "" || slices.Contains(parts, link):
			continue
		case len(parts) > 1:
			parts = append(parts, Field{Text: "; "})
		}
		parts = append(parts, link)
	}
	if len(parts) > 1 {
		s.addParts(Block{}, append(parts, Field{Text: "."}))
	}
	s.addShownCode(r)
}

// describeConditions returns how the run measured, for the first screen.
func describeConditions(r *tare.Result) string {
	here := "Measured here: in " + countNoun(r.RoundsDone, "round") + " on " + countNoun(r.Machine.Cores, "core")
	if r.Machine.CPU != "" {
		here += " (" + r.Machine.CPU + ")"
	}
	if r.Machine.Go != "" {
		here += " with " + r.Machine.Go
	}
	if hasServers(r) && isLocal(r) {
		here += ", servers and load generator on this machine, over loopback"
	}
	return here + ". The programs are of this repository, unless a row names another: on other machines, and with other programs, a factor may differ for that reason alone. A published factor is confirmed if the same side is ahead, by between half and twice as much, with all of the interval within 1.25× of the factor. Ratios are medians over rounds, not quotients of the medians next to them; intervals are at 95 % or more (levels in the tables)."
}

// isProgram reports whether a place in a repository is in a program, not in a text.
func isProgram(code tare.Shown) bool { return path.Ext(code.Path) != ".md" }

// addShownCode adds links to the code of published measurements.
func (s *Section) addShownCode(r *tare.Result) {
	parts := []Field{{Text: "How the published programs work is from their code: "}}
	var written []string
	for _, c := range r.Claims {
		for _, code := range c.Shown {
			key := code.URL() + code.Says
			if !isProgram(code) || slices.Contains(written, key) {
				continue
			}
			if len(written) > 0 {
				parts = append(parts, Field{Text: "; "})
			}
			written = append(written, key)
			parts = append(parts, Field{Text: code.Says + " ("}, linkField(fmt.Sprintf("%s:%d", path.Base(code.Path), code.Line), code.URL()), Field{Text: ")"})
		}
	}
	if len(written) > 0 {
		s.addParts(Block{}, append(parts, Field{Text: "."}))
	}
}

func (s *Section) addObjective(r *tare.Result) {
	addListed := func(heading string, items []Item) {
		if len(items) > 0 {
			s.addText(Plain, heading)
			s.addList("", items...)
		}
	}
	var contenders, workloads, metrics []Item
	for _, c := range r.Contenders {
		if c.Role != tare.RoleControl && c.Role != tare.RoleNull {
			contenders = append(contenders, Item{parts: introduceContender(c)})
		}
	}
	addListed("Measured:", contenders)
	for _, w := range r.Workloads {
		text := strings.TrimPrefix(describeWorkload(r, w), "What is asked: ")
		workloads = append(workloads, Item{parts: []Field{codeField(w.ID), {Text: ": "}, {Text: strings.TrimSpace(text + " " + describeDriver(r, w))}}})
	}
	addListed("On:", workloads)
	for i, name := range r.Metrics {
		m := findMetric(name)
		line := name
		if m.Doc != "" {
			line += " (" + m.Unit + "): " + m.Doc
		}
		if i == 0 {
			line += "; the primary measure"
		}
		metrics = append(metrics, Item{Text: line})
	}
	addListed("By:", metrics)
	addListed("Asked of them before measuring:", unlabelledItems(Plain, describeCriteria(r)...))
	compared := slices.DeleteFunc(slices.Clone(r.Claims), func(c tare.ClaimResult) bool { return c.Outcome == tare.NotMeasured })
	sources := listDistinct(compared, func(c tare.ClaimResult) string { return c.Source })
	switch {
	case len(compared) > 0:
		s.addText(Plain, fmt.Sprintf("Compared with it: %s, from %s.", countNoun(len(compared), "published claim"), strings.Join(sources, "; ")))
	case len(r.Claims) > 0:
		s.addText(Plain, "No published claim was measured.")
	}
}

// introduceContender returns the name and role of a contender as a list entry.
func introduceContender(c tare.Contender) []Field {
	if c.Absent() {
		return []Field{{Text: c.Title() + ": left out; " + c.Error}}
	}
	line := []Field{{Text: c.Title()}}
	if c.Name != "" {
		line = append(line, Field{Text: ", "}, codeField(c.String()))
	}
	switch c.Role {
	case tare.RoleBaseline:
		line = append(line, Field{Text: ": the baseline, which every ratio is taken to"})
	case tare.RoleApart:
		line = append(line, Field{Text: ": apart, as it does another job or part of one; of its answers only the status was checked, and it is never ranked"})
	case tare.RoleTrap:
		line = append(line, Field{Text: ": wrong on purpose, to test a check, and never ranked"})
	}
	if c.Error != "" {
		line = append(line, Field{Text: ": it could not be built"})
	}
	return line
}

func describeCriteria(r *tare.Result) []string {
	var lines []string
	if hasManyRulings(r) {
		for _, c := range listCriteria(r) {
			lines = append(lines, c.describeScope()+": "+c.text)
		}
		return lines
	}
	for _, v := range listRulings(r) {
		line := fmt.Sprintf("%s on %s: %s", contenderTitle(r, v.Contender), v.Workload, v.Criterion)
		lines = appendNew(lines, line)
	}
	return lines
}

func (s *Section) addMethod(r *tare.Result) {
	lines := []string{"A round is every contender once, each in a fresh process; a round gives one figure per contender, and intervals rest on rounds only."}
	for _, c := range r.Contenders {
		switch c.Role {
		case tare.RoleControl:
			lines = append(lines, "The baseline ran a second time as the control: what the two differ by is noise, and no smaller difference is claimed.")
		case tare.RoleNull:
			lines = append(lines, "A null contender did nothing: its figures are the harness itself.")
		}
	}
	items := unlabelledItems(Plain, append(lines, listResolutions(r)...)...)
	s.addList("", append(items, describeRun(r)...)...)
}

// tallyCriteria counts the criteria by result: "Of 8 criteria: 6 not met, 2 inconclusive."
func tallyCriteria(r *tare.Result) string {
	all := listRulings(r)
	if len(all) == 0 {
		return ""
	}
	var parts []string
	for _, ruling := range []tare.Ruling{tare.Met, tare.NotMet, tare.Inconclusive, tare.VoidRuling} {
		n := 0
		for _, v := range all {
			if v.Verdict == ruling {
				n++
			}
		}
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, ruling))
		}
	}
	if len(all) == 1 {
		return "The one criterion is " + strings.TrimPrefix(strings.Join(parts, ""), "1 ") + "."
	}
	return fmt.Sprintf("Of %d criteria: %s.", len(all), strings.Join(parts, ", "))
}

// explainTally returns who set the criteria, and how many are about published figures. Without this, readers
// take their number for the score of a publication.
func explainTally(r *tare.Result) string {
	all := listRulings(r)
	if len(all) == 0 || len(r.Claims) == 0 {
		return ""
	}
	n := 0
	for _, v := range all {
		if isAboutClaim(r, v) {
			n++
		}
	}
	switch {
	case n == 0 && len(all) == 1:
		return "This study set it; no published figure is judged by it."
	case n == 0:
		return "This study set them; no published figure is judged by them."
	case len(all) == 1:
		return "It judges a published figure."
	}
	return fmt.Sprintf("This study set them; %d of them %s published figures.", n, format.Choose(n, "judges", "judge"))
}

// isAboutClaim reports whether a published ratio is about the subject of v.
func isAboutClaim(r *tare.Result, v tare.Verdict) bool {
	return slices.ContainsFunc(r.Claims, func(c tare.ClaimResult) bool {
		return c.Kind == tare.ClaimRatio && c.Contender == v.Contender && c.Workload == v.Workload && c.Metric == v.Metric
	})
}

// describeOpen returns a line per inconclusive verdict, or counts per criterion if there are many.
func describeOpen(r *tare.Result) []string {
	var lines []string
	for _, c := range listCriteria(r) {
		open := c.withResult(tare.Inconclusive)
		if hasManyRulings(r) && len(open) > 0 {
			lines = append(lines, fmt.Sprintf("Whether %s holds is open in %d of %d cases: inconclusive means neither met nor not met.", c.text, len(open), len(c.verdicts)))
			continue
		}
		for _, v := range open {
			lines = append(lines, fmt.Sprintf("Not decided: whether %s on %s has %s.", v.Contender, v.Workload, v.Criterion))
		}
	}
	return lines
}

// describeTurns returns a sentence about workloads on which contenders only took turns, in marked parts. On others
// each contender also had a continuous segment alone. It returns nil if all had.
func describeTurns(r *tare.Result) []Field {
	var segmented []Field // ids
	for _, w := range r.Workloads {
		if w.Traffic != nil && w.Traffic.Segment > 0 {
			segmented = append(segmented, codeField(w.ID))
		}
	}
	parts := []Field{{Text: "Contenders ran in short turns. How one of them does alone for long "}}
	switch {
	case len(segmented) == 0:
		parts = append(parts, Field{Text: "was not measured ("})
	case len(segmented) == len(r.Workloads):
		return nil
	default:
		parts = append(parts, Field{Text: "was measured on "}, segmented[0])
		for i, id := range segmented[1:] {
			separator := ", "
			if isLast := i == len(segmented)-2; isLast {
				separator = " and "
			}
			parts = append(parts, Field{Text: separator}, id)
		}
		parts = append(parts, Field{Text: " only ("})
	}
	return append(parts, codeField("--isolation=trial"), Field{Text: " measures that)."})
}

func hasServers(r *tare.Result) bool {
	return slices.ContainsFunc(r.Workloads, func(w tare.Workload) bool { return w.Traffic != nil })
}

// listLimits returns the conclusions that a reader must not draw.
func listLimits(r *tare.Result) []Item {
	items := listRunLimits(r)
	for _, f := range joinWorkloads(r.Findings) {
		items = append(items, unlabelledItems(Plain, describeWarning(f))...)
	}
	for _, n := range listNotMeasured(r) {
		items = append(items, Item{parts: []Field{{Text: "Not measured: "}, {Text: n}}})
	}
	return items
}

// joinWorkloads returns the warnings about no single contender. It merges those that differ only by workload.
func joinWorkloads(findings []tare.Finding) (out []tare.Finding) {
	for _, f := range findings {
		if f.Severity != tare.Warn || f.Contender != "" {
			continue
		}
		i := slices.IndexFunc(out, func(x tare.Finding) bool {
			return f.Workload != "" && x.Workload != "" && x.Check == f.Check && x.Metric == f.Metric && x.Message == f.Message
		})
		if i < 0 {
			out = append(out, f)
			continue
		}
		out[i].Workload += " and " + f.Workload
	}
	return out
}

// listRunLimits returns the limits for listLimits and for a page. A page shows warnings elsewhere.
func listRunLimits(r *tare.Result) []Item {
	var items []Item
	add := func(texts ...string) { items = append(items, unlabelledItems(Plain, texts...)...) }
	add(fmt.Sprintf("It speaks of one run on one machine (%s); another machine, payload or version is another question.", countNoun(r.Machine.Cores, "core")))
	switch r.Plan.Isolation {
	case tare.Lockstep:
		if parts := describeTurns(r); parts != nil {
			items = append(items, Item{parts: parts})
		}
	case tare.TrialWise:
		items = append(items, Item{parts: []Field{
			{Text: "Contenders ran one whole trial after another: what drifts on the machine within a round is in the ratios ("},
			codeField("--isolation=lockstep"), {Text: " takes it out)."},
		}})
	}
	if hasServers(r) && isLocal(r) {
		add("Servers and load generator shared this machine: they took processor time from each other, and no network but loopback lay between them.")
	}
	if text := strings.Join(listSettings(r), ", "); text != "" {
		add("Contenders were given " + text + ": without that it is another question.")
	}
	if tested := listBehaviours(r); len(tested) > 0 {
		add("Answers were compared with " + joinReferences(tested) + " on the cases that were asked; other input may show other differences.")
	}
	if hasStruck(r) {
		add("Figures that are struck out did not pass their checks: they are shown for the record and no sentence here rests on them.")
	}
	add(describeOpen(r)...)
	return items
}
