package tare

import (
	"fmt"
	"slices"
)

// BreakEven asks from how many operations a second on it matters that the
// baseline costs more than a contender, along workloads that differ in the
// shape of what is worked on.
type BreakEven struct {
	Contender string    `json:"contender"`
	Workloads []string  `json:"workloads"`
	Rates     []float64 `json:"rates_per_second"` // ascending
}

func (b BreakEven) validate(at string, s *Study, works, seen map[string]bool) error {
	switch {
	case !seen[b.Contender]:
		return fieldError(at+".contender", fmt.Sprintf("unknown contender %q", b.Contender), "name one of the study's contenders")
	case b.Contender == s.Baseline:
		return fieldError(at+".contender", "the baseline against itself", "name one of the others")
	case len(b.Workloads) == 0:
		return fieldError(at+".workloads", "a break-even without workloads", "name the study's workloads")
	case len(b.Rates) == 0:
		return fieldError(at+".rates", "a break-even without rates", "e.g. rates: [10/s, 1000/s]")
	}
	for i, id := range b.Workloads {
		if !works[id] {
			return fieldError(fmt.Sprintf("%s.workloads[%d]", at, i), fmt.Sprintf("unknown workload %q", id), "name the study's workloads")
		}
	}
	for i, rate := range b.Rates {
		if !(rate > 0) || i > 0 && rate <= b.Rates[i-1] {
			return fieldError(fmt.Sprintf("%s.rates[%d]", at, i), "rates ascend from above zero", "e.g. rates: [10/s, 1000/s]")
		}
	}
	if !slices.Contains(s.Metrics, "cpu") && !slices.Contains(s.Metrics, "time") {
		return fieldError(at, "a break-even of neither cpu nor time", "add cpu to metrics:")
	}
	return nil
}

// BreakEvenResult is what the baseline costs more than a contender, by shape
// and rate.
type BreakEvenResult struct {
	Contender string           `json:"contender"`
	Against   string           `json:"against"`
	Metric    string           `json:"metric"` // cpu; time where the study does not measure cpu
	Rates     []float64        `json:"rates_per_second"`
	Level     float64          `json:"level"`  // confidence of each interval, simultaneous over looks
	Points    []BreakEvenPoint `json:"points"` // by members, then by levels
	Sentence  string           `json:"sentence"`
}

// BreakEvenPoint is one shape. The bounds are those of the difference over
// rounds.
type BreakEvenPoint struct {
	Workload string  `json:"workload"`
	Members  int     `json:"members,omitempty"` // as in Workload
	Levels   int     `json:"levels,omitempty"`
	More     float64 `json:"more_ns_per_op"` // what the baseline takes more; negative: less
	MoreLow  float64 `json:"more_ns_per_op_low"`
	MoreHigh float64 `json:"more_ns_per_op_high"`

	// Cores is what that comes to at each of the rates: 0.01 is 1 % of a core.
	Cores []float64 `json:"more_cores"`

	// OnePercent is the rate at which it is 1 % of one core; zero: no
	// difference was shown, or the baseline takes less.
	OnePercent     float64 `json:"one_percent_rate_per_second,omitempty"`
	OnePercentLow  float64 `json:"one_percent_rate_per_second_low,omitempty"`
	OnePercentHigh float64 `json:"one_percent_rate_per_second_high,omitempty"`

	Rounds   int       `json:"rounds"`
	PerRound []float64 `json:"per_round"` // difference of each round, in round order
}
