package report

import (
	"io"
	"strings"

	"github.com/tarebench/tare"
)

// Text writes r for a terminal: the question, the verdicts, then the evidence. Only long words exceed the style's
// width. The error is the writer's.
func Text(w io.Writer, r *tare.Result, s Style) error {
	p := newTitlePage(r, s)
	for _, section := range newSections(r, forText) {
		p.writeSection(section)
	}
	return writeText(w, s, p.b.String())
}

func newTitlePage(r *tare.Result, s Style) *textPage {
	p := &textPage{style: s, width: s.pageWidth()}
	if r.Answer == "" {
		p.writeLine(s.paintText(Bold, oneLine(r.Study)))
	} else {
		headline, figures := Headline(r)
		p.writeWrapped(0, bodyIndent, r.Study+": "+headline, Bold)
		p.writeWrapped(0, 0, figures, Plain)
	}
	p.writeWrapped(0, 0, r.Question, Plain)
	p.writeWrapped(0, 0, describeDeparture(r), Warned)
	return p
}

func (p *textPage) writeSection(s Section) {
	if s.Key == KeyWorkload {
		p.writeHeading("WORKLOAD " + s.Heading)
	} else {
		p.writeHeading(strings.ToUpper(s.Heading))
	}
	for _, b := range s.Blocks {
		if b.spaceBefore {
			p.writeBlank()
		}
		switch {
		case b.Table != nil:
			p.writeTable(*b.Table)
		case b.Items != nil:
			p.writeList(s.Key, b.Items)
		default:
			p.writeWrapped(bodyIndent, bodyIndent, b.Text, b.Mark)
		}
	}
}

// labelWidth returns the columns of list labels in a section; 0 means no labels.
func labelWidth(key string) int {
	return map[string]int{
		KeyVerdict:   len("INCONCLUSIVE"),
		KeyFindings:  len("VOID"),
		KeyRun:       8,
		KeyReading:   len("crossed out"),
		KeySemantics: len("acceptance"),
	}[key]
}

const adviceIndent = 3 // additional indent of an advice's second line

func (p *textPage) writeList(key string, items []Item) {
	width := labelWidth(key)
	start := bodyIndent + width + columnGap // column of the texts
	for _, it := range items {
		if width == 0 {
			p.writeWrapped(bodyIndent, bodyIndent+columnGap, it.Text, it.Mark)
			continue
		}
		label, mark := it.Label, it.Mark
		switch {
		case key == KeyVerdict || key == KeyFindings:
			label = strings.ToUpper(label)
		case it.sample != "" && p.style.Strike == nil: // the label shows how values are struck
			label = p.style.showMark(struckField(it.sample)).Text
		}
		if mark == Plain {
			mark = Dim
		}
		p.writeLabelled(label, width, mark, it.capitalizeHeadings())
		for _, text := range it.Under {
			p.writeWrapped(start, start, text, Dim)
		}
		if it.Advice != "" {
			p.writeWrapped(start, start+adviceIndent, "→ "+it.Advice, Dim)
		}
	}
}

// capitalizeHeadings returns the text with names of sections in upper case, like headings.
func (it Item) capitalizeHeadings() string {
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
