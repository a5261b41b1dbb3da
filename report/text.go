package report

import (
	"io"
	"strings"

	"github.com/tarebench/tare"
)

// Text writes r for a reader at a terminal: the question, the verdicts, then
// what they rest on. Lines stay within the style's width where words allow.
// The error is the writer's.
func Text(w io.Writer, r *tare.Result, s Style) error {
	p := opened(r, s)
	for _, section := range sections(r, forText) {
		p.section(section)
	}
	return send(w, s, p.b.String())
}

// opened is a page with the answer and the question on it.
func opened(r *tare.Result, s Style) *page {
	p := &page{style: s, width: s.width()}
	if r.Answer == "" {
		p.line(s.paint(Bold, oneLine(r.Study)))
	} else {
		headline, figures := Headline(r)
		p.wrap(0, bodyIndent, r.Study+": "+headline, Bold)
		p.wrap(0, 0, figures, Plain)
	}
	p.wrap(0, 0, r.Question, Plain)
	p.wrap(0, 0, departure(r), Warned)
	return p
}

// section prints a section with its heading.
func (p *page) section(s Section) {
	if s.Key == KeyWorkload {
		p.heading("WORKLOAD " + s.Heading)
	} else {
		p.heading(strings.ToUpper(s.Heading))
	}
	for _, b := range s.Blocks {
		if b.spaced {
			p.blank()
		}
		switch {
		case b.Table != nil:
			p.table(*b.Table)
		case b.Items != nil:
			p.list(s.Key, b.Items)
		default:
			p.wrap(bodyIndent, bodyIndent, b.Text, b.Mark)
		}
	}
}

const rulingWidth = 12 // of INCONCLUSIVE

// labelWidth is how wide the labels of a section are; zero where there are none.
func labelWidth(key string) int {
	return map[string]int{KeyVerdict: rulingWidth, KeyFindings: 4, KeyRun: 8, KeyReading: 11, KeySemantics: 10}[key]
}

// list prints items, each beside its label.
func (p *page) list(key string, items []Item) {
	width := labelWidth(key)
	at := bodyIndent + width + gap
	for _, it := range items {
		if width == 0 {
			p.wrap(bodyIndent, bodyIndent+gap, it.Text, it.Mark)
			continue
		}
		label, mark := it.Label, it.Mark
		switch {
		case key == KeyVerdict || key == KeyFindings:
			label = strings.ToUpper(label)
		case it.sample != "" && p.style.Strike == nil:
			label = p.style.visible(crossed(it.sample)).Text
		}
		if mark == Plain {
			mark = Dim
		}
		p.labelled(label, width, mark, it.inCapitals())
		for _, text := range it.Under {
			p.wrap(at, at, text, Dim)
		}
		if it.Advice != "" {
			p.wrap(at, at+3, "→ "+it.Advice, Dim)
		}
	}
}

// inCapitals is the text of an item with the headings in it as a terminal shows
// them.
func (it Item) inCapitals() string {
	if it.parts == nil {
		return it.Text
	}
	var b strings.Builder
	for _, p := range it.parts {
		if p.Mark == heading {
			p.Text = strings.ToUpper(p.Text)
		}
		b.WriteString(p.Text)
	}
	return b.String()
}
