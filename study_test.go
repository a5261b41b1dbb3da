package tare

import (
	"errors"
	"strings"
	"testing"
	"time"
)

// sound is a study of servers in which everything is right.
func sound() Study {
	return Study{
		ID: "ingest", Kind: "server", Baseline: "own", Metrics: []string{"cpu", "stop"},
		Contenders: []Entry{
			{ID: "own"},
			{ID: "part", Answers: AnswersStatus},
			{ID: "peer", Command: []string{"peerd"}, Requires: []string{"peerd"}, Files: map[string]string{"peer.conf": ""}, Path: "/in", Delivers: "$DIR/*.log", Answers: AnswersStatus},
			{ID: "theirs", URL: "http://127.0.0.1:1", Answers: AnswersStatus},
		},
		Workloads: []Workload{
			{ID: "w", Fixture: "events", Op: "events", Traffic: &Traffic{Connections: 1}},
			{ID: "end", Fixture: "events", Op: OpStop, Traffic: &Traffic{Connections: 1, Segment: time.Second}, Contenders: []string{"part"}},
		},
		Claims: []Claim{
			{ID: "share", Kind: ClaimShare, Contender: "part", Workload: "w", Metric: "cpu", Value: 0.5, Statement: "s"},
			{ID: "reported", Kind: ClaimReported, Because: "gone", Statement: "s"},
		},
	}
}

func TestStudiesThatCannotBeCarriedOut(t *testing.T) {
	s := sound()
	if err := s.Validate(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		path, what string
		change     func(s *Study)
	}{
		{"contenders[1].requires", "is no command", func(s *Study) { s.Contenders[1].Requires = []string{"a"} }},
		{"contenders[1].files", "is no command", func(s *Study) { s.Contenders[1].Files = map[string]string{"a": "b"} }},
		{"contenders[1].path", "is no command", func(s *Study) { s.Contenders[1].Path = "/a" }},
		{"contenders[3].delivers", "is no command", func(s *Study) { s.Contenders[3].Delivers = "a" }},
		{"contenders[2].delivers", "has $DESTINATION in its command", func(s *Study) { s.Contenders[2].Files = map[string]string{"peer.conf": "to ${DESTINATION}"} }},
		{"contenders[2].path", `path "in"`, func(s *Study) { s.Contenders[2].Path = "in" }},
		{"contenders[2].path", `path "/in/"`, func(s *Study) { s.Contenders[2].Path = "/in/" }},
		{"contenders[2].path", `path "/"`, func(s *Study) { s.Contenders[2].Path = "/" }},
		{"contenders[2].answers", `unknown answers "half"`, func(s *Study) { s.Contenders[2].Answers = "half" }},
		{"contenders[2].files", `"../a" cannot be`, func(s *Study) { s.Contenders[2].Files = map[string]string{"../a": ""} }},
		{"contenders[2].files", `".a" cannot be`, func(s *Study) { s.Contenders[2].Files = map[string]string{".a": ""} }},
		{"contenders[2].files", `"" cannot be`, func(s *Study) { s.Contenders[2].Files = map[string]string{"": ""} }},
		{"contenders[1].answers", "is a trap and cannot be status-only", func(s *Study) { s.Contenders[1].Expect.Void = []string{"identity"} }},
		{"contenders[0].answers", "the baseline cannot be status-only", func(s *Study) { s.Contenders[0].Answers = AnswersStatus }},
		{"contenders[1]", "is not built by tare", func(s *Study) { s.Contenders[1] = Entry{ID: "x", Command: []string{"a"}, Go: "go1.25.5"} }},
		{"workloads[1].contenders[0]", `unknown contender "nobody"`, func(s *Study) { s.Workloads[1].Contenders = []string{"nobody"} }},
		{"claims[0].value", "not between 0 and 1", func(s *Study) { s.Claims[0].Value = 1 }},
		{"claims[0].value", "not between 0 and 1", func(s *Study) { s.Claims[0].Value = 0 }},
		{"claims[0].contender", "claim without a contender", func(s *Study) { s.Claims[0].Contender = "" }},
		{"claims[0].workload", "claim without a workload", func(s *Study) { s.Claims[0].Workload = "" }},
		{"claims[1].because", "without the reason", func(s *Study) { s.Claims[1].Because = "" }},
		{"claims[1].value", "below zero", func(s *Study) { s.Claims[1].Value = -1 }},
		{"claims[1].kind", `unknown claim kind "rumour"`, func(s *Study) { s.Claims[1].Kind = "rumour" }},
	} {
		s := sound()
		c.change(&s)
		var f *FieldError
		if err := s.Validate(); !errors.As(err, &f) {
			t.Errorf("%s: error %v, want a *FieldError", c.path, err)
		} else if f.Path != c.path || !strings.Contains(f.What, c.what) || f.Hint == "" {
			t.Errorf("got %q: %q; %q, want %q: …%s…; and a hint", f.Path, f.What, f.Hint, c.path, c.what)
		}
	}
}

