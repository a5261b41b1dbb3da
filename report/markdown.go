package report

import (
	"io"
	"strings"

	"github.com/tarebench/tare"
)

// Markdown writes r as a document for a repository or a review: what [Text]
// says, in headings, lists and tables. The error is the writer's.
func Markdown(w io.Writer, r *tare.Result) error {
	s := &sheet{}
	s.heading(1, plain(r.Study))
	for _, x := range sections(r, forSummary) {
		if title := x.titled(); title != "" {
			s.heading(2, title)
		}
		s.section(x)
	}
	return send(w, Style{}, s.b.String())
}

// titled is a section's heading.
func (s Section) titled() string {
	if s.Key == KeyWorkload {
		id := oneLine(s.About)
		return "Workload " + code(id) + strings.TrimPrefix(s.Heading, id)
	}
	return s.Heading
}

// section adds a section without its heading.
func (s *sheet) section(x Section) {
	for _, b := range x.Blocks {
		switch {
		case b.Table != nil:
			s.table(*b.Table)
		case b.Items != nil:
			s.list(itemized(x.Key, b.Items)...)
		case b.parts != nil:
			s.block(mixed(b.parts))
		case x.Key == KeyVerdict, x.Key == keyAnswer && b.Mark == Bold:
			s.block("**" + plain(b.Text) + "**")
		default:
			s.block(all(strings.Split(b.Text, "\n"), plain)...)
		}
	}
}

// itemized are items as lines of a list.
func itemized(key string, items []Item) []string {
	var lines []string
	for _, it := range items {
		text := plain(it.Text)
		if it.parts != nil {
			text = mixed(it.parts)
		}
		switch {
		case it.Label == "":
			for _, line := range it.Under {
				text += "\n  - " + plain(line)
			}
		case it.sample != "":
			text = "**~~" + it.sample + "~~**: " + text
		case key == KeyFindings:
			text = "**" + it.Label + "** " + text
		default:
			for _, line := range it.Under {
				text = plain(strings.TrimSuffix(it.Text, ".") + "; " + line + ".")
			}
			text = "**" + it.Label + "**: " + text
		}
		if it.Advice != "" {
			text += " → " + plain(it.Advice)
		}
		lines = append(lines, text)
	}
	return lines
}

// mixed is a text of which parts have marks.
func mixed(parts []Field) string {
	var b strings.Builder
	for _, p := range parts {
		switch {
		case p.Mark == Code:
			b.WriteString(code(p.Text))
		case p.Text == likeReference: // before other words it starts no other kind of block
			b.WriteString(p.Text)
		default:
			b.WriteString(escapedMarkdown(p.Text))
		}
	}
	return b.String()
}

// all applies f to the texts that are not empty.
func all(texts []string, f func(string) string) []string {
	var out []string
	for _, text := range texts {
		if text != "" {
			out = append(out, f(text))
		}
	}
	return out
}

func or(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}
