package bisect_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/benchstudy/bisect"
)

// measured is a result of rounds in which head allocates head[i] times and takes
// exp(time[i]) of base's time.
func measured(head, time []float64) *tare.Result {
	r := &tare.Result{Measured: tare.Measured{Rounds: []tare.Effects{
		{Workload: "b", Metric: "time", A: "base", B: "head", Effects: negative(time)},
		{Workload: "b", Metric: "time", A: tare.ControlID, B: "base", Effects: make([]float64, len(time))},
	}}}
	for i, n := range head {
		for id, allocs := range map[string]float64{"base": 3, tare.ControlID: 3, "head": n} {
			r.Trials = append(r.Trials, tare.Trial{Round: i + 1, Tau: 1, Contender: id, Samples: map[string]tare.Sample{"b": {"allocs_per_op": allocs}}})
		}
	}
	return r
}

func negative(x []float64) []float64 {
	out := slices.Clone(x)
	for i := range out {
		out[i] = -out[i]
	}
	return out
}

func TestBatch(t *testing.T) {
	r := measured([]float64{5, 5, 5.01}, []float64{0.1, 0.2, math.Inf(1)})
	for _, tt := range []struct {
		of    bisect.Quantity
		want  []float64
		exact bool
	}{
		{bisect.Quantity{Benchmark: "b", Metric: "time", Sign: 1}, []float64{0.1, 0.2}, false},
		{bisect.Quantity{Benchmark: "b", Metric: "time", Sign: -1}, []float64{-0.1, -0.2}, false},
		{bisect.Quantity{Benchmark: "b", Metric: "allocs", Sign: 1}, []float64{2, 2, 2.01}, true},
	} {
		b, err := tt.of.Batch(r)
		slices.Sort(b.Effects)
		slices.Sort(tt.want)
		if err != nil || b.Exact != tt.exact || !slices.EqualFunc(b.Effects, tt.want, func(x, y float64) bool { return math.Abs(x-y) < 1e-9 }) || len(b.Control) == 0 {
			t.Errorf("%+v: %+v, %v; want %v", tt.of, b, err, tt.want)
		}
	}
	of := bisect.Quantity{Benchmark: "b", Metric: "allocs", Sign: 1}
	if b, _ := of.Batch(measured([]float64{5, 6}, nil)); b.Exact {
		t.Error("what differs from round to round is exact")
	}
	if of.BaseValue(r) != 3 || of.BaseValue(&tare.Result{}) != 0 {
		t.Errorf("base %v", of.BaseValue(r))
	}
	var skip *bisect.SkipError
	r.Findings = []tare.Finding{{Check: "drift", Severity: tare.Void, Contender: "head", Workload: "b", Message: "it drifts"}}
	if _, err := of.Batch(r); !errors.As(err, &skip) || !strings.Contains(skip.Why, "it drifts") {
		t.Errorf("void: %v", err)
	}
	failed := &tare.Result{Record: tare.Record{Trials: []tare.Trial{{Contender: "head", Error: &tare.TrialError{Message: "no luck"}}}}}
	if _, err := of.Batch(failed); !errors.As(err, &skip) || !strings.Contains(skip.Why, "head fails: no luck") {
		t.Errorf("failed: %v", err)
	}
}

// Of several benchmarks the one that changes most, for its noise, is searched by.
func TestWidest(t *testing.T) {
	r := measured([]float64{5, 5}, []float64{0.1, 0.1, 0.1, 0.1})
	r.Rounds = append(r.Rounds, tare.Effects{Workload: "noisy", Metric: "time", A: "head", B: "base", Effects: []float64{0.9, -0.5, 0.8, -0.6}})
	of := func(id string) bisect.Quantity { return bisect.Quantity{Benchmark: id, Metric: "time", Sign: 1} }
	if q := bisect.ClearestChange(r, []bisect.Quantity{of("none"), of("noisy"), of("b")}); q.Benchmark != "b" {
		t.Errorf("%+v", q)
	}
	count := bisect.Quantity{Benchmark: "b", Metric: "allocs", Sign: 1}
	if q := bisect.ClearestChange(r, []bisect.Quantity{{Benchmark: "none", Metric: "allocs", Sign: 1}, count}); q != count {
		t.Errorf("%+v", q)
	}
}
