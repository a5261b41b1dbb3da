package report

import "strings"

// Section is one part of a report, which every format lays out in its own way. Its texts
// contain only printable characters, no line breaks except in the text of a block of lines,
// and no markup.
type Section struct {
	Key     string // one of the Key constants
	About   string // id of the workload, because all sections of workloads have the same key; "" otherwise
	Heading string
	Blocks  []Block

	formats     formatSet // set by addOnly: formats of the blocks that are added next
	spaceBefore bool      // set by addSpace: the next block for a terminal has an empty line before it
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

// overlaps reports whether m and other have a format in common.
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

// Keys of sections that are not in [Outline], because a page has their contents elsewhere.
const (
	keyAnswer   = "answer"
	keyQuestion = "question"

	keyRecommended = "recommended"
	keyTally       = "tally"
	keyObjective   = "objective"
	keyMethod      = "method"
	keyManners     = "manners"
)

// Block is a text, a list or a table: either Text, Items or Table is set.
type Block struct {
	Key   string // selects the drawing that a page adds to a table or list, e.g. latencies or steps; "" for none
	About string // subject of the table, or index of the profile or explanation that a flame graph is of; "" if it is the section's About
	Text  string
	Mark  Mark // mark of Text
	Items []Item
	Table *Table

	formats     formatSet // formats that have the block
	spaceBefore bool      // a terminal prints an empty line before the block
	parts       []Field   // parts of Text with their marks; nil if all of Text has one mark
}

// Item is an entry of a list: a text with a label.
type Item struct {
	Label  string // "" for none
	Mark   Mark   // mark of Label, or of Text if there is no label
	Text   string
	Advice string   // what the user can do about a finding
	Check  string   // name of the check that found it
	Under  []string // further lines below Text

	sample string  // a struck value that shows the mark in place of Label, in Markdown and on terminals that cannot strike text
	parts  []Field // parts of Text with their marks; nil if Text has no marks
}

// addOnly calls add, whose blocks are only for the formats in m.
func (s *Section) addOnly(m formatSet, add func()) {
	s.formats = m
	add()
	s.formats = 0
}

// addSpace leaves an empty line before the next block on a terminal.
func (s *Section) addSpace() { s.spaceBefore = true }

// addBlock adds b, for the formats that an enclosing addOnly selects.
func (s *Section) addBlock(b Block) {
	if b.formats = s.formats; b.formats.overlaps(forText) {
		b.spaceBefore, s.spaceBefore = s.spaceBefore, false
	}
	s.Blocks = append(s.Blocks, b)
}

// addText adds a block per text that is not empty, with mark m.
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

// addLines adds one block, with a line per text that is not empty.
func (s *Section) addLines(texts ...string) {
	s.addBlock(Block{Text: strings.Join(mapTexts(texts, oneLine), "\n")})
}

// addTable adds a table unless it has no rows. key and about become those of its block.
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

// addList adds a list of items, if there are any. key becomes that of its block.
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

// joinParts returns parts with printable texts, and the concatenation of these texts. Parts are pieces of a sentence,
// so joinParts keeps a space at the ends of a text, which oneLine would remove.
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

// unlabelledItems returns a list entry without a label per text that is not empty.
func unlabelledItems(m Mark, texts ...string) []Item {
	var out []Item
	for _, text := range texts {
		if text != "" {
			out = append(out, Item{Text: text, Mark: m})
		}
	}
	return out
}
