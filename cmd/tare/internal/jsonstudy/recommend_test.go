package jsonstudy

import (
	"strings"
	"testing"

	"github.com/tarebench/tare"
)

// measured is a result on one workload.
func measured(id string) *tare.Result {
	comparison := func(contender string, ratio, low, high float64, rank int) tare.Comparison {
		return tare.Comparison{Workload: id, Contender: contender, Metric: "time", Against: Baseline, Ratio: ratio, Low: low, High: high, RankLow: rank,
			AgainstValue: 2.9e6, Value: ratio * 2.9e6, Unit: "ns/op"}
	}
	op := map[bool]string{true: "marshal", false: "any"}[strings.HasSuffix(id, "encode")]
	return &tare.Result{
		Design: tare.Design{
			Workloads: []tare.Workload{{ID: id, Op: op}},
			Contenders: []tare.Contender{
				{ID: Baseline, Role: tare.RoleBaseline, Build: tare.Build{BinaryBytes: 4_000_000}},
				{ID: tare.ControlID, Role: tare.RoleControl},
				{ID: "quick", Role: tare.RoleContender, Build: tare.Build{BinaryBytes: 7_100_000}, Adoption: tare.Adoption{ModulesLinked: 9, Unmaintained: "since 2019"}},
				{ID: "same", Role: tare.RoleContender, Build: tare.Build{BinaryBytes: 3_900_000}, Adoption: tare.Adoption{ModulesLinked: 1}},
				{ID: "even", Role: tare.RoleContender},
				{ID: "slow", Role: tare.RoleContender},
			},
		},
		Measured: tare.Measured{
			RoundsDone: 12,
			Comparisons: []tare.Comparison{
				comparison(tare.ControlID, 1, 0.98, 1.02, 0), comparison("quick", 0.41, 0.39, 0.43, 1),
				comparison("same", 0.6, 0.55, 0.65, 2), comparison("even", 0.99, 0.985, 0.995, 4), comparison("slow", 2, 1.9, 2.1, 5),
			},
		},
		Judged: tare.Judged{Semantics: []tare.Semantics{{Contender: "quick", Cases: 3}, {Contender: "same", Cases: 3}}},
	}
}

