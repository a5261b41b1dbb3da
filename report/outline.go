package report

import "strings"

// Section is one part of a report, which every format lays out in its way. All
// of its texts print, each in one line, and none is markup.
type Section struct {
	Key     string // one of the Key constants
	About   string // workload, decomposition or profile, if several sections share a key
	Heading string
	Blocks  []Block

	medium medium // of the blocks that are added next
	spaced bool   // the next block for a terminal
}

// medium is a set of formats. The zero value is all of them.
type medium int

const (
	forText medium = 1 << iota
	forSummary
	forPaper
	forHTML

	forMarkdown = forSummary | forPaper // a summary of a result, and a research paper
)

// overlaps reports whether a block for m is for any of the formats of other.
func (m medium) overlaps(other medium) bool { return m == 0 || m&other != 0 }

// Keys of sections, in the order of [Outline].
const (
	KeyMachines       = "machines"
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
	KeyExplanations   = "explanations"
	KeyFindings       = "findings"
	KeyLimits         = "limits"
	KeyNotWeighed     = "not-measured"
	KeyResolution     = "resolution"
	KeyRun            = "run"
)

// Keys of sections that are not in [Outline], as a page has them elsewhere.
const (
	keyAnswer   = "answer"
	keyQuestion = "question"

	keyRecommended = "recommended"
	keyTally       = "tally"
	keyObjective   = "objective"
	keyMethod      = "method"
	keyManners     = "manners"
)

// Block is a sentence or two, a list, or a table.
type Block struct {
	Key   string // of the drawing of a page: primary, latencies, sides, others, steps, claims, findings; or ""
	About string // subject of the table, if it is not the section's About
	Text  string
	Mark  Mark // of Text
	Items []Item
	Table *Table

	medium medium
	spaced bool    // a terminal prints an empty line before it
	parts  []Field // Text, where parts of it have marks
}

// Item is a text with a label.
type Item struct {
	Label  string
	Mark   Mark // of Label, or of Text if there is no label
	Text   string
	Advice string   // what to do about it
	Check  string   // that found it
	Under  []string // what belongs to it

	sample string  // a struck figure that stands for Label where strokes may not show
	parts  []Field // Text, where parts of it have marks
}

// addOnly calls add, whose blocks are for the formats m.
func (s *Section) addOnly(m medium, add func()) {
	s.medium = m
	add()
	s.medium = 0
}

// addSpace leaves an empty line before the next block on a terminal.
func (s *Section) addSpace() { s.spaced = true }

func (s *Section) addBlock(b Block) {
	if b.medium = s.medium; b.medium.overlaps(forText) {
		b.spaced, s.spaced = s.spaced, false
	}
	s.Blocks = append(s.Blocks, b)
}

// addText adds the sentences that are not empty.
func (s *Section) addText(m Mark, texts ...string) {
	for _, text := range mapTexts(texts, oneLine) {
		s.addBlock(Block{Text: text, Mark: m})
	}
}

// addParts adds b with a text made of parts with marks.
func (s *Section) addParts(b Block, parts []Field) {
	b.parts, b.Text = joinParts(parts)
	s.addBlock(b)
}

// addLines adds a paragraph of lines.
func (s *Section) addLines(texts ...string) {
	s.addBlock(Block{Text: strings.Join(mapTexts(texts, oneLine), "\n")})
}

// addTable adds a table unless it is empty.
func (s *Section) addTable(key, about string, t Table) {
	if len(t.Rows) > 0 {
		t = t.makeLegible()
		s.addBlock(Block{Key: key, About: oneLine(about), Table: &t})
	}
}

// addCaptioned adds a table with a caption.
func (s *Section) addCaptioned(caption string, t Table) {
	s.addSpace()
	s.addText(Plain, caption)
	s.addTable("", caption, t)
}

// addList adds items, if there are any.
func (s *Section) addList(key string, items ...Item) {
	for i, it := range items {
		if it.parts != nil {
			items[i].parts, it.Text = joinParts(it.parts)
		}
		items[i].Label, items[i].Text, items[i].Advice = oneLine(it.Label), oneLine(it.Text), oneLine(it.Advice)
		items[i].Check, items[i].Under = oneLine(it.Check), mapTexts(it.Under, oneLine)
	}
	if len(items) > 0 {
		s.addBlock(Block{Key: key, Items: items})
	}
}

// joinParts returns parts as printable text, with the spaces between them, and their concatenation.
func joinParts(parts []Field) (out []Field, text string) {
	for _, p := range parts {
		line := oneLine(p.Text)
		if line != "" && strings.HasPrefix(p.Text, " ") {
			line = " " + line
		}
		if strings.HasSuffix(p.Text, " ") {
			line += " "
		}
		out, text = append(out, Field{line, p.Mark}), text+line
	}
	return out, text
}

// unlabelledItems returns the texts that are not empty as items without labels.
func unlabelledItems(m Mark, texts ...string) []Item {
	var out []Item
	for _, text := range texts {
		if text != "" {
			out = append(out, Item{Text: text, Mark: m})
		}
	}
	return out
}
