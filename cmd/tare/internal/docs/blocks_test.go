package docs

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const root = "../../../.."

// pages are the Markdown files of the repository that people read.
func pages(t *testing.T) []string {
	t.Helper()
	out, err := exec.Command("git", "-C", root, "-c", "safe.directory=*", "ls-files", "--cached", "--others", "--exclude-standard", "--", "*.md").Output()
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(strings.Fields(string(out)), func(name string) bool {
		_, err := os.Stat(filepath.Join(root, filepath.FromSlash(name)))
		return err != nil || strings.Contains(name, "testdata/")
	})
}

// documents are the pages whose commands are tested here: not those of cgocopy,
// whose own tests run its page as somebody who has that module alone, and not
// write-ups of runs.
func documents(t *testing.T) []string {
	return slices.DeleteFunc(pages(t), func(name string) bool {
		return strings.HasPrefix(name, "cgocopy/") || strings.HasPrefix(name, "docs/research/")
	})
}

func documented(t *testing.T) []Block {
	t.Helper()
	blocks, err := Blocks(root, documents(t))
	if err != nil {
		t.Fatal(err)
	}
	return blocks
}

// What a block is stands behind its fence, so that no commands escape being
// tested: sh with the words above, or console where what they printed stands
// beneath them.
func TestEveryBlockSaysWhatItIs(t *testing.T) {
	shell := 0
	for _, b := range documented(t) {
		switch {
		case b.Shell():
			shell++
			if !b.Known() {
				t.Errorf("%s: %q; behind sh stand slow, long, shop, serves, hosts, ci or elsewhere", b, b.Info)
			}
		case !slices.Contains([]string{"", "text", "console", "yaml", "json", "ndjson", "go", "c", "batch", "exchange", "server-exchange"}, b.Info):
			t.Errorf("%s: a block of %q; one of shell commands is sh, or sh slow", b, b.Info)
		case (b.Info == "" || b.Info == "text") && commands(b.Text):
			t.Errorf("%s: commands in a block that is not run; say sh, or sh slow", b)
		}
	}
	if shell == 0 {
		t.Error("no shell block was found")
	}
}

// commands reports whether the first line is a command of ours.
func commands(text string) bool {
	first, _, _ := strings.Cut(strings.TrimPrefix(text, "$ "), "\n")
	words := strings.Fields(first)
	said := len(words) > 1 && strings.HasSuffix(words[1], ":") // what a command printed
	return len(words) > 0 && !said && slices.Contains([]string{"tare", "go", "make", "git", "cd"}, words[0])
}

// A block of sh ci holds lines that are executed elsewhere: each is a whole line
// of .ci or the Makefile.
func TestBlocksOfCIAreExecutedThere(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(root, ".ci", "*"))
	if err != nil {
		t.Fatal(err)
	}
	executed := map[string]bool{}
	for _, name := range append(files, filepath.Join(root, "Makefile")) {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			executed[bare(line)] = true
		}
	}
	for _, b := range documented(t) {
		if !b.Is(CI) {
			continue
		}
		for _, c := range b.Commands() {
			if !executed[c] {
				t.Errorf("%s: %q is a line of neither .ci nor the Makefile", b, c)
			}
		}
	}
}

// bare is a line of a script or the Makefile as it would be typed: without what
// it sets for that command alone.
func bare(line string) string {
	line = strings.TrimPrefix(strings.ReplaceAll(strings.TrimSpace(line), "$(GO)", "go"), "@")
	for {
		word, rest, more := strings.Cut(line, " ")
		if name, _, set := strings.Cut(word, "="); !more || !set || name == "" || name != strings.ToUpper(name) {
			return line
		}
		line = rest
	}
}

// What takes somebody's account, or Docker, is run by nobody here. It has to be a command
// of another's program, and the shell has to understand it.
func TestBlocksForElsewhere(t *testing.T) {
	for _, b := range documented(t) {
		if !b.Is(Elsewhere) {
			continue
		}
		for _, c := range b.Commands() {
			if word, _, _ := strings.Cut(c, " "); word != "gcloud" && word != "docker" {
				t.Errorf("%s: %s can be run here", b, word)
			}
		}
		cmd := exec.Command("sh", "-n")
		cmd.Stdin = strings.NewReader(b.Text)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", b, err, out)
		}
	}
}

// What is no document is refused with its name.
func TestBlocksErrors(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "open.md"), []byte("a\n\n```sh\ntare run\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if blocks, err := Blocks(dir, []string{"open.md"}); err == nil || err.Error() != "open.md:3: the block has no end" {
		t.Errorf("an open block: %v, %v", blocks, err)
	}
	if blocks, err := Blocks(dir, []string{"none.md"}); err == nil || !strings.Contains(err.Error(), "none.md") {
		t.Errorf("a missing file: %v, %v", blocks, err)
	}
	if b := (Block{Info: "sh soon"}); b.Known() {
		t.Errorf("%q is known", b.Info)
	}
}
