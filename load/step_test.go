package load

import (
	"testing"
	"time"

	"github.com/tarebench/tare/internal/assert"
	"github.com/tarebench/tare/load/hist"
	"github.com/tarebench/tare/load/loadtest"
	"github.com/tarebench/tare/load/pace"
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

// Load generators that share a profile of steps record the steps of their shares, which together are the profile's.
func TestStepsOfShares(t *testing.T) {
	everyWay(t, func(t *testing.T, w way) {
		s := serve(t, w, loadtest.Plain, loadtest.Options{})
		defer s.Close()
		profile := Step{Rates: []float64{100, 300}, Each: 200 * time.Millisecond}
		objectives := SLO{{Errors: true, Limit: 0.5}}
		var results []*Result
		for i := range 2 {
			leg := Leg{Profile: pace.Share{Whole: profile, Index: i, Of: 2}, Duration: 400 * time.Millisecond, Hold: objectives}
			session := openTo(t, w, s, Options{Connections: 20})
			r, err := session.Run(t.Context(), leg)
			session.Close()
			assert.NoError(t, "run", err)
			assert.NoError(t, "check", CheckResult(r))
			results = append(results, r)
		}
		d := NewDocument(Merge(results), Documented{SLO: objectives})
		assert.Equal(t, "steps", len(d.Steps), 2)
		for i, step := range d.Steps {
			assert.Equal(t, "rate", step.RateAsked, profile.Rates[i])
			assert.Equal(t, "begins", step.At, 0.2*float64(i))
			assert.Equal(t, "connections", step.Connections, 40)
			due := int64(profile.Rates[i] * profile.Each.Seconds())
			some{0, due}.check(t, "sent", Merge(results).Steps[i].Result.Sent)
			if step.Objectives[0].Interval == nil {
				t.Errorf("step %d has no interval: %+v", i, step.Objectives)
			}
		}
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
