package tare

// Scaling is how the cost of one operation grows with the size of its input:
// time ~ size^exponent, fitted in each round over the workloads that differ
// in nothing but size.
type Scaling struct {
	Contender string    `json:"contender"`
	Fixture   string    `json:"fixture"`
	Op        string    `json:"op"`
	By        Extent    `json:"by,omitempty"` // what size is; empty: bytes
	Workloads []string  `json:"workloads"`    // by size, the smallest first
	Exponent  float64   `json:"exponent"`     // 1: proportional to the size; 0: the same whatever the size
	Low       float64   `json:"low"`          // equal to Exponent where there are too few rounds
	High      float64   `json:"high"`
	Level     float64   `json:"level"` // confidence, simultaneous over looks
	Rounds    int       `json:"rounds"`
	PerRound  []float64 `json:"per_round"` // exponent of each round, in round order
}

// Extent is what is meant by the size of an input.
type Extent string

// Extents.
const (
	ByBytes   Extent = "bytes"   // length of a body
	ByMembers Extent = "members" // as in Workload
	ByLevels  Extent = "levels"  // as in Workload
)
