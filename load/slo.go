package load

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/tarebench/tare/internal/format"
)

// SLO is a list of service level objectives. A server must meet all of them.
type SLO []Objective

// Objective is a bound on one value of a result. Exactly one of Quantile, Max, Mean and Errors is set.
type Objective struct {
	Quantile float64 // of the latencies, above 0 and below 1
	Max      bool
	Mean     bool
	Errors   bool    // the share of requests that failed
	Below    bool    // the value must be less than Limit; otherwise at most Limit
	Limit    float64 // ns, or a share: 0.001 is 0.1 %
}

// SLOError is the error of an invalid objective, with examples of valid ones.
type SLOError struct {
	Text string
	What string // what is wrong
}

// Error is one line.
func (e *SLOError) Error() string {
	return fmt.Sprintf("objective %q: %s; e.g. p99<50ms or p99.9<=100ms,errors<0.1%%", e.Text, e.What)
}

// ParseSLO parses objectives separated by commas, e.g. p99<50ms or errors<=0.1%. An objective is the name
// of a value, then < or <=, then a limit. Names are max, mean, errors (the share of failed requests), and
// quantiles of the latencies such as p99.9. A limit is a duration, or for errors a percentage.
func ParseSLO(text string) (SLO, error) {
	var s SLO
	seen := map[string]bool{}
	for _, part := range strings.Split(text, ",") {
		o, what := parseObjective(strings.TrimSpace(part))
		if what == "" && seen[o.figureName()] {
			what = o.figureName() + " is given twice"
		}
		if what != "" {
			return nil, &SLOError{text, what}
		}
		seen[o.figureName()] = true
		s = append(s, o)
	}
	return s, nil
}

// parseObjective parses one objective, e.g. p99<50ms. what describes an error, or is "".
func parseObjective(text string) (o Objective, what string) {
	figure, limit, ok := strings.Cut(text, "<")
	if !ok {
		return o, strconv.Quote(text) + " has no <"
	}
	rest, atMost := strings.CutPrefix(limit, "=")
	o.Below = !atMost
	limit = strings.TrimSpace(rest)
	switch figure = strings.TrimSpace(figure); figure {
	case "max":
		o.Max = true
	case "mean":
		o.Mean = true
	case "errors":
		o.Errors = true
		o.Limit, what = parseShare(limit)
		if what == "" && o.Below && o.Limit == 0 {
			what = "errors<0% cannot be met, errors<=0% can"
		}
		return o, what
	default:
		if o.Quantile, ok = parseQuantile(figure); !ok {
			return o, strconv.Quote(figure) + " is not a figure: p and a percentage below 100, max, mean or errors"
		}
	}
	d, err := time.ParseDuration(limit)
	if err != nil || d <= 0 || d > MaxDuration {
		return o, strconv.Quote(limit) + " is not a duration between 0 and 1h"
	}
	o.Limit = float64(d)
	return o, ""
}

// parseQuantile parses the name of a quantile: p99.9 is 0.999.
func parseQuantile(text string) (float64, bool) {
	digits, ok := strings.CutPrefix(text, "p")
	if !ok || strings.Trim(digits, "0123456789.") != "" || strings.HasPrefix(digits, ".") || len(digits) > 8 {
		return 0, false
	}
	x, err := strconv.ParseFloat(digits, 64)
	return x / 100, err == nil && x > 0 && x < 100
}

// parseShare parses a percentage: 0.1% is 0.001. what describes an error, or is "".
func parseShare(text string) (share float64, what string) {
	digits, ok := strings.CutSuffix(text, "%")
	x, err := strconv.ParseFloat(strings.TrimSpace(digits), 64)
	if !ok || err != nil || !(x >= 0 && x <= 100) {
		return 0, strconv.Quote(text) + " is not a percentage"
	}
	return x / 100, ""
}

func (o Objective) figureName() string {
	switch {
	case o.Max:
		return "max"
	case o.Mean:
		return "mean"
	case o.Errors:
		return "errors"
	}
	return "p" + strconv.FormatFloat(math.Round(o.Quantile*1e10)/1e8, 'f', -1, 64)
}

func (o Objective) formatLimit() string {
	if o.Errors {
		return strconv.FormatFloat(math.Round(o.Limit*1e12)/1e10, 'f', -1, 64) + "%"
	}
	return time.Duration(o.Limit).String()
}

// String returns the objective as flags write it.
func (o Objective) String() string {
	if o.Below {
		return o.figureName() + "<" + o.formatLimit()
	}
	return o.figureName() + "<=" + o.formatLimit()
}

// String returns the objectives as flags write them.
func (s SLO) String() string {
	var parts []string
	for _, o := range s {
		parts = append(parts, o.String())
	}
	return strings.Join(parts, ",")
}

// minTail is the least number of responses above a quantile for a verdict. With fewer, the quantile depends
// more on chance than on the server.
const minTail = 20

// roundingError keeps a product like 2000 × (1 - 0.99) from falling below minTail.
const roundingError = 1e-6

// Outcome is an objective compared with a result.
type Outcome struct {
	Objective Objective
	Value     float64 // ns, or for errors a share
	Met       bool
	Thin      bool // too few responses for a verdict
	Undecided bool // the interval contains the allowed value

	Seen      bool
	Share     float64 // for a quantile: share of responses beyond its limit; otherwise the value
	Low, High float64 // interval of Share at 95 %
}

// String returns the measured value and the objective, e.g. p99 was 61ms, not <50ms.
func (o Outcome) String() string {
	seen := formatDuration(time.Duration(o.Value))
	if o.Objective.Errors {
		seen = format.Percent(o.Value)
	}
	name := o.Objective.figureName()
	asked := strings.TrimPrefix(o.Objective.String(), name)
	if o.Met {
		return name + " was " + seen + ", asked was " + asked
	}
	return name + " was " + seen + ", not " + asked
}

// Met reports whether every objective is met, by enough responses and a clear interval.
func Met(outcomes []Outcome) bool {
	for _, o := range outcomes {
		if !o.Met || o.Thin || o.Undecided {
			return false
		}
	}
	return true
}

// Hold compares every objective with r, the result of a phase. A timeout counts as a latency and as an
// error. Outcomes have intervals if Leg.Hold of the phase had the same objectives.
func (s SLO) Hold(r *Result) []Outcome {
	var out []Outcome
	for i, o := range s {
		v := o.measuredValue(r)
		answers := float64(r.Latency.Count())
		noAnswers := !o.Errors && answers == 0
		fewBeyond := o.Quantile > 0 && answers*(1-o.Quantile) < minTail-roundingError
		met := v <= o.Limit
		if o.Below {
			met = v < o.Limit
		}
		outcome := Outcome{Objective: o, Value: v, Met: met, Thin: noAnswers || fewBeyond}
		outcome.addInterval(r.Blocks, i)
		out = append(out, outcome)
	}
	return out
}

// measuredValue returns the bounded value: ns, or for errors a share.
func (o Objective) measuredValue(r *Result) float64 {
	switch {
	case o.Errors:
		return errorShare(r)
	case o.Max:
		return float64(r.Latency.Max())
	case o.Mean:
		return r.Latency.Mean()
	}
	return float64(r.Latency.Quantile(o.Quantile))
}

// errorShare returns the share of the sent requests that failed.
func errorShare(r *Result) float64 {
	var n int64
	for _, c := range r.Errors {
		n += c
	}
	if n == 0 {
		return 0
	}
	return float64(n) / float64(max(r.Sent, n))
}
