package advice

import (
	"slices"
	"strings"
	"testing"

	"github.com/tarebench/tare"
)

const (
	base = "base"
	work = "w"
)

// measured is a result of three contenders on one workload: quick and even share
// the first place, slow is last; the control's interval is ±2 %.
func measured() *tare.Result {
	comparison := func(id string, ratio, low, high float64, place int) tare.Comparison {
		return tare.Comparison{Workload: work, Contender: id, Metric: "time", Against: base, Ratio: ratio, Low: low, High: high, RankLow: place}
	}
	return &tare.Result{
		Design: tare.Design{Contenders: []tare.Contender{
			{ID: base, Role: tare.RoleBaseline, Build: tare.Build{BinaryBytes: 4_000_000}, Adoption: tare.Adoption{ModulesLinked: 1}},
			{ID: tare.ControlID, Role: tare.RoleControl},
			{ID: "trap", Role: tare.RoleTrap},
			{ID: "slow", Role: tare.RoleContender, Build: tare.Build{BinaryBytes: 3_900_000}},
			{ID: "even", Role: tare.RoleContender, Build: tare.Build{BinaryBytes: 4_000_900}, Adoption: tare.Adoption{ModulesLinked: 2}},
			{ID: "quick", Role: tare.RoleContender, Build: tare.Build{BinaryBytes: 7_100_000}, Adoption: tare.Adoption{ModulesLinked: 9, Unmaintained: "since 2019"}},
			{ID: "absent", Role: tare.RoleContender},
		}},
		Measured: tare.Measured{Comparisons: []tare.Comparison{
			comparison(tare.ControlID, 1, 1/1.02, 1.02, 0), comparison("trap", 0.1, 0.1, 0.1, 0),
			comparison("slow", 2, 1.9, 2.1, 3), comparison("even", 0.5, 0.45, 0.55, 1), comparison("quick", 0.4, 0.35, 0.45, 1),
			{Workload: work, Contender: "absent", Metric: "cpu", Against: base, Ratio: 0.1, Low: 0.1, High: 0.1},
			{Workload: "other", Contender: "absent", Metric: "time", Against: base, Ratio: 0.1, Low: 0.1, High: 0.1},
			{Workload: work, Contender: "absent", Metric: "time", Against: "quick", Ratio: 0.1, Low: 0.1, High: 0.1},
		}},
	}
}

func reading(r *tare.Result) Reading {
	return Reading{Result: r, Baseline: base, Workload: work, Metric: "time"}
}

func ids(list []tare.Comparison) string {
	var out []string
	for _, c := range list {
		out = append(out, c.Contender)
	}
	return strings.Join(out, " ")
}

func TestWho(t *testing.T) {
	void := func(check, id, workload string) func(*tare.Result) {
		return func(r *tare.Result) {
			r.Findings = append(r.Findings, tare.Finding{Check: check, Severity: tare.Void, Contender: id, Workload: workload})
		}
	}
	interval := func(id string, ratio, low, high float64) func(*tare.Result) {
		return func(r *tare.Result) {
			i := slices.IndexFunc(r.Comparisons, func(c tare.Comparison) bool { return c.Contender == id })
			r.Comparisons[i].Ratio, r.Comparisons[i].Low, r.Comparisons[i].High = ratio, low, high
		}
	}
	for name, tt := range map[string]struct {
		change                    func(*tare.Result)
		measured, faster, nothing string
	}{
		"as it is": {func(*tare.Result) {}, "quick even slow", "quick even", ""},
		"without ranks, by ratio": {func(r *tare.Result) {
			for i := range r.Comparisons {
				r.Comparisons[i].RankLow = 0
			}
		}, "quick even slow", "quick even", ""},
		"a better place before a ratio":   {func(r *tare.Result) { r.Comparisons[4].RankLow = 2 }, "even quick slow", "even quick", ""},
		"void elsewhere":                  {void("part-whole", "quick", "other"), "quick even slow", "quick even", ""},
		"void":                            {void("wrong-answer", "quick", ""), "even slow", "even", ""},
		"the baseline is void":            {void("drift-in-trial", base, work), "quick even slow", "quick even", "base is void by the check drift-in-trial"},
		"the control is void":             {void("control", tare.ControlID, work), "quick even slow", "quick even", "control is void by the check control"},
		"no interval":                     {interval("quick", 0.4, 0, 0), "even slow", "even", ""},
		"an interval that holds 1":        {interval("quick", 0.9, 0.8, 1.01), "even quick slow", "even", ""},
		"within what the control shows":   {interval("quick", 0.99, 0.985, 0.995), "even quick slow", "even", ""},
		"the control has no interval":     {interval(tare.ControlID, 1, 0, 0), "quick even slow", "quick even", "too few rounds for an interval"},
		"there is no control":             {func(r *tare.Result) { r.Comparisons = r.Comparisons[1:] }, "quick even slow", "quick even", "too few rounds for an interval"},
		"nobody was compared with anyone": {func(r *tare.Result) { r.Comparisons = nil }, "", "", "too few rounds for an interval"},
	} {
		r := measured()
		tt.change(r)
		a := reading(r)
		if got := ids(a.Measured()); got != tt.measured {
			t.Errorf("%s: measured %q, want %q", name, got, tt.measured)
		}
		if got := ids(a.Faster()); got != tt.faster {
			t.Errorf("%s: faster %q, want %q", name, got, tt.faster)
		}
		if got := a.WhyNoAdvice(); got != tt.nothing {
			t.Errorf("%s: %q, want %q", name, got, tt.nothing)
		}
	}
}

