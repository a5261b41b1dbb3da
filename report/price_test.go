package report

import (
	"strings"
	"testing"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/assert"
)

// A recommendation names the answers in which the recommended contender differs.
func TestRecommendationNamesThePrice(t *testing.T) {
	// answering is the study of twelve in which the contenders named answer
	// with these differences, and the others as the reference.
	answering := func(odds map[string][]tare.Difference) *tare.Result {
		r := twelve()
		for i := range r.Semantics {
			s := &r.Semantics[i]
			s.Cases, s.Unsupported, s.Differences = 131, nil, odds[s.Contender]
		}
		return r
	}
	everybody := map[string][]tare.Difference{}
	for _, c := range twelve().Contenders {
		everybody[c.ID] = odd("tiny")
	}
	asked := func(id string, unsupported ...string) *tare.Result {
		r := answering(map[string][]tare.Difference{"sonic-default": odd("tiny"), "sonic-fastest": odd("html")})
		for i := range r.Semantics {
			if r.Semantics[i].Contender == id {
				r.Semantics[i].Unsupported = unsupported
			}
		}
		return r
	}
	slow := answering(map[string][]tare.Difference{"sonic-default": odd("tiny"), "sonic-fastest": odd("tiny")})
	for i := range slow.Comparisons {
		if c := &slow.Comparisons[i]; c.Metric == "time" && c.Contender != "sonic-default" && c.Contender != "sonic-fastest" && c.RankLow > 0 {
			c.RankLow, c.RankHigh = 5, 9
			if c.Contender == "encoding-json" {
				c.RankLow = 3
			}
		}
	}
	hardly := answering(map[string][]tare.Difference{"sonic-default": odd("tiny"), "sonic-fastest": odd("tiny")})
	for i := range hardly.Comparisons {
		if c := &hardly.Comparisons[i]; c.Metric == "time" && c.Contender == "sonic-std" {
			c.Ratio, c.Low, c.High = 0.99, 0.95, 1.03
		}
	}
	for _, c := range []struct {
		name  string
		r     *tare.Result
		wants []string
		not   string
	}{
		{"both change values", twelve(), []string{
			"  - sonic-default changes values: it writes a nil slice as [] (asked by marshal).\n",
			"  - Where every value must stay as encoding/json go1.26.8 has it: sonic-std (place 2 of 10) or easyjson (place 2–4 of 10). sonic-std / encoding-json in time: 0.313 [0.310, 0.316].",
			"sonic-std keeps values and differs in form only: it writes U+2028",
			"  - sonic-std and encoding-json on devices-50/marshal: the difference is 1 % of a core at 153 a second.\n",
			"Places are by time alone.",
		}, "accepts"}, // that bears on decoding
		{"one of two", asked(""), []string{
			"  - sonic-fastest keeps values and differs in form only: it leaves <, > and & unescaped (asked by marshal).\n",
			"  - Of these, sonic-fastest keeps every value as encoding/json go1.26.8 has it.\n",
		}, "Where every value"},
		{"nobody differs", answering(nil), []string{
			"  - sonic-default keeps values: it answered as encoding/json go1.26.8 does in every odd case that bears on marshal.\n",
		}, "Of these"},
		{"not asked", asked("sonic-fastest", "marshal"), []string{
			"  - Whether sonic-fastest changes values is not known: it could not be asked by marshal.\n",
			"Where every value must stay as encoding/json go1.26.8 has it: sonic-std",
		}, "Of these"},
		{"everybody changes values", answering(everybody), []string{"  - None of those ranked keeps every value as encoding/json go1.26.8 has it.\n"}, "Where every value"},
		{"only the baseline is left", slow, []string{"  - Where every value must stay as encoding/json go1.26.8 has it: stay with encoding-json; of those that keep values none can be placed better.\n"}, " or easyjson"},
		{"not shown to be faster", hardly, []string{"No difference in time between sonic-std and encoding-json was shown."}, ""},
		{"told before", six(), []string{"sonic-default changes values: it writes a nil slice as [] (asked by marshal).", "sonic-default changes values, as above.", "sonic-default changes values: it keeps invalid UTF-8 (asked by unmarshal)."}, "semantic-diff warns"},
		{"nothing recorded", base(), []string{"It measures time alone: the trade-offs below do not enter it."}, "value"},
	} {
		got := section(t, written(t, "research", c.r), "Recommendation")
		for _, want := range c.wants {
			assert.Contains(t, c.name, got, want)
		}
		if c.not != "" && strings.Contains(got, c.not) {
			t.Errorf("%s: %q is in\n%s", c.name, c.not, got)
		}
	}
	r := answering(nil) // nobody differs, and one of the first could not be asked
	for i := range r.Semantics {
		if r.Semantics[i].Contender == "sonic-default" {
			r.Semantics[i].Unsupported = []string{"marshal"}
		}
	}
	assert.Contains(t, "nobody differs, one was not asked", section(t, written(t, "research", r), "Recommendation"), "Whether sonic-default changes values is not known: it could not be asked by marshal.")
	r = six()
	r.Semantics = r.Semantics[:3]
	assert.Contains(t, "without an exam", section(t, written(t, "research", r), "Recommendation"), "Whether sonic-default changes values is not known: nothing odd was asked of it.")
	r = six()
	r.Contenders[3].Adoption.Unmaintained = "archived."
	got := section(t, written(t, "research", r), "Recommendation")
	assert.Equal(t, "unmaintained", strings.Count(got, "sonic-default counts as unmaintained: archived.\n"), 1)
	assert.Equal(t, "unmaintained still", strings.Count(got, "sonic-default counts as unmaintained, as above.\n"), 3)
}

func TestTradeOffsNameDifferencesAdoptionAndCost(t *testing.T) {
	got := section(t, written(t, "research", six()), "Trade-offs")
	for _, want := range []string{
		"- goccy differs in 3 of 131 cases. It changes values: it takes the first of duplicate keys. It accepts or refuses otherwise: it accepts a raw tab in a text; accepts what follows the document.\n",
		"and 11 more. It spells the same value differently: it leaves <, > and & unescaped; writes map keys in random order.\n",
		"| jsoniter-fastest | `github.com/json-iterator/go@v1.1.12` | 3 | Apache-2.0, MIT | 2021-09-11 | 4,659,563 | 6.4 | 7.9 | 5.2 |\n",
		"- jsoniter-fastest, unmaintained: its repository was archived on 2024-12-15\n",
		"| go-json-experiment | 8.04 | 1.47 [1.31, 1.63] | 681 |\n",
	} {
		assert.Contains(t, "six", got, want)
	}
	got = section(t, written(t, "research", twelve()), "Trade-offs")
	for _, void := range []string{"goccy", "ffjson"} {
		if strings.Contains(got, void) {
			t.Errorf("%s is in\n%s", void, got)
		}
	}
	assert.Contains(t, "limits", written(t, "research", six()), "- Contenders were given GOMAXPROCS=2, GOGC=50, GOMEMLIMIT=1GiB: without that it is another question.\n- Answers were compared with encoding/json go1.26.8 on the cases that were asked; other input may show other differences.\n")
}
