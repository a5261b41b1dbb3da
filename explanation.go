package tare

// Explanation lists the functions from which the difference between two contenders on one workload
// comes. Both were profiled after the rounds.
//
// In names of fields, From means a value of Against, and To means a value of Contender. Wall times
// exclude waiting for a processor.
type Explanation struct {
	Workload  string     `json:"workload"`
	Contender string     `json:"contender"`
	Against   string     `json:"against"` // the other contender
	Rounds    int        `json:"rounds"`
	Ops       int64      `json:"ops"`              // operations in one round, of each contender
	WallFrom  float64    `json:"wall_from"`        // ns/op while profiled, median
	WallTo    float64    `json:"wall_to"`          // ns/op while profiled, median
	From      float64    `json:"from"`             // CPU ns/op, mean
	To        float64    `json:"to"`               // CPU ns/op, mean
	Functions []Origin   `json:"functions"`        // significant differences in CPU ns/op
	Sites     []Origin   `json:"sites"`            // significant differences in allocations/op
	Unseen    float64    `json:"unseen,omitempty"` // allocations/op that profiles do not show, as of small objects
	Decisions []Decision `json:"decisions"`        // compiler messages of only one contender
	Calls     []Decision `json:"calls"`            // calls of only one contender
	Work      []Origin   `json:"work,omitempty"`   // differences in instructions/op
	Flame     string     `json:"flame,omitempty"`  // flame graph, relative to the result
	Why       string     `json:"why,omitempty"`    // why a part is missing, or ""
}

// Bounds of Waits.
const (
	minProfiledNS   = 2e8  // least wall time: 20 samples at 100 a second
	minSlowdown     = 1.05 // least ratio of the wall times
	maxCPUShare     = 0.1  // largest CPU share that is low by itself
	maxCPUShareDrop = 0.5  // a share below this times that of Against is low, too
)

func (e Explanation) hasLowCPUShare() bool { return e.To <= maxCPUShare*e.WallTo }

// hasLowerCPUShare compares with Against: other programs reduce both shares in the same proportion.
func (e Explanation) hasLowerCPUShare() bool {
	// A division could be by 0.
	return e.To*e.WallFrom < maxCPUShareDrop*e.From*e.WallTo
}

// Waits reports whether Contender is slower mainly because it waits; see [Explanation.Waiting].
func (e Explanation) Waits() bool {
	if e.WallTo*float64(e.Ops)*float64(e.Rounds) < minProfiledNS {
		return false
	}
	isLowShare := e.hasLowCPUShare() || e.hasLowerCPUShare()
	isSlower := e.WallTo > minSlowdown*e.WallFrom
	return isLowShare && isSlower && e.Waiting() > (e.WallTo-e.WallFrom)/2
}

// Waiting returns the part of the difference in wall time that is not CPU time, in ns/op. CPU time
// is converted to wall time as Against uses it.
func (e Explanation) Waiting() float64 {
	wallPerCPU := 1.0
	if e.From > 0 {
		wallPerCPU = max(1, e.WallFrom/e.From)
	}
	return e.WallTo - e.WallFrom - max(0, e.To-e.From)*wallPerCPU
}

// Origin is one function's part of a difference, with the standard library that it calls.
type Origin struct {
	Function string  `json:"function"`
	Through  string  `json:"through,omitempty"` // called function with most of it, or ""
	File     string  `json:"file,omitempty"`    // base name
	Line     int     `json:"line,omitempty"`
	From     float64 `json:"from"`  // per operation
	To       float64 `json:"to"`    // per operation
	Share    float64 `json:"share"` // part of the total difference
	Low      float64 `json:"low"`   // interval of Share, for all functions together
	High     float64 `json:"high"`

	Callers []Caller `json:"callers,omitempty"` // set for counted instructions
}

// Caller is a function that calls another.
type Caller struct {
	Function string  `json:"function"`
	Callee   string  `json:"callee,omitempty"` // function in between, or ""
	File     string  `json:"file,omitempty"`   // base name
	Line     int     `json:"line,omitempty"`
	From     float64 `json:"from"` // calls per operation
	To       float64 `json:"to"`   // calls per operation
}

// Decision is a fact about a function that is true for only one contender.
type Decision struct {
	Side     string `json:"side"` // id of the contender
	Function string `json:"function"`
	File     string `json:"file"` // base name
	Line     int    `json:"line"`
	Text     string `json:"text"`
}
