package studyfile

import (
	"cmp"
	"compress/gzip"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/build"
	"github.com/tarebench/tare/internal/judge"
	"github.com/tarebench/tare/report"
)

// answers are those of the study below, with a decomposition beside it.
const answers = `study: faces
kinds: server
baseline: gin
contenders: [gin, nethttp, fast]
workloads:
  - {id: get, fixture: tiny, op: get-7, connections: 1}
  - {id: put, fixture: tiny, op: get-7, connections: 1, contenders: nethttp}
metrics: [cpu, time]
criteria: {contender: nethttp, workload: get, metric: cpu, ratio: "<= 1"}
decompose: {id: why, workload: get, from: nethttp, steps: [{to: gin, cause: the framework}]}
answer:
  - {when: not met, of: [nethttp get cpu], text: "No: {nethttp get cpu words}."}
  - {when: met, of: fast get time, ratio: "<= 0.5", text: "{fast get time}"}
  - "It takes {gin get time value}, {nethttp get cpu to put}, {get cpu least}, {why whole}, {why gin share}."
`

func TestAnswers(t *testing.T) {
	got, err := Parse("s.yaml", []byte(answers))
	if err != nil {
		t.Fatal(err)
	}
	want := []tare.Answer{
		{When: tare.NotMet, Of: []string{"nethttp get cpu"}, Text: "No: {nethttp get cpu words}."},
		{When: tare.Met, Of: []string{"fast get time"}, Ratio: "<= 0.5", Text: "{fast get time}"},
		{Text: "It takes {gin get time value}, {nethttp get cpu to put}, {get cpu least}, {why whole}, {why gin share}."},
	}
	if !reflect.DeepEqual(got.Answer, want) {
		t.Errorf("%+v, want %+v", got.Answer, want)
	}
}

// What an answer names must be in the study.
func TestAnswerErrors(t *testing.T) {
	for _, c := range []struct{ old, new, want string }{
		{"{nethttp get cpu words}", "{other get cpu words}", `s.yaml:12:50: unknown contender "other"; name one of the study's contenders`},
		{"{nethttp get cpu words}", "{nethttp del cpu words}", `s.yaml:12:50: unknown workload "del"`},
		{"{nethttp get cpu words}", "{nethttp get rss words}", `s.yaml:12:50: metric "rss" is not among the study's metrics; add it to metrics:`},
		{"{nethttp get cpu words}", "{fast put cpu words}", "s.yaml:12:50: fast is not measured on put; add it to the contenders of that workload"},
		{"{nethttp get cpu words}", "{gin get cpu words}", `s.yaml:12:50: "gin" is the baseline, which has no ratio; name another contender, or quote its value`},
		{"{nethttp get cpu words}", "{nethttp get cpu word}", "s.yaml:12:50: {nethttp get cpu word} is not a figure; write {CONTENDER WORKLOAD METRIC}"},
		{"{nethttp get cpu words}", "{nethttp get cpu", "s.yaml:12:50: a { without a }"},
		{"{nethttp get cpu words}", "cpu}", "s.yaml:12:50: a } without a {"},
		{"{nethttp get cpu to put}", "{nethttp get cpu to del}", `s.yaml:14:5: unknown workload "del"`},
		{"{get cpu least}", "{get time least}", `s.yaml:14:5: nothing is ranked by "time"; only the first metric is: cpu`},
		{"{why whole}", "{who whole}", `s.yaml:14:5: unknown decomposition "who"`},
		{"{why gin share}", "{why fast share}", `s.yaml:14:5: no step of why leads to "fast"`},
		{"of: fast get time", "of: fast get", `s.yaml:13:21: "fast get" does not name a criterion; write CONTENDER WORKLOAD METRIC`},
		{"of: fast get time", "of: fats get time", `s.yaml:13:21: unknown contender "fats"`},
		{"of: [nethttp get cpu]", "of: [nethttp put cpu]", `s.yaml:12:26: no criterion is about "nethttp put cpu"`},
		{"of: [nethttp get cpu], ", "", "s.yaml:12:12: a condition without of"},
		{"when: not met", "when: notmet", `s.yaml:12:12: unknown criterion result "notmet"; known: met, not met, inconclusive, void`},
		{"when: met, ", "", "s.yaml:13:5: answer[1].when: unknown criterion result"},
		{`"<= 0.5"`, `"< 0.5"`, `s.yaml:13:43: "< 0.5" does not start with <= or >=`},
		{`text: "No: {nethttp get cpu words}."`, "", "s.yaml:12:5: answer[0].headline: answer without a headline or a text"},
		{`text: "No: {nethttp get cpu words}."`, `text: a, headline: b`, "s.yaml:12:50: answer with a text and a headline"},
		{`text: "No: {nethttp get cpu words}."`, `headline: a, figures: "{nethttp get cpu fats}"`, "s.yaml:12:66: {nethttp get cpu fats} is not a figure"},
		{`ratio: "<= 0.5"`, `to: del`, `s.yaml:13:40: "del", next to of, is not another workload`},
	} {
		if !strings.Contains(answers, c.old) {
			t.Fatalf("%q is not in the study", c.old)
		}
		_, err := Parse("s.yaml", []byte(strings.Replace(answers, c.old, c.new, 1)))
		var e *Error
		if !errors.As(err, &e) || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%q → %q:\n got %v\nwant %s", c.old, c.new, err, c.want)
		}
	}
}

