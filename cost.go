package tare

// Cost is what a contender's CPU time comes to in a service that does the
// operation so many times a second, against the baseline's. The bounds follow
// from the interval of the ratio; the baseline's own time is taken as its
// median over rounds.
type Cost struct {
	Workload     string  `json:"workload"`
	Contender    string  `json:"contender"`
	Against      string  `json:"against"`
	Metric       string  `json:"metric"`                    // cpu; time where the study does not measure cpu
	Rate         float64 `json:"rate_per_second,omitempty"` // as asked; zero: nobody asked
	Cores        float64 `json:"cores,omitempty"`           // used at Rate; 0.25 is a quarter of one core
	AgainstCores float64 `json:"against_cores,omitempty"`   // used by the baseline at Rate
	Saved        float64 `json:"saved_cores,omitempty"`     // AgainstCores - Cores; negative where the contender costs more
	SavedLow     float64 `json:"saved_cores_low,omitempty"`
	SavedHigh    float64 `json:"saved_cores_high,omitempty"`
	OnePercent   float64 `json:"one_percent_rate_per_second,omitempty"` // rate at which the difference is 1 % of one core; zero: no difference was shown
	Sentence     string  `json:"sentence"`
}
