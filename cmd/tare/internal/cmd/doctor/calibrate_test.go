package doctor

import (
	"math"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/studyfile"
	"github.com/tarebench/tare/kinds"
	"github.com/tarebench/tare/lab"
	"github.com/tarebench/tare/report"
	"github.com/tarebench/tare/stats"
)

// What tare doctor --calibrate measures is what the documented calibration does.
func TestCalibrationIsTheDocumentedOne(t *testing.T) {
	for _, work := range scaleWorks() {
		src, err := os.ReadFile("../../../../../docs/calibration/" + work.name + ".yaml")
		if err != nil {
			t.Fatal(err)
		}
		want, err := studyfile.Parse("x.yaml", src)
		if err != nil {
			t.Fatal(err)
		}
		got := calibrationStudy(work, time.Second)
		got.Budget, got.Dir = want.Budget, want.Dir
		if err := got.Validate(); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%v\n%+v\n%+v", err, got, want)
		}
	}
}

// Programs of known cost are measured and described like others, and not examined.
func TestCalibrationSetsNoExams(t *testing.T) {
	kind := withoutTests(kinds.All())["codec"]
	if _, ok := kind.(lab.Examiner); ok {
		t.Error("exams are set")
	}
	if _, ok := kind.(lab.Describer); !ok {
		t.Error("inputs are not described")
	}
}

// calibrated makes up a result of n rounds in which contenders differ from the
// base by the given shares, with noise of standard deviation sd.
func calibrated(n int, sd float64, shares map[string]float64) *tare.Result {
	rng := rand.New(rand.NewPCG(5, uint64(n)))
	res := &tare.Result{Study: "calibration-spin", Design: tare.Design{Metrics: []string{"time", "cpu"}}, Measured: tare.Measured{RoundsDone: n}, Run: tare.Run{Seconds: 2 + float64(n)/2}}
	res.Plan = tare.Plan{Looks: stats.Looks(n), PilotSeconds: 2}
	res.Machine.Noise.CPUPressure = 0.12
	for _, id := range []string{tare.ControlID, scaleTwin, scale2, scale5} {
		var x []float64
		for range n {
			x = append(x, math.Log1p(shares[id])+sd*rng.NormFloat64())
		}
		c := tare.Comparison{Contender: id, Against: scaleBase, Metric: "time", Ratio: math.Exp(stats.HodgesLehmann(x)), Level: 0.95, Rounds: n}
		if lo, hi, ok := stats.Interval(x, stats.LookLevel(0.05, len(res.Plan.Looks))); ok {
			c.Low, c.High = math.Exp(lo), math.Exp(hi)
			if id == tare.ControlID {
				res.Machine.Resolution = []tare.Resolution{{Metric: "time", HalfWidth: math.Expm1((hi - lo) / 2), Seconds: res.Seconds}}
			}
		}
		res.Comparisons = append(res.Comparisons, c)
		e := tare.Effects{Metric: "time", A: id, B: scaleBase, Effects: x}
		if id == scale2 { // pairs come in either order
			e.A, e.B = e.B, e.A
			for i := range x {
				x[i] = -x[i]
			}
		}
		res.Rounds = append(res.Rounds, tare.Effects{Metric: "cpu", A: id, B: scaleBase, Effects: make([]float64, n)}, e)
	}
	return res
}

func TestReadScale(t *testing.T) {
	truth := map[string]float64{scale2: 0.02, scale5: 0.05}
	quiet := readScale(scaleWork{"spin", "arithmetic"}, calibrated(40, 0.004, truth))
	if quiet.Copies.ToldApart {
		t.Errorf("copies: %+v", quiet.Copies)
	}
	for _, d := range quiet.Differences {
		if !d.ToldApart || d.AfterRounds < 6 || d.AfterRounds > 12 || d.AfterSeconds != 2+float64(d.AfterRounds)/2 || math.Abs(d.Ratio-d.Truth) > 0.005 {
			t.Errorf("a quiet machine: %+v", d)
		}
	}
	loud := readScale(scaleWork{"spin", "arithmetic"}, calibrated(12, 0.15, truth))
	for _, d := range loud.Differences {
		if d.ToldApart || d.AfterRounds != 0 || d.AfterSeconds != 0 {
			t.Errorf("a loud machine: %+v", d)
		}
	}
	if few := readScale(scaleWork{"spin", "arithmetic"}, calibrated(3, 0.001, truth)); few.Differences[0].ToldApart || few.Differences[0].Low != 0 || few.HalfWidth != 0 {
		t.Errorf("three rounds: %+v", few)
	}
	lost := readScale(scaleWork{"spin", "arithmetic"}, &tare.Result{Design: tare.Design{Metrics: []string{"time"}}})
	if lost.Copies.Ratio != 0 || lost.Differences[0].ToldApart {
		t.Errorf("nothing measured: %+v", lost)
	}
}

