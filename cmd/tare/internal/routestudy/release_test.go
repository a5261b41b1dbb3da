package routestudy

import (
	"slices"
	"strings"
	"testing"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/studyfile"
)

func TestReleaseStudy(t *testing.T) {
	d, _ := listOf(t, "r.txt", "GET /a\nGET /b")
	for _, tt := range []struct{ routers, toolchains, question, contenders, chains string }{
		{"nethttp", "go1.26.8 go1.27.2", "for net/http on the 2 routes of r.txt?", "nethttp-go1.26.8 nethttp-go1.27.2", ""},
		{"nethttp gin-new", "go1.26.8 go1.27rc1 go1.27rc1+simd", "for net/http and gin-new on the 2 routes of r.txt?",
			"nethttp-go1.26.8 nethttp-go1.27rc1 nethttp-go1.27rc1+simd gin-new-go1.26.8 gin-new-go1.27rc1 gin-new-go1.27rc1+simd",
			"gin-new-go1.26.8>gin-new-go1.27rc1 gin-new-go1.26.8>gin-new-go1.27rc1+simd"},
		{"nethttp chi", "go1.26 go1.27", "for net/http and chi on the 2 routes of r.txt?", "nethttp-go1.26 nethttp-go1.27 chi-go1.26 chi-go1.27", "chi-go1.26>chi-go1.27"},
	} {
		r := Releases{strings.Fields(tt.routers), strings.Fields(tt.toolchains)}
		text := d.ReleaseStudy(r)
		s, _, err := studyfile.Read("routes.yaml", []byte(text))
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		read := slices.Clone(s.Contenders)
		r.SetToolchains(s.Contenders)
		var ids, chains []string
		for i, e := range s.Contenders {
			ids = append(ids, e.ID)
			isOpen := slices.Contains([]string{"go1.26", "go1.27"}, e.Go)
			if e.ID != e.Use+"-"+e.Go || !slices.Contains(r.Routers, e.Use) || read[i].Go != e.Go && !isOpen {
				t.Errorf("%+v, in the file go: %s", e, read[i].Go)
			}
		}
		for _, c := range s.Decompose {
			chains = append(chains, c.From+">"+c.Steps[0].To)
		}
		if got := strings.Join(ids, " "); got != tt.contenders || s.Baseline != ids[0] || s.ID != "routes-go" || !strings.HasSuffix(s.Question, tt.question) {
			t.Errorf("%s of %s: %s", got, s.Baseline, s.Question)
		}
		if got := strings.Join(chains, " "); got != tt.chains {
			t.Errorf("decompositions %s, want %s", got, tt.chains)
		}
		if len(s.Workloads) == 0 || s.Budget.Quick != Quick {
			t.Errorf("%+v", s)
		}
	}
}

// releasesMeasured is a result made by hand: net/http takes 0.8 of the time with the second release, and
// answers three requests differently; chi takes as long, and answers alike.
func releasesMeasured() ReleaseAdvice {
	differ := func(id, property, reference, got string) tare.Difference {
		return tare.Difference{Op: "serve", Case: id, Property: property, Asked: "/" + id, Reference: reference, Got: got}
	}
	const first = "nethttp-go1.26.8"
	add := func(r *tare.Result, id string, ratio, low, high float64) {
		r.Comparisons = append(r.Comparisons, tare.Comparison{Workload: allID, Contender: id, Metric: "time", Against: first, Ratio: ratio, Low: low, High: high, AgainstValue: 250, Value: 250 * ratio})
	}
	r := &tare.Result{
		Design: tare.Design{Workloads: []tare.Workload{{ID: allID}}, Contenders: []tare.Contender{
			{ID: first, Role: tare.RoleBaseline}, {ID: tare.ControlID, Role: tare.RoleControl},
			{ID: "nethttp-go1.27.2", Role: tare.RoleContender}, {ID: "chi-go1.26.8", Role: tare.RoleContender}, {ID: "chi-go1.27.2", Role: tare.RoleContender},
		}},
		Judged: tare.Judged{
			Semantics: []tare.Semantics{
				{Contender: first, Cases: 50, Differences: []tare.Difference{differ("a", "dots", "404", "301 to /x"), differ("b", "dots", "404", "405"), differ("e", "dots", "404", "400")}},
				{Contender: "nethttp-go1.27.2", Cases: 50, Differences: []tare.Difference{differ("a", "dots", "404", "307 to /x"), differ("e", "dots", "404", "400"), differ("c", "your routes: near literal", "200, id=7", "404")}},
				{Contender: "chi-go1.26.8", Cases: 50, Differences: []tare.Difference{differ("a", "dots", "404", "200, id=7")}},
				{Contender: "chi-go1.27.2", Cases: 50, Differences: []tare.Difference{differ("a", "dots", "404", "200, id=7")}},
			},
		},
	}
	r.Decomposition = []tare.Decomposition{{
		ID: "chi-go1.27.2", Workload: allID, Metric: "time",
		Whole: tare.Cause{From: "chi-go1.26.8", To: "chi-go1.27.2", Ratio: 1.01, Low: 1.005, High: 1.015, FromValue: 100, ToValue: 101},
	}}
	add(r, tare.ControlID, 1, 0.98, 1.02)
	add(r, "nethttp-go1.27.2", 0.8, 0.78, 0.82)
	add(r, "chi-go1.26.8", 0.4, 0.39, 0.41) // against net/http, which is no matter here
	return ReleaseAdvice{Result: r, Releases: Releases{[]string{"nethttp", "chi"}, []string{"go1.26.8", "go1.27.2"}}}
}

