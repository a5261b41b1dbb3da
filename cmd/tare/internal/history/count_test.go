package history

import (
	"slices"
	"strings"
	"testing"

	"github.com/tarebench/tare"
)

// counting returns a result in which the base allocates base times per operation, and the head head
// times.
func counting(minutes int, base, head float64) *tare.Result {
	r := measured(minutes, 1, 0.01)
	r.Metrics = []string{"time", "allocs"}
	r.Comparisons = nil
	for id, n := range map[string]float64{"old": base, "new": head, "control": base} {
		r.Values = append(r.Values, tare.Value{Workload: "w", Contender: id, Metric: "allocs", Value: n, Unit: "allocs/op", Rounds: 8})
	}
	if base > 0 && head > 0 {
		r.Comparisons = []tare.Comparison{{Workload: "w", Contender: "new", Metric: "allocs", Against: "old", Ratio: head / base, Low: head / base, High: head / base, Level: 0.95, Rounds: 8, Exact: true}}
	}
	return r
}

// Results of tare itself compare counts as counts, also if a side allocates nothing.
func TestCountsOfResults(t *testing.T) {
	for name, c := range map[string]struct {
		counts [][2]float64 // base and head of each run
		change Change
		steps  []int
		says   string
		worse  bool
	}{
		"head begins to allocate":    {[][2]float64{{0, 0}, {0, 0}, {0, 1}}, Changed, []int{2}, "changed in the run of 2026-03-01 12:02: 0, then 1 allocs/op in every run", true},
		"one more":                   {[][2]float64{{2, 2}, {2, 2}, {2, 2}, {2, 3}}, Changed, []int{3}, "changed in the run of 2026-03-01 12:03: 2, then 3 allocs/op in every run", true},
		"head stops":                 {[][2]float64{{3, 3}, {3, 3}, {3, 0}, {3, 0}, {3, 0}, {3, 0}}, Changed, []int{2}, "changed in the run of 2026-03-01 12:02: 3, then 0 allocs/op in every run", false},
		"both allocate one more":     {[][2]float64{{0, 1}, {0, 1}, {1, 2}}, NotShown, nil, "no change shown: 1 to 2 allocs/op", false},
		"base allocates less":        {[][2]float64{{2, 2}, {2, 2}, {0, 2}}, Changed, []int{2}, "changed in the run of 2026-03-01 12:02: 2, then 2 allocs/op in every run, against 2, then 0", true},
		"nothing":                    {[][2]float64{{0, 0}, {0, 0}}, NotShown, nil, "no change shown: 0 allocs/op in every run", false},
		"a share of what was before": {[][2]float64{{0, 0}, {0, 0.01}, {0, 0.3}}, NotShown, nil, "no change shown: 0 to 0.3 allocs/op", false},
		"it varies":                  {[][2]float64{{0, 7}, {0, 9}, {0, 8}, {0, 9}, {0, 7}, {0, 8}}, NotShown, nil, "no change shown: 7 to 9 allocs/op", false},
		"one run":                    {[][2]float64{{0, 1}}, First, nil, "the first", false},
	} {
		var results []*tare.Result
		for i, n := range c.counts {
			results = append(results, counting(i, n[0], n[1]))
		}
		m := trendOf(t, Query{Metric: "allocs", Contenders: []string{"new"}}, results...).Machines[0]
		if len(m.Series) != 1 {
			t.Fatalf("%s: %d series", name, len(m.Series))
		}
		s := m.Series[0]
		if says := m.DescribeChange(s, "allocs"); s.Change != c.change || !slices.Equal(s.Steps, c.steps) || says != c.says {
			t.Errorf("%s: %s at %v: %s\nwant %s at %v: %s", name, s.Change, s.Steps, says, c.change, c.steps, c.says)
		}
		if s.Change == Changed && s.IsWorse("allocs") != c.worse {
			t.Errorf("%s: worse %v", name, !c.worse)
		}
		if drawn := Sparkline(s.Points, true); len(drawn) != len(c.counts) || strings.ContainsAny(drawn, " x") {
			t.Errorf("%s: drawn as %q", name, drawn)
		}
	}
}

// A pair of counts can be turned round, and turned back.
func TestTurnedCounts(t *testing.T) {
	for _, counts := range [][2]float64{{0, 1}, {0, 0}, {3, 2}} {
		for _, p := range PairsOf(counting(0, counts[0], counts[1])) {
			if p.Contender != "new" {
				continue
			}
			turned := p.Inverted()
			if *p.Count != (Count{counts[1], counts[0]}) || *turned.Count != (Count{counts[0], counts[1]}) || turned.Inverted().Ratio != p.Ratio {
				t.Errorf("%+v, turned %+v", p, turned)
			}
		}
	}
}

// If the newest run left a workload out, the series says so beside the change that earlier runs
// show.
func TestNewestRunLeftOut(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*tare.Result)
		want   string
	}{
		"left out":       {func(r *tare.Result) { r.NotWeighed = []tare.NotWeighed{{What: "workload w", Why: "no time"}} }, "left out of the newest run: no time"},
		"its package":    {func(r *tare.Result) { r.NotWeighed = []tare.NotWeighed{{What: "w", Why: "it does\nnot build"}} }, "left out of the newest run: it does not build"},
		"not compared":   {func(*tare.Result) {}, "not compared in the newest run"},
		"gone":           {func(r *tare.Result) { r.Workloads = nil }, ""},
		"its contender":  {func(r *tare.Result) { r.NotWeighed = []tare.NotWeighed{{What: "contender new", Why: "it failed"}} }, "left out of the newest run: it failed"},
		"something else": {func(r *tare.Result) { r.NotWeighed = []tare.NotWeighed{{What: "workload v", Why: "no time"}} }, "not compared in the newest run"},
	} {
		newest := measured(2, 0.5, 0.1)
		newest.Comparisons = slices.DeleteFunc(newest.Comparisons, func(c tare.Comparison) bool { return c.Contender == "new" })
		c.change(newest)
		m := trendOf(t, Query{Contenders: []string{"new"}}, measured(0, 0.5, 0.1), measured(1, 0.5, 0.1), newest).Machines[0]
		s := m.Series[0]
		if s.Missing != c.want || len(m.NotWeighed) != len(newest.NotWeighed) {
			t.Errorf("%s: %q and %v, want %q", name, s.Missing, m.NotWeighed, c.want)
		}
		if says := m.DescribeChange(s, "time"); c.want != "" && !strings.HasSuffix(says, "; "+c.want) {
			t.Errorf("%s: %s", name, says)
		}
	}
}
