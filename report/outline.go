package report

import "github.com/tarebench/tare"

// Section is one part of a report, in the words and with the figures of
// [Text], for a page that lays them out itself. All of its texts print, each
// in one line, and none is markup.
type Section struct {
	Key     string // one of the Key constants
	About   string // workload, decomposition or profile, where there are several sections of a key
	Heading string
	Blocks  []Block
}

// Keys of sections, in the order of [Outline].
const (
	KeyVerdict        = "verdict"
	KeyCriteria       = "criteria"
	KeyPublished      = "published"
	KeyRecommendation = "recommendation"
	KeyTradeOffs      = "trade-offs"
	KeyWorkload       = "workload"
	KeyScaling        = "scaling"
	KeyBreakEven      = "break-even"
	KeyDecomposition  = "decomposition"
	KeyReading        = "reading"
	KeySemantics      = "semantics"
	KeyCost           = "cost"
	KeyAdoption       = "adoption"
	KeyClaims         = "claims"
	KeyDrives         = "drives"
	KeyProfiles       = "profiles"
	KeyFindings       = "findings"
	KeyLimits         = "limits"
	KeyNotWeighed     = "not-weighed"
	KeyResolution     = "resolution"
	KeyRun            = "run"
)

// Block is a sentence or two, a list, or a table.
type Block struct {
	Key   string // of what a page draws beside it: primary, latencies, sides, others, steps, claims, findings; else empty
	About string // what the table is of, where the section's About does not say it
	Text  string
	Mark  Mark // of Text
	Items []Item
	Table *Table
}

// Item is a text and the word it stands beside.
type Item struct {
	Label  string
	Mark   Mark // of Label
	Text   string
	Advice string   // what to do about it
	Check  string   // that found it
	Under  []string // what belongs to it
}

// say adds sentences, those that are not empty.
func (s *Section) say(m Mark, texts ...string) {
	for _, text := range all(texts, oneLine) {
		s.Blocks = append(s.Blocks, Block{Text: text, Mark: m})
	}
}

// show adds a table, if there is anything in it.
func (s *Section) show(key, about string, t Table) {
	if len(t.Rows) > 0 {
		t = t.legible()
		s.Blocks = append(s.Blocks, Block{Key: key, About: oneLine(about), Table: &t})
	}
}

// list adds items, if there are any.
func (s *Section) list(key string, items ...Item) {
	for i, it := range items {
		items[i].Label, items[i].Text, items[i].Advice = oneLine(it.Label), oneLine(it.Text), oneLine(it.Advice)
		items[i].Check, items[i].Under = oneLine(it.Check), all(it.Under, oneLine)
	}
	if len(items) > 0 {
		s.Blocks = append(s.Blocks, Block{Key: key, Items: items})
	}
}

// unlabelled are texts without labels.
func unlabelled(texts ...string) []Item {
	var out []Item
	for _, text := range texts {
		if text != "" {
			out = append(out, Item{Text: text})
		}
	}
	return out
}

// worded are words with their texts.
func worded(words []said) []Item {
	var out []Item
	for _, w := range words {
		out = append(out, Item{Label: w.label, Text: w.text})
	}
	return out
}

// Outline is the report of r in sections, those that have nothing to say left
// out.
func Outline(r *tare.Result) []Section {
	var out []Section
	add := func(key, heading string, write func(*Section)) {
		s := Section{Key: key, Heading: heading}
		write(&s)
		if len(s.Blocks) > 0 {
			out = append(out, s)
		}
	}
	add(KeyVerdict, "Verdict", func(s *Section) { s.verdicts(r) })
	add(KeyCriteria, criteriaHeading, func(s *Section) { s.criteria(r) })
	add(KeyPublished, publishedHeading, func(s *Section) { s.published(r) })
	add(KeyRecommendation, "What the ranks support", func(s *Section) { s.recommendation(r) })
	add(KeyTradeOffs, "Trade-offs", func(s *Section) { s.tradeOffs(r) })
	told := map[string]bool{}
	for _, w := range r.Workloads {
		s := Section{Key: KeyWorkload, About: w.ID, Heading: oneLine(w.ID + suffix(w))}
		s.workload(r, w, told)
		out = append(out, s)
	}
	add(KeyScaling, scalingHeading, func(s *Section) { s.scaling(r) })
	add(KeyBreakEven, breakEvenHeading, func(s *Section) { s.breakEven(r) })
	add(KeyDecomposition, decompositionHeading, func(s *Section) { s.decomposition(r) })
	add(KeyReading, "How to read this", func(s *Section) { s.list("", worded(reading(r, "crossed out"))...) })
	add(KeySemantics, semanticsHeading, func(s *Section) { s.semantics(r) })
	add(KeyCost, costHeading, func(s *Section) { s.cost(r) })
	add(KeyAdoption, adoptionHeading, func(s *Section) { s.adoption(r) })
	add(KeyClaims, "Published claims", func(s *Section) { s.claims(r) })
	add(KeyDrives, driveHeading, func(s *Section) { s.drives(r) })
	add(KeyProfiles, profileHeading, func(s *Section) { s.profiles(r) })
	add(KeyFindings, "What the checks found", func(s *Section) { s.findings(r) })
	add(KeyLimits, "What this does not say", func(s *Section) { s.list("", unlabelled(limits(r, verbatim, verbatim)...)...) })
	add(KeyNotWeighed, "Not weighed", func(s *Section) { s.list("", unlabelled(notWeighed(r)...)...) })
	add(KeyResolution, "What this machine resolves", func(s *Section) {
		if all := resolutions(r); len(all) > 0 {
			s.list("", unlabelled(all...)...)
			s.say(Dim, resolutionMeans)
		}
	})
	add(KeyRun, "This run", func(s *Section) { s.list("", worded(run(r))...) })
	return out
}

func verbatim(text string) string { return text }