func TestWhoIsAsked(t *testing.T) {
	w := Workload{}
	if !w.Asks("anybody") {
		t.Error("a workload that names nobody does not ask all")
	}
	w.Contenders = []string{"a"}
	for id, want := range map[string]bool{"a": true, "b": false, ControlID: true, NullID: true} {
		if w.Asks(id) != want {
			t.Errorf("%s is asked: %v, want %v", id, !want, want)
		}
	}
}

func TestWhatIsMeasured(t *testing.T) {
	stop, _ := MetricNamed("stop")
	time, _ := MetricNamed("time")
	s := sound()
	if !s.Workloads[1].Measures(stop) || s.Workloads[0].Measures(stop) || !s.Workloads[0].Measures(time) {
		t.Error("stop is measured where servers are told to end, and nowhere else")
	}
}

func TestAbsentContenders(t *testing.T) {
	c := Contender{Error: NotInstalled([]string{"peerd", "ruby"})}
	if !c.Absent() || c.Error != "not installed: peerd, ruby" {
		t.Errorf("%+v", c)
	}
	for _, said := range []string{"", "main.go:3: no", "it is not installed: x"} {
		if (Contender{Error: said}).Absent() {
			t.Errorf("%q counts as not installed", said)
		}
	}
}

// given is a study in which one contender takes a module that somebody gives.
func given() Study {
	return Study{
		ID: "ffi", Kind: "copier", Baseline: "json", Metrics: []string{"time", "cpu"},
		Contenders: []Entry{{ID: "json"}, {ID: "ours"}, {ID: "theirs", Given: "example.com/theirs"}},
		Workloads: []Workload{
			{ID: "w", Fixture: "f", Op: "single"},
			{ID: "v", Fixture: "f", Op: "single", Contenders: []string{"ours", "theirs"}},
			{ID: "u", Fixture: "f", Op: "single", Contenders: []string{"theirs"}},
		},
		Claims: []Claim{{
			ID: "F", Kind: ClaimRatio, Contender: "ours", Workload: "w", Metric: "time", Baseline: 2.6, Value: 0.05, Unit: "ms/frame", Statement: "s",
			Whole: 16.6, WholeOf: "a frame",
		}},
		BreakEven: []BreakEven{{Contender: "ours", Workloads: []string{"w", "v"}, Rates: []float64{10, 1000}}},
	}
}

