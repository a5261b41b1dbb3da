package load

import (
	"fmt"
	"time"

	"github.com/tarebench/tare"
)

// Generator has the result of one of several machines that sent the load of a phase together.
type Generator struct {
	Name      string
	Result    *Result // nil if the generator was lost
	Facts     Facts
	Offset    time.Duration // time by which its clock was ahead; its start was corrected by it
	Uncertain time.Duration // largest error of Offset
	Drift     time.Duration // change of Offset during the phase
	Lost      string        // why it did not send all of its share; "" if it did
}

// Generated is a load generator in a document.
type Generated struct {
	Name              string  `json:"name"`
	Requests          int64   `json:"requests"`
	RequestsPerSecond float64 `json:"requests_per_second"`
	RateAsked         float64 `json:"rate_asked,omitempty"` // 0 means a closed loop
	P50               int64   `json:"p50_ns"`
	P99               int64   `json:"p99_ns"`
	SendLagP99        int64   `json:"send_lag_p99_ns"`
	CPUSeconds        float64 `json:"cpu_seconds"`
	Limit             string  `json:"limit,omitempty"`
	LimitWhy          string  `json:"limit_why,omitempty"`
	Capacity          bool    `json:"capacity"` // this generator was not the limit
	ClockOffset       int64   `json:"clock_offset_ns"`
	ClockUncertain    int64   `json:"clock_uncertain_ns"`
	ClockDrift        int64   `json:"clock_drift_ns"`
	Lost              string  `json:"lost,omitempty"` // why it did not send all of its share; "" if it did
}

// maxClockError is the largest clock uncertainty that a document does not mention. Generators start and
// stop by their clocks.
const maxClockError = time.Millisecond

// assessAll assesses r, the sum over all load generators, and each generator. The server's capacity stays
// unknown if a generator was the limit or sent less than its share.
func assessAll(r *Result, o Documented) (Assessment, []Generated) {
	a := Assess(r, o.Facts)
	var out []Generated
	addVoid := func(check, message, advice string) {
		a.Capacity = false
		a.Findings = append(a.Findings, tare.Finding{Check: check, Severity: tare.Void, Message: message, Advice: advice})
	}
	for _, g := range o.Generators {
		d := Generated{Name: g.Name, ClockOffset: int64(g.Offset), ClockUncertain: int64(g.Uncertain), ClockDrift: int64(g.Drift), Lost: g.Lost}
		if g.Lost != "" {
			addVoid("generator-lost", fmt.Sprintf("%s did not send its share: %s", g.Name, g.Lost), "load again without it")
		}
		if g.Uncertain > maxClockError {
			a.Findings = append(a.Findings, tare.Finding{Check: "generator-clock", Severity: tare.Warn,
				Message: fmt.Sprintf("the clock of %s is known to %v only: its load may have begun and ended that much before or after the others'", g.Name, g.Uncertain.Round(time.Microsecond))})
		}
		if r := g.Result; r != nil {
			assessment := Assess(r, g.Facts)
			d.Requests, d.RequestsPerSecond, d.RateAsked = r.Requests, responseRate(r), r.Asked
			d.P50, d.P99, d.SendLagP99, d.CPUSeconds = r.Latency.Quantile(0.5), r.Latency.Quantile(0.99), newLatencies(r.SendLag).P99, r.CPU.Seconds()
			d.Limit, d.LimitWhy, d.Capacity = string(assessment.Limit), assessment.Why, assessment.Capacity
			if !assessment.Capacity && a.Limit != LimitClient {
				a.Limit, a.Why = LimitClient, fmt.Sprintf("of the load generators %s was: %s", g.Name, assessment.Why)
			}
			if !assessment.Capacity {
				a.Capacity = false
			}
		}
		out = append(out, d)
	}
	return a, out
}
