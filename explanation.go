package tare

// Explanation lists the functions from which the difference between two contenders on one workload comes.
// After the measured rounds of the study, both contenders are profiled in several further rounds.
//
// In names of fields, From means a value of Against, and To means a value of Contender. Wall times exclude
// the time that threads waited for a processor.
type Explanation struct {
	Workload  string     `json:"workload"`
	Contender string     `json:"contender"`
	Against   string     `json:"against"`          // contender that Contender is compared with
	Rounds    int        `json:"rounds"`           // number of rounds of profiles; each round profiles both contenders once
	Ops       int64      `json:"ops"`              // number of operations in one round, the same for both contenders
	WallFrom  float64    `json:"wall_from"`        // wall time of Against while profiled, in ns/op; median over rounds
	WallTo    float64    `json:"wall_to"`          // wall time of Contender while profiled, in ns/op; median over rounds
	From      float64    `json:"from"`             // CPU time of Against, in ns/op; mean over rounds
	To        float64    `json:"to"`               // CPU time of Contender, in ns/op; mean over rounds
	Functions []Origin   `json:"functions"`        // functions with a significant difference in CPU ns/op, the largest first
	Sites     []Origin   `json:"sites"`            // functions with a significant difference in allocations/op, the largest first
	Unseen    float64    `json:"unseen,omitempty"` // part of the difference in allocations/op that profiles cannot show, as the allocator combines small objects (below 16 bytes, without pointers)
	Decisions []Decision `json:"decisions"`        // messages of the compiler about these functions that only one of the two contenders has
	Calls     []Decision `json:"calls"`            // calls in the source of these functions that only one of the two contenders has
	Work      []Origin   `json:"work,omitempty"`   // functions by difference in counted instructions/op, the largest first; there may be no profiles then
	Flame     string     `json:"flame,omitempty"`  // flame graph of the differences in CPU time, relative to the result
	Why       string     `json:"why,omitempty"`    // why a part is missing; "" if nothing failed
}

// Bounds of Waits, which tells whether a contender is slower because it waits.
const (
	minProfiledNS   = 2e8  // least wall time of all profiles of Contender: 20 samples at 100 a second
	minSlowdown     = 1.05 // least ratio of the wall times
	maxCPUShare     = 0.1  // largest CPU share that is low by itself
	maxCPUShareDrop = 0.5  // a CPU share below that of Against times this is low, too
)

// hasLowCPUShare reports whether CPU time is a small part of the wall time of Contender.
func (e Explanation) hasLowCPUShare() bool { return e.To <= maxCPUShare*e.WallTo }

// hasLowerCPUShare reports whether CPU time is a much smaller part of the wall time of Contender than
// of Against. Other programs that use the processors reduce both shares in the same proportion, so
// this comparison is independent of them.
func (e Explanation) hasLowerCPUShare() bool {
	// To/WallTo < maxCPUShareDrop * From/WallFrom, without a division by a time that can be 0.
	return e.To*e.WallFrom < maxCPUShareDrop*e.From*e.WallTo
}

// Waits reports whether most of the difference in time is not CPU time. The contender must take longer than
// Against, have a low CPU share, and wait for more than half of the difference; see [Explanation.Waiting].
func (e Explanation) Waits() bool {
	if e.WallTo*float64(e.Ops)*float64(e.Rounds) < minProfiledNS {
		return false
	}
	isLowShare := e.hasLowCPUShare() || e.hasLowerCPUShare()
	isSlower := e.WallTo > minSlowdown*e.WallFrom
	return isLowShare && isSlower && e.Waiting() > (e.WallTo-e.WallFrom)/2
}

// Waiting returns the part of the difference in wall time that is not CPU time, in ns/op. Additional
// CPU time is converted to wall time: Against takes wallPerCPU ns of wall time per ns of CPU time.
func (e Explanation) Waiting() float64 {
	wallPerCPU := 1.0
	if e.From > 0 {
		wallPerCPU = max(1, e.WallFrom/e.From)
	}
	return e.WallTo - e.WallFrom - max(0, e.To-e.From)*wallPerCPU
}

// Origin is one function's part of a difference. It includes the functions of the standard library and the
// runtime that this function calls.
type Origin struct {
	Function string  `json:"function"`
	Through  string  `json:"through,omitempty"` // called function to which most of the part belongs; "" means Function itself
	File     string  `json:"file,omitempty"`    // base name
	Line     int     `json:"line,omitempty"`
	From     float64 `json:"from"`  // value of Against per operation, mean over rounds
	To       float64 `json:"to"`    // value of Contender per operation, mean over rounds
	Share    float64 `json:"share"` // part of the total difference
	Low      float64 `json:"low"`   // interval of Share over rounds; the stated confidence is that of all functions together
	High     float64 `json:"high"`

	Callers []Caller `json:"callers,omitempty"` // of counted instructions: functions that call it, those whose calls differ most first
}

// Caller is a function that calls another, with the number of calls per operation.
type Caller struct {
	Function string  `json:"function"`
	Callee   string  `json:"callee,omitempty"` // function of the standard library through which it calls the other; "" if it calls the other itself
	File     string  `json:"file,omitempty"`   // base name
	Line     int     `json:"line,omitempty"`   // line of the calls
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
