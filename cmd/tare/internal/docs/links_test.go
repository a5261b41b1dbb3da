package docs

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"testing"
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
