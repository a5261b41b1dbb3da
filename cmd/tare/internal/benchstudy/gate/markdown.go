package gate

import (
	"fmt"
	"io"
	"strings"
)

// This file writes the report of a gate as Markdown. For example, a CI posts it as a comment on a
// pull request.

// Marker is an HTML comment by which a later run finds the gate's comment on a pull request.
const Marker = "<!-- tare gate -->"

// WriteMarkdown writes the report as Markdown, for a review or a CI step.
func WriteMarkdown(w io.Writer, rep Report) error {
	rep = rep.legibleCopy()
	var b strings.Builder
	sign := "✅"
	switch {
	case rep.Blocked:
		sign = "❌"
	case rep.Outcome == Open || rep.Outcome == Nothing:
		sign = "⚠️"
	}
	fmt.Fprintf(&b, "%s\n### tare gate: %s %s\n\n", Marker, sign, escapeText(rep.Sentence))
	fmt.Fprintf(&b, "%s against %s", escapeText(rep.Head), escapeText(rep.Base))
	if len(rep.Rows) > 0 {
		fmt.Fprintf(&b, ": %s", escapeText(rep.summary()))
	}
	b.WriteString(".\n")
	var shown, folded []Row // rows that only pass are folded
	for _, r := range rep.Rows {
		if r.Outcome == NoWorse {
			folded = append(folded, r)
		} else {
			shown = append(shown, r)
		}
	}
	if len(shown) > 0 {
		b.WriteString("\n")
		rep.writeMarkdownTable(&b, shown)
	}
	rep.writeMarkdownNotes(&b, shown)
	if len(folded) > 0 {
		writeFold(&b, fmt.Sprintf("%d pass: at most %s worse", len(folded), rep.marginText()), func() { rep.writeMarkdownTable(&b, folded) })
	}
	rep.writeSkipped(&b, "\n", "- ", func(severity, text string) string {
		if severity == SeverityNote || severity == "" {
			return escapeText(text)
		}
		return "**" + severity + "**: " + escapeText(text)
	})
	rep.writeMarkdownSteps(&b)
	_, err := io.WriteString(w, strings.TrimRight(b.String(), "\n")+"\n")
	return err
}

func (rep *Report) writeMarkdownNotes(b *strings.Builder, rows []Row) {
	before := "\n" // an empty line before the list
	for _, r := range rows {
		if note := rep.rowNote(r); note != "" {
			fmt.Fprintf(b, "%s- %s: %s\n", before, quoteCode(rep.rowTitle(r)), escapeText(note))
			before = ""
		}
		if reasons := rep.explainRow(r); len(reasons) > 0 {
			fmt.Fprintf(b, "%s- why %s:\n", before, quoteCode(rep.rowTitle(r)))
			before = ""
			for _, line := range reasons {
				fmt.Fprintf(b, "  - %s\n", escapeText(line))
			}
		}
	}
}

func (rep *Report) writeMarkdownSteps(b *strings.Builder) {
	steps := rep.nextSteps()
	if len(steps) == 0 {
		return
	}
	writeFold(b, "What to do", func() {
		for i, s := range steps {
			if i > 0 {
				b.WriteString("\n")
			}
			fmt.Fprintf(b, "%s\n", escapeText(s.text))
			if len(s.lines) > 0 {
				text := strings.Join(s.lines, "\n")
				fence := fenceOf(text, "```")
				fmt.Fprintf(b, "\n%s\n%s\n%s\n", fence, text, fence)
			}
		}
	})
}

func writeFold(b *strings.Builder, summary string, body func()) {
	fmt.Fprintf(b, "\n<details><summary>%s</summary>\n\n", summary)
	body()
	b.WriteString("\n</details>\n")
}

func (rep *Report) writeMarkdownTable(b *strings.Builder, rows []Row) {
	rule := make([]string, len(columnHeads()))
	for i := range rule {
		rule[i] = "---"
		if isNumeric(i) {
			rule[i] = "---:"
		}
	}
	fmt.Fprintf(b, "| %s |\n|%s|\n", strings.Join(columnHeads(), " | "), strings.Join(rule, "|"))
	for _, r := range rows {
		cells := rep.rowCells(r)
		for i, c := range cells {
			if i == benchmarkColumn {
				cells[i] = strings.ReplaceAll(quoteCode(c), "|", `\|`)
			} else {
				cells[i] = escapeText(c)
			}
		}
		if r.Fails(rep.OnInconclusive) {
			cells[verdictColumn] = "**" + cells[verdictColumn] + "**"
		}
		fmt.Fprintf(b, "| %s |\n", strings.Join(cells, " | "))
	}
}

func quoteCode(text string) string {
	fence := fenceOf(text, "`")
	if len(fence) > 1 {
		return fence + " " + text + " " + fence
	}
	return fence + text + fence
}

// fenceOf returns a fence of backquotes that is not in text. It is fence, with as many backquotes
// added as necessary.
func fenceOf(text, fence string) string {
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence
}

// escapeText escapes everything in text that Markdown, GitHub and GitLab would interpret, e.g. tags,
// names of people and numbers of issues.
func escapeText(text string) string {
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
		case r == '@': // a table must not notify people
			b.WriteString(noLink)
		case r == ':' && strings.HasPrefix(text[i+1:], "/"), // https://…
			r == '.' && i >= 3 && strings.EqualFold(text[i-3:i], "www"): // www.…
			b.WriteString(noLink)
		}
	}
	return b.String()
}

// noLink is a zero-width space. After it, text does not become a link or a mention.
const noLink = "\u200b"
