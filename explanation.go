package tare

// Explanation lists the functions from which the difference between two contenders on one workload
// comes. Both are profiled in several rounds after the measured ones.
//
// In names of fields, From means a value of Against, and To means a value of Contender. Wall times
// exclude the time that threads waited for a processor.
type Explanation struct {
	Workload  string     `json:"workload"`
	Contender string     `json:"contender"`
	Against   string     `json:"against"`          // contender that Contender is compared with
	Rounds    int        `json:"rounds"`           // of profiles
	Ops       int64      `json:"ops"`              // operations in one round, of each contender
	WallFrom  float64    `json:"wall_from"`        // ns/op while profiled; median over rounds
	WallTo    float64    `json:"wall_to"`          // ns/op while profiled; median over rounds
	From      float64    `json:"from"`             // CPU ns/op; mean over rounds
	To        float64    `json:"to"`               // CPU ns/op; mean over rounds
	Functions []Origin   `json:"functions"`        // with a significant difference in CPU ns/op, the largest first
	Sites     []Origin   `json:"sites"`            // with a significant difference in allocations/op, the largest first
	Unseen    float64    `json:"unseen,omitempty"` // allocations/op that profiles cannot show, because the allocator combines small objects
	Decisions []Decision `json:"decisions"`        // compiler messages that only one of the two contenders has
	Calls     []Decision `json:"calls"`            // calls in the source that only one of the two contenders has
	Work      []Origin   `json:"work,omitempty"`   // by difference in counted instructions/op, the largest first
	Flame     string     `json:"flame,omitempty"`  // flame graph of the differences in CPU time, relative to the result
	Why       string     `json:"why,omitempty"`    // why a part is missing; "" if nothing failed
}

// Bounds of Waits.
const (
	minProfiledNS   = 2e8  // least wall time of all profiles: 20 samples at 100 a second
	minSlowdown     = 1.05 // least ratio of the wall times
	maxCPUShare     = 0.1  // largest CPU share that is low by itself
	maxCPUShareDrop = 0.5  // a CPU share below that of Against times this is low, too
)

func (e Explanation) hasLowCPUShare() bool { return e.To <= maxCPUShare*e.WallTo }

// hasLowerCPUShare reports whether the CPU share is much lower than that of Against. Other programs
// on the machine reduce both shares in the same proportion.
func (e Explanation) hasLowerCPUShare() bool {
	// To/WallTo < maxCPUShareDrop * From/WallFrom, without a division by a time that can be 0.
	return e.To*e.WallFrom < maxCPUShareDrop*e.From*e.WallTo
}

// Waits reports whether Contender is slower mainly because it waits, instead of using CPU time; see
// [Explanation.Waiting].
func (e Explanation) Waits() bool {
	if e.WallTo*float64(e.Ops)*float64(e.Rounds) < minProfiledNS {
		return false
	}
	isLowShare := e.hasLowCPUShare() || e.hasLowerCPUShare()
	isSlower := e.WallTo > minSlowdown*e.WallFrom
	return isLowShare && isSlower && e.Waiting() > (e.WallTo-e.WallFrom)/2
}

// Waiting returns the part of the difference in wall time that is not CPU time, in ns/op.
// Additional CPU time is converted to wall time as Against uses it.
func (e Explanation) Waiting() float64 {
	wallPerCPU := 1.0
	if e.From > 0 {
		wallPerCPU = max(1, e.WallFrom/e.From)
	}
	return e.WallTo - e.WallFrom - max(0, e.To-e.From)*wallPerCPU
}

// Origin is one function's part of a difference, including the functions of the standard library
// that it calls.
type Origin struct {
	Function string  `json:"function"`
	Through  string  `json:"through,omitempty"` // called function with most of the part; "" means Function itself
	File     string  `json:"file,omitempty"`    // base name
	Line     int     `json:"line,omitempty"`
	From     float64 `json:"from"`  // per operation, mean over rounds
	To       float64 `json:"to"`    // per operation, mean over rounds
	Share    float64 `json:"share"` // part of the total difference
	Low      float64 `json:"low"`   // interval of Share, with the confidence of all functions together
	High     float64 `json:"high"`

	Callers []Caller `json:"callers,omitempty"` // of counted instructions: those whose calls differ most first
}

// Caller is a function that calls another, with the number of calls per operation.
type Caller struct {
	Function string  `json:"function"`
	Callee   string  `json:"callee,omitempty"` // function of the standard library in between, or ""
	File     string  `json:"file,omitempty"`   // base name
	Line     int     `json:"line,omitempty"`   // of the calls
	From     float64 `json:"from"`             // calls per operation of Against
	To       float64 `json:"to"`               // calls per operation of Contender
}

// Decision is a fact about a function that is true for only one of the two contenders.
type Decision struct {
	Side     string `json:"side"` // id of that contender
	Function string `json:"function"`
	File     string `json:"file"` // base name
	Line     int    `json:"line"`
	Text     string `json:"text"`
}
