package report

import (
	"regexp"
	"strings"
	"testing"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/assert"
)

// section returns the part of a write-up from the heading to the next heading of the same level.
func section(t *testing.T, text, heading string) string {
	t.Helper()
	_, after, found := strings.Cut(text, "\n## "+heading+"\n")
	if !found {
		t.Fatalf("no section %s", heading)
	}
	before, _, _ := strings.Cut(after, "\n## ")
	return before
}

func TestResearchHasTheShape(t *testing.T) {
	for name, r := range cases() {
		got := written(t, "research", r)
		at := 0
		for _, heading := range []string{"Objective", "Method", "Results", "Key finding", "Recommendation", "Trade-offs", "What this does not say"} {
			i := strings.Index(got, "\n## "+heading+"\n")
			if i < at {
				t.Errorf("%s: %s is not where it belongs", name, heading)
			}
			at = i
		}
		for _, c := range r.Claims {
			assert.Contains(t, name, section(t, got, "Results"), "| "+c.ID+" |")
		}
		for _, v := range r.Verdicts {
			if v.Verdict != "" {
				assert.Contains(t, name, section(t, got, "Key finding"), "**"+string(v.Verdict)+"**")
			}
		}
	}
}

// Every figure of a write-up also occurs in the text report or in the document. Numbers with one
// digit, which count criteria and the like, are not checked.
func TestResearchInventsNoFigure(t *testing.T) {
	figure := regexp.MustCompile(`[0-9][0-9.,]*[0-9]`)
	for name, r := range cases() {
		r.Contenders[0].BinaryBytes, r.Contenders[1].BinaryBytes = 3739420, 4659563
		r.Contenders[1].Adoption = tare.Adoption{ModulesLinked: 3, ColdBuildSeconds: 12.34}
		known := text(t, r, Style{Width: 400}) + written(t, "json", r) + " 12.3 3,739,420 4,659,563"
		for _, x := range figure.FindAllString(written(t, "research", r), -1) {
			if !strings.Contains(known, x) {
				t.Errorf("%s: %s is nowhere in the result", name, x)
			}
		}
	}
}

func TestRecommendationFollowsTheRanks(t *testing.T) {
	on := "On `" + marshal + "`: "
	// rank gives places to the comparisons on the primary metric.
	rank := func(r *tare.Result, places map[string][2]int) *tare.Result {
		for i := range r.Comparisons {
			c := &r.Comparisons[i]
			if p, ok := places[c.Contender]; ok && c.Metric == "time" && c.Workload == marshal {
				c.RankLow, c.RankHigh = p[0], p[1]
			}
		}
		return r
	}
	warned := base()
	warned.Findings = []tare.Finding{{Check: "semantic-diff", Severity: tare.Warn, Contender: "jsoniter-fastest", Message: "writes 1.5e-9 as 0"}}
	notMet := base()
	notMet.Verdicts[0].Verdict = tare.NotMet
	void := base()
	void.Findings = []tare.Finding{{Check: "wrong-answer", Severity: tare.Void, Contender: "encoding-json", Workload: marshal, Message: "wrong"}}
	voidFirst := exploring()
	voidFirst.Findings = []tare.Finding{{Check: "identity", Severity: tare.Void, Contender: "jsoniter-fastest", Message: "not linked"}}
	early := rank(interrupted(), map[string][2]int{"encoding-json": {1, 2}, "jsoniter-fastest": {1, 2}})
	tie := rank(exploring(), map[string][2]int{"encoding-json": {1, 3}, "jsoniter-fastest": {1, 3}, "segmentio": {1, 3}})
	for i := range tie.Comparisons {
		if c := &tie.Comparisons[i]; c.Contender == "jsoniter-fastest" && c.Metric == "time" {
			c.Ratio, c.Low, c.High = 0.99, 0.97, 1.01
		}
	}
	for _, c := range []struct {
		name string
		r    *tare.Result
		want string
	}{
		{"first alone", base(), on + "jsoniter-fastest. It was proven better in time than the other one ranked. jsoniter-fastest / encoding-json in time: 0.463 [0.447, 0.480]. Asked of jsoniter-fastest, time ratio <= 0.5: met.\n"},
		{"not what was asked", notMet, "Asked of jsoniter-fastest, time ratio <= 0.5: not met."},
		{"warned", warned, "The check semantic-diff warns of jsoniter-fastest: writes 1.5e-9 as 0."},
		{"baseline first", rank(exploring(), map[string][2]int{"encoding-json": {1, 1}, "jsoniter-fastest": {2, 3}, "segmentio": {2, 3}}), on + "stay with encoding-json. It was proven better in time than each of the 2 others ranked.\n"},
		{"another than the baseline by itself", inconclusive(), on + "jsoniter-fastest or encoding-json. None was proven better in time, and over all pairs at once they did not differ significantly"},
		{"baseline among the first", tie, on + "no reason in time to leave encoding-json. It can be first: over all pairs at once it did not differ significantly from jsoniter-fastest and segmentio."},
		{"two first", rank(exploring(), map[string][2]int{"encoding-json": {3, 3}, "jsoniter-fastest": {1, 2}, "segmentio": {1, 2}}), on + "jsoniter-fastest or segmentio. None was proven better in time, and over all pairs at once they did not differ significantly: the trade-offs decide."},
		{"first, hardly", rank(exploring(), map[string][2]int{"encoding-json": {2, 3}, "jsoniter-fastest": {1, 2}, "segmentio": {2, 3}}), on + "jsoniter-fastest. None was proven better in time, but neither was it proven better than each of the 2 others ranked."},
		{"a void baseline", void, on + "not decided. The baseline is void by the check wrong-answer, so nothing can be compared with it.\n"},
		{"a void first", voidFirst, on + "not decided. By these ranks no contender is first. Use segmentio? No difference in time is shown: what it brings decides."},
		{"control", controlVoid(), on + "not decided. Everything on it is void by the check control.\n"},
		{"ranks without intervals", early, on + "not decided. No ratio has an interval after 5 rounds.\n"},
		{"interrupted", interrupted(), on + "not decided. No ranking after 5 rounds.\n"},
	} {
		got := section(t, written(t, "research", c.r), "Recommendation")
		assert.Contains(t, c.name, got, c.want)
		if strings.Contains(c.want, "none.") && strings.Contains(got, "alone") {
			t.Errorf("%s: nothing is recommended, yet it is said what it measures:\n%s", c.name, got)
		}
	}
}

