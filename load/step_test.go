package load

import (
	"testing"
	"time"

	"github.com/tarebench/tare/internal/assert"
	"github.com/tarebench/tare/load/hist"
	"github.com/tarebench/tare/load/loadtest"
)

// With every engine a request belongs to the step in which it is due.
func TestSteps(t *testing.T) {
	everyWay(t, func(t *testing.T, w way) {
		s := serve(t, w, loadtest.Plain, loadtest.Options{})
		profile := Step{Rates: []float64{100, 300, 200}, Each: 200 * time.Millisecond}
		leg := Leg{Profile: profile, LeadTime: 50 * time.Millisecond, Duration: 650 * time.Millisecond, Hold: SLO{{Errors: true, Limit: 0.5}}}
		r, err := drive(t, w, s, Options{Connections: 20}, leg)
		assert.NoError(t, "run", err)
		assert.Equal(t, "steps", len(r.Steps), 3)
		var sent, requests, errors, parts int64
		for i, want := range []struct {
			at, wall time.Duration
			due      int64
		}{{0, 150 * time.Millisecond, 15}, {150 * time.Millisecond, 200 * time.Millisecond, 60}, {350 * time.Millisecond, 300 * time.Millisecond, 60}} {
			step := r.Steps[i]
			assert.Equal(t, "rate", step.Rate, profile.Rates[i])
			assert.Equal(t, "begins", step.At, want.at)
			assert.Near(t, "wall", float64(step.Result.Wall), float64(want.wall), float64(time.Millisecond))
			some{0, want.due + 1}.check(t, "sent", step.Result.Sent)
			assert.Equal(t, "latencies", step.Result.Latency.Count(), step.Result.Requests+step.Result.Errors[ErrTimeout])
			sent, requests = sent+step.Result.Sent, requests+step.Result.Requests
			for _, n := range step.Result.Errors {
				errors += n
			}
			for _, b := range step.Result.Blocks {
				parts += b.Sent
			}
		}
		assert.Equal(t, "sent", sent, r.Sent)
		assert.Equal(t, "requests", requests, r.Requests)
		assert.Equal(t, "errors", errors, r.Errors[ErrReset]+r.Errors[ErrTimeout]+r.Errors[ErrStatus]+r.Errors[ErrFraming])
		assert.Equal(t, "parts", parts, r.Sent)
	})
}

// Each step has its own verdict. If the load generator was the limit, all are void.
func TestStepVerdicts(t *testing.T) {
	slo := SLO{{Quantile: 0.5, Below: true, Limit: float64(10 * time.Millisecond)}}
	step := func(latency time.Duration, n int) StepResult {
		r := &Result{Wall: time.Second, Sent: int64(n), Requests: int64(n), Latency: new(hist.Hist)}
		for range n {
			r.Latency.Record(int64(latency))
		}
		return StepResult{Rate: 100, Result: r}
	}
	r := &Result{Steps: []StepResult{step(time.Millisecond, 100), step(20*time.Millisecond, 100), step(time.Millisecond, 10)}}
	verdicts := func(limit Limit, slo SLO) (out string) {
		for _, s := range newStepped(r, slo, Assessment{Limit: limit, Why: "busy"}) {
			out += string(s.Verdict) + ", "
		}
		return out
	}
	assert.Equal(t, "verdicts", verdicts(LimitServer, slo), "met, not met, inconclusive, ")
	assert.Equal(t, "of a busy client", verdicts(LimitClient, slo), "void, void, void, ")
	assert.Equal(t, "without objectives", verdicts(LimitServer, nil), ", , , ")
	if newSteps(Leg{Profile: Step{Rates: make([]float64, maxSteps+1), Each: 1}}) != nil || newSteps(Leg{Profile: Constant{}}) != nil {
		t.Error("too many steps, or none, have figures")
	}
}
