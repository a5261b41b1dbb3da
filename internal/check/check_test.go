package check

import (
	"flag"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/evidence"
)

var update = flag.Bool("update", false, "write docs/checks.md")

const (
	base = "encoding-json"
	load = "devices-50/marshal"
)

// soundStudy returns a small study of twelve rounds in which no check finds anything.
func soundStudy() Input {
	in := Input{Evidence: evidence.Evidence{
		Study: tare.Study{ID: "sound", Baseline: base, Metrics: []string{"time", "bytes"}, Workloads: []tare.Workload{{ID: load}}},
		Contenders: []tare.Contender{
			{ID: base, Role: tare.RoleBaseline}, {ID: tare.ControlID, Role: tare.RoleControl}, {ID: tare.NullID, Role: tare.RoleNull},
			{ID: "lean", Role: tare.RoleContender, Declared: tare.Declared{Identity: tare.Identity{ClaimedModules: []string{"example.org/lean"}, ClaimedSymbols: []string{"lean.Marshal"}}}},
			{ID: "trap", Role: tare.RoleTrap},
		},
		Final: true,
	},
		Machine: tare.Machine{Noise: tare.Noise{CPUPressure: 0.02, RunQueueWait: -1, Throttled: 0}},
	}
	for _, c := range in.Contenders {
		in.Conformance = append(in.Conformance, tare.Conformance{Contender: c.ID, Workload: load, Cases: 64, Bytes: 64 * 11600, MinBytes: 11598, Fresh: c.Role != tare.RoleNull})
	}
	r := newRandom(1)
	for round := 1; round <= 12; round++ {
		for _, c := range in.Contenders {
			bytes := 16384.0
			if c.Role == tare.RoleNull {
				bytes = 0
			}
			in.Trials = append(in.Trials, tare.Trial{Round: round, Tau: 1, Contender: c.ID, Samples: map[string]tare.Sample{load: {"bytes_per_op": bytes}}})
		}
	}
	in.Slices = makeSlices(r, in, 12, 1, nil)
	in.Effects = controlEffects(load, noisyEffects(r, 12, 0, 0.03))
	for id, v := range map[string]float64{base: 60000, "lean": 30000, tare.NullID: 12} {
		in.Values = append(in.Values, tare.Value{Workload: load, Contender: id, Metric: "time", Unit: "ns/op", Value: v})
	}
	return in
}

// newRandom returns a generator for a test.
func newRandom(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 11)) }

// noisyEffects returns n effects with that mean and standard deviation.
func noisyEffects(r *rand.Rand, n int, mean, sd float64) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = mean + sd*r.NormFloat64()
	}
	return out
}

// controlEffects returns effects x of the control on a workload.
func controlEffects(workload string, x []float64) []tare.Effects {
	return []tare.Effects{{Workload: workload, Metric: "time", A: tare.ControlID, B: base, Effects: x}}
}

// makeSlices returns slices of rounds: ten per contender and round, each time in
// a random order, with 4 % noise per slice and 3 % per round. The cost of a slice
// is multiplied by factor, which may be nil.
func makeSlices(r *rand.Rand, in Input, rounds, tau int, factor func(s tare.Slice) float64) []tare.Slice {
	var out []tare.Slice
	for round := 1; round <= rounds; round++ {
		shift := map[string]float64{}
		for _, c := range in.Contenders {
			shift[c.ID] = 1 + 0.03*r.NormFloat64()
		}
		after := ""
		for i := range 10 {
			for position, k := range r.Perm(len(in.Contenders)) {
				id := in.Contenders[k].ID
				s := tare.Slice{Round: round, Index: i, Position: position, After: after, Tau: tau, Workload: load, Contender: id, Ops: 100 * int64(tau)}
				cost := 60000.0
				if id == "lean" {
					cost = 30000
				}
				if factor != nil {
					cost *= factor(s)
				}
				s.WallNS = int64(float64(s.Ops) * cost * shift[id] * (1 + 0.04*r.NormFloat64()))
				out = append(out, s)
				after = id
			}
		}
	}
	return out
}

// runCheck runs the check with that id.
func runCheck(t *testing.T, id string, in Input) []tare.Finding {
	t.Helper()
	c, ok := Named(id)
	if !ok {
		t.Fatalf("no check %q", id)
	}
	return c.runAndComplete(in)
}

// wantNone fails the test unless the check finds nothing.
func wantNone(t *testing.T, id string, in Input) {
	t.Helper()
	if fs := runCheck(t, id, in); len(fs) > 0 {
		t.Errorf("%s found %+v in a sound study", id, fs)
	}
}

