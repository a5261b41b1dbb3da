// Package pace computes when the requests of an open loop are due. An open loop sends requests at planned
// times, whatever the responses. The package only calculates; it does not read a clock.
package pace

import (
	"fmt"
	"math"
	"math/bits"
	"strings"
	"time"
)

// MaxRate is the highest rate that Parse accepts, in requests per second. It protects servers from typing
// errors.
const MaxRate = 1e6

// Profile is the intended rate of an open loop over time.
type Profile interface {
	// Times returns a function that returns the intended time of one request after another. Times are never
	// negative and never decrease. seed selects the times of a random profile.
	Times(seed uint64) func() time.Duration
	// Mean returns the mean rate over the first d, in requests per second.
	Mean(d time.Duration) float64
	// String returns the profile as in flags.
	String() string
}

var (
	_ Profile = Constant{}
	_ Profile = Poisson{}
	_ Profile = Ramp{}
	_ Profile = Step{}
)

// Constant is a request every 1/PerSecond seconds, the first at zero.
type Constant struct {
	PerSecond float64 // above 0
}

// Times returns n × 10¹⁵ / micro ns for n = 0, 1, 2, … micro is the rate in millionths of a request per
// second; 10¹⁵ = 10⁹ ns × 10⁶. Integers of 128 bits are exact, so rounding errors do not add up.
func (c Constant) Times(uint64) func() time.Duration {
	micro := max(uint64(math.Round(c.PerSecond*1e6)), 1)
	var n uint64
	return func() time.Duration {
		hi, lo := bits.Mul64(n, 1e15)
		n++
		if hi >= micro { // the quotient would not fit into 64 bits
			return math.MaxInt64
		}
		t, _ := bits.Div64(hi, lo, micro)
		return time.Duration(min(t, math.MaxInt64))
	}
}

// Mean returns PerSecond.
func (c Constant) Mean(time.Duration) float64 { return c.PerSecond }

// String returns e.g. 5000/s.
func (c Constant) String() string { return formatRate(c.PerSecond) }

// Poisson is a Poisson process. The gaps between requests are exponential, 1/PerSecond seconds in the mean.
type Poisson struct {
	PerSecond float64 // above 0
}

// Times adds up random exponential gaps.
func (p Poisson) Times(seed uint64) func() time.Duration {
	var t float64 // ns; float64 represents an hour to less than a picosecond
	return func() time.Duration {
		t -= math.Log(drawUnit(&seed)) / p.PerSecond * 1e9
		return toDuration(t)
	}
}

// Mean returns PerSecond.
func (p Poisson) Mean(time.Duration) float64 { return p.PerSecond }

// String returns e.g. poisson:5000/s.
func (p Poisson) String() string { return "poisson:" + formatRate(p.PerSecond) }

// drawUnit draws a number above 0 and up to 1 from SplitMix64 (Steele, Lea and Flood, "Fast splittable
// pseudorandom number generators", 2014).
func drawUnit(state *uint64) float64 {
	*state += 0x9e3779b97f4a7c15
	z := *state
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return float64((z^z>>31)>>11+1) / (1 << 53)
}

// Ramp is a rate that changes linearly from From to To, and stays at To after Over.
type Ramp struct {
	From float64 // requests per second, at least 0
	To   float64 // requests per second, above 0
	Over time.Duration
}

// countDue returns the integral of the rate up to t seconds.
func (r Ramp) countDue(t float64) float64 {
	over := r.Over.Seconds()
	if t <= over {
		return r.From*t + (r.To-r.From)/over*t*t/2
	}
	return (r.From+r.To)/2*over + r.To*(t-over)
}

// Times returns the time at which countDue is n, for n = 0, 1, 2, … During the ramp it is the root of a
// quadratic equation. This form does not subtract numbers of similar size.
func (r Ramp) Times(uint64) func() time.Duration {
	over := r.Over.Seconds()
	rampCount := r.countDue(over) // requests of the ramp itself
	slope := (r.To - r.From) / over
	var n, last float64 // requests so far, and the last time in seconds
	return func() time.Duration {
		t := over + (n-rampCount)/r.To
		if n < rampCount {
			t = 2 * n / (r.From + math.Sqrt(max(r.From*r.From+2*slope*n, 0)))
		}
		if n == 0 {
			t = 0 // the formula would be 0/0 if From is 0
		}
		n++
		last = max(last, t)
		return toDuration(last * 1e9)
	}
}

// Mean returns the integral of the rate over the first d, divided by d.
func (r Ramp) Mean(d time.Duration) float64 { return meanRate(r.countDue, r.From, d) }

// String returns e.g. ramp:100/s..5000/s, without Over.
func (r Ramp) String() string { return "ramp:" + formatRate(r.From) + ".." + formatRate(r.To) }

// Step is a sequence of rates. Each rate lasts for Each, and the last one for ever.
type Step struct {
	Rates []float64     // requests per second, above 0; at least one
	Each  time.Duration // above 0
}

func (s Step) countDue(t float64) float64 {
	each := s.Each.Seconds()
	var n float64
	for _, rate := range s.Rates[:len(s.Rates)-1] {
		if t <= each {
			return n + rate*t
		}
		n, t = n+rate*each, t-each
	}
	return n + s.Rates[len(s.Rates)-1]*t
}

// Times returns the time at which countDue is n, for n = 0, 1, 2, …
func (s Step) Times(uint64) func() time.Duration {
	each := s.Each.Seconds()
	var n float64      // requests so far
	var before float64 // requests of earlier steps
	var last float64   // last time in seconds
	step := 0
	return func() time.Duration {
		for step < len(s.Rates)-1 && n-before >= s.Rates[step]*each {
			before += s.Rates[step] * each
			step++
		}
		last = max(last, float64(step)*each+(n-before)/s.Rates[step])
		n++
		return toDuration(last * 1e9)
	}
}

// Mean returns the number of requests in the first d, divided by d.
func (s Step) Mean(d time.Duration) float64 { return meanRate(s.countDue, s.Rates[0], d) }

// String returns e.g. step:100/s,500/s, without Each.
func (s Step) String() string {
	var rates []string
	for _, r := range s.Rates {
		rates = append(rates, formatRate(r))
	}
	return "step:" + strings.Join(rates, ",")
}

// meanRate returns count(d)/d, or first if d is 0.
func meanRate(count func(seconds float64) float64, first float64, d time.Duration) float64 {
	if d <= 0 {
		return first
	}
	return count(d.Seconds()) / d.Seconds()
}

// toDuration converts ns to a duration, at most 292 years.
func toDuration(ns float64) time.Duration {
	if ns >= math.MaxInt64 {
		return math.MaxInt64
	}
	return time.Duration(ns)
}

// Peak returns the highest rate of a profile, in requests per second.
func Peak(p Profile) float64 {
	switch p := p.(type) {
	case Share:
		return Peak(p.Whole) / float64(p.Of)
	case Ramp:
		return max(p.From, p.To)
	case Step:
		peak := 0.0
		for _, r := range p.Rates {
			peak = max(peak, r)
		}
		return peak
	}
	return p.Mean(0)
}

// Error is the error of an invalid profile, with examples of valid ones.
type Error struct {
	Text string
	What string // what is wrong
}

// Error returns one line.
func (e *Error) Error() string {
	return fmt.Sprintf("rate %q: %s; 5000/s, poisson:5000/s, ramp:100/s..5000/s or step:100/s,500/s", e.Text, e.What)
}