func TestRecommendation(t *testing.T) {
	docs := docsOf(t, "{\"a\":1}\n{\"a\":1}\n{\"a\":1}")
	differs := func(r *tare.Result, who string, n int, class tare.DifferenceClass) {
		s := tare.Semantics{Contender: who}
		for i := range n {
			s.Differences = append(s.Differences, tare.Difference{Case: r.Workloads[0].ID + " " + docs[i].String(), Class: class, Asked: docs[i].String() + " $.a b", Reference: "1.5", Got: "1"})
		}
		r.Semantics = append(r.Semantics, s)
	}
	for name, tt := range map[string]struct {
		id     string
		change func(r *tare.Result)
		want   []string
	}{
		"the best": {"any/decode", func(*tare.Result) {}, []string{
			"For your 7 B documents: quick decodes into any in 0.41× (0.39–0.43) the time of encoding/json, 1.19 ms instead of 2.9 ms; it has the same values as encoding/json; " +
				"it links 9 modules and adds 3.1 MB to the binary; it counts as unmaintained.",
		}},
		"it differs": {"any/decode", func(r *tare.Result) { differs(r, "quick", 2, tare.DiffersInValue) }, []string{
			"For your 7 B documents: quick decodes into any in 0.41× (0.39–0.43) the time of encoding/json, 1.19 ms instead of 2.9 ms; its values differ on 2 of your 3 documents: $.a b is 1.5 for encoding/json and 1 for it (x.ndjson:1); " +
				"it links 9 modules and adds 3.1 MB to the binary; it counts as unmaintained.",
			"Where every value must stay as encoding/json has it: same decodes into any in 0.60× (0.55–0.65) the time of encoding/json, 1.74 ms instead of 2.9 ms; it has the same values as encoding/json; " +
				"it links 1 module and makes the binary no larger.",
		}},
		"all differ": {"typed/encode", func(r *tare.Result) {
			differs(r, "quick", 3, tare.DiffersInValue)
			differs(r, "same", 1, tare.DiffersInValue)
		}, []string{
			"For your 7 B documents: quick encodes from the inferred type in 0.41× (0.39–0.43) the time of encoding/json, 1.19 ms instead of 2.9 ms; its values differ on all your documents: $.a b is 1.5 for encoding/json and 1 for it (x.ndjson:1); " +
				"it links 9 modules and adds 3.1 MB to the binary; it counts as unmaintained.",
			"Where every value must stay as encoding/json has it, encoded from the inferred type: stay with encoding/json.",
		}},
		"a tie goes to who keeps values": {"any/encode", func(r *tare.Result) {
			r.Comparisons[2].RankLow = 1
			differs(r, "quick", 1, tare.DiffersInValue)
			differs(r, "same", 3, tare.DiffersInForm)
		}, []string{
			"For your 7 B documents: same encodes from any in 0.60× (0.55–0.65) the time of encoding/json, 1.74 ms instead of 2.9 ms; it has the same values, spelled or ordered differently on all your documents; " +
				"it links 1 module and makes the binary no larger; quick did not differ significantly from it.",
		}},
		"nothing better": {"any/encode", func(r *tare.Result) { r.Comparisons = append(r.Comparisons[:1], r.Comparisons[3:]...) }, []string{
			"For your 7 B documents, encoded from any: stay with encoding/json: none of the 2 codecs measured was shown to be faster beyond what the control shows (±2 %).",
		}},
		"void": {"any/encode", func(r *tare.Result) {
			for _, id := range []string{"quick", "same"} {
				r.Findings = append(r.Findings, tare.Finding{Check: "wrong-answer", Severity: tare.Void, Contender: id})
			}
		}, []string{
			"For your 7 B documents, encoded from any: stay with encoding/json: none of the 2 codecs measured was shown to be faster beyond what the control shows (±2 %).",
		}},
		"no control": {"any/encode", func(r *tare.Result) { r.Comparisons[0].Low = 0 }, []string{
			"For your 7 B documents, encoded from any: no recommendation: too few rounds for an interval.",
		}},
		"one that is not faster": {"any/encode", func(r *tare.Result) { r.Comparisons = append(r.Comparisons[:1], r.Comparisons[4]) }, []string{
			"For your 7 B documents, encoded from any: stay with encoding/json: slow was not shown to be faster beyond what the control shows (±2 %).",
		}},
		"nobody": {"any/encode", func(r *tare.Result) { r.Comparisons = r.Comparisons[:1] }, []string{
			"For your 7 B documents, encoded from any: no recommendation: no codec was compared with encoding/json.",
		}},
		"a tie goes to who is maintained": {"any/decode", func(r *tare.Result) { r.Comparisons[2].RankLow = 1 }, []string{
			"For your 7 B documents: same decodes into any in 0.60× (0.55–0.65) the time of encoding/json, 1.74 ms instead of 2.9 ms; it has the same values as encoding/json; " +
				"it links 1 module and makes the binary no larger; quick did not differ significantly from it.",
		}},
		"generated code": {"typed/decode", func(r *tare.Result) {
			r.Contenders[2].ID, r.Comparisons[1].Contender, r.Semantics[0].Contender = "easyjson", "easyjson", "easyjson"
			r.Comparisons[2].RankLow, r.Contenders[3].Adoption.Unmaintained = 1, "since 2018"
		}, []string{
			"For your 7 B documents: easyjson decodes into the inferred type in 0.41× (0.39–0.43) the time of encoding/json, 1.19 ms instead of 2.9 ms; it has the same values as encoding/json; " +
				"it links 9 modules and adds 3.1 MB to the binary; it counts as unmaintained; code is generated for the type, again after every change of it; same did not differ significantly from it.",
		}},
		"void baseline": {"any/encode", func(r *tare.Result) {
			r.Findings = []tare.Finding{{Check: "control", Severity: tare.Void, Contender: tare.ControlID, Workload: "any/encode"}}
		}, []string{
			"For your 7 B documents, encoded from any: no recommendation: control is void by the check control.",
		}},
	} {
		r := measured(tt.id)
		tt.change(r)
		if got := Recommendation(r, docs, len(docs), Type{Name: "inferred"}); strings.Join(got, "\n") != strings.Join(tt.want, "\n") {
			t.Errorf("%s:\n%s\nwant\n%s", name, strings.Join(got, "\n"), strings.Join(tt.want, "\n"))
		}
	}
}