// wantFinding fails the test unless the check finds exactly this.
func wantFinding(t *testing.T, id string, in Input, severity tare.Severity, contender, workload, message string) tare.Finding {
	t.Helper()
	fs := runCheck(t, id, in)
	if len(fs) != 1 {
		t.Fatalf("%s found %d things, want one: %+v", id, len(fs), fs)
	}
	f := fs[0]
	if f.Check != id || f.Severity != severity || f.Contender != contender || f.Workload != workload || f.Message != message || f.Advice == "" {
		t.Errorf("%s found\n     %+v\nwant %s for %q on %q: %s", id, f, severity, contender, workload, message)
	}
	return f
}

func TestSoundStudyHasNoFindings(t *testing.T) {
	if fs := Run(soundStudy()); len(fs) > 0 {
		t.Errorf("found %+v", fs)
	}
	if fs := Run(Input{}); len(fs) > 0 {
		t.Errorf("without evidence: %+v", fs)
	}
}

func TestEveryCheckIsDescribed(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range All() {
		if seen[c.ID] || c.ID == "" || c.Run == nil {
			t.Errorf("check %q: twice, without an id, or nothing to run", c.ID)
		}
		seen[c.ID] = true
		for what, s := range map[string]string{"summary": c.Summary, "why": c.Why} {
			if !strings.HasSuffix(s, ".") {
				t.Errorf("%s: %s is not made of sentences: %q", c.ID, what, s)
			}
		}
		if c.Advice == "" || strings.HasSuffix(c.Advice, ".") || strings.Contains(c.Advice, "\n") {
			t.Errorf("%s: advice is not one open line: %q", c.ID, c.Advice)
		}
		if c.Severity != tare.Void && c.Severity != tare.Warn && c.Severity != tare.Note {
			t.Errorf("%s: severity %q", c.ID, c.Severity)
		}
		if got, ok := Named(c.ID); !ok || got.ID != c.ID {
			t.Errorf("%s is not found by its name", c.ID)
		}
	}
	for _, id := range []string{
		"error-in-loop", "wrong-answer", "identity", "control", "alloc-floor", "null-share",
		"slice-invariance", "carry-over", "machine", "build", "trial",
		"fixture-cardinality", "part-whole", "size-scaling", "drift-in-trial", "discriminating", "autocorrelation", "bimodal", "sums-disagree", "sink", "stale",
		"little", "accounting", "delivered", "rate-held", "generator-headroom", "timeouts-counted", "connection-parity", "output-parity",
		"layer-parity", "body-parity", "negative-probe", "does-work", "body-consumed", "shared-process",
	} {
		if !seen[id] {
			t.Errorf("no check %s", id)
		}
	}
	if _, ok := Named("no-such"); ok {
		t.Error("a check that does not exist was found")
	}
}

// TestBorrowedAdvice: who measures contenders of others on data of their own is not told
// to change them.
func TestBorrowedAdvice(t *testing.T) {
	authors := regexp.MustCompile(`fix the contender|contender\.json|own directory|the handler|do not declare|timed loop|benchmark loop|by itself`)
	for _, c := range All() {
		if authors.MatchString(c.Advice) && !c.adviceIsForAuthors {
			t.Errorf("%s tells everybody: %s", c.ID, c.Advice)
		}
	}
	in := soundStudy()
	in.Conformance[4].Wrong = 64
	in.Contenders[3].Identity.MissingModules = []string{"example.com/x"}
	in.Contenders[2].Error = "it does not compile"
	told := func() map[string]string {
		advice := map[string]string{}
		for _, f := range Run(in) {
			advice[f.Check] = f.Advice
		}
		return advice
	}
	before := told()
	in.Study.Borrowed = true
	for id, advice := range told() {
		c, _ := Named(id)
		if c.adviceIsForAuthors && (advice != borrowedAdvice || before[id] != c.Advice) || authors.MatchString(advice) {
			t.Errorf("%s: %q, and %q to authors", id, advice, before[id])
		}
	}
	for _, id := range []string{"wrong-answer", "identity", "build"} {
		if before[id] == "" {
			t.Errorf("%s found nothing", id)
		}
	}
}

func TestDocsAreCurrent(t *testing.T) {
	path := filepath.Join("..", "..", "docs", "checks.md")
	if *update {
		if err := os.WriteFile(path, []byte(markdown()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if strings.ReplaceAll(string(got), "\r\n", "\n") != markdown() {
		t.Error("docs/checks.md is not what the checks say: go generate ./internal/check")
	}
}

func TestExpectations(t *testing.T) {
	in := soundStudy()
	in.Contenders[4].Expect.Void = []string{"wrong-answer", "identity"}
	in.Conformance[4].Wrong = 64
	in.Trials[4].Error = &tare.TrialError{Class: tare.ErrExit, Message: "ended"}
	fs := Run(in)
	got := map[string]bool{}
	for _, f := range fs {
		got[f.Check] = f.Expected
	}
	if len(fs) != 2 || !got["wrong-answer"] || got["trial"] {
		t.Errorf("findings = %+v, want wrong-answer as expected and trial besides", fs)
	}
}
