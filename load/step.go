package load

import (
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/load/hist"
)

// mostSteps is how many steps of a profile have figures of their own.
const mostSteps = 100

// StepResult is what came of one step of a profile of steps: of the requests that
// were due in it, whenever they were answered.
type StepResult struct {
	Rate   float64       // requests per second that were asked for
	At     time.Duration // of its beginning, since measuring began
	Result *Result       // Wall, Asked, Sent, Requests, Errors, Latency and Blocks; the rest is the leg's
}

// stepping is one thread's account of a step, or that of all.
type stepping struct {
	sent, requests int64
	errors         [classes]int64
	latency        hist.Hist
	blocks         []Block // nil: no intervals are wanted
}

// newSteps are those of a leg; nil: its profile has none, or too many.
func newSteps(leg Leg) []stepping {
	p, ok := leg.Profile.(Step)
	if !ok || len(p.Rates) > mostSteps {
		return nil
	}
	list := make([]stepping, len(p.Rates))
	for i := range list {
		list[i].blocks = newBlocks(leg)
	}
	return list
}

func (s *stepping) add(o *stepping) {
	s.sent, s.requests = s.sent+o.sent, s.requests+o.requests
	for i, n := range o.errors {
		s.errors[i] += n
	}
	s.latency.Merge(&o.latency)
	for i, b := range o.blocks {
		s.blocks[i].add(b)
	}
}

// span is when a step is measured, in ns; the last one stays.
func (r *run) span(i int) (from, to int64) {
	p := r.leg.Profile.(Step)
	begin := r.begin.Load()
	from = r.queue.start + int64(i)*int64(p.Each)
	to = from + int64(p.Each)
	if i == len(p.Rates)-1 {
		to = begin + int64(r.leg.Duration)
	}
	if end := r.end.Load(); end != 0 {
		to = min(to, end)
	}
	return max(from, begin), max(to, from, begin)
}

// step is the account of the step that a request is due in, and the part of it; nil:
// there are none. Both know what to do when they are nil.
func (m *recorder) step(q *exchange) (*stepping, *Block) {
	if m.steps == nil {
		return nil, nil
	}
	i := (q.intended - m.r.queue.start) / int64(m.r.leg.Profile.(Step).Each)
	i = min(max(0, i), int64(len(m.steps)-1))
	s := &m.steps[i]
	if s.blocks == nil {
		return s, nil
	}
	from, to := m.r.span(int(i))
	return s, &s.blocks[min(max(0, (q.intended-from)*blocks/max(1, to-from)), blocks-1)]
}

func (s *stepping) ended(answered bool) {
	if s == nil {
		return
	}
	s.sent++
	if answered {
		s.requests++
	}
}

func (s *stepping) failed(class int) {
	if s != nil {
		s.errors[class]++
	}
}

func (s *stepping) lasted(latency int64) {
	if s != nil {
		s.latency.Record(latency)
	}
}

// stepResults are those of steps of which something was measured.
func (c *collector) stepResults() (out []StepResult) {
	for i := range c.steps {
		s := &c.steps[i]
		from, to := c.r.span(i)
		if to == from {
			continue
		}
		rate, wall := c.r.leg.Profile.(Step).Rates[i], time.Duration(to-from)
		r := &Result{
			Connections: c.r.s.Connections, Wall: wall, Asked: rate, Sent: s.sent, Requests: s.requests,
			Errors: named(s.errors), Latency: &s.latency, Blocks: s.blocks,
		}
		out = append(out, StepResult{Rate: rate, At: time.Duration(from - c.r.begin.Load()), Result: r})
	}
	return out
}

// stepped are the steps of a leg in a document. Each has its own verdict; all are
// void if the load generator was the limit.
func stepped(r *Result, slo SLO, a Assessment) (out []Stepped) {
	for _, s := range r.Steps {
		outcomes := slo.Hold(s.Result)
		step := Stepped{
			Connections: r.Connections, At: s.At.Seconds(), RateAsked: s.Rate, RequestsPerSecond: perSecond(s.Result),
			P50: s.Result.Latency.Quantile(0.5), P99: s.Result.Latency.Quantile(0.99), ErrorShare: errorShare(s.Result), Limit: string(a.Limit),
		}
		step.Objectives = kept(outcomes, Assessment{Capacity: a.Limit != LimitClient})
		switch {
		case len(slo) == 0:
		case a.Limit == LimitClient:
			step.Verdict, step.Why = tare.VoidRuling, a.Why
		default:
			step.Verdict, step.Why, _ = rule(outcomes)
		}
		out = append(out, step)
	}
	return out
}
