package docs

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
)

// Link is a link of a document to another file of the repository, or to a
// heading.
type Link struct {
	File   string // below the root, with slashes
	Line   int
	Path   string // relative to the document's directory; empty: the document itself
	Anchor string // of a heading there; empty: none
}

func (l Link) String() string { return fmt.Sprintf("%s:%d", l.File, l.Line) }

var (
	target = regexp.MustCompile(`\]\(([^()\s]+)\)|(?:src|srcset|href)="([^"\s]+)"`)
	quoted = regexp.MustCompile("`[^`]*`")
	shown  = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`) // a link within a heading: its text counts
)

// Links are the relative links of a document, those in code left out.
func Links(name, text string) (all []Link) {
	for i, line := range prose(text) {
		for _, m := range target.FindAllStringSubmatch(quoted.ReplaceAllString(line, "``"), -1) {
			to := m[1] + m[2]
			if strings.Contains(to, "://") || strings.HasPrefix(to, "mailto:") {
				continue
			}
			path, anchor, _ := strings.Cut(to, "#")
			all = append(all, Link{File: name, Line: i + 1, Path: path, Anchor: anchor})
		}
	}
	return all
}

// Anchors are the names under which the headings of a document can be linked to,
// as GitHub makes them: lower case, without punctuation, with hyphens for
// spaces, and with a number from the second one of a name on.
func Anchors(text string) map[string]bool {
	all := map[string]bool{}
	for _, line := range prose(text) {
		level := len(line) - len(strings.TrimLeft(line, "#"))
		if level == 0 || level > 6 || !strings.HasPrefix(line[level:], " ") {
			continue
		}
		name := strings.Map(func(r rune) rune {
			switch {
			case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
				return unicode.ToLower(r)
			case r == ' ':
				return '-'
			}
			return -1
		}, shown.ReplaceAllString(strings.TrimSpace(line[level:]), "$1"))
		numbered := name
		for n := 1; all[numbered]; n++ {
			numbered = fmt.Sprintf("%s-%d", name, n)
		}
		all[numbered] = true
	}
	return all
}

// prose is the text line by line, with nothing where a fenced block stands.
func prose(text string) []string {
	lines := strings.Split(text, "\n")
	code := false
	for i, line := range lines {
		fence := strings.HasPrefix(strings.TrimSpace(line), "```")
		if code || fence {
			lines[i] = ""
		}
		if fence {
			code = !code
		}
	}
	return lines
}
