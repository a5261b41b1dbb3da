package load

import (
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/load/hist"
	"github.com/tarebench/tare/load/pace"
)

// maxSteps is the largest number of steps with results of their own.
const maxSteps = 100

// StepResult is the result of one step of a profile of steps: an open loop with one rate after another. It
// is about the requests that were due in the step.
type StepResult struct {
	Number int           // from 0
	Rate   float64       // per second
	At     time.Duration // start of the step, since measuring began
	Result *Result       // only Connections, Wall, Asked, Sent, Requests, Errors, Latency and Blocks are set
}

// stepStats contains the records of a step, of one thread or of all.
type stepStats struct {
	sent, requests int64
	errors         [classCount]int64
	latency        hist.Hist
	blocks         []Block // nil if no intervals are needed
}

// findSteps returns the steps of a profile, without rates if it has none. A share of one of several load
// generators has the rates of the share.
func findSteps(p Profile) Step {
	share, isShare := p.(pace.Share)
	if !isShare {
		steps, _ := p.(Step)
		return steps
	}
	steps := findSteps(share.Whole)
	rates := make([]float64, len(steps.Rates))
	for i, rate := range steps.Rates {
		rates[i] = rate / float64(share.Of)
	}
	return Step{Rates: rates, Each: steps.Each}
}

// newSteps returns the steps of a phase, or nil if its profile has none, or too many.
func newSteps(leg Leg) []stepStats {
	n := len(findSteps(leg.Profile).Rates)
	if n == 0 || n > maxSteps {
		return nil
	}
	list := make([]stepStats, n)
	for i := range list {
		list[i].blocks = newBlocks(leg)
	}
	return list
}

func (s *stepStats) addStats(o *stepStats) {
	s.sent, s.requests = s.sent+o.sent, s.requests+o.requests
	for i, n := range o.errors {
		s.errors[i] += n
	}
	s.latency.Merge(&o.latency)
	for i, b := range o.blocks {
		s.blocks[i].addBlock(b)
	}
}

// stepSpan returns the measured time of step i in ns. The last step lasts to the end of the phase.
func (r *run) stepSpan(i int) (from, to int64) {
	begin := r.begin.Load()
	from = r.queue.start + int64(i)*int64(r.steps.Each)
	to = from + int64(r.steps.Each)
	if i == len(r.steps.Rates)-1 {
		to = begin + int64(r.leg.Duration)
	}
	if end := r.end.Load(); end != 0 {
		to = min(to, end)
	}
	return max(from, begin), max(to, from, begin)
}

// stepAt returns the step in which a request was due, and the block of the step. They are nil if the phase
// has none. Their methods accept nil.
func (m *recorder) stepAt(q *exchange) (*stepStats, *Block) {
	if m.steps == nil {
		return nil, nil
	}
	i := (q.intended - m.r.queue.start) / int64(m.r.steps.Each)
	i = min(max(0, i), int64(len(m.steps)-1)) // the last step lasts to the end of the phase
	s := &m.steps[i]
	if s.blocks == nil {
		return s, nil
	}
	from, to := m.r.stepSpan(int(i))
	block := (q.intended - from) * blockCount / max(1, to-from)
	return s, &s.blocks[min(max(0, block), blockCount-1)]
}

// recordEnd counts a request that is over. s may be nil.
func (s *stepStats) recordEnd(answered bool) {
	if s == nil {
		return
	}
	s.sent++
	if answered {
		s.requests++
	}
}

func (s *stepStats) recordError(class int) {
	if s != nil {
		s.errors[class]++
	}
}

func (s *stepStats) recordLatency(latency int64) {
	if s != nil {
		s.latency.Record(latency)
	}
}

func (c *collector) newStepResults() (out []StepResult) {
	for i := range c.steps {
		s := &c.steps[i]
		from, to := c.r.stepSpan(i)
		if to == from {
			continue
		}
		rate, wall := c.r.steps.Rates[i], time.Duration(to-from)
		r := &Result{
			Connections: c.r.s.Connections, Wall: wall, Asked: rate, Sent: s.sent, Requests: s.requests,
			Errors: errorsByClass(s.errors), Latency: &s.latency, Blocks: s.blocks,
		}
		out = append(out, StepResult{Number: i, Rate: rate, At: time.Duration(from - c.r.begin.Load()), Result: r})
	}
	return out
}

// newStepped returns the steps of a phase in a document, each with its verdict. All are void if the load
// generator was the limit.
func newStepped(r *Result, slo SLO, a Assessment) (out []Stepped) {
	for _, s := range r.Steps {
		outcomes := slo.Hold(s.Result)
		step := Stepped{
			Connections: r.Connections, At: s.At.Seconds(), RateAsked: s.Rate, RequestsPerSecond: responseRate(s.Result),
			P50: s.Result.Latency.Quantile(0.5), P99: s.Result.Latency.Quantile(0.99), ErrorShare: errorShare(s.Result), Limit: string(a.Limit),
		}
		step.Objectives = newKept(outcomes, Assessment{Capacity: a.Limit != LimitClient})
		switch {
		case len(slo) == 0: // without objectives there is no verdict
		case a.Limit == LimitClient:
			step.Verdict, step.Why = tare.VoidRuling, a.Why
		default:
			step.Verdict, step.Why, _ = judgeOutcomes(outcomes)
		}
		out = append(out, step)
	}
	return out
}
