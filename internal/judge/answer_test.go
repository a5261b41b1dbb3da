package judge

import (
	"testing"

	"github.com/tarebench/tare"
)

// answered is a result of gin and grpc over rest: on get nothing differs
// significantly, on put grpc takes half, and the control shows 2 %.
func answered() *tare.Result {
	ratio := func(workload, contender string, r, low, high float64) tare.Comparison {
		return tare.Comparison{Workload: workload, Contender: contender, Metric: "cpu", Against: "rest", Ratio: r, Low: low, High: high, Rounds: 12}
	}
	verdict := func(workload, contender string, v tare.Ruling) tare.Verdict {
		return tare.Verdict{Contender: contender, Workload: workload, Metric: "cpu", Criterion: "cpu ratio <= 0.6", Verdict: v}
	}
	r := &tare.Result{
		Design: tare.Design{
			Metrics:    []string{"cpu"},
			Workloads:  []tare.Workload{{ID: "get"}, {ID: "put"}},
			Contenders: []tare.Contender{{ID: "rest", Role: tare.RoleBaseline}, {ID: "grpc", Role: tare.RoleContender}, {ID: "gin", Role: tare.RoleContender}},
		},
		Measured: tare.Measured{
			Comparisons: []tare.Comparison{
				{Workload: "put", Contender: "rest", Against: "rest", Metric: "cpu", Ratio: 1, Low: 1, High: 1, RankLow: 3, RankHigh: 3},
				ratio("get", tare.ControlID, 1, 0.98, 1.02), ratio("put", tare.ControlID, 1, 0.98, 1.02),
				ratio("get", "grpc", 1.01, 0.97, 1.05), ratio("put", "grpc", 0.5, 0.45, 0.55),
				ratio("get", "gin", 1.015, 1.01, 1.02), ratio("put", "gin", 0.9, 0, 0),
			},
			Values: []tare.Value{{Workload: "put", Contender: "rest", Metric: "cpu", Value: 2500, Low: 2400, High: 2600, Unit: "ns/op", Rounds: 12}},
		},
		Judged: tare.Judged{Verdicts: []tare.Verdict{verdict("put", "grpc", tare.Met), verdict("get", "grpc", tare.NotMet), verdict("put", "gin", tare.Inconclusive), {Contender: "gin", Workload: "get", Metric: "cpu"}}},
		Analysis: tare.Analysis{Decomposition: []tare.Decomposition{
			{ID: "why", Whole: tare.Cause{To: "none", Ratio: 3, Low: 2.5, High: 3.5}, Steps: []tare.Cause{{To: "log", Share: 0.4, ShareLow: 0.3, ShareHigh: 0.5}, {To: "none"}}},
			{ID: "not", Whole: tare.Cause{}},
		}},
	}
	r.Comparisons[4].RankLow, r.Comparisons[6].RankLow = 1, 2
	return r
}