// A void contender or a trap is neither recommended nor named among the trade-offs.
func TestResearchRestsOnNothingVoid(t *testing.T) {
	for name, r := range cases() {
		for i := range r.Contenders {
			r.Contenders[i].BinaryBytes = 3739420
		}
		got := written(t, "research", r)
		advice := section(t, got, "Recommendation") + section(t, got, "Trade-offs")
		figures, _, _ := strings.Cut(advice, "What taking one in") // how large a program is no workload can void
		for _, c := range r.Contenders {
			void := c.Role == tare.RoleContender && len(r.Voids(c.ID, "")) > 0
			if c.Role == tare.RoleTrap && strings.Contains(advice, c.ID) || void && strings.Contains(figures, c.ID) {
				t.Errorf("%s: %s is in\n%s", name, c.ID, advice)
			}
		}
	}
	r := base()
	r.Contenders[1].BinaryBytes = 4659563
	r.Findings = []tare.Finding{{Check: "identity", Severity: tare.Void, Contender: "jsoniter-fastest", Message: "not linked"}}
	if got := section(t, written(t, "research", r), "Trade-offs"); strings.Contains(got, "jsoniter") {
		t.Errorf("what is not what it says is in\n%s", got)
	}
}

func TestTradeOffsAreDifferences(t *testing.T) {
	row := func(r *tare.Result, id string) string {
		for _, line := range strings.Split(section(t, written(t, "research", r), "Trade-offs"), "\n") {
			if strings.HasPrefix(line, "| "+id+" |") {
				return line
			}
		}
		return ""
	}
	assert.Equal(t, "as it is", row(exploring(), "segmentio"),
		"| segmentio | devices-50/marshal | bytes 0.770 exactly; allocs 0.336 exactly | – | time 1.003 [0.985, 1.021]; cpu 1.007 [0.989, 1.025] |")
	r := exploring()
	for i := range r.Comparisons {
		c := &r.Comparisons[i]
		switch {
		case c.Contender == "segmentio" && c.Metric == "time":
			c.Ratio, c.Low, c.High = 1.008, 1.002, 1.013 // less than the control's ±1.2 %
		case c.Contender == "segmentio" && c.Metric == "cpu":
			c.Ratio, c.Low, c.High = 1.02, 1.01, 1.03
		}
	}
	assert.Equal(t, "within the control, and beyond it", row(r, "segmentio"),
		"| segmentio | devices-50/marshal | bytes 0.770 exactly; allocs 0.336 exactly | cpu 1.020 [1.010, 1.030] | time 1.008 [1.002, 1.013] |")
	r = base() // it allocates nothing: there is no ratio
	r.Comparisons = r.Comparisons[:3]
	for i := range r.Values {
		if v := &r.Values[i]; v.Contender == "jsoniter-fastest" && v.Metric == "allocs" {
			v.Value, v.Low, v.High = 0, 0, 0
		}
	}
	assert.Contains(t, "zero", row(r, "jsoniter-fastest"), "bytes 0.770 exactly; allocs 0 against 602 allocs/op")
}
