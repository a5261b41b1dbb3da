package cmdenv

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tarebench/tare/internal/assert"
	"github.com/tarebench/tare/internal/golden"
)

// TestExitTableIsCurrent compares the table in docs/output.md with the code.
func TestExitTableIsCurrent(t *testing.T) {
	const begin, end = "<!-- exit codes:begin -->\n", "<!-- exit codes:end -->"
	path := filepath.Join("..", "..", "..", "..", "docs", "output.md")
	text, err := os.ReadFile(path)
	assert.NoError(t, "read", err)
	before, rest, found := strings.Cut(strings.ReplaceAll(string(text), "\r\n", "\n"), begin)
	got, after, closed := strings.Cut(rest, end)
	assert.Equal(t, "markers of the table", found && closed, true)
	if table := formatExitTable(); golden.Updating() {
		assert.NoError(t, "write", os.WriteFile(path, []byte(before+begin+table+end+after), 0o644))
	} else if got != table {
		t.Errorf("docs/output.md has another table: go generate ./internal/cmdenv")
	}
}

// formatExitTable returns the exit codes as a table in Markdown.
func formatExitTable() string {
	exits := Exits()
	slices.SortFunc(exits, func(a, b Exit) int { return a.Code - b.Code })
	var b strings.Builder
	b.WriteString("| exit code | meaning | `code` of an error |\n|---|---|---|\n")
	for _, exit := range exits {
		var kinds []string
		for _, kind := range exit.Errors {
			kinds = append(kinds, "`"+kind.Name+"`: "+kind.Meaning)
		}
		fmt.Fprintf(&b, "| %d | %s | %s |\n", exit.Code, exit.Meaning, strings.Join(kinds, "; "))
	}
	return b.String()
}

func TestWantsJSON(t *testing.T) {
	for args, want := range map[string]bool{
		"run x --json": true, "run --format json": true, "run --format=json": true, "run --budgt --json": true,
		"run": false, "run --format md": false, "run --format": false, "load -- ./shop --json": false, "json x": false,
	} {
		if got := WantsJSON(strings.Fields(args)); got != want {
			t.Errorf("%s: %v", args, got)
		}
	}
}

// TestOutcome checks that what was printed when it happened is in the document, and is not
// printed again.
func TestOutcome(t *testing.T) {
	var o Outcome
	assert.Equal(t, "nothing", ExitCode(o.Err()), ExitOK)
	o.Add(Code(ExitNotMet))
	_, reports := NewErrorDocument("tare run", o.Err())
	assert.Equal(t, "a verdict is an error", reports, false)
	o.Add(Usage("unknown study", "", "tare list"))
	o.Add(errors.New("disk on fire"))
	assert.Equal(t, "exit code", ExitCode(o.Err()), ExitFailure)
	doc, reports := NewErrorDocument("tare run", o.Err())
	assert.Equal(t, "reports", reports, true)
	assert.Equal(t, "document", fmt.Sprint(doc.Error), fmt.Sprint(ErrorBody{Code: "usage", ExitCode: ExitFailure, Message: "unknown study; disk on fire", Next: []string{"tare list"}}))
	var out strings.Builder
	Complain(&out, o.Err())
	assert.Equal(t, "printed again", out.String(), "")
}
