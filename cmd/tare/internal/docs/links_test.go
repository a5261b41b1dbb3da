package docs

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// Every relative link of every page leads to a file that is there, and to a
// heading of it.
func TestLinksLeadSomewhere(t *testing.T) {
	seen := 0
	for _, name := range pages(t) {
		text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range Links(name, string(text)) {
			seen++
			to := name
			if l.Path != "" {
				to = path.Join(path.Dir(name), l.Path)
			}
			there, err := os.Stat(filepath.Join(root, filepath.FromSlash(to)))
			if err != nil {
				t.Errorf("%s: %s is not there", l, to)
				continue
			}
			if l.Anchor == "" || there.IsDir() || path.Ext(to) != ".md" {
				continue
			}
			page, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(to)))
			if err != nil {
				t.Fatal(err)
			}
			if !Anchors(string(page))[l.Anchor] {
				t.Errorf("%s: %s has no heading #%s", l, to, l.Anchor)
			}
		}
	}
	if seen == 0 {
		t.Error("no link was found")
	}
}

func TestLinks(t *testing.T) {
	text := "# A `b`: c\n\n[x](y.md#d) and ![p](img/p.png), not `[q](q.md)`, [net](https://example.com/) <img src=\"z.png\">\n```\n[in](code)\n# no heading\n```\n## A b, c\n## [Two](two.md) words\n"
	want := []Link{{"a.md", 3, "y.md", "d"}, {"a.md", 3, "img/p.png", ""}, {"a.md", 3, "z.png", ""}, {"a.md", 9, "two.md", ""}}
	if got := Links("a.md", text); !slices.Equal(got, want) {
		t.Errorf("links %v, want %v", got, want)
	}
	anchors := Anchors(text)
	for _, a := range []string{"a-b-c", "a-b-c-1", "two-words"} {
		if !anchors[a] {
			t.Errorf("no anchor %s in %v", a, anchors)
		}
	}
	if len(anchors) != 3 {
		t.Errorf("anchors %v, want three", anchors)
	}
}

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