func TestReleaseAdvice(t *testing.T) {
	d, _ := listOf(t, "r.txt", "GET /a\nGET /b")
	const (
		faster = "On your 2 routes nethttp-go1.27.2 takes 0.80× (0.78–0.82) the time of nethttp-go1.26.8 for a lookup, 200 ns instead of 250 ns."
		other  = "nethttp-go1.27.2 answers 3 of 50 odd requests otherwise than nethttp-go1.26.8, 1 of them requests for your routes: /a: 307 to /x instead of 301 to /x; /c: 404 instead of 200, id=7; /b: 404 instead of 405."
		same   = "On your 2 routes chi-go1.27.2 takes 1.01× (1.00–1.01) the time of chi-go1.26.8 for a lookup, 101 ns instead of 100 ns; that is no difference beyond what the control shows (±2 %)."
		alike  = "chi-go1.27.2 answers all 50 odd requests as chi-go1.26.8 does."
	)
	for name, tt := range map[string]struct {
		change func(a *ReleaseAdvice)
		want   []string
		answer string
	}{
		"as it is": {func(*ReleaseAdvice) {}, []string{faster, other, same, alike}, "nethttp-go1.27.2 takes 0.80× the time of nethttp-go1.26.8, with other answers to 3 of 50 odd requests."},
		"not built": {func(a *ReleaseAdvice) {
			a.Result.Decomposition, a.Result.Semantics = nil, nil
			a.Result.Trials = []tare.Trial{{Contender: "chi-go1.27.2", Error: &tare.TrialError{Message: "prepare: load: it cannot have this table: no"}}}
		}, []string{faster, "On your 2 routes chi-go1.27.2 was not compared with chi-go1.26.8.", "chi-go1.27.2 cannot have these routes: no."}, "nethttp-go1.27.2 takes 0.80× the time of nethttp-go1.26.8."},
		"void": {func(a *ReleaseAdvice) {
			a.Result.Findings = []tare.Finding{{Check: "wrong-answer", Severity: tare.Void, Contender: "nethttp-go1.27.2"}, {Check: "wrong-answer", Severity: tare.Void, Contender: "chi-go1.26.8"}}
		}, []string{"On your 2 routes nethttp-go1.27.2 was not compared with nethttp-go1.26.8.", other, "On your 2 routes chi-go1.27.2 was not compared with chi-go1.26.8.", alike},
			"No answer: nethttp-go1.27.2 was not compared with nethttp-go1.26.8."},
		"no rounds": {func(a *ReleaseAdvice) { a.Result.Comparisons = nil }, []string{"On your 2 routes: no ratio: too few rounds for an interval.", other, alike}, "No answer: too few rounds for an interval."},
		"no difference": {func(a *ReleaseAdvice) {
			a.Result.Comparisons[1].Ratio, a.Result.Comparisons[1].Low, a.Result.Comparisons[1].High, a.Result.Comparisons[1].Value = 1, 0.99, 1.01, 250
			a.Result.Semantics = a.Result.Semantics[2:]
			for i, id := range []string{"nethttp-go1.26.8", "nethttp-go1.27.2"} {
				a.Result.Semantics[i].Contender = id
			}
			a.Routers = a.Routers[:1]
		}, []string{"On your 2 routes nethttp-go1.27.2 takes 1.00× (0.99–1.01) the time of nethttp-go1.26.8 for a lookup, 250 ns instead of 250 ns; that is no difference beyond what the control shows (±2 %).",
			"nethttp-go1.27.2 answers all 50 odd requests as nethttp-go1.26.8 does."}, "nethttp-go1.27.2 is not shown to differ in time from nethttp-go1.26.8, with the same answers."},
	} {
		a := releasesMeasured()
		a.Document = d
		tt.change(&a)
		if got := a.Lines(); !slices.Equal(got, tt.want) {
			t.Errorf("%s\n got %s\nwant %s", name, strings.Join(got, "\n     "), strings.Join(tt.want, "\n     "))
		}
		if a.SetAnswer(); a.Result.Answer != tt.answer {
			t.Errorf("%s: %s, want %s", name, a.Result.Answer, tt.answer)
		}
	}
}
