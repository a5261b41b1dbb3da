package figures

import (
	"slices"
	"strings"
	"testing"

	"github.com/tarebench/tare/cmd/tare/internal/audit"
)

// read returns the findings of a text, which must be readable.
func read(t testing.TB, text string) []audit.Finding {
	t.Helper()
	res, err := Read("file", strings.NewReader(text))
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
