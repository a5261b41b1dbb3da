package session

import (
	"context"
	"math"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/benchstudy"
	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/counts"
	"github.com/tarebench/tare/internal/build"
	"github.com/tarebench/tare/kinds/codec"
	"github.com/tarebench/tare/lab"
)

// countSession is a session that counts.
func countSession(t *testing.T, choice counts.Choice) *Session {
	t.Helper()
	w := &Session{RunTag: "count-test", Progress: &Progress{quiet: true}, Halt: &interruptState{}}
	w.Options.Counts = choice
	w.Lab.Kinds = map[string]lab.Kind{"codec": codec.New()}
	return w
}

// measuredCodecs is a study of encoding/json and a copy of it, and what was measured of them. The copy
// cannot do the second workload; a third contender is a command.
func measuredCodecs() (tare.Study, *tare.Result) {
	study := tare.Study{ID: "s", Kind: "codec", Baseline: "encoding-json",
		Contenders: []tare.Entry{{ID: "encoding-json"}, {ID: "copy", Use: "encoding-json"}, {ID: "mine", Command: []string{"mine"}}},
		Workloads:  []tare.Workload{{ID: "one", Fixture: "devices", N: 1, Op: "marshal"}, {ID: "two", Fixture: "devices", N: 2, Op: "marshal"}},
	}
	r := &tare.Result{}
	r.Seed, r.Metrics, r.Workloads = "7", []string{"time"}, study.Workloads
	for _, id := range []string{"encoding-json", tare.ControlID, "copy", "mine"} {
		r.Contenders = append(r.Contenders, tare.Contender{ID: id})
		samples := map[string]tare.Sample{"one": {"time_ns_per_op": 1000, "bytes_per_op": 500}, "two": {"time_ns_per_op": 2000, "bytes_per_op": 900}}
		if id == "copy" {
			delete(samples, "two")
		}
		r.Trials = append(r.Trials, tare.Trial{Contender: id, Samples: samples})
	}
	return study, r
}

// What cannot be counted gets one note, and the result stays as it was.
func TestNothingIsCounted(t *testing.T) {
	if c, why := counts.FindCounter(t.Context(), counts.Auto); c == nil {
		t.Skip(why)
	}
	for name, tt := range map[string]struct {
		change func(*Session, *tare.Study)
		want   string
	}{
		"another kind": {func(_ *Session, s *tare.Study) { s.Kind = "server" }, "instructions are not counted: tare counts those of a codec, a router, a copier, and this is a study of kind server"},
		"GOGC":         {func(w *Session, _ *tare.Study) { w.Options.Env = []string{"A=1", "GOGC=50"} }, "instructions are not counted: the contenders have GOGC=50, and the collector is off while they are"},
		"off":          {func(w *Session, _ *tare.Study) { w.Options.Counts = counts.Off }, ""},
	} {
		w := countSession(t, counts.Auto)
		study, r := measuredCodecs()
		tt.change(w, &study)
		w.countInstructions(t.Context(), study, t.TempDir(), r)
		var got string
		for _, f := range r.Findings {
			if f.Check != benchstudy.NotCounted().ID || f.Workload != "" {
				t.Errorf("%s: %+v", name, f)
			}
			got += f.Message
		}
		if got != tt.want || r.Counter != nil || len(r.Metrics) != 1 {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}

// tagRecorder notes the build tags of entries.
type tagRecorder struct {
	lab.Sources
	tags map[string]string
}

func (s tagRecorder) Program(ctx context.Context, kind, dir string, e tare.Entry) (build.Program, error) {
	s.tags[e.ID] = strings.Join(e.Tags, " ")
	return s.Sources.Program(ctx, kind, dir, e)
}

// Contenders are built for the counter and counted on the workloads that they have a time on. Two
// copies of one program do the same work; twice as much data is more.
func TestCountContenders(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a contender and counts three times")
	}
	if _, err := exec.LookPath("valgrind"); err != nil {
		t.Skip("no valgrind: install the package valgrind")
	}
	w := countSession(t, counts.Valgrind)
	sources, err := CatalogSources(cmdenv.Workshop{Cache: t.TempDir(), Catalog: filepath.Join("..", "..", "..", "..", "contenders")})
	if err != nil {
		t.Fatal(err)
	}
	tags := map[string]string{}
	w.Sources = tagRecorder{sources, tags}
	study, r := measuredCodecs()
	w.countInstructions(t.Context(), study, t.TempDir(), r)
	if r.Counter == nil || len(r.Work) != 3 || len(r.Comparisons) != 1 || len(r.Values) != 3 {
		t.Fatalf("counted: %+v, %+v, %+v", r.Work, r.Comparisons, r.Findings)
	}
	if tags["encoding-json"] != counts.Tag || tags["copy"] != counts.Tag || len(tags) != 2 {
		t.Errorf("build tags %v", tags)
	}
	c := r.Comparisons[0]
	t.Logf("%+v", r.Work)
	if c.Contender != "copy" || c.Workload != "one" || c.Metric != tare.MetricInstructions || c.Differs(0) != tare.NotShown || math.Abs(c.Ratio-1) > 0.01 {
		t.Errorf("%+v", c)
	}
	one, _ := r.Value("one", "encoding-json", tare.MetricInstructions)
	two, _ := r.Value("two", "encoding-json", tare.MetricInstructions)
	if one.Value < 100 || two.Value < 1.5*one.Value {
		t.Errorf("one device takes %g instructions, two %g", one.Value, two.Value)
	}
	if len(r.Findings) != 1 || r.Findings[0].Contender != "mine" || !strings.Contains(r.Findings[0].Message, "it is a command") {
		t.Errorf("notes: %+v", r.Findings)
	}
}