const root = "../../../.."

// kept is a real result: of docs/runs, or one that package report/html keeps for its tests.
func kept(t *testing.T, path string) *tare.Result {
	t.Helper()
	f, err := os.Open(filepath.Join(root, path+".json.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var r tare.Result
	if err := json.NewDecoder(z).Decode(&r); err != nil {
		t.Fatal(err)
	}
	return &r
}

const samples = "report/html/testdata/results/"

func bundled(t *testing.T, name string) tare.Study {
	t.Helper()
	path := filepath.Join(root, "studies", name+".yaml")
	src, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	s, err := Parse(path, src)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Each bundled study has a headline for each kept result, and a line of figures. They are
// short, and no number in them is anything but a placeholder or a number of the study.
func TestBundledStudiesAnswer(t *testing.T) {
	var paths []string
	for _, pattern := range []string{samples, "docs/runs/"} {
		files, err := filepath.Glob(filepath.Join(root, pattern, "*.json.gz"))
		if err != nil || len(files) < 12 {
			t.Fatalf("%d results in %s, %v", len(files), pattern, err)
		}
		for _, file := range files {
			paths = append(paths, pattern+strings.TrimSuffix(filepath.Base(file), ".json.gz"))
		}
	}
	for _, path := range paths {
		if strings.HasSuffix(path, "/latency") {
			continue // contenders by themselves, without the workload of the question
		}
		t.Run(path, func(t *testing.T) {
			r := kept(t, path)
			s := bundled(t, r.Study)
			headline, figures, quotes := judge.Answer(s, r)
			t.Logf("%s\n%s\n%s", s.Question, headline, figures)
			if strings.ContainsAny(headline+figures, "{}\n") || !strings.HasSuffix(headline, ".") || !strings.HasSuffix(figures, ".") {
				t.Errorf("%q, %q: a placeholder, or no end", headline, figures)
			}
			if len(quotes) == 0 {
				t.Error("nothing is quoted")
			}
			if n := len(words(headline)); n < 4 || n > 15 {
				t.Errorf("%d words: %s", n, headline)
			}
			if n := len(words(figures)); n > 25 {
				t.Errorf("%d words: %s", n, figures)
			}
			r.Answer, r.Figures = headline, figures
			if got, line := report.Headline(r); got != headline || line != figures {
				t.Errorf("the report has %q, %q", got, line)
			}
		})
	}
}

// words returns the words of a text: what has a letter or a digit. A range is one.
func words(text string) []string {
	return slices.DeleteFunc(strings.Fields(text), func(w string) bool {
		return !strings.ContainsFunc(w, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })
	})
}

var number = regexp.MustCompile(`[0-9][0-9.,]*[0-9]|[0-9]`)

// A headline quotes at most two figures. A number that stands in a template is one of the
// study's: asked, published, or of a workload. Nothing is said to be as long or equal but
// after the verdict on a criterion of equivalence.
func TestBundledHeadlinesQuoteFigures(t *testing.T) {
	files, _ := filepath.Glob(filepath.Join(root, "studies", "*.yaml"))
	for _, file := range files {
		s := bundled(t, strings.TrimSuffix(filepath.Base(file), ".yaml"))
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		_, rest, _ := strings.Cut(string(source), "\nkind:")
		rest = strings.ReplaceAll(s.Question+rest, "_", "")
		for _, a := range s.Answer {
			quoted := 0
			for _, text := range []string{a.Headline, a.Figures} {
				parts, err := tare.SplitFigures(text)
				if err != nil {
					t.Fatal(err)
				}
				for _, p := range parts {
					if p.Figure != nil {
						if p.Figure.Form != tare.FigureVoid {
							quoted++
						}
						continue
					}
					for _, n := range number.FindAllString(p.Text, -1) {
						n = strings.ReplaceAll(n, ",", "")
						if !strings.Contains(rest+a.Ratio, n) && !slices.ContainsFunc(s.Workloads, func(w tare.Workload) bool { return strconv.Itoa(w.N) == n }) {
							t.Errorf("%s: %q has %s, which the study does not", s.ID, text, n)
						}
					}
				}
				if text == a.Headline && quoted > 2 {
					t.Errorf("%s: %d figures: %s", s.ID, quoted, text)
				}
			}
			if strings.Contains(a.Headline, "as long as") || strings.Contains(a.Headline, "equal") {
				for _, c := range s.Criteria {
					if a.When != tare.Met || a.Ratio != "" || c.Contender == strings.Fields(a.Of[0])[0] && c.Equivalent == "" {
						t.Errorf("%s: %q without a verdict of equivalence", s.ID, a.Headline)
					}
				}
			}
		}
	}
}

// A study whose optional modules are missing is complete without them: it is valid, and it
// still has an answer on any result.
func TestBundledStudiesWithoutGivenModules(t *testing.T) {
	files, _ := filepath.Glob(filepath.Join(root, "studies", "*.yaml"))
	removed := 0
	for _, file := range files {
		whole := bundled(t, strings.TrimSuffix(filepath.Base(file), ".yaml"))
		s := whole.Having(func(string) bool { return false })
		removed += len(whole.Contenders) - len(s.Contenders)
		if err := s.Validate(); err != nil {
			t.Errorf("%s: %v", file, err)
		}
		if len(whole.Answer) > 0 && len(s.Answer) == 0 || len(whole.Recommended) > 0 && len(s.Recommended) == 0 {
			t.Errorf("%s: no answer is left", file)
		}
	}
	if removed == 0 {
		t.Error("no study has an optional module")
	}
}

// The repository has the contenders of bundled studies, and the variants of them that studies name.
func TestBundledContendersExist(t *testing.T) {
	known := map[string]bool{}
	manifests, _ := filepath.Glob(filepath.Join(root, "contenders", "*", "*", build.ManifestName))
	for _, path := range manifests {
		leaf, err := build.ReadLeaf(filepath.Dir(path))
		if err != nil {
			t.Fatal(err)
		}
		for _, id := range leaf.Manifest.IDs() {
			known[id] = true
		}
	}
	files, _ := filepath.Glob(filepath.Join(root, "studies", "*.yaml"))
	for _, file := range files {
		for _, e := range bundled(t, strings.TrimSuffix(filepath.Base(file), ".yaml")).Contenders {
			isCatalog := e.Program == "" && len(e.Command) == 0 && e.URL == ""
			if id := cmp.Or(e.Use, e.ID); isCatalog && !known[id] {
				t.Errorf("%s: no contender %s", file, id)
			}
		}
	}
}

// A short budget leaves out workloads and then contenders: what is left of a
// quick run is answered as well.
func TestBundledStudiesAnswerInPart(t *testing.T) {
	files, _ := filepath.Glob(filepath.Join(root, "studies", "*.yaml"))
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".yaml")
		s, r := bundled(t, name), kept(t, samples+name)
		for _, w := range r.Workloads {
			got, _, _ := judge.Answer(s, part(r, w.ID, func(string) bool { return true }))
			t.Logf("%s, %s: %s", name, w.ID, got)
			if got == "" || strings.ContainsAny(got, "{}") {
				t.Errorf("%s has no answer from %s: %q", name, w.ID, got)
			}
		}
	}
}