func TestHaving(t *testing.T) {
	s := given()
	s.Answer = []Answer{{Headline: "{theirs w time brief}"}, {Headline: "{ours w time brief}", Figures: "{theirs w time}"}, {Headline: "{ours w time brief}"}}
	s.Recommended = []Answer{
		{Of: []string{"theirs w time"}, When: Met, Ratio: "<= 1", Text: "It is."}, {Of: []string{"ours w time"}, When: Met, Ratio: "<= 1", Text: "It is."},
	}
	if err := s.Validate(); err != nil {
		t.Fatal(err)
	}
	with := s.Having(func(module string) bool { return module == "example.com/theirs" })
	if len(with.Contenders) != 3 || len(with.Workloads) != 3 {
		t.Errorf("given: %+v", with)
	}
	without := s.Having(func(string) bool { return false })
	if len(without.Contenders) != 2 || len(without.Workloads) != 2 || len(without.Workloads[0].Contenders) != 0 || len(without.Workloads[1].Contenders) != 1 {
		t.Errorf("not given: %+v", without)
	}
	if len(without.Answer) != 1 || len(without.Recommended) != 1 {
		t.Errorf("answers about a missing module: %+v, %+v", without.Answer, without.Recommended)
	}
	if err := without.Validate(); err != nil || len(s.Answer) != 3 || len(s.Contenders) != 3 || len(s.Workloads[1].Contenders) != 2 {
		t.Errorf("%v; the study itself became %+v", err, s)
	}
}

func TestGivenStudiesThatCannotBeCarriedOut(t *testing.T) {
	for _, c := range []struct {
		path, what string
		change     func(s *Study)
	}{
		{"contenders[2]", "is not built by tare", func(s *Study) { s.Contenders[2].Command = []string{"a"} }},
		{"baseline", "a question about theirs, which is only measured where its module is given", func(s *Study) { s.Baseline = "theirs" }},
		{"claims[0]", "a question about theirs", func(s *Study) { s.Claims[0].Contender = "theirs" }},
		{"criteria[0]", "a question about theirs", func(s *Study) { s.Criteria = []Criterion{{Contender: "theirs", Metric: "time", Ratio: "<= 1"}} }},
		{"break_even[0]", "a question about theirs", func(s *Study) { s.BreakEven[0].Contender = "theirs" }},
		{"decompose[0]", "a question about theirs", func(s *Study) {
			s.Decompose = []Decompose{{ID: "d", Workload: "w", From: "json", Steps: []DecomposeStep{{To: "theirs", Cause: "c"}}}}
		}},
		{"claims[0].whole", "a whole that is not above zero", func(s *Study) { s.Claims[0].Whole = -1 }},
		{"claims[0].whole_of", "a whole without what it is", func(s *Study) { s.Claims[0].WholeOf = "" }},
		{"claims[0].unit", `a whole in "B/frame"`, func(s *Study) { s.Claims[0].Unit = "B/frame" }},
		{"claims[0].metric", "a whole of bytes, which is no time", func(s *Study) { s.Metrics, s.Claims[0].Metric = []string{"time", "bytes"}, "bytes" }},
		{"break_even[0].contender", `unknown contender "nobody"`, func(s *Study) { s.BreakEven[0].Contender = "nobody" }},
		{"break_even[0].contender", "the baseline against itself", func(s *Study) { s.BreakEven[0].Contender = "json" }},
		{"break_even[0].workloads", "without workloads", func(s *Study) { s.BreakEven[0].Workloads = nil }},
		{"break_even[0].workloads[1]", `unknown workload "x"`, func(s *Study) { s.BreakEven[0].Workloads[1] = "x" }},
		{"break_even[0].rates", "without rates", func(s *Study) { s.BreakEven[0].Rates = nil }},
		{"break_even[0].rates[1]", "rates ascend", func(s *Study) { s.BreakEven[0].Rates[1] = 10 }},
		{"break_even[0].rates[0]", "rates ascend", func(s *Study) { s.BreakEven[0].Rates[0] = 0 }},
		{"break_even[0]", "neither cpu nor time", func(s *Study) { s.Metrics, s.Claims = []string{"bytes"}, nil }},
	} {
		s := given()
		c.change(&s)
		err := s.Validate()
		var f *FieldError
		if !errors.As(err, &f) || f.Path != c.path || !strings.Contains(f.What, c.what) {
			t.Errorf("%s: %v, want %s", c.path, err, c.what)
		}
	}
}
