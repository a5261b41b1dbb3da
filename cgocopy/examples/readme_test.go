package examples_test

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/tarebench/tare/cgocopy/internal/cli"
	"github.com/tarebench/tare/cgocopy/internal/testenv"
)

// section returns the part of the README under a title.
func section(t *testing.T, title string) string {
	t.Helper()
	readme, err := os.ReadFile(filepath.Join("..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(readme), "\n## "+title+"\n")
	if !ok {
		t.Fatalf("no section %s", title)
	}
	text, _, _ := strings.Cut(rest, "\n## ")
	return text
}

// block matches a code block of the README: the name of its file, if a line before it has one, its
// language and its text.
var block = regexp.MustCompile("(?m)(?:^`([a-z.]+)`:\n\n)?^```([a-z]*)\n((?s:.*?))^```$")

// TestQuickStart follows the quick start of the README literally, in an empty directory, with this
// checkout of the module and without a network.
func TestQuickStart(t *testing.T) {
	if testing.Short() {
		t.Skip("it compiles a lot")
	}
	testenv.Programs(t, "gcc")
	module, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	text := section(t, "Quick start")
	dir := t.TempDir()
	var commands int
	var printed string
	for _, m := range block.FindAllStringSubmatch(text, -1) {
		name, language, body := m[1], m[2], m[3]
		if name != "" {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(body), 0o600); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if language != "sh" {
			t.Fatalf("a block of %q is neither a file nor commands", language)
		}
		for line := range strings.Lines(body) {
			words := strings.Fields(strings.ReplaceAll(line, "CLONE", filepath.Dir(module)))
			commands++
			printed += command(t, dir, words[0], words[1:]...)
		}
	}
	if commands != 5 {
		t.Errorf("%d commands, not five", commands)
	}
	promised := regexp.MustCompile("prints `([^`]*)`").FindStringSubmatch(text)
	if promised == nil || !strings.Contains(printed, promised[1]+"\n") || !strings.Contains(printed, "all up to date") {
		t.Errorf("it printed %q", printed)
	}
	command(t, dir, "go", "generate")

	generated, err := os.ReadFile(filepath.Join(dir, "z_cgocopy.go"))
	if err != nil {
		t.Fatal(err)
	}
	excerpt := block.FindStringSubmatch(section(t, "What is generated"))
	for part := range strings.SplitSeq(excerpt[3], "\n\n") {
		if !strings.Contains(string(generated), strings.TrimSpace(part)) {
			t.Errorf("this is not generated:\n%s\nbut\n%s", part, generated)
		}
	}
}

// TestLinks checks that the files and sections that the README links to exist.
func TestLinks(t *testing.T) {
	readme, err := os.ReadFile(filepath.Join("..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	titles := map[string]bool{}
	for line := range strings.Lines(string(readme)) {
		if title, ok := strings.CutPrefix(line, "## "); ok {
			titles["#"+strings.ReplaceAll(strings.ToLower(strings.TrimSpace(title)), " ", "-")] = true
		}
	}
	for _, m := range regexp.MustCompile(`\]\(([^)]+)\)`).FindAllStringSubmatch(regexp.MustCompile("`[^`]*`").ReplaceAllString(string(readme), ""), -1) {
		switch {
		case strings.HasPrefix(m[1], "https://"), strings.HasPrefix(m[1], "../docs/"): // another module's
		case strings.HasPrefix(m[1], "#"):
			if !titles[m[1]] {
				t.Errorf("no section %s", m[1])
			}
		default:
			if _, err := os.Stat(filepath.Join("..", m[1])); err != nil {
				t.Errorf("link: %v", err)
			}
		}
	}
}

// TestOwnStructs binds the README's struct, and checks that the README's error message is printed.
func TestOwnStructs(t *testing.T) {
	testenv.Programs(t, "gcc")
	text := section(t, "Go structs of your own")
	blocks := block.FindAllStringSubmatch(text, -1)
	dir := t.TempDir()
	write := func(name, body string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(body), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const header = "typedef struct { double x, y, z; } Point3D;\nenum kind { NPC, BOSS };\nstruct item { int n; };\n\n" +
		"typedef struct game {\n\tint id;\n\tchar name[64];\n\tPoint3D position;\n\tint level;\n\tenum kind kind;\n\tstruct item *items;\n\tint n_items;\n\tstruct game *parent;\n} GameObject;\n"
	write("game.h", header)
	write("game.go", "package game\n\ntype Point struct{ X, Y, Z float64 }\n\ntype Kind int\n\ntype Item struct{ N int }\n\n"+blocks[0][3])
	t.Chdir(dir)
	bind := func() (int, string) {
		var out strings.Builder
		code := cli.Main(context.Background(), []string{"bind", "-type", "Game=GameObject", "game.h"}, &out, &out)
		return code, out.String()
	}
	if code, output := bind(); code != 0 {
		t.Errorf("code %d: %s", code, output)
	}
	write("game.go", "package game\n\n\n\n\n\n\n\n\n\n\n\ntype Game struct {\n\tLevel int8\n}\n")
	want := strings.TrimSpace(blocks[1][3])
	if code, output := bind(); code != 1 || strings.TrimSpace(output) != want {
		t.Errorf("code %d: it says\n%swant\n%s", code, output, want)
	}
}
