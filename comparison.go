package tare

import "math"

// Comparison compares two contenders on one workload and metric, paired round by round. A study may
// judge its evidence at several looks. The confidence of an interval holds for all of them
// together.
type Comparison struct {
	Workload     string  `json:"workload"`
	Contender    string  `json:"contender"`
	Metric       string  `json:"metric"`
	Against      string  `json:"against"` // usually the baseline
	Ratio        float64 `json:"ratio"`   // value of Contender / value of Against
	Low          float64 `json:"low"`     // interval of Ratio; 0 if there are too few rounds
	High         float64 `json:"high"`    //
	Level        float64 `json:"level"`   // confidence of the interval
	Rounds       int     `json:"rounds"`
	AgainstValue float64 `json:"against_value"` // median, in Unit
	Value        float64 `json:"value"`         // median, in Unit
	Unit         string  `json:"unit"`
	SumsRatio    float64 `json:"sums_ratio,omitempty"` // ratio of sums of slices; 0 if not measured per slice
	RankLow      int     `json:"rank_low,omitempty"`   // best possible rank; 0 if not ranked
	RankHigh     int     `json:"rank_high,omitempty"`  // worst possible rank
	Letters      string  `json:"letters,omitempty"`    // a common letter means no significant difference
	Exact        bool    `json:"exact,omitempty"`      // the same ratio in every round

	// Exploratory reports whether no question of the study is about the comparison. Level is then
	// that of this interval alone. Other intervals are corrected for their number.
	Exploratory bool `json:"exploratory,omitempty"`
}

// Value is the absolute value of one contender: the median over rounds.
type Value struct {
	Workload  string  `json:"workload"`
	Contender string  `json:"contender"`
	Metric    string  `json:"metric"`
	Value     float64 `json:"value"`
	Low       float64 `json:"low"` // interval for the median; Value if there are too few rounds
	High      float64 `json:"high"`
	Unit      string  `json:"unit"`
	Rounds    int     `json:"rounds"`
	Struck    bool    `json:"struck,omitempty"` // crossed out: void, or of a trap
}

// Bounded reports whether c has an interval.
func (c Comparison) Bounded() bool { return c.Low > 0 && c.High > 0 }

// HalfWidth returns half the width of c's interval on the logarithmic scale, or 0 without one.
func (c Comparison) HalfWidth() float64 {
	if !c.Bounded() {
		return 0
	}
	return math.Log(c.High/c.Low) / 2
}

// NoiseFloor returns the noise floor of a workload and metric, on the logarithmic scale. It is the
// apparent difference of two identical programs, or 0 if unknown.
func NoiseFloor(cs []Comparison, workload, metric string) float64 {
	for _, c := range cs {
		if c.Contender == ControlID && c.Workload == workload && c.Metric == metric && c.Bounded() {
			return c.NoiseFloor()
		}
	}
	return 0
}

// NoiseFloor returns the noise floor from c, the comparison of the control with the baseline.
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
	WithinNoise                     // the ratio is within the noise floor
	Significant                     // the interval excludes 1, and the ratio exceeds the noise floor
)

// Differs returns the conclusion about c. floor is the noise floor, a logarithm.
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

// Below reports whether any difference is smaller than effect. It returns false if effect is 0.
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

// EffectsOf returns the effects of a against b. The pair may be stored the other way round.
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

// negate returns nil for nil.
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

// Scaling is the growth of time with the size of the input: time ~ size^exponent.
type Scaling struct {
	Contender string    `json:"contender"`
	Fixture   string    `json:"fixture"`
	Op        string    `json:"op"`
	By        Extent    `json:"by,omitempty"` // "" means bytes
	Workloads []string  `json:"workloads"`    // smallest first
	Exponent  float64   `json:"exponent"`     // 1: proportional to the size; 0: the same for all
	Low       float64   `json:"low"`          // Exponent if there are too few rounds
	High      float64   `json:"high"`
	Level     float64   `json:"level"` // confidence of the interval
	Rounds    int       `json:"rounds"`
	PerRound  []float64 `json:"per_round"` // exponents
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
	Metric       string  `json:"metric"`                    // cpu, or time without it
	Rate         float64 `json:"rate_per_second,omitempty"` // operations per second; 0 means none was requested
	Cores        float64 `json:"cores,omitempty"`           // cores of the contender at Rate
	AgainstCores float64 `json:"against_cores,omitempty"`   // cores of the baseline at Rate
	Saved        float64 `json:"saved_cores,omitempty"`     // negative if the contender costs more
	SavedLow     float64 `json:"saved_cores_low,omitempty"`
	SavedHigh    float64 `json:"saved_cores_high,omitempty"`
	OnePercent   float64 `json:"one_percent_rate_per_second,omitempty"` // rate at which the difference is 1 % of one core; 0 if none was shown
	Sentence     string  `json:"sentence"`
}
