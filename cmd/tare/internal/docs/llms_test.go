package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/tarebench/tare/cmd/tare/internal/cli"
	"github.com/tarebench/tare/internal/golden"
)

//go:generate go test . -run TestLLMsIsCurrent -update

// row is a page in the table of docs/README.md, with its purpose.
var row = regexp.MustCompile(`^\| \[[^\]]+\]\(([^)]+)\) \| (.+) \|$`)

// TestLLMsIsCurrent compares llms.txt, a list of all pages and commands for language
// models (llmstxt.org), with the README, docs/README.md and the command tree.
func TestLLMsIsCurrent(t *testing.T) {
	read := func(name string) string {
		text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		if err != nil && !golden.Updating() {
			t.Fatal(err)
		}
		return strings.ReplaceAll(string(text), "\r\n", "\n")
	}
	want := llms(t, read("README.md"), read("docs/README.md"))
	if golden.Updating() {
		if err := os.WriteFile(filepath.Join(root, "llms.txt"), []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if read("llms.txt") != want {
		t.Error("llms.txt is out of date: go generate ./internal/docs in cmd/tare")
	}
}

// llms returns llms.txt: the first paragraph of the README, the pages, the commands.
func llms(t *testing.T, readme, index string) string {
	_, rest, _ := strings.Cut(readme, "# tare\n\n")
	summary, _, _ := strings.Cut(rest, "\n\n")
	var b strings.Builder
	b.WriteString("# tare\n\n> " + summary + "\n\n## For agents\n\n" +
		"- [Skill](skills/tare/SKILL.md): how a coding agent measures with tare\n" +
		"- [README](README.md): what tare is, and four tours\n\n## Pages\n\n")
	pages := 0
	for line := range strings.Lines(index) {
		if m := row.FindStringSubmatch(strings.TrimSpace(line)); m != nil {
			b.WriteString("- [docs/" + m[1] + "](docs/" + m[1] + "): " + strings.ReplaceAll(m[2], "](../", "](") + "\n")
			pages++
		}
	}
	if summary == "" || pages < 20 {
		t.Fatalf("%d pages in docs/README.md, summary %q", pages, summary)
	}
	b.WriteString("\n## Commands\n\n")
	for _, cmd := range cli.Commands().Commands() {
		name := cmd.Name()
		if cmd.IsAdditionalHelpTopicCommand() {
			name = "help " + name
		}
		if !cmd.Hidden {
			b.WriteString("- `tare " + name + "`: " + cmd.Short + "\n")
		}
	}
	return b.String()
}
