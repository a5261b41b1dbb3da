package tare

// Round is every contender once, in random order: the unit of inference.
type Round struct {
	Index     int                   `json:"round"`     // from 1
	Tau       int                   `json:"tau"`       // slice length as a multiple of the plan's; 1, or 8 in the rounds that check slice length
	Start     []string              `json:"start"`     // order in which the trials are opened
	Workloads []string              `json:"workloads"` // order in which they are asked
	Orders    map[string][][]string `json:"orders"`    // workload → slice → contenders in the order the token visits them
	Noise     Noise                 `json:"noise"`     // of the machine, over the round
	Seconds   float64               `json:"seconds"`   // wall
}

// Effects are the round effects of one unordered pair: ln(a/b) per round, in
// round order. The effects of the reverse pair are their negatives.
type Effects struct {
	Workload string    `json:"workload"`
	Metric   string    `json:"metric"`
	A        string    `json:"a"`
	B        string    `json:"b"`
	Effects  []float64 `json:"effects"`             // block estimate (Hodges–Lehmann over blocks), or the ratio of sums where the plan says so
	Sums     []float64 `json:"sums,omitempty"`      // ln of the ratio of sums, for comparison
	Of       []int     `json:"of_rounds,omitempty"` // the round of each effect; absent: they are of round 1, 2, 3 and so on
}
