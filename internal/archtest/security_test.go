package archtest

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Every test that docs/security.md names is there, and every bound names one.
func TestBoundsHaveTests(t *testing.T) {
	text, err := os.ReadFile("../../docs/security.md")
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile("`([a-z0-9/]+) (Test[A-Za-z0-9]+)`")
	rows := 0
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| input ") {
			continue
		}
		rows++
		tests := named.FindAllStringSubmatch(line, -1)
		if len(tests) == 0 {
			t.Errorf("no test: %s", line)
		}
		for _, m := range tests {
			if !hasTest(t, filepath.Join("../..", m[1]), m[2]) {
				t.Errorf("%s has no %s", m[1], m[2])
			}
		}
	}
	if rows < 10 {
		t.Errorf("only %d bounds", rows)
	}
	if hasTest(t, ".", "TestThatIsNowhere"+"Else") {
		t.Error("a test was found that is not there")
	}
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
