package tare

import "math"

// Bounded reports whether c has an interval.
func (c Comparison) Bounded() bool { return c.Low > 0 && c.High > 0 }

// HalfWidth is half the width of c's interval on the logarithmic scale; zero
// without an interval.
func (c Comparison) HalfWidth() float64 {
	if !c.Bounded() {
		return 0
	}
	return math.Log(c.High/c.Low) / 2
}

// NoiseFloor is how far apart two identical programs seemed to be: the half
// width of the interval of the control, which is the baseline once more, on a
// workload and metric. Zero where the control has no interval.
func NoiseFloor(cs []Comparison, workload, metric string) float64 {
	for _, c := range cs {
		if c.Contender == ControlID && c.Workload == workload && c.Metric == metric && c.Bounded() {
			return c.HalfWidth()
		}
	}
	return 0
}

// Exceeds reports whether ratio is farther from 1 than a noise floor.
func Exceeds(ratio, floor float64) bool { return math.Abs(math.Log(ratio)) > floor }

// Significance is what the evidence allows to say about a difference.
type Significance int

// A difference counts only when it is significant.
const (
	NotShown    Significance = iota // the interval includes 1, or there is none
	WithinNoise                     // the interval excludes 1, but identical programs seemed as different
	Significant
)

// Differs reports whether c's interval excludes 1 and its ratio exceeds the
// noise floor.
func (c Comparison) Differs(floor float64) Significance {
	switch {
	case !c.Bounded() || c.Low <= 1 && 1 <= c.High:
		return NotShown
	case !Exceeds(c.Ratio, floor):
		return WithinNoise
	}
	return Significant
}

// Turned are the effects of the reverse pair.
func (e Effects) Turned() Effects {
	e.A, e.B, e.Effects, e.Sums = e.B, e.A, negated(e.Effects), negated(e.Sums)
	return e
}

// EffectsOf returns the effects of a against b, also where the pair is stored
// the other way round.
func EffectsOf(effects []Effects, workload, metric, a, b string) (Effects, bool) {
	for _, e := range effects {
		switch {
		case e.Workload != workload || e.Metric != metric:
		case e.A == a && e.B == b:
			return e, true
		case e.A == b && e.B == a:
			return e.Turned(), true
		}
	}
	return Effects{}, false
}

func negated(x []float64) []float64 {
	if x == nil {
		return nil
	}
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = -v
	}
	return out
}
