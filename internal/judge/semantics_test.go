package judge

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/tarebench/tare"
)

func meanings() []tare.Semantics {
	return []tare.Semantics{
		{Contender: "lean", Reference: "encoding/json", Cases: 90, Differences: []tare.Difference{
			{Case: "html", Class: tare.DiffersInForm, Says: "leaves < as it is", BearsOn: []string{"marshal"}},
			{Case: "deep", Class: tare.DiffersInAcceptance, Says: "accepts a comma too many", BearsOn: []string{"unmarshal"}},
			{Case: "tiny", Class: tare.DiffersInValue, Says: "writes 1.5e-9 as 0", BearsOn: []string{"marshal", "stream"}},
		}},
		{Contender: "fat", Reference: "encoding/json", Cases: 90},
	}
}

func TestAVerdictNamesThePrice(t *testing.T) {
	f := fake{workloads: []string{"w"}, cost: map[string]float64{"lean": 500, "fat": 2000}, rounds: 12, slices: 8, sliceSD: 0.01}
	for _, c := range []struct{ op, want string }{
		{"marshal", "2.0× faster, and writes 1.5e-9 as 0 (one of 2 differences in meaning)."},
		{"stream", "2.0× faster, and writes 1.5e-9 as 0."},
		{"unmarshal", "2.0× faster, and accepts a comma too many."},
		{"any", "2.0× faster."},
	} {
		d := f.data(rand.New(rand.NewPCG(1, 2)))
		d.Study.Workloads[0].Op = c.op
		d.Semantics = meanings()
		v := Verdicts(d, Compare(d, Effects(d)), nil)
		if len(v) != 2 || !strings.HasSuffix(v[0].Sentence, c.want) {
			t.Errorf("%s: %q, want it to end in %q", c.op, v[0].Sentence, c.want)
		}
		if strings.Contains(v[1].Sentence, " and ") && strings.Contains(v[1].Sentence, "writes") {
			t.Errorf("one without differences is charged with them: %q", v[1].Sentence)
		}
	}
}

func TestStatements(t *testing.T) {
	claim := func(contender, check string) tare.Claim {
		return tare.Claim{ID: contender + check, Kind: tare.ClaimStatement, Contender: contender, Check: check, Statement: "works identically"}
	}
	f := fake{
		workloads: []string{"w"}, cost: map[string]float64{"lean": 500, "fat": 2000, "other": 900}, rounds: 12, slices: 8, sliceSD: 0.01,
		claims: []tare.Claim{
			claim("lean", "semantic-diff"), claim("fat", "semantic-diff"), claim("other", "semantic-diff"),
			claim("fat", "sink"), claim("nobody", "error-in-loop"),
		},
	}
	d := f.data(rand.New(rand.NewPCG(1, 2)))
	d.Semantics = meanings()
	findings := []tare.Finding{{Check: "semantic-diff", Severity: tare.Warn, Contender: "lean", Message: "it writes 1.5e-9 as 0"}}
	claims := Claims(d, Compare(d, Effects(d)), Values(d), findings, nil)
	for i, want := range []tare.Outcome{tare.Refuted, tare.Holds, tare.NotMeasured, tare.NotMeasured, tare.NotMeasured} {
		if got := claims[i]; got.Outcome != want || got.Why == "" || got.Evidence == "" || got.Published != 0 {
			t.Errorf("%s is %+v, want %s", got.ID, got, want)
		}
	}
}
