package tare

// Explanation lists the functions from which the difference between two contenders on one workload
// comes. Both were profiled after the rounds.
//
// In names of fields, From means a value of Against, and To means a value of Contender. Wall times
// exclude waiting for a processor.
type Explanation struct {
	Workload  string     `json:"workload"`
	Contender string     `json:"contender"`
	Against   string     `json:"against"`          // the other contender
	Rounds    int        `json:"rounds"`           // rounds of profiles; each round profiles both contenders once
	Ops       int64      `json:"ops"`              // operations in one round, of each contender
	WallFrom  float64    `json:"wall_from"`        // wall time of Against while profiled, ns/op, median over rounds
	WallTo    float64    `json:"wall_to"`          // wall time of Contender while profiled, ns/op, median over rounds
	From      float64    `json:"from"`             // CPU time of Against, ns/op, mean over rounds
	To        float64    `json:"to"`               // CPU time of Contender, ns/op, mean over rounds
	Functions []Origin   `json:"functions"`        // functions with a significant difference in CPU ns/op, the largest first
	Sites     []Origin   `json:"sites"`            // functions with a significant difference in allocations/op, the largest first
	Unseen    float64    `json:"unseen,omitempty"` // difference in allocations/op that profiles do not show, as of small objects
	Decisions []Decision `json:"decisions"`        // messages of the compiler that only one of the contenders has
	Calls     []Decision `json:"calls"`            // calls in the source that only one of the contenders has
	Work      []Origin   `json:"work,omitempty"`   // functions by difference in counted instructions/op, the largest first
	Flame     string     `json:"flame,omitempty"`  // flame graph of the differences in CPU time, relative to the result
	Why       string     `json:"why,omitempty"`    // why a part is missing, or ""
}

// Bounds of Waits, which reports whether a contender is slower because it waits.
const (
	minProfiledNS   = 2e8  // least wall time of all profiles of Contender: 20 samples at 100 a second
	minSlowdown     = 1.05 // least ratio of the wall times
	maxCPUShare     = 0.1  // largest CPU share that is low by itself
	maxCPUShareDrop = 0.5  // a CPU share below this times that of Against is low, too
)

func (e Explanation) hasLowCPUShare() bool { return e.To <= maxCPUShare*e.WallTo }

// hasLowerCPUShare reports whether CPU time is a much smaller share of the wall time of Contender
// than of Against. Other programs reduce both shares in the same proportion.
func (e Explanation) hasLowerCPUShare() bool {
	// This compares To/WallTo with From/WallFrom without a division, because the times can be 0.
	return e.To*e.WallFrom < maxCPUShareDrop*e.From*e.WallTo
}

// Waits reports whether Contender is slower mainly because it waits: it takes longer, has a low
// share of CPU time, and waits for more than half of the difference. See [Explanation.Waiting].
func (e Explanation) Waits() bool {
	if e.WallTo*float64(e.Ops)*float64(e.Rounds) < minProfiledNS {
		return false
	}
	isLowShare := e.hasLowCPUShare() || e.hasLowerCPUShare()
	isSlower := e.WallTo > minSlowdown*e.WallFrom
	return isLowShare && isSlower && e.Waiting() > (e.WallTo-e.WallFrom)/2
}

// Waiting returns the part of the difference in wall time that is not CPU time, in ns/op. It
// converts additional CPU time to wall time by the ratio of both for Against.
func (e Explanation) Waiting() float64 {
	wallPerCPU := 1.0
	if e.From > 0 {
		wallPerCPU = max(1, e.WallFrom/e.From)
	}
	return e.WallTo - e.WallFrom - max(0, e.To-e.From)*wallPerCPU
}

// Origin is one function's part of a difference. It includes the functions of the standard library
// and the runtime that this function calls.
type Origin struct {
	Function string  `json:"function"`
	Through  string  `json:"through,omitempty"` // called or inlined function to which most of the part belongs; "" means Function itself
	File     string  `json:"file,omitempty"`    // base name
	Line     int     `json:"line,omitempty"`
	From     float64 `json:"from"`  // value of Against per operation, mean over rounds
	To       float64 `json:"to"`    // value of Contender per operation, mean over rounds
	Share    float64 `json:"share"` // part of the total difference
	Low      float64 `json:"low"`   // interval of Share; its confidence is that of all functions together
	High     float64 `json:"high"`

	Callers []Caller `json:"callers,omitempty"` // functions that call it; set for counted instructions
}

// Caller is a function that calls another one, with the number of calls per operation.
type Caller struct {
	Function string  `json:"function"`
	Callee   string  `json:"callee,omitempty"` // function of the standard library through which it calls the other; "" if it calls directly
	File     string  `json:"file,omitempty"`   // base name
	Line     int     `json:"line,omitempty"`   // line of the calls
	From     float64 `json:"from"`             // calls per operation of Against
	To       float64 `json:"to"`               // calls per operation of Contender
}

// Decision is a fact about a function that is true for only one contender.
type Decision struct {
	Side     string `json:"side"` // id of that contender
	Function string `json:"function"`
	File     string `json:"file"` // base name
	Line     int    `json:"line"`
	Text     string `json:"text"`
}
