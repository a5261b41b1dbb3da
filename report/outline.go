package report

import "strings"

// Section is one part of a report. Each format lays it out in its own way. Its texts are printable and have no
// markup. Only a block of lines has line breaks.
type Section struct {
	Key     string // one of the Key constants
	About   string // id of the workload; else ""
	Heading string
	Blocks  []Block

	formats     formatSet // formats of the next blocks, set by addOnly
	spaceBefore bool      // the next block has an empty line before it on a terminal
}

// formatSet is a set of formats. The zero value means all formats.
type formatSet int

const (
	forText formatSet = 1 << iota
	forSummary
	forPaper
	forHTML

	forMarkdown = forSummary | forPaper // formats md and research
)

func (m formatSet) overlaps(other formatSet) bool { return m == 0 || m&other != 0 }

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

// Keys of sections that are not in [Outline]; a page has their contents elsewhere.
const (
	keyAnswer   = "answer"
	keyQuestion = "question"

	keyRecommended = "recommended"
	keyTally       = "tally"
	keyObjective   = "objective"
	keyMethod      = "method"
	keyManners     = "manners"
)

// Block is a text, a list or a table: Text, Items or Table is set.
type Block struct {
	Key   string // selects the drawing on a page, e.g. latencies or steps; may be ""
	About string // subject of a table, or index of a profile or explanation; "" means the section's About
	Text  string
	Mark  Mark // mark of Text
	Items []Item
	Table *Table

	formats     formatSet // formats that have the block
	spaceBefore bool      // empty line before the block on a terminal
	parts       []Field   // parts of Text with different marks; else nil
}

// Item is an entry of a list: a text with a label.
type Item struct {
	Label  string // may be ""
	Mark   Mark   // mark of Label, or of Text without a label
	Text   string
	Advice string   // what the user can do
	Check  string   // check of a finding
	Under  []string // lines below Text

	sample string  // a struck value in place of Label, for formats that cannot strike text
	parts  []Field // parts of Text with different marks; else nil
}

// addOnly calls add. Its blocks are only for formats in m.
func (s *Section) addOnly(m formatSet, add func()) {
	s.formats = m
	add()
	s.formats = 0
}

func (s *Section) addSpace() { s.spaceBefore = true }

// addBlock adds b for the formats of the enclosing addOnly.
func (s *Section) addBlock(b Block) {
	if b.formats = s.formats; b.formats.overlaps(forText) {
		b.spaceBefore, s.spaceBefore = s.spaceBefore, false
	}
	s.Blocks = append(s.Blocks, b)
}

// addText adds a block with mark m for each text, except "".
func (s *Section) addText(m Mark, texts ...string) {
	for _, text := range mapTexts(texts, oneLine) {
		s.addBlock(Block{Text: text, Mark: m})
	}
}

// addParts adds b with a text of marked parts.
func (s *Section) addParts(b Block, parts []Field) {
	b.parts, b.Text = joinParts(parts)
	s.addBlock(b)
}

// addLines adds one block, with a line for each text, except "".
func (s *Section) addLines(texts ...string) {
	s.addBlock(Block{Text: strings.Join(mapTexts(texts, oneLine), "\n")})
}

// addTable adds a table, unless it has no rows. key and about are those of its block.
func (s *Section) addTable(key, about string, t Table) {
	if len(t.Rows) > 0 {
		t = t.makeLegible()
		s.addBlock(Block{Key: key, About: oneLine(about), Table: &t})
	}
}

func (s *Section) addCaptioned(caption string, t Table) {
	s.addSpace()
	s.addText(Plain, caption)
	s.addTable("", caption, t)
}

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

// joinParts returns parts with printable texts, and all texts joined. Parts are pieces of a sentence, so a space
// at their ends stays.
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

func unlabelledItems(m Mark, texts ...string) []Item {
	var out []Item
	for _, text := range texts {
		if text != "" {
			out = append(out, Item{Text: text, Mark: m})
		}
	}
	return out
}
