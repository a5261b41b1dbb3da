package routestudy

import (
	"slices"
	"strings"
	"testing"

	"github.com/tarebench/tare"
)

// measured is a result made by hand: quick takes 0.4 of net/http's 250 ns, even
// the same, slow fifty times as much; a request costs 40 µs.
func measured() *tare.Result {
	r := &tare.Result{
		Design: tare.Design{
			Workloads: []tare.Workload{{ID: allID}, {ID: socketID}},
			Contenders: []tare.Contender{
				{ID: Baseline, Role: tare.RoleBaseline, Build: tare.Build{BinaryBytes: 9_000_000}}, {ID: tare.ControlID, Role: tare.RoleControl},
				{ID: "quick", Role: tare.RoleContender, Build: tare.Build{BinaryBytes: 9_200_000}, Adoption: tare.Adoption{ModulesLinked: 1}},
				{ID: "even", Role: tare.RoleContender}, {ID: "slow", Role: tare.RoleContender},
			},
		},
		Measured: tare.Measured{
			RoundsDone: 12,
			Values:     []tare.Value{{Workload: socketID, Contender: Baseline, Metric: "time", Value: 90e3}, {Workload: socketID, Contender: Baseline, Metric: "cpu", Value: 40e3}},
		},
		Judged: tare.Judged{Semantics: []tare.Semantics{
			{Contender: "quick", Cases: 50, Differences: make([]tare.Difference, 11)}, {Contender: "even", Cases: 50},
		}},
	}
	add(r, tare.ControlID, 1, 0.98, 1.02, 0)
	add(r, "quick", 0.4, 0.38, 0.42, 1)
	add(r, "even", 0.99, 0.985, 0.995, 2)
	add(r, "slow", 50, 49, 51, 4)
	return r
}

// add compares a contender with the baseline, by both measures.
func add(r *tare.Result, id string, ratio, low, high float64, rank int) {
	for _, metric := range []string{"time", "cpu"} {
		r.Comparisons = append(r.Comparisons, tare.Comparison{Workload: allID, Contender: id, Metric: metric, Against: Baseline, Ratio: ratio, Low: low, High: high, RankLow: rank, AgainstValue: 250, Value: 250 * ratio})
	}
}

// without takes a contender's comparisons away.
func without(r *tare.Result, ids ...string) {
	r.Comparisons = slices.DeleteFunc(r.Comparisons, func(c tare.Comparison) bool { return slices.Contains(ids, c.Contender) })
}

// shadowed does not answer one request for a route, and one that is for none otherwise.
func shadowed() tare.Semantics {
	return tare.Semantics{Contender: "quick", Cases: 50, Differences: []tare.Difference{
		{Property: "your routes: method", Reference: "405", Got: "404", Says: "refuses PUT /a with 404 instead of 405"},
		{Property: "your routes: shadowed", Reference: "200, org=users repo=4711", Got: "404", Says: "refuses /users/4711 with 404"},
	}}
}