func TestAnswerQuotes(t *testing.T) {
	for text, want := range map[string]string{
		"{grpc put cpu}":        "0.50× (0.45–0.55)",
		"{gin get cpu}":         "1.01× (1.01–1.02, noise ±2 %)",
		"{grpc get cpu}":        "1.01× (0.97–1.05)",
		"{grpc put cpu words}":  "uses 0.50× (0.45–0.55) the CPU time of rest",
		"{grpc get cpu words}":  "does not differ significantly from rest in CPU time (0.97–1.05×)",
		"{gin get cpu words}":   "does not differ from rest in CPU time by more than the control does (1.01×, 1.01–1.02; control ±2 %)",
		"{rest put cpu value}":  "2.5 µs (2.4–2.6 µs)",
		"{grpc get cpu to put}": "from 1.01× (0.97–1.05) to 0.50× (0.45–0.55), a significant change",
		"{grpc put cpu to put}": "from 0.50× (0.45–0.55) to 0.50× (0.45–0.55), no significant change",
		"{put cpu least}":       "grpc 0.50× (0.45–0.55)",
		"{why log share}":       "40 % (30–50)",
		"{why whole}":           "3.00× (2.50–3.50)",
		"a {why whole} b":       "a 3.00× (2.50–3.50) b",
		// What was not measured, or has no interval, is not quoted.
		"{gin put cpu}": "", "{gin put cpu words}": "", "{grpc put time}": "", "{grpc put cpu value}": "", "{grpc put cpu to del}": "",
		"{get cpu least}": "", "{why none share}": "", "{not log share}": "", "{not whole}": "", "{none whole}": "",
	} {
		chain := []tare.DecomposeStep{{To: "log"}, {To: "none"}}
		s := tare.Study{Decompose: []tare.Decompose{{ID: "why", Steps: chain}, {ID: "not", Steps: chain}}, Answer: []tare.Answer{{Text: text}}}
		if got, _, _ := Answer(s, answered()); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// A step that took over the cause of a contender that was left out is not the
// step that an answer names, and a chain that ends early is not the whole.
func TestAnswerOfBrokenChain(t *testing.T) {
	chain := tare.Decompose{ID: "why", From: "rest", Steps: []tare.DecomposeStep{{To: "log", Cause: "a log"}, {To: "fresh", Cause: "a connection"}}}
	measured := func(steps ...tare.Cause) *tare.Result {
		for i := range steps {
			steps[i].Share, steps[i].ShareLow, steps[i].ShareHigh = 0.4, 0.3, 0.5
		}
		whole := tare.Cause{From: "rest", To: steps[len(steps)-1].To, Ratio: 3, Low: 2.5, High: 3.5}
		return &tare.Result{Analysis: tare.Analysis{Decomposition: []tare.Decomposition{{ID: "why", Whole: whole, Steps: steps}}}}
	}
	log, fresh := tare.Cause{To: "log", Cause: "a log"}, tare.Cause{To: "fresh", Cause: "a connection"}
	both := tare.Cause{To: "fresh", Cause: "a log and a connection"}
	for _, c := range []struct {
		name, text, want string
		r                *tare.Result
	}{
		{"complete, share", "{why fresh share}", "40 % (30–50)", measured(log, fresh)},
		{"complete, whole", "{why whole}", "3.00× (2.50–3.50)", measured(log, fresh)},
		{"log left out, share", "{why fresh share}", "", measured(both)},
		{"log left out, whole", "{why whole}", "3.00× (2.50–3.50)", measured(both)},
		{"fresh left out, share", "{why log share}", "40 % (30–50)", measured(log)},
		{"fresh left out, whole", "{why whole}", "", measured(log)},
	} {
		s := tare.Study{Decompose: []tare.Decompose{chain}, Answer: []tare.Answer{{Text: c.text}}}
		if got, _, _ := Answer(s, c.r); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// Who shares the first place is named with the others of it.
func TestAnswerLeast(t *testing.T) {
	r := answered()
	r.Comparisons[0].RankLow = 1
	s := tare.Study{Answer: []tare.Answer{{Text: "{put cpu least}"}}}
	if got, want := first(Answer(s, r)), "rest or grpc 0.50× (0.45–0.55), which over all pairs do not differ significantly"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestAnswerOfVoid(t *testing.T) {
	void := func(who string) *tare.Result {
		r := answered()
		r.Findings = []tare.Finding{{Check: "wrong-answer", Severity: tare.Void, Contender: who, Workload: "put"}}
		if who == "" {
			r.Findings[0] = tare.Finding{Check: "wrong-answer", Severity: tare.Void, Contender: "grpc"}
		}
		return r
	}
	for _, c := range []struct{ who, text, want string }{
		{"grpc", "{grpc put cpu words}", "is void (wrong-answer)"},
		{"rest", "{grpc put cpu words}", "has no ratio, because rest is void (wrong-answer)"},
		{"grpc", "{grpc put cpu}", ""}, {"rest", "{grpc put cpu}", ""}, {"grpc", "{grpc get cpu to put}", ""}, {"rest", "{rest put cpu value}", ""},
		{"gin", "{grpc put cpu}", "0.50× (0.45–0.55)"},
		{"", "{grpc put cpu words}", "is void (wrong-answer)"},
		// A contender that is void everywhere is not void on what was left out.
		{"", "{grpc del cpu words}", ""},
	} {
		if got, _, _ := Answer(tare.Study{Answer: []tare.Answer{{Text: c.text}}}, void(c.who)); got != c.want {
			t.Errorf("%s void, %s: %q, want %q", c.who, c.text, got, c.want)
		}
	}
}

// The first answer is taken whose condition holds and whose figures are there.
func TestAnswerVariants(t *testing.T) {
	variants := func(ratio string, of ...string) (out []tare.Answer) {
		for _, when := range []tare.Ruling{tare.Met, tare.NotMet, tare.Inconclusive, tare.VoidRuling} {
			out = append(out, tare.Answer{When: when, Of: of, Ratio: ratio, Text: string(when)})
		}
		return append(out, tare.Answer{Text: "missing"})
	}
	r := answered()
	r.Verdicts = append(r.Verdicts, tare.Verdict{Contender: "void", Workload: "put", Metric: "cpu", Criterion: "c", Verdict: tare.VoidRuling})
	r.Findings = []tare.Finding{{Check: "identity", Severity: tare.Void, Contender: "void"}}
	for _, c := range []struct {
		answers []tare.Answer
		want    string
	}{
		{variants("", "grpc put cpu"), "met"},
		{variants("", "grpc get cpu"), "not met"},
		{variants("", "gin put cpu"), "inconclusive"},
		{variants("", "void put cpu"), "void"},
		{variants("", "gin get cpu"), "missing"}, // a verdict without a criterion
		{variants("", "grpc del cpu"), "missing"},
		{variants("", "grpc put cpu", "gin put cpu"), "inconclusive"},
		{variants("", "grpc put cpu", "grpc get cpu"), "not met"},
		{variants("", "grpc put cpu", "grpc del cpu"), "missing"},
		{variants("", "* put cpu"), "void"},
		{variants("", "* get cpu"), "not met"},
		{variants("<= 0.6", "grpc put cpu"), "met"},
		{variants("<= 0.4", "grpc put cpu"), "not met"},
		{variants("<= 0.5", "grpc put cpu"), "inconclusive"},
		{variants("<= 0.5", "void put cpu"), "void"},
		{variants("<= 0.5", "gin put cpu"), "missing"},
		{variants("<= 0.5", "void del cpu"), "missing"},
		{variants(">= 1", "gin get cpu"), "inconclusive"}, // within the control
		{variants(">= 1.005", "gin get cpu"), "inconclusive"},
		{variants(">= 0.995", "gin get cpu"), "met"},
		{[]tare.Answer{{Text: "{gin put cpu}"}, {Text: "{grpc put cpu}"}, {Text: "later"}}, "0.50× (0.45–0.55)"},
		{nil, ""},
	} {
		if got, _, _ := Answer(tare.Study{Answer: c.answers}, r); got != c.want {
			t.Errorf("%+v: %q, want %q", c.answers, got, c.want)
		}
	}
}

func first(text, _ string, _ []tare.Quote) string { return text }
