package rules

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/check"
)

var update = flag.Bool("update", false, "write docs/audit.md")

// Every rule says all that a finding and its documentation need, under a name that
// no other rule, and no check of a study, has.
func TestRulesAreComplete(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range check.All() {
		seen[c.ID] = true
	}
	for _, r := range All() {
		if seen[r.ID] || r.ID == "" || strings.ToLower(r.ID) != r.ID || strings.ContainsAny(r.ID, " _") {
			t.Errorf("rule %q: the id is empty, not in small letters with -, or taken", r.ID)
		}
		seen[r.ID] = true
		if r.Severity != tare.Void && r.Severity != tare.Warn && r.Severity != tare.Note {
			t.Errorf("%s: severity %q", r.ID, r.Severity)
		}
		if !strings.HasSuffix(r.Title, ".") || !strings.HasSuffix(r.Why, ".") || strings.HasSuffix(r.Do, ".") || r.Do == "" {
			t.Errorf("%s: title and reason are sentences, the advice is none", r.ID)
		}
		if !strings.HasPrefix(r.Command, "tare ") || r.Bad == "" || r.Good == "" || r.Lang == "" || strings.Contains(r.Bad+r.Good, "// want") {
			t.Errorf("%s: command %q, examples of %d and %d bytes in %q", r.ID, r.Command, len(r.Bad), len(r.Good), r.Lang)
		}
	}
}

func TestDocsAreCurrent(t *testing.T) {
	path := filepath.Join("..", "..", "..", "..", "..", "docs", "audit.md")
	if *update {
		if err := os.WriteFile(path, []byte(markdown()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if strings.ReplaceAll(string(got), "\r\n", "\n") != markdown() {
		t.Error("docs/audit.md is not what the rules say: go generate ./internal/audit/rules")
	}
}

// markdown returns docs/audit.md: how to audit, and every rule.
func markdown() string {
	var b strings.Builder
	b.WriteString(intro)
	b.WriteString("| rule | at worst | what is wrong |\n|---|---|---|\n")
	for _, r := range All() {
		fmt.Fprintf(&b, "| [%s](#%s) | %s | %s |\n", r.ID, r.ID, r.Severity, r.Title)
	}
	for _, r := range All() {
		fmt.Fprintf(&b, "\n## %s\n\n%s %s\n\n*What to do.* %s%s. *Measure:* `%s`\n", r.ID, r.Title, r.Why, strings.ToUpper(r.Do[:1]), r.Do[1:], r.Command)
		if len(r.Seen) > 0 {
			fmt.Fprintf(&b, "\n*Seen:* %s\n", strings.Join(r.Seen, ", "))
		}
		fmt.Fprintf(&b, "\n<details><summary>bad and good</summary>\n\n```%s\n%s```\n\n```%s\n%s```\n\n</details>\n", r.Lang, ending(r.Bad), r.Lang, ending(r.Good))
	}
	return b.String()
}

// ending returns a text that ends with a line feed.
func ending(text string) string { return strings.TrimRight(text, "\n") + "\n" }

const intro = `<!-- Generated from package audit/rules by ` + "`go generate ./internal/audit/rules`" + `; do not edit. -->

# Audit

` + "`tare audit`" + ` reads benchmarks that somebody wrote, their results, and pages about them, and says what makes the figures those of something else. It runs and compiles nothing.

` + "```sh shop" + `
tare audit .                  # the Go benchmarks below this directory, and pages with figures (.md, .html, .txt)
tare audit --sarif . > a.sarif # for code scanning; --github: annotations; --json: docs/schema/audit.schema.json
tare explain input-consumed   # a rule, with a bad and a good example
` + "```" + `

The rules for Go run in go vet as well: ` + "`go vet -vettool=\"$(command -v tare)\" ./...`" + `. Each is a flag there, e.g. ` + "`-sleep_in_loop=false`" + `.

` + "`tare audit README.md wrk.txt`" + ` reads a page and the output of a tool; - is standard input. Results are the output of go test -bench (also -json) and benchstat, and reports of wrk, wrk2, ab, hey, oha, vegeta, k6 and ghz, in text or, of the last four, in JSON. Pages are Markdown and HTML. A file is recognised by its
content, also compressed; one that is named and has no figures is an error.

**void**: the figure is not one of what the benchmark is called. **warn**: it is misleading. **note**: worth knowing. Exit codes: 0 if nothing was found, or notes only; 3 for warnings, 5 if something is void, 2 if the
input cannot be read. What does not compile is read as far as it has types, and a line on stderr says so.

` + "`//tare:ignore RULE reason`" + ` switches a rule off: on its line and the next, or in the whole function in whose comment it stands. Without a reason it does nothing, and is a finding.

`
