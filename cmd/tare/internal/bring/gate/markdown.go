package gate

import (
	"fmt"
	"io"
	"strings"
)

// Marker is an HTML comment by which a later run finds the gate's comment on a
// pull request.
const Marker = "<!-- tare gate -->"

// Markdown writes the report for a review or a step summary.
func Markdown(w io.Writer, rep Report) error {
	rep = rep.legible()
	var b strings.Builder
	sign := "✅"
	switch {
	case rep.Blocked:
		sign = "❌"
	case rep.Outcome == Open || rep.Outcome == Nothing:
		sign = "⚠️"
	}
	fmt.Fprintf(&b, "%s\n### tare gate: %s %s\n\n", Marker, sign, plain(rep.Sentence))
	fmt.Fprintf(&b, "%s against %s", plain(rep.Head), plain(rep.Base))
	if len(rep.Rows) > 0 {
		fmt.Fprintf(&b, ": %s", plain(rep.summary()))
	}
	b.WriteString(".\n")
	var telling, quiet []Row
	for _, r := range rep.Rows {
		if r.Outcome == NoWorse {
			quiet = append(quiet, r)
		} else {
			telling = append(telling, r)
		}
	}
	if len(telling) > 0 {
		b.WriteString("\n")
		rep.grid(&b, telling)
	}
	var notes strings.Builder
	for _, r := range telling {
		if note := rep.note(r); note != "" {
			fmt.Fprintf(&notes, "- %s: %s\n", code(rep.title(r)), plain(note))
		}
		if reasons := rep.reasons(r); len(reasons) > 0 {
			fmt.Fprintf(&notes, "- why %s:\n", code(rep.title(r)))
			for _, line := range reasons {
				fmt.Fprintf(&notes, "  - %s\n", plain(line))
			}
		}
	}
	if notes.Len() > 0 {
		b.WriteString("\n" + notes.String())
	}
	if len(quiet) > 0 {
		writeFold(&b, fmt.Sprintf("%d pass: at most %s worse", len(quiet), rep.margins()), func() { rep.grid(&b, quiet) })
	}
	rep.writeLeftOut(&b, "\n", "- ", func(severity, text string) string {
		if severity == IsNote || severity == "" {
			return plain(text)
		}
		return "**" + severity + "**: " + plain(text)
	})
	if steps := rep.steps(); len(steps) > 0 {
		writeFold(&b, "What to do", func() {
			for i, s := range steps {
				if i > 0 {
					b.WriteString("\n")
				}
				fmt.Fprintf(&b, "%s\n", plain(s.Text))
				if len(s.Code) > 0 {
					text := strings.Join(s.Code, "\n")
					fence := fenceOf(text, "```")
					fmt.Fprintf(&b, "\n%s\n%s\n%s\n", fence, text, fence)
				}
			}
		})
	}
	_, err := io.WriteString(w, strings.TrimRight(b.String(), "\n")+"\n")
	return err
}

// writeFold writes what body writes below a summary that opens it.
func writeFold(b *strings.Builder, summary string, body func()) {
	fmt.Fprintf(b, "\n<details><summary>%s</summary>\n\n", summary)
	body()
	b.WriteString("\n</details>\n")
}

func (rep *Report) grid(b *strings.Builder, rows []Row) {
	rule := make([]string, len(heads()))
	for i := range rule {
		rule[i] = "---"
		if right(i) {
			rule[i] = "---:"
		}
	}
	fmt.Fprintf(b, "| %s |\n|%s|\n", strings.Join(heads(), " | "), strings.Join(rule, "|"))
	for _, r := range rows {
		cells := rep.cells(r)
		for i, c := range cells {
			if i == 1 {
				cells[i] = strings.ReplaceAll(code(c), "|", `\|`)
			} else {
				cells[i] = plain(c)
			}
		}
		if r.Fails(rep.On) {
			cells[0] = "**" + cells[0] + "**"
		}
		fmt.Fprintf(b, "| %s |\n", strings.Join(cells, " | "))
	}
}

// code returns a name between backquotes.
func code(text string) string {
	fence := fenceOf(text, "`")
	if len(fence) > 1 {
		return fence + " " + text + " " + fence
	}
	return fence + text + fence
}

// fenceOf returns the shortest fence of backquotes, at least as long as fence, that text
// does not have in it.
func fenceOf(text, fence string) string {
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence
}

// plain escapes what Markdown, GitHub and GitLab would interpret in text: marks, tags,
// entities, addresses, names of people, numbers of issues, and a command at its start.
func plain(text string) string {
	var b strings.Builder
	for i, r := range text {
		switch r {
		case '\\', '`', '*', '_', '[', ']', '<', '>', '|', '~', '#', '&', '!', '$':
			b.WriteByte('\\')
		case '/': // begins a command of GitLab
			if i == 0 {
				b.WriteByte('\\')
			}
		case '\n', '\r':
			r = ' '
		}
		b.WriteRune(r)
		switch {
		case r == '@': // nobody is to be called by a table
			b.WriteString(noLink)
		case r == ':' && strings.HasPrefix(text[i+1:], "/"), r == '.' && i >= 3 && strings.EqualFold(text[i-3:i], "www"):
			b.WriteString(noLink)
		}
	}
	return b.String()
}

// noLink is a space without width, which ends what would become a link.
const noLink = "\u200b"
