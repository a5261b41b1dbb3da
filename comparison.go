package tare

// Comparison is a contender against another on one workload and metric,
// paired round by round.
type Comparison struct {
	Workload     string  `json:"workload"`
	Contender    string  `json:"contender"`
	Metric       string  `json:"metric"`
	Against      string  `json:"against"`
	Ratio        float64 `json:"ratio"` // contender / against
	Low          float64 `json:"low"`
	High         float64 `json:"high"`
	Level        float64 `json:"level"`         // confidence, simultaneous over looks
	Rounds       int     `json:"rounds"`        // that entered
	AgainstValue float64 `json:"against_value"` // median over rounds, in Unit
	Value        float64 `json:"value"`         // median over rounds, in Unit
	Unit         string  `json:"unit"`
	SumsRatio    float64 `json:"sums_ratio,omitempty"` // from the ratio of sums, where slices were paired
	RankLow      int     `json:"rank_low,omitempty"`   // best rank the evidence allows; zero where not ranked
	RankHigh     int     `json:"rank_high,omitempty"`
	Letters      string  `json:"letters,omitempty"`     // contenders that share a letter were not told apart
	Exact        bool    `json:"exact,omitempty"`       // every round agreed to the last digit
	Exploratory  bool    `json:"exploratory,omitempty"` // not the primary metric: its error is not controlled over the table
}

// Value is the absolute figure of one contender: the median over rounds.
type Value struct {
	Workload  string  `json:"workload"`
	Contender string  `json:"contender"`
	Metric    string  `json:"metric"`
	Value     float64 `json:"value"`
	Low       float64 `json:"low"` // order-statistic interval for the median over rounds; equal to Value where too few
	High      float64 `json:"high"`
	Unit      string  `json:"unit"`
	Rounds    int     `json:"rounds"`
	Struck    bool    `json:"struck,omitempty"` // a trap or a void: not to be used
}
