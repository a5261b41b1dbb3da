package figures

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// planted matches the name of a file with a fault: a number, and the rule that must find it.
var planted = regexp.MustCompile(`^\d+-([a-z-]+)\.`)

// Faults that were written down before the rules were run on them are found.
func TestPlanted(t *testing.T) {
	files, err := filepath.Glob("testdata/planted/*")
	if err != nil || len(files) < 15 {
		t.Fatal(files, err)
	}
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		rule := planted.FindStringSubmatch(filepath.Base(path))[1]
		findings := read(t, string(text))
		if len(ofRule(findings, rule)) == 0 {
			var found []string
			for _, f := range findings {
				found = append(found, f.Rule+": "+f.What)
			}
			t.Errorf("%s: not found among\n\t%s", path, strings.Join(found, "\n\t"))
		}
	}
}

// Pages whose prose is that of their figures have no findings.
func TestClean(t *testing.T) {
	files, err := filepath.Glob("testdata/clean/*")
	if err != nil || len(files) < 10 {
		t.Fatal(files, err)
	}
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range read(t, string(text)) {
			t.Errorf("%s:%d: %s: %s", path, f.Line, f.Rule, f.What)
		}
	}
}