func TestRecommendation(t *testing.T) {
	d, _ := listOf(t, "r.txt", "GET /a\nGET /b")
	best := "On your 2 routes quick takes 0.40× (0.38–0.42) the time of net/http for a lookup, 100 ns instead of 250 ns: of CPU time the difference is 0.4 % of what a request costs over a loopback connection, 40 µs; " +
		"it answers 11 of 50 odd requests otherwise than net/http (see what they answer differently); it links 1 module and adds 200 kB to the binary"
	notice := "2 of 3 routers cost a request at most 5 % more CPU time than net/http does (more: slow): among those choose by what they answer and what they bring, not by speed."
	for name, tt := range map[string]struct {
		change func(r *tare.Result)
		want   []string
	}{
		"the best": {func(*tare.Result) {}, []string{best + ".", notice}},
		"a tie": {func(r *tare.Result) {
			r.Contenders = append(r.Contenders, tare.Contender{ID: "twin", Role: tare.RoleContender})
			add(r, "twin", 0.41, 0.39, 0.43, 1)
		}, []string{best + "; twin did not differ significantly from it.", strings.Replace(notice, "2 of 3", "3 of 4", 1)}},
		"nobody faster": {func(r *tare.Result) { without(r, "quick", "slow") }, []string{
			"On your 2 routes: stay with net/http: the other router was not shown to be faster beyond what the control shows (±2 %). " +
				"even takes 0.99× (0.98–0.99) the time of net/http for a lookup, 248 ns instead of 250 ns: of CPU time the difference is less than 0.1 % of what a request costs over a loopback connection, 40 µs.",
			"No measured router costs a request 5 % more CPU time than net/http does: choose by what they answer and what they bring, not by speed.",
		}},
		"no request": {func(r *tare.Result) { r.Values, r.Semantics = nil, nil }, []string{
			"On your 2 routes quick takes 0.40× (0.38–0.42) the time of net/http for a lookup, 100 ns instead of 250 ns; what it answers to odd requests is not known; it links 1 module and adds 200 kB to the binary.",
		}},
		"none of two": {func(r *tare.Result) {
			without(r, "quick")
			r.Values = nil
		}, []string{
			"On your 2 routes: stay with net/http: none of the 2 routers measured was shown to be faster beyond what the control shows (±2 %). " +
				"The nearest, even, takes 0.99× (0.98–0.99) the time of net/http for a lookup, 248 ns instead of 250 ns.",
		}},
		"all dear": {func(r *tare.Result) { without(r, "quick", "even") }, []string{
			"On your 2 routes: stay with net/http: the other router was not shown to be faster beyond what the control shows (±2 %). " +
				"slow takes 50.0× (49.0–51.0) the time of net/http for a lookup, 12.5 µs instead of 250 ns: of CPU time the difference is 31 % of what a request costs over a loopback connection, 40 µs.",
			"All that were measured cost a request more than 5 % more CPU time than net/http does.",
		}},
		"open": {func(r *tare.Result) {
			without(r, "even")
			add(r, "even", 8, 7, 12, 3)
		}, []string{best + ".", "1 of 3 routers cost a request at most 5 % more CPU time than net/http does (more: slow; not decided: even): among those choose by what they answer and what they bring, not by speed."}},
		"refused": {func(r *tare.Result) {
			r.Trials = []tare.Trial{
				{Contender: "httprouter", Error: &tare.TrialError{Message: "prepare: load: it cannot have this table: ':a' conflicts"}},
				{Contender: "loud", Error: &tare.TrialError{Message: "prepare: internal: panic: no (x.go:7)"}}, {Contender: "dead", Error: &tare.TrialError{Message: "exit status 2"}},
				{Contender: Baseline, Error: &tare.TrialError{Message: `prepare: internal: panic: pattern "GET /a" (registered at x.go:22) conflicts with pattern "GET /b" (registered at x.g…`}},
				{Contender: "quick", Round: 3, Error: &tare.TrialError{Message: "timeout"}},
			}
		}, []string{best + ".", notice, "httprouter cannot have these routes: ':a' conflicts.", "loud cannot have these routes: panic: no (x.go:7).", "dead could not be measured: exit status 2.",
			`net/http cannot have these routes: panic: pattern "GET /a" conflicts with pattern "GET /b".`}},
		"misrouted": {func(r *tare.Result) {
			without(r, "even")
			add(r, "even", 0.6, 0.58, 0.62, 2)
			r.Semantics[0] = shadowed()
		}, []string{strings.Replace(best, "11 of 50 odd requests otherwise than net/http (see what they answer differently)",
			"2 of 50 odd requests otherwise than net/http (see what they answer differently), 1 of them requests for your routes: it refuses /users/4711 with 404", 1) + ".",
			"Where every request must reach the most specific of your routes: even takes 0.60×", "2 of 3 routers cost"}},
		"misrouted by all": {func(r *tare.Result) { r.Semantics[0] = shadowed() }, []string{strings.Split(best, ";")[0],
			"Where every request must reach the most specific of your routes: stay with net/http.", notice}},
		"no rounds":    {func(r *tare.Result) { without(r, tare.ControlID) }, []string{"On your 2 routes: no recommendation: too few rounds for an interval."}},
		"not measured": {func(r *tare.Result) { r.Workloads = r.Workloads[1:] }, []string{"On your 2 routes: no recommendation: the workload all was not measured."}},
		"alone":        {func(r *tare.Result) { without(r, "quick", "even", "slow") }, []string{"On your 2 routes: no recommendation: no router was compared with net/http."}},
		"void baseline": {func(r *tare.Result) {
			r.Findings = []tare.Finding{{Check: "control", Severity: tare.Void, Contender: tare.ControlID}}
		}, []string{"On your 2 routes: no recommendation: control is void by the check control."}},
	} {
		r := measured()
		tt.change(r)
		got := d.Recommendation(r)
		same := len(got) == len(tt.want)
		for i := range min(len(got), len(tt.want)) {
			same = same && (got[i] == tt.want[i] || strings.HasPrefix(name, "misrouted") && strings.HasPrefix(got[i], tt.want[i]))
		}
		if !same {
			t.Errorf("%s\n got %s\nwant %s", name, strings.Join(got, "\n     "), strings.Join(tt.want, "\n     "))
		}
	}
}
