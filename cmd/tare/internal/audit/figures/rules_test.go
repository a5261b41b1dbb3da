package figures

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tarebench/tare/cmd/tare/internal/audit"
)

// read returns the findings of a text, which must be readable.
func read(t testing.TB, text string) []audit.Finding {
	t.Helper()
	res, err := new(Files).Read("file", strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return res.Findings
}

func ofRule(findings []audit.Finding, id string) []audit.Finding {
	return slices.DeleteFunc(slices.Clone(findings), func(f audit.Finding) bool { return f.Rule != id })
}

// Each rule finds its bad example, with the line, and nothing in its good one.
func TestExamples(t *testing.T) {
	ids := map[string]bool{}
	for _, r := range Rules() {
		if ids[r.ID] {
			t.Errorf("two rules %s", r.ID)
		}
		ids[r.ID] = true
		bad := ofRule(read(t, r.Bad), r.ID)
		if len(bad) == 0 {
			t.Errorf("%s: nothing found in its bad example", r.ID)
		}
		for _, f := range bad {
			if f.Line < 1 || f.Line > strings.Count(r.Bad, "\n")+1 || f.What == "" || f.Why == "" || f.Do == "" || !strings.HasPrefix(f.Command, "tare ") || strings.Contains(f.What, "\n") {
				t.Errorf("%s: %+v", r.ID, f)
			}
		}
		if good := ofRule(read(t, r.Good), r.ID); len(good) > 0 {
			t.Errorf("%s: found in its good example: %s", r.ID, good[0].What)
		}
		if r.Title == "" || r.Lang == "" || strings.HasSuffix(r.Do, ".") {
			t.Errorf("%s: %+v", r.ID, r)
		}
	}
}

// Runs that are those of another file are found in the second one, under another name, too; not those of a
// file that is read twice, of a page that quotes the output, and of a file with one more run.
func TestCopiedRuns(t *testing.T) {
	output := func(name string, times ...string) string {
		var out strings.Builder
		for _, x := range times {
			fmt.Fprintf(&out, "%s-8\t1000\t%s ns/op\n", name, x)
		}
		return out.String()
	}
	first := output("BenchmarkMailbox", "1203.4", "1199.7", "1210.9")
	for _, tt := range []struct {
		name, text string
		isCopy     bool
	}{
		{"bitboard.txt", output("BenchmarkBitboard", "1203.4", "1199.7", "1210.9"), true},
		{"./mailbox.txt", first, false},
		{"more.txt", output("BenchmarkBitboard", "1203.4", "1199.7", "1210.9", "1204.2"), false},
		{"turned.txt", output("BenchmarkBitboard", "1203.4", "1210.9", "1199.7"), false},
		{"README.md", "# Chess\n\nThe mailbox board is slow:\n\n```\n" + first + "```\n\nThat is 2x slower than ours.\n", false},
	} {
		var files Files
		for _, file := range []struct{ name, text string }{{"mailbox.txt", first}, {tt.name, tt.text}} {
			res, err := files.Read(file.name, strings.NewReader(file.text))
			if err != nil {
				t.Fatal(err)
			}
			found := ofRule(res.Findings, "identical-figures")
			if want := tt.isCopy && file.name == tt.name; len(found) > 0 != want {
				t.Errorf("%s: %v, want findings: %t", file.name, found, want)
			}
		}
	}
}
