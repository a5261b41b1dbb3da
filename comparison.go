package tare

import "math"

// Comparison compares two contenders on one workload and metric, paired round by round. A study may
// judge its evidence at several looks. The confidence of an interval holds for all of them
// together.
type Comparison struct {
	Workload     string  `json:"workload"`
	Contender    string  `json:"contender"`
	Metric       string  `json:"metric"`
	Against      string  `json:"against"`       // the other contender, usually the baseline
	Ratio        float64 `json:"ratio"`         // value of Contender / value of Against
	Low          float64 `json:"low"`           // interval of Ratio; 0 if there are too few rounds
	High         float64 `json:"high"`          //
	Level        float64 `json:"level"`         // confidence of the interval, over all looks
	Rounds       int     `json:"rounds"`        // number of rounds that Ratio is from
	AgainstValue float64 `json:"against_value"` // median over rounds, in Unit
	Value        float64 `json:"value"`         // median over rounds, in Unit
	Unit         string  `json:"unit"`
	SumsRatio    float64 `json:"sums_ratio,omitempty"` // like Ratio, but from the sums of all slices of a round instead of from blocks; 0 if not measured per slice
	RankLow      int     `json:"rank_low,omitempty"`   // best possible rank; 0 if not ranked
	RankHigh     int     `json:"rank_high,omitempty"`  // worst possible rank
	Letters      string  `json:"letters,omitempty"`    // contenders with a common letter do not differ significantly
	Exact        bool    `json:"exact,omitempty"`      // every round has exactly the same ratio

	// Exploratory reports whether the metric is not the primary one and no criterion or claim is about
	// the comparison. Level is then the confidence of this interval alone. The other intervals are
	// corrected for their number.
	Exploratory bool `json:"exploratory,omitempty"`
}

// Value is the absolute value of one contender: the median over rounds.
type Value struct {
	Workload  string  `json:"workload"`
	Contender string  `json:"contender"`
	Metric    string  `json:"metric"`
	Value     float64 `json:"value"`
	Low       float64 `json:"low"` // interval for the median; equal to Value if there are too few rounds
	High      float64 `json:"high"`
	Unit      string  `json:"unit"`
	Rounds    int     `json:"rounds"`
	Struck    bool    `json:"struck,omitempty"` // the report crosses the value out: it is void, or of a trap, which reproduces a mistake
}

// Bounded reports whether c has an interval.
func (c Comparison) Bounded() bool { return c.Low > 0 && c.High > 0 }

// HalfWidth returns half the width of c's interval, as a logarithm. It returns 0 without an
// interval.
func (c Comparison) HalfWidth() float64 {
	if !c.Bounded() {
		return 0
	}
	return math.Log(c.High/c.Low) / 2
}

// NoiseFloor returns the noise floor of a workload and metric, as a logarithm. It is the apparent
// difference of two identical programs, the baseline and the control. It returns 0 if the control
// has no interval. cs are all comparisons of the study.
func NoiseFloor(cs []Comparison, workload, metric string) float64 {
	for _, c := range cs {
		if c.Contender == ControlID && c.Workload == workload && c.Metric == metric && c.Bounded() {
			return c.NoiseFloor()
		}
	}
	return 0
}

// NoiseFloor returns the noise floor by c, which must be the comparison of the control with the
// baseline. It is half the width of the interval, or the distance of the ratio from 1 if that is
// larger. Both are logarithms. It is 0 without an interval.
func (c Comparison) NoiseFloor() float64 {
	if !c.Bounded() {
		return 0
	}
	return max(c.HalfWidth(), math.Abs(math.Log(c.Ratio)))
}

// Exceeds reports whether ratio is farther from 1 than floor, a logarithm.
func Exceeds(ratio, floor float64) bool { return math.Abs(math.Log(ratio)) > floor }

// Significance is the conclusion about a difference.
type Significance int

// Only a significant difference is reported as a difference.
const (
	NotShown    Significance = iota // the interval includes 1, or is missing
	WithinNoise                     // the interval excludes 1, but the ratio does not exceed the noise floor
	Significant                     // the interval excludes 1, and the ratio exceeds the noise floor
)

// Differs returns whether the interval of c excludes 1, and whether its ratio exceeds floor, the
// noise floor as a logarithm.
func (c Comparison) Differs(floor float64) Significance {
	includes1 := c.Low <= 1 && 1 <= c.High
	switch {
	case !c.Bounded() || includes1:
		return NotShown
	case !Exceeds(c.Ratio, floor):
		return WithinNoise
	}
	return Significant
}

// Below reports whether the entire interval of c is between 1/(1+effect) and 1+effect. The
// difference is then smaller than effect, such as 0.02 for 2 %. It returns false if effect is 0.
func (c Comparison) Below(effect float64) bool {
	isWithin := c.Low*(1+effect) >= 1 && c.High <= 1+effect
	return effect > 0 && c.Bounded() && isWithin
}

// Turned returns the effects of B against A: ln(b/a) = -ln(a/b).
func (e Effects) Turned() Effects {
	e.A, e.B = e.B, e.A
	e.Effects = negate(e.Effects)
	e.Sums = negate(e.Sums)
	return e
}

// EffectsOf returns the effects of a against b. If the pair is stored the other way round, it turns
// them.
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

// negate returns nil for nil, because Effects.Sums is optional.
func negate(x []float64) []float64 {
	if x == nil {
		return nil
	}
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = -v
	}
	return out
}

// Scaling is the growth of time with the size of the input: time ~ size^exponent. The exponent is
// fitted in each round, over workloads that differ only in size.
type Scaling struct {
	Contender string    `json:"contender"`
	Fixture   string    `json:"fixture"`
	Op        string    `json:"op"`
	By        Extent    `json:"by,omitempty"` // measure of size; "" means bytes
	Workloads []string  `json:"workloads"`    // by size, the smallest first
	Exponent  float64   `json:"exponent"`     // 1 means proportional to the size, and 0 the same for all sizes
	Low       float64   `json:"low"`          // equal to Exponent if there are too few rounds
	High      float64   `json:"high"`
	Level     float64   `json:"level"` // confidence of the interval
	Rounds    int       `json:"rounds"`
	PerRound  []float64 `json:"per_round"` // exponent of each round
}

// Extent is a measure of the size of an input.
type Extent string

// Extents.
const (
	ByBytes   Extent = "bytes"   // length of a body
	ByMembers Extent = "members" // see Workload
	ByLevels  Extent = "levels"  // see Workload
)

// Cost is the CPU cost of a contender compared with the baseline's, in a service with a rate of
// operations.
type Cost struct {
	Workload     string  `json:"workload"`
	Contender    string  `json:"contender"`
	Against      string  `json:"against"`
	Metric       string  `json:"metric"`                    // cpu, or time if the study does not measure cpu
	Rate         float64 `json:"rate_per_second,omitempty"` // requested operations per second; 0 means that none were requested
	Cores        float64 `json:"cores,omitempty"`           // cores that the contender uses at Rate; 0.25 is a quarter of one core
	AgainstCores float64 `json:"against_cores,omitempty"`   // cores that the baseline uses at Rate
	Saved        float64 `json:"saved_cores,omitempty"`     // AgainstCores − Cores; negative if the contender costs more
	SavedLow     float64 `json:"saved_cores_low,omitempty"`
	SavedHigh    float64 `json:"saved_cores_high,omitempty"`
	OnePercent   float64 `json:"one_percent_rate_per_second,omitempty"` // rate at which the difference is 1 % of one core; 0 if no difference was shown
	Sentence     string  `json:"sentence"`
}