func TestShown(t *testing.T) {
	a := reading(measured())
	for _, tt := range []struct {
		ratio, low, high float64
		want             bool
	}{
		{0.5, 0.4, 0.6, true}, {2, 1.9, 2.1, true}, {1.03, 1.025, 1.035, true}, {0.97, 0.96, 0.98, true},
		{1.01, 1.005, 1.015, false}, {0.99, 0.985, 0.995, false}, {0.5, 0.2, 1.1, false}, {2, 0.9, 4, false}, {1, 1, 1, false},
	} {
		if got := a.IsShown(tare.Comparison{Ratio: tt.ratio, Low: tt.low, High: tt.high}); got != tt.want {
			t.Errorf("%v [%v, %v]: %v", tt.ratio, tt.low, tt.high, got)
		}
	}
}

func TestTied(t *testing.T) {
	list := reading(measured()).Measured()
	for i, want := range []string{
		"; even did not differ significantly from it", "; quick did not differ significantly from it", "",
	} {
		if got := DescribeTies(list[i], list); got != want {
			t.Errorf("%s: %q, want %q", list[i].Contender, got, want)
		}
	}
}

func TestPrice(t *testing.T) {
	a := reading(measured())
	for id, want := range map[string]string{
		"quick": "it links 8 modules and adds 3.1 MB to the binary; it counts as unmaintained",
		"even":  "it links 1 module and adds 900 B to the binary",
		"slow":  "it links no further module and makes the binary no larger",
	} {
		if got := a.DescribeCosts(id); got != want {
			t.Errorf("%s: %q, want %q", id, got, want)
		}
	}
}

func TestWords(t *testing.T) {
	for got, want := range map[string]string{
		JoinNames(nil):                     "",
		JoinNames([]string{"a"}):           "a",
		JoinNames([]string{"a", "b"}):      "a and b",
		JoinNames([]string{"a", "b", "c"}): "a, b and c",
		FormatNanoseconds(0.25):            "0.25 ns",
		FormatNanoseconds(999.4):           "999 ns",
		FormatNanoseconds(1234):            "1.23 µs",
		FormatNanoseconds(2_900_000):       "2.9 ms",
		FormatNanoseconds(7.52e9):          "7.52 s",
		FormatBytes(0):                     "0 B",
		FormatBytes(999):                   "999 B",
		FormatBytes(1234):                  "1.23 kB",
		FormatBytes(123_456):               "123 kB",
		FormatBytes(5_000_009):             "5 MB",
		FormatPercent(0.5):                 "50 %",
		FormatPercent(0.05):                "5 %",
		FormatPercent(0.0123):              "1.2 %",
		FormatPercent(0.000949):            "less than 0.1 %",
		FormatPercent(0.0995):              "10 %",
		FormatBytes(1e5):                   "100 kB",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A recommendation is a headline of at most 15 words with its condition, or says what is
// missing; the line below it has the ratios.
func TestSetAnswer(t *testing.T) {
	void := measured()
	void.Findings = []tare.Finding{{Check: "wrong-answer", Severity: tare.Void, Contender: base, Workload: work}}
	slow := measured()
	slow.Comparisons = slices.DeleteFunc(slow.Comparisons, func(c tare.Comparison) bool { return c.Contender == "quick" || c.Contender == "even" })
	few := measured()
	few.Comparisons = nil
	const figures = " Time, of net/http: quick 0.40× (0.35–0.45), even 0.50× (0.45–0.55), slow 2.00× (1.90–2.10); noise ±2 %."
	keeps := func(who ...string) func(string) bool {
		return func(id string) bool { return slices.Contains(who, id) }
	}
	for _, c := range []struct {
		r     *tare.Result
		keeps func(string) bool
		want  string
	}{
		{measured(), nil, "Use quick: 2.5× as fast as net/http." + figures},
		{measured(), keeps("quick"), "Use quick: 2.5× as fast as net/http." + figures},
		{measured(), keeps("even"), "Use quick: 2.5× as fast as net/http; where all values must stay, even." + figures},
		{measured(), keeps(), "Use quick: 2.5× as fast as net/http; where all values must stay, net/http." + figures},
		{slow, nil, "Stay with net/http: no other codec is shown to take less. Time, of net/http: slow 2.00× (1.90–2.10); noise ±2 %."},
		{void, nil, "No answer: base is void by the check wrong-answer." + figures},
		{few, nil, "No answer: too few rounds for an interval. "},
	} {
		reading(c.r).SetAnswer("codec", "net/http", "where all values must stay", c.keeps)
		if got := c.r.Answer + " " + c.r.Figures; got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
		if n := len(strings.Fields(c.r.Answer)); n > 15 {
			t.Errorf("%d words: %s", n, c.r.Answer)
		}
	}
}

// A metric other than time is a saving, and the line below the headline names three contenders.
func TestSetAnswerOfCPU(t *testing.T) {
	r := measured()
	for i, c := range r.Comparisons {
		c.Metric = "cpu"
		r.Comparisons[i] = c
	}
	more := r.Comparisons[2]
	more.Contender, more.Ratio, more.Low, more.High = "late", 0.6, 0.55, 0.65
	r.Comparisons = append(r.Comparisons, more)
	r.Contenders = append(r.Contenders, tare.Contender{ID: "late", Role: tare.RoleContender})
	Reading{Result: r, Baseline: base, Workload: work, Metric: "cpu"}.SetAnswer("codec", "net/http", "", nil)
	if want := "Use absent: 90 % less CPU time than net/http."; r.Answer != want {
		t.Errorf("%q, want %q", r.Answer, want)
	}
	if n := len(r.Quotes); n != maxFigures {
		t.Errorf("%d figures: %s", n, r.Figures)
	}
}
