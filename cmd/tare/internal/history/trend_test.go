package history

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tarebench/tare"
)

// noon returns the start of the first run of a test.
func noon() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }

// measured returns a result in which new has the given ratio to old, with an interval of ratio ±
// half.
func measured(minutes int, ratio, half float64) *tare.Result {
	r := sample()
	r.Started = noon().Add(time.Duration(minutes) * time.Minute)
	r.Seed, r.Stopped = fmt.Sprint(minutes), "decided"
	r.Machine = tare.Machine{OS: "linux", Arch: "amd64", Kernel: "6.1", CPU: "Scripted 3000", Cores: 2, Memory: 8 << 30, Go: "go1.26.0"}
	r.Workloads[0].SHA256 = "aa"
	r.Contenders = []tare.Contender{
		{ID: "old", Role: tare.RoleBaseline, Build: tare.Build{Go: "go1.26.0"}}, {ID: "new", Role: tare.RoleContender, Build: tare.Build{Go: "go1.26.0", Modules: []tare.Module{{Path: "example.com/new", Version: "v1.0.0"}}}},
		{ID: "third", Role: tare.RoleContender, Build: tare.Build{Go: "go1.26.0"}}, {ID: "control", Role: tare.RoleControl, Build: tare.Build{Go: "go1.26.0"}},
	}
	r.Comparisons = []tare.Comparison{
		{Workload: "w", Contender: "new", Metric: "time", Against: "old", Ratio: ratio, Low: ratio - half, High: ratio + half, Level: 0.95, Rounds: 8},
		{Workload: "w", Contender: "third", Metric: "time", Against: "old", Ratio: 2, Rounds: 8},
		{Workload: "w", Contender: "control", Metric: "time", Against: "old", Ratio: 1, Low: 0.9, High: 1.1, Level: 0.95, Rounds: 8},
	}
	return r
}

