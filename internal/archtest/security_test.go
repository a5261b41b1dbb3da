package archtest

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Every input of docs/security.md has tests in the README of package e2e, and
// every test that the README names exists.
func TestBoundsHaveTests(t *testing.T) {
	read := func(path string) string {
		t.Helper()
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return strings.ReplaceAll(string(text), "\r\n", "\n")
	}
	list := read("../../cmd/tare/internal/e2e/README.md")
	named := regexp.MustCompile("`([a-z0-9/]+) (Test[A-Za-z0-9]+)`")
	for input, row := range tableRows(list) {
		tests := named.FindAllStringSubmatch(row, -1)
		if len(tests) == 0 {
			t.Errorf("no test: %s", input)
		}
		for _, m := range tests {
			if !hasTest(t, filepath.Join("../..", m[1]), m[2]) {
				t.Errorf("%s has no %s", m[1], m[2])
			}
		}
	}
	list, _, _ = strings.Cut(list, "\n## Read and not run\n")
	tested, bounds := tableRows(list), tableRows(read("../../docs/security.md"))
	for input := range bounds {
		if tested[input] == "" {
			t.Errorf("cmd/tare/internal/e2e/README.md names no test of this input: %s", input)
		}
	}
	for input := range tested {
		if bounds[input] == "" {
			t.Errorf("docs/security.md has no bound of this input: %s", input)
		}
	}
	if len(bounds) < 10 {
		t.Errorf("only %d bounds", len(bounds))
	}
	if hasTest(t, ".", "TestThatIsNowhere"+"Else") {
		t.Error("a test was found that is not there")
	}
}

// tableRows returns the rows of the tables of a Markdown text by their first cell.
// Tables have no outer pipes.
func tableRows(text string) map[string]string {
	rows := map[string]string{}
	table := false
	for line := range strings.Lines(text) {
		input, _, isRow := strings.Cut(line, " | ")
		switch {
		case strings.HasPrefix(line, "---|"):
			table = true
		case !isRow:
			table = false
		case table:
			rows[input] = line
		}
	}
	return rows
}

// hasTest reports whether a test file in dir declares the test.
func hasTest(t *testing.T, dir, name string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(source, []byte("\nfunc "+name+"(t *testing.T)")) {
			return true
		}
	}
	return false
}