// part is what r has of one workload and of some contenders beside the baseline.
func part(r *tare.Result, workload string, in func(contender string) bool) *tare.Result {
	p := &tare.Result{Design: tare.Design{Metrics: r.Metrics, Workloads: []tare.Workload{{ID: workload}}, Contenders: r.Contenders}, Judged: tare.Judged{Findings: r.Findings}}
	for _, c := range r.Comparisons {
		if c.Workload == workload && (in(c.Contender) || c.Contender == c.Against) {
			p.Comparisons = append(p.Comparisons, c)
		}
	}
	for _, v := range r.Values {
		if v.Workload == workload && in(v.Contender) {
			p.Values = append(p.Values, v)
		}
	}
	for _, v := range r.Verdicts {
		if v.Workload == workload && in(v.Contender) && !strings.Contains(v.Criterion, " of ") { // a share of another workload
			p.Verdicts = append(p.Verdicts, v)
		}
	}
	return p
}

// Each way to answer is taken when its criteria came out so and its figures are
// the only ones there are; -v prints all of them.
func TestEachBundledAnswerReads(t *testing.T) {
	files, _ := filepath.Glob(filepath.Join(root, "studies", "*.yaml"))
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".yaml")
		s := bundled(t, name)
		for i, a := range s.Answer {
			r := madeFor(t, s, a)
			got, figures, _ := judge.Answer(s, r)
			parts, _ := tare.SplitFigures(a.Headline)
			t.Logf("%s %d, %s: %s %s", name, i, a.When, got, figures)
			if !strings.HasPrefix(got, parts[0].Text) || strings.ContainsAny(got, "{}") {
				t.Errorf("%s: answer %d is not taken: %q", name, i, got)
			}
		}
	}
}

