package report

import (
	"io"
	"strings"

	"github.com/tarebench/tare"
)

// Markdown writes r as a document for a repository or a review. It has the contents of [Text]. The error is the
// writer's.
func Markdown(w io.Writer, r *tare.Result) error {
	s := &markdownDocument{}
	s.writeHeading(1, escapeText(r.Study))
	for _, x := range newSections(r, forSummary) {
		if title := x.formatTitle(); title != "" {
			s.writeHeading(2, title)
		}
		s.writeSection(x)
	}
	return writeText(w, Style{}, s.b.String())
}

func (s Section) formatTitle() string {
	if s.Key == KeyWorkload {
		id := oneLine(s.About)
		return "Workload " + formatCode(id) + strings.TrimPrefix(s.Heading, id)
	}
	return s.Heading
}

func (s *markdownDocument) writeSection(x Section) {
	for _, b := range x.Blocks {
		switch {
		case b.Table != nil:
			s.writeTable(*b.Table)
		case b.Items != nil:
			s.writeList(formatItems(x.Key, b.Items)...)
		case b.parts != nil:
			s.writeBlock(formatParts(b.parts))
		case x.Key == KeyVerdict, x.Key == keyAnswer && b.Mark == Bold:
			s.writeBlock("**" + escapeText(b.Text) + "**")
		default:
			s.writeBlock(mapTexts(strings.Split(b.Text, "\n"), escapeText)...)
		}
	}
}

// formatItems returns the entries of a list as Markdown. key is that of the section.
func formatItems(key string, items []Item) []string {
	var lines []string
	for _, it := range items {
		text := escapeText(it.Text)
		if it.parts != nil {
			text = formatParts(it.parts)
		}
		switch {
		case it.Label == "":
			for _, line := range it.Under {
				text += "\n  - " + escapeText(line)
			}
		case it.sample != "": // explains struck values
			text = "**~~" + it.sample + "~~**: " + text
		case key == KeyFindings:
			text = "**" + it.Label + "** " + text
		default:
			for _, line := range it.Under {
				text = escapeText(strings.TrimSuffix(it.Text, ".") + "; " + line + ".")
			}
			text = "**" + it.Label + "**: " + text
		}
		if it.Advice != "" {
			text += " → " + escapeText(it.Advice)
		}
		lines = append(lines, text)
	}
	return lines
}

// formatParts returns a text of parts with different marks, as Markdown.
func formatParts(parts []Field) string {
	var b strings.Builder
	for _, p := range parts {
		switch {
		case p.Mark == Code:
			b.WriteString(formatCode(p.Text))
		case p.Text == likeReference: // = needs no escape before words
			b.WriteString(p.Text)
		case strings.HasPrefix(string(p.Mark), address):
			b.WriteString(formatField(p))
		default:
			b.WriteString(escapeMarkdown(p.Text))
		}
	}
	return b.String()
}

func mapTexts(texts []string, f func(string) string) []string {
	var out []string
	for _, text := range texts {
		if text != "" {
			out = append(out, f(text))
		}
	}
	return out
}

func orDefault(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}
