package jsonstudy

import (
	"strings"
	"testing"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/contender/fixture"
	"github.com/tarebench/tare/contender/wire"
)

// newTestedKind returns a kind in a study of releases with the tests of all workloads, whose reference is
// want in all cases.
func newTestedKind(t *testing.T, src string, want wire.Answer) *Kind {
	t.Helper()
	k := NewReleaseKind(nil, docsOf(t, src), "go1.26.8")
	k.tests = newReleaseTests(k.docs, NewReleaseStudy("x", "?", "all", []string{"go1.26.8", "go1.27.2"}))
	for _, test := range k.tests {
		for range test.cases {
			test.reference = append(test.reference, want)
		}
	}
	return k
}

// TestReleaseExams: each decoding operation of the study gets damaged documents, and the cases of the
// package fixture are as many as there.
func TestReleaseExams(t *testing.T) {
	k := newTestedKind(t, `{"a":1}`, wire.Answer{})
	exams, err := k.Exams(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	bodies := map[string]int{}
	for _, e := range exams {
		bodies[e.ID] = e.Bodies
	}
	damage := len(damageDocument([]byte(`{"a":1}`)))
	for id, want := range map[string]int{
		"damaged/typed/decode": damage, "damaged/any/decode": damage, "unusual/probes/marshal": len(fixture.Cases("probes")),
		"unusual/probes/roundtrip": len(fixture.Cases("probes")), "unusual/documents/unmarshal": len(fixture.Cases("documents")), "unusual/texts/any": len(fixture.Cases("texts")),
	} {
		if bodies[id] != want || want == 0 {
			t.Errorf("%s: %d cases, want %d", id, bodies[id], want)
		}
		delete(bodies, id)
	}
	if len(bodies) > 0 {
		t.Errorf("further tests: %v", bodies)
	}
	if got := k.Reference(); got != "encoding/json go1.26.8" {
		t.Errorf("reference %s", got)
	}
	if exams, err := NewKind(nil, k.docs).Exams(t.TempDir()); err != nil || len(exams) != 0 {
		t.Errorf("a study of codecs has %d of them, %v", len(exams), err)
	}
}

func TestReleaseDifferences(t *testing.T) {
	out := func(text string) wire.Answer { return wire.Answer{Output: []byte(text)} }
	refused := func(text string) wire.Answer { return wire.Answer{Error: text} }
	for name, tt := range map[string]struct {
		want, got wire.Answer
		class     tare.DifferenceClass // "" if there is no difference
		property  string
		says      string
		bearsOn   int
	}{
		"equal":            {out(`{"a":1}`), out(`{"a":1}`), "", "", "", 0},
		"white space":      {out(`{"a":1}`), out(`{"a": 1}`), "", "", "", 0},
		"equal errors":     {refused("x"), refused("x"), "", "", "", 0},
		"texts of errors":  {refused("EOF"), refused("unexpected EOF"), tare.DiffersInForm, errorTexts, `refuses a document with a cut-off end with "unexpected EOF", not "EOF"`, 0},
		"refuses":          {out(`{"a":1}`), refused("no"), tare.DiffersInAcceptance, "a cut-off end", "refuses a document with a cut-off end: no", 1},
		"accepts":          {refused("no"), out(`{"a":1}`), tare.DiffersInAcceptance, "a cut-off end", "accepts a document with a cut-off end", 1},
		"another value":    {out(`{"a":1}`), out(`{"a":2}`), tare.DiffersInValue, "a cut-off end", "makes 2 of a document with a cut-off end, not 1", 1},
		"another spelling": {out(`{"a":10}`), out(`{"a":1e1}`), tare.DiffersInForm, "a cut-off end", "makes 1e1 of a document with a cut-off end, not 10", 1},
		"a Go value":       {out(`Probe{Int: 1}`), out(`Probe{Int: 2}`), tare.DiffersInValue, "a cut-off end", "makes Probe{Int: 2} of a document with a cut-off end, not Probe{Int: 1}", 1},
	} {
		k := newTestedKind(t, `{"a":1}`, tt.want)
		d, differs := k.Differ(wire.Workload{ID: "damaged/any/decode"}, tt.got)
		if differs != (tt.class != "") {
			t.Errorf("%s: %v, %+v", name, differs, d)
		}
		if differs && (d.Class != tt.class || d.Property != tt.property || d.Says != tt.says || len(d.BearsOn) != tt.bearsOn || d.Case != "x.ndjson:1, with a cut-off end") {
			t.Errorf("%s: %+v", name, d)
		}
	}
	k := newTestedKind(t, `{"a":1}`, wire.Answer{})
	if _, differs := k.Differ(wire.Workload{ID: "damaged/any/decode"}, wire.Answer{Case: 1000, Error: "x"}); differs {
		t.Error("a case that was not requested differs")
	}
}

// releaseResult is a result of three toolchains on one workload.
func releaseResult(ratio, low, high float64) *tare.Result {
	r := measured("any/decode")
	for i, id := range []string{"go1.26.8", tare.ControlID, "go1.27.2", "go1.27.2+nojsonv2"} {
		r.Contenders[i].ID = id
	}
	r.Contenders = r.Contenders[:4]
	compare := func(id string, ratio, low, high float64) tare.Comparison {
		return tare.Comparison{Workload: "any/decode", Contender: id, Metric: "time", Against: "go1.26.8", Ratio: ratio, Low: low, High: high, AgainstValue: 2e6, Value: ratio * 2e6}
	}
	r.Comparisons = []tare.Comparison{compare(tare.ControlID, 1, 0.98, 1.02), compare("go1.27.2", ratio, low, high), compare("go1.27.2+nojsonv2", 1, 0.99, 1.01)}
	r.Semantics = []tare.Semantics{{Contender: "go1.26.8", Cases: 9}, {Contender: "go1.27.2", Cases: 9}, {Contender: "go1.27.2+nojsonv2", Cases: 9}}
	return r
}

func TestReleaseAdvice(t *testing.T) {
	text := tare.Difference{Op: "any", Case: "a", Property: errorTexts, Class: tare.DiffersInForm, Says: "refuses it otherwise"}
	value := tare.Difference{Op: "any", Case: "b", Property: "big integers", Class: tare.DiffersInValue, Says: "makes 1 of 2"}
	document := tare.Difference{Op: "any", Case: "any/decode x.ndjson:1", Property: "$.a", Class: tare.DiffersInValue, Says: "decodes $.a: 1 as 2"}
	const (
		cost   = "For your 7 B document: go1.27.2 decodes into any in 0.50× (0.48–0.52) the time of go1.26.8, 1 ms instead of 2 ms."
		former = "For your 7 B document: go1.27.2+nojsonv2 decodes into any in 1.00× (0.99–1.01) the time of go1.26.8, 2 ms instead of 2 ms; that is no difference beyond what the control shows (±2 %)."
		equal  = "go1.27.2+nojsonv2 answers as go1.26.8 does in all 9 tests: to your documents, to documents that are damaged in one place, and to unusual values."
	)
	for name, tt := range map[string]struct {
		change func(r *tare.Result)
		answer string
		want   []string
	}{
		"equal answers": {func(*tare.Result) {}, "go1.27.2 decodes into any in 0.50× the time of go1.26.8, with the same answers to your documents.",
			[]string{cost, former, strings.Replace(equal, "+nojsonv2", "", 1), equal}},
		"other texts of errors": {func(r *tare.Result) { r.Semantics[1].Differences = []tare.Difference{text} }, "go1.27.2 decodes into any in 0.50× the time of go1.26.8, with the same answers to your documents.",
			[]string{cost, former, "go1.27.2 answers as go1.26.8 does to your documents; to documents that are damaged in one place and to unusual values it answers otherwise in 1 of 9 tests. " +
				"Only in the text of an error: 1, which the release notes of Go 1.27 announce (https://go.dev/doc/go1.27#jsonv2). Built with GOEXPERIMENT=nojsonv2, it has the former answer in all.", equal}},
		"what nothing restores": {func(r *tare.Result) {
			r.Semantics[1].Differences = []tare.Difference{text, value, document}
			r.Semantics[2].Differences = []tare.Difference{value}
		}, "go1.27.2 decodes into any in 0.50× the time of go1.26.8, with other answers to your documents.",
			[]string{cost, former, "go1.27.2 answers otherwise than go1.26.8 to your documents in 1 test: it decodes $.a: 1 as 2; to documents that are damaged in one place and to unusual values it answers otherwise in 2 of 9 tests. " +
				"Only in the text of an error: 1, which the release notes of Go 1.27 announce (https://go.dev/doc/go1.27#jsonv2). Not announced there: 2; in the first it makes 1 of 2. " +
				"Built with GOEXPERIMENT=nojsonv2, it has the former answer in 2 of the 3.",
				"go1.27.2+nojsonv2 answers as go1.26.8 does to your documents; to documents that are damaged in one place and to unusual values it answers otherwise in 1 of 9 tests. Not announced there: 1; in the first it makes 1 of 2."}},
		"no control": {func(r *tare.Result) { r.Comparisons[0].Low = 0; r.Semantics = nil }, "No answer: too few rounds for an interval.",
			[]string{"For your 7 B document, decoded into any: no ratio: too few rounds for an interval."}},
		"void": {func(r *tare.Result) {
			r.Findings = append(r.Findings, tare.Finding{Check: "wrong-answer", Severity: tare.Void, Contender: "go1.27.2"})
			r.Semantics = nil
		}, "No answer: go1.27.2 was not compared with go1.26.8.", []string{"For your 7 B document, decoded into any: go1.27.2 was not compared with go1.26.8.", former}},
		"no difference": {func(r *tare.Result) {
			r.Comparisons[1].Ratio, r.Comparisons[1].Low, r.Comparisons[1].High, r.Comparisons[1].Value = 1, 0.99, 1.01, 2e6
			r.Semantics = nil
		},
			"go1.27.2 is not shown to differ in time from go1.26.8 where it decodes into any.",
			[]string{strings.Replace(former, "+nojsonv2", "", 1), former}},
	} {
		r := releaseResult(0.5, 0.48, 0.52)
		tt.change(r)
		a := ReleaseAdvice{Result: r, Docs: docsOf(t, `{"a":1}`), Total: 1, Toolchains: []string{"go1.26.8", "go1.27.2"}}
		if a.SetAnswer(); r.Answer != tt.answer {
			t.Errorf("%s: %s\nwant %s", name, r.Answer, tt.answer)
		}
		if got := strings.Join(a.Lines(), "\n"); got != strings.Join(tt.want, "\n") {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, strings.Join(tt.want, "\n"))
		}
	}
}

// With one release in both implementations the baseline is the former one: all differences are due to the
// implementation.
func TestAdviceOfOneRelease(t *testing.T) {
	r := releaseResult(0.5, 0.48, 0.52)
	r.Semantics = []tare.Semantics{{Contender: "go1.26.8+jsonv2", Cases: 9, Differences: []tare.Difference{{Op: "any", Case: "a", Property: errorTexts, Class: tare.DiffersInForm}}}}
	a := ReleaseAdvice{Result: r, Docs: docsOf(t, `{"a":1}`), Total: 1, Toolchains: []string{"go1.26.8", "go1.26.8+jsonv2"}}
	if got, want := a.describeAnswers("go1.26.8+jsonv2"), " Built without GOEXPERIMENT=jsonv2, it has the former answer in all."; !strings.HasSuffix(got, want) {
		t.Errorf("%s, want %s at the end", got, want)
	}
}
