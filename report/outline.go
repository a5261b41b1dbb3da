package report

import "strings"

// Section is one part of a report, which every format lays out in its way. All
// of its texts print, each in one line, and none is markup.
type Section struct {
	Key     string // one of the Key constants
	About   string // workload, decomposition or profile, where there are several sections of a key
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

// has reports whether a block for m is for any of the formats of other.
func (m medium) has(other medium) bool { return m == 0 || m&other != 0 }

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
	Key   string // of what a page draws beside it: primary, latencies, sides, others, steps, claims, findings; else empty
	About string // what the table is of, where the section's About does not say it
	Text  string
	Mark  Mark // of Text
	Items []Item
	Table *Table

	medium medium
	spaced bool    // an empty line stands before it on a terminal
	parts  []Field // Text, where parts of it have marks
}

// Item is a text and the word it stands beside.
type Item struct {
	Label  string
	Mark   Mark // of Label, or of Text where there is none
	Text   string
	Advice string   // what to do about it
	Check  string   // that found it
	Under  []string // what belongs to it

	sample string  // a struck figure that stands for Label where strokes may not show
	parts  []Field // Text, where parts of it have marks
}

// only adds blocks for some formats.
func (s *Section) only(m medium, add func()) {
	s.medium = m
	add()
	s.medium = 0
}

// space leaves an empty line before the next block, on a terminal.
func (s *Section) space() { s.spaced = true }

func (s *Section) add(b Block) {
	if b.medium = s.medium; b.medium.has(forText) {
		b.spaced, s.spaced = s.spaced, false
	}
	s.Blocks = append(s.Blocks, b)
}

// say adds sentences, those that are not empty.
func (s *Section) say(m Mark, texts ...string) {
	for _, text := range all(texts, oneLine) {
		s.add(Block{Text: text, Mark: m})
	}
}

// compose adds a sentence of parts with marks.
func (s *Section) compose(b Block, parts []Field) {
	b.parts, b.Text = joined(parts)
	s.add(b)
}

// lines adds a paragraph of lines, one beneath the other.
func (s *Section) lines(texts ...string) {
	s.add(Block{Text: strings.Join(all(texts, oneLine), "\n")})
}

// show adds a table, if there is anything in it.
func (s *Section) show(key, about string, t Table) {
	if len(t.Rows) > 0 {
		t = t.legible()
		s.add(Block{Key: key, About: oneLine(about), Table: &t})
	}
}

// captioned adds a table with a caption.
func (s *Section) captioned(caption string, t Table) {
	s.space()
	s.say(Plain, caption)
	s.show("", caption, t)
}

// list adds items, if there are any.
func (s *Section) list(key string, items ...Item) {
	for i, it := range items {
		if it.parts != nil {
			items[i].parts, it.Text = joined(it.parts)
		}
		items[i].Label, items[i].Text, items[i].Advice = oneLine(it.Label), oneLine(it.Text), oneLine(it.Advice)
		items[i].Check, items[i].Under = oneLine(it.Check), all(it.Under, oneLine)
	}
	if len(items) > 0 {
		s.add(Block{Key: key, Items: items})
	}
}

// joined are parts of a text as they print, with the spaces between them, and
// the text.
func joined(parts []Field) (out []Field, text string) {
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

// unlabelled are texts without labels.
func unlabelled(m Mark, texts ...string) []Item {
	var out []Item
	for _, text := range texts {
		if text != "" {
			out = append(out, Item{Text: text, Mark: m})
		}
	}
	return out
}