// madeFor is a result with what an answer quotes and asks for, and nothing else.
func madeFor(t *testing.T, s tare.Study, a tare.Answer) *tare.Result {
	t.Helper()
	parts, err := tare.SplitFigures(a.Headline)
	if err != nil {
		t.Fatal(err)
	}
	r := &tare.Result{Design: tare.Design{Metrics: s.Metrics, Workloads: s.Workloads, Contenders: []tare.Contender{{ID: s.Baseline, Role: tare.RoleBaseline}}}}
	seen := map[[3]string]bool{}
	compare := func(who, workload, metric string, ratio float64) {
		if key := [3]string{who, workload, metric}; !seen[key] {
			seen[key] = true
			r.Comparisons = append(r.Comparisons, tare.Comparison{Workload: workload, Contender: who, Metric: metric, Against: s.Baseline, Ratio: ratio, Low: 0.95 * ratio, High: 1.05 * ratio, Rounds: 12})
		}
	}
	for _, of := range a.Of {
		w := strings.Fields(of)
		if a.When == tare.VoidRuling {
			r.Findings = append(r.Findings, tare.Finding{Check: "wrong-answer", Severity: tare.Void, Contender: w[0], Workload: w[1], Metric: w[2]})
		}
		if a.To != "" {
			compare(w[0], w[1], w[2], 0.8)
			compare(w[0], a.To, w[2], 0.8*map[tare.Ruling]float64{tare.Met: 1, tare.NotMet: 0.5, tare.VoidRuling: 1}[a.When])
			continue
		}
		if a.Ratio == "" {
			r.Verdicts = append(r.Verdicts, tare.Verdict{Contender: w[0], Workload: w[1], Metric: w[2], Criterion: "c", Verdict: a.When})
			continue
		}
		rule, _ := a.Rule()
		met := map[bool]float64{true: 0.5, false: 2}[rule.AtMost]
		compare(w[0], w[1], w[2], rule.Limit*map[tare.Ruling]float64{tare.Met: met, tare.NotMet: 1 / met, tare.Inconclusive: 1, tare.VoidRuling: 1}[a.When])
	}
	for _, p := range parts {
		f := p.Figure
		if f == nil {
			continue
		}
		switch f.Form {
		case tare.FigureValue:
			r.Values = append(r.Values, tare.Value{Workload: f.Workload, Contender: f.Contender, Metric: f.Metric, Value: 3e6, Low: 2e6, High: 4e6, Unit: "ns", Rounds: 12})
		case tare.FigureShare, tare.FigureWhole:
			r.Decomposition = append(r.Decomposition, decomposed(s, f.Decomposition))
		case tare.FigureVoid:
			r.Findings = append(r.Findings, tare.Finding{Check: "wrong-answer", Severity: tare.Void, Contender: f.Contender})
		case tare.FigureChanges:
			r.Semantics = append(r.Semantics, tare.Semantics{Contender: f.Contender, Differences: []tare.Difference{{Class: tare.DiffersInValue}}})
		case tare.FigureClaim, tare.FigureHere, tare.FigureFactor:
			r.Claims = append(r.Claims, tare.ClaimResult{ID: f.Claim, Kind: tare.ClaimRatio, Published: 2, Measured: 2, Low: 1.9, High: 2.1, Outcome: tare.Holds})
		case tare.FigureLeast:
			for i, who := range []string{"one", "two"} {
				compare(who, f.Workload, f.Metric, 0.5)
				r.Comparisons[len(r.Comparisons)-1].RankLow = 1 + i
			}
		default:
			compare(f.Contender, f.Workload, f.Metric, 0.8)
			if f.To != "" {
				compare(f.Contender, f.To, f.Metric, 0.8)
			}
		}
	}
	return r
}

// decomposed is a decomposition of s of which each step was measured.
func decomposed(s tare.Study, id string) tare.Decomposition {
	out := tare.Decomposition{ID: id}
	for _, d := range s.Decompose {
		if d.ID != id {
			continue
		}
		for _, step := range d.Steps {
			out.Steps = append(out.Steps, tare.Cause{To: step.To, Cause: step.Cause, Share: 0.4, ShareLow: 0.3, ShareHigh: 0.5})
			out.Whole = tare.Cause{To: step.To, Ratio: 3, Low: 2.5, High: 3.5}
		}
	}
	return out
}