// trendOf returns the trend of results, which are of study s and ordered from the oldest.
func trendOf(t *testing.T, q Query, results ...*tare.Result) Trend {
	t.Helper()
	q.Study = "s"
	var stored []Stored
	for i, r := range results {
		stored = append(stored, Stored{ID: int64(i), Started: r.Started, Digest: DigestOf(r)})
	}
	trend, err := NewTrend(q, stored, func(id int64, metric, against string) (out []Pair, err error) {
		for _, p := range PairsOf(results[id]) {
			switch {
			case p.Metric != metric:
			case p.Against == against:
				out = append(out, p)
			case p.Contender == against:
				out = append(out, p.Inverted())
			}
		}
		return out, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return trend
}

func TestChangedIsOnlySaidWhereIntervalsDoNotOverlap(t *testing.T) {
	for _, c := range []struct {
		name      string
		then, now [2]float64 // ratio, half of the interval
		want      Change
	}{
		{"apart", [2]float64{0.5, 0.05}, [2]float64{0.7, 0.05}, Changed},
		{"apart downwards", [2]float64{0.7, 0.05}, [2]float64{0.5, 0.05}, Changed},
		{"overlapping", [2]float64{0.5, 0.125}, [2]float64{0.7, 0.125}, NotShown},
		{"touching", [2]float64{0.5, 0.125}, [2]float64{0.75, 0.125}, NotShown},
		{"the last without an interval", [2]float64{0.5, 0.05}, [2]float64{0.7, 0.7}, Unknown},
		{"the first without an interval", [2]float64{0.5, 0.5}, [2]float64{0.7, 0.05}, Unknown},
	} {
		trend := trendOf(t, Query{Contenders: []string{"new"}}, measured(0, c.then[0], c.then[1]), measured(1, c.now[0], c.now[1]))
		if got := trend.Machines[0].Series[0].Change; got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
	if got := trendOf(t, Query{Contenders: []string{"new"}}, measured(0, 0.5, 0.1)).Machines[0].Series[0].Change; got != First {
		t.Errorf("one run: %s", got)
	}
	// The run before has no interval; the one before that has.
	s := trendOf(t, Query{Contenders: []string{"new"}}, measured(0, 0.3, 0.05), measured(1, 0.7, 0.7), measured(2, 0.7, 0.05)).Machines[0].Series[0]
	if s.Change != Changed || s.Before.Run != 0 {
		t.Errorf("%s since run %d", s.Change, s.Before.Run)
	}
}

func TestWhoIsInATrend(t *testing.T) {
	trend := trendOf(t, Query{}, measured(0, 0.5, 0.1))
	var who []string
	for _, s := range trend.Machines[0].Series {
		who = append(who, s.Contender)
	}
	if !slices.Equal(who, []string{"new", "third"}) || trend.Metric != "time" || trend.Against != "old" {
		t.Errorf("%q of %s against %s", who, trend.Metric, trend.Against)
	}
	for q, want := range map[string]int{"control": 1, "*": 3, "n*": 1, "nobody": 0} {
		if got := trendOf(t, Query{Contenders: []string{q}}, measured(0, 0.5, 0.1)); len(got.Machines[0].Series) != want {
			t.Errorf("%s: %d series, want %d", q, len(got.Machines[0].Series), want)
		}
	}
	void := measured(1, 0.6, 0.1)
	void.Findings = []tare.Finding{{Check: "wrong-answer", Severity: tare.Void, Contender: "new"}}
	s := trendOf(t, Query{Contenders: []string{"new"}}, measured(0, 0.5, 0.1), void).Machines[0].Series[0]
	if !s.Points[1].Void || s.Last.Run != 0 || s.Change != First {
		t.Errorf("a void run: %+v", s)
	}
	if got := trendOf(t, Query{Last: 2}, measured(0, 0.5, 0.1), measured(1, 0.6, 0.1), measured(2, 0.7, 0.1)).Machines[0].Runs; len(got) != 2 || got[1].Seed != "2" {
		t.Errorf("the last two: %+v", got)
	}
}

func TestOtherMachinesAreKeptApart(t *testing.T) {
	other, kernel := measured(1, 0.9, 0.1), measured(2, 0.6, 0.1)
	other.Machine.Cores = 64
	kernel.Machine.Kernel = "6.2"
	trend := trendOf(t, Query{Contenders: []string{"new"}}, measured(0, 0.5, 0.1), other, kernel)
	if len(trend.Machines) != 2 || trend.Machines[0].Name != "Scripted 3000 (linux/amd64, 2 cores, 8 GiB)" || len(trend.Machines[0].Runs) != 2 || len(trend.Machines[1].Runs) != 1 {
		t.Fatalf("%+v", trend.Machines)
	}
	if stale := trend.Machines[0].Runs[0].Stale; !slices.Equal(stale, []string{"the kernel was 6.1 then and is 6.2 now"}) {
		t.Errorf("%q", stale)
	}
}

// Ratios to different revisions of the base are not compared with each other: in a gate the base
// moves on.
func TestAnotherReferenceIsNotCompared(t *testing.T) {
	bench := func(minutes int, ratio float64, base string) *tare.Result {
		r := measured(minutes, ratio, 0.01)
		r.Contenders[0].Kind, r.Contenders[0].Version = kindGobench, base
		return r
	}
	for base, want := range map[string]Change{"v1.0.0 (aaaaaaaaa)": Changed, "main (bbbbbbbbb)": First} {
		m := trendOf(t, Query{Contenders: []string{"new"}}, bench(0, 0.5, base), bench(1, 0.7, "v1.0.0 (aaaaaaaaa)")).Machines[0]
		if got := m.Series[0].Change; got != want {
			t.Errorf("%s: %s, want %s", base, got, want)
		}
		if said := strings.Join(m.Runs[0].Stale, "\n"); (want == First) != (said == "old was main (bbbbbbbbb) then and is v1.0.0 (aaaaaaaaa) now") {
			t.Errorf("%s: %q", base, said)
		}
	}
}

func TestStaleRunsAreMarked(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*tare.Result)
		want   string
		who    string // whose points are stale
	}{
		"Go":     {func(r *tare.Result) { r.Contenders[0].Go = "go1.25.0" }, "the Go that built the contenders was go1.25.0 then and is go1.26.0 now", "new third"},
		"module": {func(r *tare.Result) { r.Contenders[1].Modules[0].Version = "v0.9.0" }, "new: example.com/new was v0.9.0 then and is v1.0.0 now", "new"},
		"tare":   {func(r *tare.Result) { r.Tare = "v0.1.0" }, "tare was v0.1.0 then and is v0.2.0 now", "new third"},
		"source": {func(r *tare.Result) { r.Contenders[1].SHA256 = "aaaaaaaaaaaaaaaa" }, "new: its source changed: the program was aaaaaaaaaaaa then and is bbbbbbbbbbbb now", "new"},
		"unsaid": {func(r *tare.Result) { r.Contenders[1].SHA256 = "" }, "", ""},
		"input":  {func(r *tare.Result) { r.Workloads[0].SHA256 = "bb" }, "w asked something else then", ""},
		"same":   {func(*tare.Result) {}, "", ""},
		"counter": {func(r *tare.Result) { r.Counter = &tare.Counter{Name: "hardware", Uncalibrated: true} },
			"instructions were counted by hardware counters, uncalibrated then and by valgrind 3.19.0 now", ""},
	} {
		then, now := measured(0, 0.5, 0.1), measured(1, 0.9, 0.1)
		then.Tare, now.Tare = "v0.2.0", "v0.2.0"
		now.Counter = &tare.Counter{Name: "valgrind", Version: "3.19.0"}
		for _, r := range []*tare.Result{then, now} {
			r.Contenders[1].SHA256 = "bbbbbbbbbbbbbbbb"
		}
		c.change(then)
		m := trendOf(t, Query{}, then, now).Machines[0]
		if got := strings.Join(m.Runs[0].Stale, "\n"); got != c.want || len(m.Runs[1].Stale) > 0 {
			t.Errorf("%s: %q and %q, want %q", name, got, m.Runs[1].Stale, c.want)
		}
		var who []string
		for _, s := range m.Series {
			if s.Points[0].Stale {
				who = append(who, s.Contender)
			}
		}
		if got := strings.Join(who, " "); got != c.who {
			t.Errorf("%s: stale are %q, want %q", name, got, c.who)
		}
		if s := m.Series[0]; (name == "input") != (s.Change == First) {
			t.Errorf("%s: %s", name, s.Change)
		}
	}
}

func TestSpark(t *testing.T) {
	at := func(ratio, low, high float64) *Point { return &Point{Ratio: ratio, Low: low, High: high} }
	for _, c := range []struct {
		name   string
		points []*Point
		want   string
		ascii  string
	}{
		{"nothing", nil, "", ""},
		{"flat", []*Point{at(1, 1, 1), at(1, 1, 1)}, "▄▄", "~~"},
		{"rising", []*Point{at(1, 0, 0), at(2, 0, 0), at(4, 0, 0)}, "▁▅█", "_=#"},
		{"within its intervals", []*Point{at(1, 0.25, 4), at(1.1, 0.25, 4)}, "▅▅", "=="},
		{"gaps and voids", []*Point{at(1, 0, 0), nil, {Ratio: 9, Void: true}, at(2, 0, 0)}, "▁ x█", "_ x#"},
	} {
		if got := Sparkline(c.points, false); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
		if got := Sparkline(c.points, true); got != c.ascii {
			t.Errorf("%s: %q, want %q", c.name, got, c.ascii)
		}
	}
}
