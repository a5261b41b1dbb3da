package tare

// Scaling is how the cost of one operation grows with the size of its input:
// time ~ bytes^exponent, fitted in each round over the workloads that differ
// in nothing but size.
type Scaling struct {
	Contender string    `json:"contender"`
	Fixture   string    `json:"fixture"`
	Op        string    `json:"op"`
	Workloads []string  `json:"workloads"` // by size, the smallest first
	Exponent  float64   `json:"exponent"`  // 1: proportional to the bytes; 0: the same whatever the size
	Low       float64   `json:"low"`       // equal to Exponent where there are too few rounds
	High      float64   `json:"high"`
	Level     float64   `json:"level"` // confidence, simultaneous over looks
	Rounds    int       `json:"rounds"`
	PerRound  []float64 `json:"per_round"` // exponent of each round, in round order
}
