package router_test

import (
	"context"
	"net/http"
	"os"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/tarebench/tare"
	sdk "github.com/tarebench/tare/contender/router"
	"github.com/tarebench/tare/contender/wire"
	"github.com/tarebench/tare/kinds/router"
	"github.com/tarebench/tare/lab"
)

// TestMain makes the test binary its own contenders.
func TestMain(m *testing.M) {
	if os.Getenv(wire.EnvWire) != "" {
		build := func(f func(sdk.Spec) http.Handler) sdk.Build {
			return func(_ context.Context, spec sdk.Spec) (http.Handler, error) { return littering{f(spec), 16 << 10}, nil }
		}
		sdk.Variants(map[string]sdk.Build{"mux": build(mux), "prefix": build(prefix), "strict": build(strict), "null": sdk.Null})
	}
	os.Exit(m.Run())
}

// littering leaves garbage behind, so that collection cycles, which slices are
// made of, are short.
type littering struct {
	http.Handler
	bytes int
}

func (l littering) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	garbage := make([]byte, l.bytes)
	l.Handler.ServeHTTP(w, r)
	runtime.KeepAlive(garbage)
}

// strict finds the route segment by segment: right, and slow.
func strict(spec sdk.Spec) http.Handler {
	return spec.Wrap(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a, ok := spec.Answer(wire.HTTPRequest{Method: r.Method, Path: r.URL.EscapedPath()})
		if !ok {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write(a.Body)
	}))
}

// TestAStudy: from requests to comparisons, with a contender that repeats the
// published mistake and one that is merely different.
func TestAStudy(t *testing.T) {
	study := tare.Study{
		ID: "routes", Question: "Which one?", Kind: "router", Baseline: "mux",
		Contenders: []tare.Entry{{ID: "mux"}, {ID: "strict"}, {ID: "prefix", Expect: tare.Expect{Void: []string{"wrong-answer"}}}},
		Workloads: []tare.Workload{
			{ID: "five/param", Fixture: "routes", N: 5, Op: "serve", Pool: 16, Set: map[string]string{"params": "1", "middleware": "3"}},
			{ID: "socket/health", Fixture: "routes", Op: "socket", Pool: 16},
		},
		Metrics: []string{"time", "cpu", "bytes", "allocs"},
	}
	result, err := lab.Run(context.Background(), study, lab.Options{
		Kinds: map[string]lab.Kind{"router": router.New()}, Sources: lab.Self{}, Dir: t.TempDir(),
		Measuring: lab.Measuring{Rounds: 2, Slice: 2 * time.Millisecond, Env: []string{"GORACE=atexit_sleep_ms=0"}}, // else each contender sleeps a second under -race
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range result.Workloads {
		if w.Keys != 16 || w.DistinctKeys != w.Keys {
			t.Errorf("%s: %d of %d URLs are different", w.ID, w.DistinctKeys, w.Keys)
		}
		if !slices.ContainsFunc(result.Comparisons, func(c tare.Comparison) bool {
			return c.Workload == w.ID && c.Contender == "strict" && c.Metric == "time" && c.Rounds == 2 && c.Value > 0
		}) {
			t.Errorf("%s: strict was not compared", w.ID)
		}
	}
	probed := map[string]int{}
	for _, c := range result.Conformance {
		switch {
		case c.Probe:
			probed[c.Contender] += c.Wrong
		case (c.Wrong > 0) != (c.Contender == "prefix" && c.Workload == "five/param"):
			t.Errorf("%+v", c)
		}
	}
	if probed["mux"] > 0 || probed["strict"] > 0 || probed["prefix"] == 0 {
		t.Errorf("wrong answers to probes: %v", probed)
	}
	for _, s := range result.Semantics {
		if s.Cases == 0 || (len(s.Differences) == 0) != (s.Contender == "mux") {
			t.Errorf("%s: %d cases, %d differences", s.Contender, s.Cases, len(s.Differences))
		}
	}
	for _, v := range result.Values {
		if v.Contender == tare.NullID && v.Workload == "five/param" && v.Metric == "bytes" && v.Value >= 1 {
			t.Errorf("the harness allocates %v B for each request", v.Value)
		}
	}
	for _, tr := range result.Trials {
		if tr.Error != nil {
			t.Errorf("round %d, %s: %v", tr.Round, tr.Contender, tr.Error)
		}
	}
}