// TestRecommendationVouchesForWhatWasAsked: a fault in an operation that was not timed is told,
// documents that were not asked are not spoken for, and neither is a codec that nobody asked.
func TestRecommendationVouchesForWhatWasAsked(t *testing.T) {
	docs := docsOf(t, "{\"a\":1}\n{\"a\":1}\n{\"a\":1}")
	const quick, same = "For your 7 B documents: quick decodes into example.org/wait.T in 0.41× (0.39–0.43) the time of encoding/json, 1.19 ms instead of 2.9 ms; ",
		"Where every value must stay as encoding/json has it: same decodes into example.org/wait.T in 0.60× (0.55–0.65) the time of encoding/json, 1.74 ms instead of 2.9 ms; "
	wait := tare.Semantics{Contender: "quick", Cases: 6, Differences: []tare.Difference{
		{Case: "typed/encode wait.ndjson:1", Class: tare.DiffersInValue, Asked: "wait.ndjson:1 $.wait", Reference: "1500", Got: `"1.5µs"`},
	}}
	for name, tt := range map[string]struct {
		given  int
		change func(r *tare.Result)
		want   []string // beginnings of the lines
	}{
		"an encoder that was not timed": {3, func(r *tare.Result) { r.Semantics[0] = wait }, []string{
			quick + `it has the same values as encoding/json; where it encodes from example.org/wait.T, which was not timed, its values differ on 1 of your 3 documents: $.wait is 1500 for encoding/json and "1.5µs" for it (wait.ndjson:1); it links`,
			same + "it has the same values as encoding/json; it links",
		}},
		"an encoder that was timed": {3, func(r *tare.Result) {
			r.Semantics[0], r.Workloads = wait, append(r.Workloads, tare.Workload{ID: "typed/encode", Op: "marshal"})
		}, []string{quick + "it has the same values as encoding/json; it links", "For your 7 B documents, encoded"}},
		"more documents than were asked": {5000, func(*tare.Result) {}, []string{
			quick + "it has the same values as encoding/json on all 3 that were tested of your 5000 documents; it links",
		}},
		"some of more documents": {5000, func(r *tare.Result) {
			d := tare.Difference{Case: "typed/decode x.ndjson:1", Class: tare.DiffersInForm}
			r.Semantics[0].Differences = []tare.Difference{d}
		}, []string{quick + "it has the same values, spelled or ordered differently on 1 of the 3 that were tested of your 5000 documents; it links"}},
		"a codec that nobody asked": {3, func(r *tare.Result) { r.Semantics = nil }, []string{quick + "what it makes of your documents was not tested; it links"}},
	} {
		r := measured("typed/decode")
		tt.change(r)
		got := Recommendation(r, docs, tt.given, Type{Name: "example.org/wait.T"})
		ok := len(got) == len(tt.want)
		for i := range min(len(got), len(tt.want)) {
			ok = ok && strings.HasPrefix(got[i], tt.want[i])
		}
		if !ok {
			t.Errorf("%s:\n%s\nwant\n%s", name, strings.Join(got, "\n"), strings.Join(tt.want, "\n"))
		}
	}
}