// A forecast is for the difference that is there, beyond what the control shows,
// and never for what was done already.
func TestForecast(t *testing.T) {
	level := stats.LookLevel(0.05, 3)
	rng := rand.New(rand.NewPCG(1, 2))
	noise := func(n int, sd float64) []float64 {
		var x []float64
		for range n {
			x = append(x, sd*rng.NormFloat64())
		}
		return x
	}
	near, far := forecastRounds(noise(24, 0.05), noise(24, 0.01), 1.05, level), forecastRounds(noise(24, 0.05), noise(24, 0.01), 1.02, level)
	if near < 36 || far <= near {
		t.Errorf("5 %% takes %d rounds, 2 %% takes %d", near, far)
	}
	if n := forecastRounds(noise(24, 0.001), noise(24, 0.001), 1.05, level); n != 36 {
		t.Errorf("bad luck: %d rounds, want 36", n)
	}
	if n := forecastRounds(noise(24, 0.001), noise(24, 0.08), 1.02, level); n <= 36 {
		t.Errorf("the control shows as much: %d rounds", n)
	}
	if n := forecastRounds(noise(24, 1), noise(24, 1), 1.02, level); n != 0 {
		t.Errorf("out of reach: %d rounds", n)
	}
}

// What asks for the same remedy is said together.
func TestDisturbances(t *testing.T) {
	var c calibration
	for _, work := range scaleWorks() {
		res := calibrated(12, 0.004, nil)
		res.Findings = []tare.Finding{
			{Check: "machine", Severity: tare.Warn, Message: "47 % of the time some task waited; more than 10 % is worth a warning", Advice: "close it"},
			{Check: "machine", Severity: tare.Note, Message: "no lock", Advice: "leave it on"},
			{Check: "control", Severity: tare.Warn, Message: "differs", Advice: "measure again"},
		}
		if err := c.addResult(work, res); err != nil {
			t.Fatal(err)
		}
	}
	c.writeConclusions()
	if want := "close it: during arithmetic 47 % of the time some task waited; during allocation 47 % of the time some task waited"; !slices.Contains(c.Advice, want) || slices.ContainsFunc(c.Advice, func(s string) bool { return strings.Contains(s, "lock") || strings.Contains(s, "differs") }) {
		t.Errorf("%q", c.Advice)
	}
}

func TestConclusions(t *testing.T) {
	for _, c := range []struct {
		name   string
		res    *tare.Result
		says   []string
		advice []string
	}{
		{"quiet", calibrated(40, 0.004, map[string]float64{scale2: 0.02, scale5: 0.05}),
			[]string{"showed no difference in 40 rounds, as it should be: measured ", "5 % more arithmetic was found after 8 rounds (6 s): measured +4.91 % (+4.75 % to +5.07 %).", "2 % more arithmetic was found after 8 rounds (6 s): measured +", "This machine resolves ±0.", "12 % of the time during arithmetic (CPU pressure)"},
			[]string{"none: copies look alike, and 2 % and 5 % were found"}},
		{"loud", calibrated(12, 0.15, map[string]float64{scale2: 0.02, scale5: 0.05}),
			[]string{"5 % more arithmetic was not found in 12 rounds (8 s): measured ", "2 % more arithmetic was not found in 12 rounds (8 s): measured "},
			[]string{"differences of 5 % in arithmetic "}},
		{"backwards", calibrated(40, 0.004, map[string]float64{scale2: -0.02, scale5: 0.05, scaleTwin: 0.03}),
			[]string{"showed a difference after 8 rounds, and should not have: measured +2.91 % (+2.74 % to +3.13 %).", "2 % more arithmetic came out as less after "},
			[]string{"two copies of one program differed by 2.9 %: ", "2 % more arithmetic came out as less: "}},
		{"few", calibrated(3, 0.004, nil), []string{"(too few rounds for an interval)"}, nil},
		{"lost", &tare.Result{Study: "calibration-spin", Design: tare.Design{Metrics: []string{"time"}}, Run: tare.Run{Machine: tare.Machine{Noise: tare.Noise{CPUPressure: -1}}}},
			[]string{"were not measured: twin was lost on the way", "was not measured: plus5 was lost", "This machine does not tell its CPU pressure."},
			[]string{"tare report calibration-spin shows the result of twin"}},
	} {
		var k calibration
		if err := k.addResult(scaleWork{"spin", "arithmetic"}, c.res); err != nil {
			t.Fatal(err)
		}
		k.writeConclusions()
		has := func(lines []string, part string) bool {
			return slices.ContainsFunc(lines, func(l string) bool { return strings.Contains(l, part) })
		}
		for _, want := range c.says {
			if !has(k.Summary, want) {
				t.Errorf("%s: no %q in\n%s", c.name, want, strings.Join(k.Summary, "\n"))
			}
		}
		for _, want := range c.advice {
			if !has(k.Advice, want) {
				t.Errorf("%s: no %q in advice\n%s", c.name, want, strings.Join(k.Advice, "\n"))
			}
		}
	}
}

// The summary of a calibration says how to print what was measured.
func TestCalibrationText(t *testing.T) {
	var b strings.Builder
	c := calibration{
		Summary: []string{"5 % is told apart."}, Advice: []string{"Close the browser."},
		Bases: []scaleReading{{Work: "arithmetic", Study: "cal-1"}, {Work: "allocation", Study: "cal-2"}},
	}
	plain := func(s string) string { return s }
	if err := c.writeText(&b, report.Style{Bold: plain, Width: 80}); err != nil {
		t.Fatal(err)
	}
	want := "What this machine can tell apart\n  5 % is told apart.\n\nAdvice\n  Close the browser.\n\n" +
		"tare report cal-1 prints all that was measured of arithmetic.\ntare report cal-2 prints all that was measured of allocation.\n"
	if b.String() != want {
		t.Errorf("got %q, want %q", b.String(), want)
	}
	if got := formatPercent(0.0034); got != "0.34 %" {
		t.Errorf("got %s", got)
	}
}
